// One track's samples between the network and the loudspeaker: a ring that this class owns. Runs on the audio thread.
//
// In:  {verb: "start", frames}   how much must wait before it begins, or begins again
//      {verb: "push", samples}   Float32Array at the context's rate
//      {verb: "speech", from, until}   speech lies here; outside it running dry is a pause and not a fault
//      {verb: "end", frames}     there are so many samples in all; null: what was pushed
//      {verb: "stop"}            silence now
// Out: {state, played, buffered, underruns, at}, in frames; `at` is the context's time.

const FADE_S = 0.005;
const REPORT_FRAMES = 1024;
const MARKS_KEPT = 64;

class Track extends AudioWorkletProcessor {
  #ring = new Float32Array(1 << 16);
  #read = 0;
  #write = 0;
  #total = Infinity;
  #state = "waiting"; // playing, pausing (dry between stretches of speech), dry (dry inside one), ended, stopped
  #startFrames = 0;
  #speech = [];
  #underruns = 0;
  #gain = 1;
  #slope = 0; // of the gain, each sample
  #draining = false; // fading out what is left because it is too little
  #stopping = false;
  #reportedAt = -Infinity;

  constructor() {
    super();
    this.port.onmessage = ({ data }) => this[data.verb](data);
  }

  start({ frames }) {
    this.#startFrames = frames;
  }

  push({ samples }) {
    this.#grow(this.#write + samples.length - this.#read);
    const at = this.#write % this.#ring.length;
    const first = Math.min(samples.length, this.#ring.length - at);
    this.#ring.set(samples.subarray(0, first), at);
    this.#ring.set(samples.subarray(first), 0);
    this.#write += samples.length;
  }

  speech({ from, until }) {
    this.#speech = [...this.#speech.filter((mark) => mark.from !== from), { from, until }].slice(-MARKS_KEPT);
  }

  end({ frames }) {
    this.#total = Math.min(this.#write, frames ?? Infinity);
  }

  stop() {
    this.#stopping = true;
    this.#slope = -1 / (FADE_S * sampleRate);
  }

  process(_inputs, [[out]]) {
    const before = this.#state;
    if (this.#state !== "playing" && this.#mayPlay()) this.#begin();
    if (this.#state === "playing") this.#play(out);
    else if (this.#stopping) this.#state = "stopped";
    else if (this.#read >= this.#total) this.#state = "ended";
    this.#report(before);
    return this.#state !== "ended" && this.#state !== "stopped";
  }

  get #available() {
    return Math.min(this.#write, this.#total) - this.#read;
  }

  // All that will ever come, or all up to a place where the speech rests.
  get #whole() {
    const mark = this.#speech.findLast(({ from }) => from < this.#write);
    return this.#total < Infinity || (mark !== undefined && mark.until <= this.#write);
  }

  #mayPlay() {
    return !this.#stopping && this.#available > 0 && (this.#available >= this.#startFrames || this.#whole);
  }

  #begin() {
    const torn = this.#state === "dry";
    this.#gain = torn ? 0 : 1;
    this.#slope = torn ? 1 / (FADE_S * sampleRate) : 0;
    this.#draining = false;
    this.#state = "playing";
  }

  #play(out) {
    const fade = Math.round(FADE_S * sampleRate);
    if (!this.#stopping && !this.#draining && !this.#whole && this.#available < out.length + fade) {
      this.#draining = true;
      this.#slope = -this.#gain / this.#available;
    }
    const count = Math.min(out.length, this.#available);
    for (let i = 0; i < count; i++) {
      out[i] = this.#ring[(this.#read + i) % this.#ring.length] * this.#gain;
      this.#gain = Math.min(1, Math.max(0, this.#gain + this.#slope));
    }
    this.#read += count;
    if (this.#stopping && (this.#gain === 0 || this.#available === 0)) this.#state = "stopped";
    else if (this.#read >= this.#total) this.#state = "ended";
    else if (this.#draining && (this.#gain === 0 || count < out.length)) this.#runDry();
    else if (count < out.length) this.#state = "pausing";
  }

  #runDry() {
    this.#underruns++;
    this.#state = "dry";
  }

  #grow(frames) {
    if (frames <= this.#ring.length) return;
    let size = this.#ring.length;
    while (size < frames) size *= 2;
    const ring = new Float32Array(size);
    for (let i = this.#read; i < this.#write; i++) ring[i % size] = this.#ring[i % this.#ring.length];
    this.#ring = ring;
  }

  #report(before) {
    if (this.#state === before && currentFrame - this.#reportedAt < REPORT_FRAMES) return;
    this.#reportedAt = currentFrame;
    this.port.postMessage({
      state: this.#state,
      played: this.#read,
      buffered: this.#available,
      underruns: this.#underruns,
      at: currentTime + 128 / sampleRate,
    });
  }
}

registerProcessor("firstword-track", Track);
