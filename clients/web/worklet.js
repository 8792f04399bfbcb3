// A ring of samples between the network and the loudspeaker. Runs on the audio thread.

const RING_S = 60;
const FADE = 128;

class Player extends AudioWorkletProcessor {
  constructor() {
    super();
    this.ring = new Float32Array(RING_S * sampleRate);
    this.read = 0;
    this.write = 0;
    this.playing = false;
    this.ended = false;
    this.startAt = 0.06 * sampleRate;
    this.underruns = 0;
    this.played = 0;
    this.last = 0;
    this.port.onmessage = ({ data }) => this[data.verb](data);
  }

  push({ samples }) {
    for (const sample of samples) this.ring[this.write++ % this.ring.length] = sample;
  }

  end() {
    this.ended = true;
  }

  clear() {
    this.read = this.write;
    this.playing = false;
    this.ended = false;
    this.played = 0;
    this.underruns = 0;
  }

  get buffered() {
    return this.write - this.read;
  }

  process(_inputs, [[out]]) {
    if (!this.playing && (this.buffered >= this.startAt || (this.ended && this.buffered))) this.playing = true;
    const n = this.playing ? Math.min(out.length, this.buffered) : 0;
    for (let i = 0; i < n; i++) out[i] = this.ring[this.read++ % this.ring.length];
    this.played += n;
    if (n) this.last = out[n - 1];
    if (n < out.length) this.pause(out, n);
    this.port.postMessage({ buffered: this.buffered, played: this.played, underruns: this.underruns, done: this.done });
    return true;
  }

  // Ran out: let the last sample decay, and wait for more before playing on.
  pause(out, n) {
    for (let i = n; i < out.length; i++) out[i] = this.last *= 1 - 1 / FADE;
    if (this.playing && !this.ended) this.underruns++;
    this.playing = false;
  }

  get done() {
    return this.ended && this.buffered === 0;
  }
}

registerProcessor("firstword-player", Player);
