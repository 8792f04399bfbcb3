/**
 * Plays streamed speech: packets in, sound out. No dependencies but the files it imports; drop them into any page.
 *
 *   import { Player } from "./player.js";
 *
 *   const player = new Player();
 *   button.onclick = async () => {
 *     await player.unlock();                       // in a click or key press, once: browsers ask for it
 *     const track = player.track({ codec: "opus", sampleRate: 24000, preSkip: 156 });
 *     socket.onmessage = ({ data }) => track.push(data);   // one packet each, in order
 *     ...
 *     track.end(samples);                          // how long it is; what is decoded beyond that is not played
 *     const { state } = await track.done;          // "ended", "stopped" or "failed"
 *   };
 *   stop.onclick = () => track.stop();             // silent within 5 ms; returns the samples that were heard
 *
 * Tracks are mixed: two may play at once. All sample counts are at the track's own `sampleRate`.
 */

import { createDecoder, opusDecoders } from "./decoder.js";
import { Resampler } from "./resample.js";
import { StartBuffer } from "./start_buffer.js";

const RATE = 48000; // what Opus decoders give, and what most devices play
const PACKET_MS = 20;

/** What the browser lacks to play speech, as a sentence; null if nothing. */
export function missing() {
  if (!globalThis.isSecureContext) return "Browsers play streamed sound only on pages from https or from localhost. Open this page that way.";
  if (!globalThis.AudioContext) return "This browser has no Web Audio. Chrome, Edge, Firefox or Safari of the last years have it.";
  if (!globalThis.AudioWorkletNode) return "This browser has no AudioWorklet. Chrome, Edge, Firefox or Safari of the last years have it.";
  return null;
}

export class Player {
  #ready = null;
  #ways = [];
  #decoder;
  #startBuffer;
  #rate;

  /**
   * @param {object} [options]
   * @param {"auto"|"webcodecs"|"wasm"|"pcm"} [options.decoder] how to decode; "auto": the best there is
   * @param {[number, number]} [options.startMs] least and most audio to gather before playing
   * @param {number} [options.rate] the context's rate in Hz
   */
  constructor({ decoder = "auto", startMs = [60, 300], rate = RATE } = {}) {
    this.#decoder = decoder;
    this.#startBuffer = new StartBuffer(startMs);
    this.#rate = rate;
    this.context = null;
  }

  /** Make sound possible. Call it in a click or key press; more than once is fine. Throws a sentence for people. */
  async unlock() {
    this.#ready ??= this.#create();
    await this.#ready;
    if (this.context.state !== "running") await Promise.race([this.context.resume(), wait(1000)]);
    if (this.context.state !== "running") throw new Error("The browser does not let this page make sound yet. Click once more.");
  }

  /** Whether sound can be made now. */
  get unlocked() {
    return this.context?.state === "running";
  }

  /** How packets are decoded: "webcodecs", "wasm" or "pcm". Known once unlocked. */
  get way() {
    const wanted = this.#decoder;
    if (wanted === "pcm" || this.#ways.includes(wanted)) return wanted;
    return this.#ways[0] ?? "pcm";
  }

  set decoder(wanted) {
    this.#decoder = wanted;
  }

  /** Least and most audio to gather before playing, in ms. */
  set startBounds(bounds) {
    this.#startBuffer.keep(bounds);
  }

  /** The codec to ask a server for. */
  get codec() {
    return this.way === "pcm" ? "pcm_s16le" : "opus";
  }

  /** Audio gathered before a track begins, in ms. */
  get startMs() {
    return this.#startBuffer.ms;
  }

  /** From a sample's leaving to its being heard, in seconds. */
  get latency() {
    return (this.context?.baseLatency ?? 0) + (this.context?.outputLatency ?? 0);
  }

  /** A new track. `onsamples` sees its samples, at the context's rate, before they are heard. */
  track({ codec, sampleRate, preSkip = 0, onsamples = () => {} }) {
    return new Track(this, { codec, sampleRate, preSkip, onsamples, way: this.way, startBuffer: this.#startBuffer });
  }

  /** Let the audio device go. */
  async close() {
    await this.context?.close();
  }

  async #create() {
    const lack = missing();
    if (lack) throw new Error(lack);
    this.context = new AudioContext({ sampleRate: this.#rate, latencyHint: "interactive" });
    this.context.resume(); // not waited for: it must be asked for before the click is over
    [this.#ways] = await Promise.all([opusDecoders(), this.context.audioWorklet.addModule(new URL("worklet.js", import.meta.url))]);
  }
}

/** One continuous signal. Made by `Player.track`. */
class Track extends EventTarget {
  #player;
  #node;
  #decoder; // a promise of it: what is pushed earlier waits in the order it came
  #work = Promise.resolve();
  #startBuffer;
  #sampleRate;
  #skip; // decoded samples still to drop
  #resampler = null;
  #onsamples;
  #last = null; // the last packet, until it is known how much of it is real
  #packets = 0;
  #report = { state: "waiting", played: 0, buffered: 0, underruns: 0, at: 0 };
  #finished = false;
  #resolve;

  constructor(player, { codec, sampleRate, preSkip, onsamples, way, startBuffer }) {
    super();
    this.#player = player;
    this.#sampleRate = sampleRate;
    this.#startBuffer = startBuffer;
    this.#onsamples = onsamples;
    this.#node = new AudioWorkletNode(player.context, "firstword-track", { numberOfInputs: 0, outputChannelCount: [1] });
    this.#node.port.onmessage = ({ data }) => this.#reported(data);
    this.#node.connect(player.context.destination);
    this.#setStart();
    /** Resolves to {state, played, underruns} when the last sample was handed over, or it was stopped. */
    this.done = new Promise((resolve) => (this.#resolve = resolve));
    this.#decoder = createDecoder({ codec, sampleRate, way, onsamples: (s) => this.#decoded(s), onerror: (e) => this.#fail(e) });
    this.#then((decoder) => {
      this.#skip = Math.round((preSkip * decoder.rate) / sampleRate);
      if (decoder.rate !== player.context.sampleRate) this.#resampler = new Resampler(decoder.rate, player.context.sampleRate);
    });
  }

  /** The next packet, an ArrayBuffer. `last` if no other follows: then `end` says how much of it is real. */
  push(packet, { last = false } = {}) {
    this.#startBuffer.arrived(this.#packets++ * PACKET_MS, performance.now());
    if (last) this.#last = packet;
    else this.#decode(packet);
  }

  /** Speech lies from one sample to another, as far as is known. Running dry elsewhere is a pause, not an underrun. */
  speech(from, until = Infinity) {
    if (until === Infinity) this.#startBuffer.stretch();
    this.#post({ verb: "speech", from: this.#frames(from), until: this.#frames(until) });
  }

  /** The signal is so many samples long; null: as long as what was pushed. */
  end(samples = null) {
    if (this.#last) this.#decode(this.#last);
    this.#last = null;
    this.#then(async (decoder) => {
      await decoder.flush();
      if (this.#resampler) this.#send(this.#resampler.flush());
      this.#post({ verb: "end", frames: samples === null ? null : this.#frames(samples) });
      decoder.close();
      this.#startBuffer.stretch();
    });
  }

  /** Silence at once. Returns the samples that were heard. */
  stop() {
    const heard = this.heard;
    this.#post({ verb: "stop" });
    this.#finish("stopped", heard);
    this.#then((decoder) => decoder.close());
    return heard;
  }

  /** "waiting", "playing", "pausing", "dry", "ended", "stopped" or "failed". */
  get state() {
    return this.#report.state;
  }

  /** Samples that left the loudspeaker, by the context's clock. */
  get heard() {
    const context = this.#player.context;
    const frames = this.#report.played + (this.#moving ? (context.currentTime - this.#report.at) * context.sampleRate : 0);
    return Math.max(0, Math.round(this.#samples(frames) - (this.#moving ? this.#player.latency * this.#sampleRate : 0)));
  }

  /** Audio that waits, in ms. */
  get bufferedMs() {
    const passed = this.#moving ? this.#player.context.currentTime - this.#report.at : 0;
    return Math.max(0, (this.#report.buffered / this.#player.context.sampleRate - passed) * 1000);
  }

  /** How often it ran dry inside speech. */
  get underruns() {
    return this.#report.underruns;
  }

  get #moving() {
    return this.#report.state === "playing" && this.#player.unlocked;
  }

  #frames(samples) {
    return samples === Infinity ? Infinity : Math.round((samples * this.#player.context.sampleRate) / this.#sampleRate);
  }

  #samples(frames) {
    return (frames * this.#sampleRate) / this.#player.context.sampleRate;
  }

  #then(action) {
    this.#work = this.#work.then(async () => action(await this.#decoder)).catch((error) => this.#fail(error));
  }

  #decode(packet) {
    this.#then((decoder) => this.#finished || decoder.decode(packet));
  }

  #decoded(samples) {
    const dropped = Math.min(this.#skip, samples.length);
    this.#skip -= dropped;
    const kept = samples.subarray(dropped);
    this.#send(this.#resampler ? this.#resampler.push(kept) : kept);
  }

  #send(samples) {
    if (!samples.length || this.#finished) return;
    this.#onsamples(samples);
    const copy = samples.slice();
    this.#node.port.postMessage({ verb: "push", samples: copy }, [copy.buffer]);
  }

  #post(message) {
    this.#node.port.postMessage(message);
  }

  #setStart() {
    this.#post({ verb: "start", frames: Math.round((this.#startBuffer.ms / 1000) * this.#player.context.sampleRate) });
  }

  #reported(report) {
    if (this.#finished) return;
    const before = this.#report;
    this.#report = report;
    if (report.underruns > before.underruns) {
      this.#startBuffer.ranDry();
      this.#setStart();
    }
    if (report.state !== before.state) this.dispatchEvent(new Event("statechange"));
    if (report.state === "ended") this.#finish("ended", this.#samples(report.played));
  }

  #fail(error) {
    if (this.#finished) return;
    this.#post({ verb: "stop" });
    this.error = error;
    this.#finish("failed", this.heard);
  }

  #finish(state, samples) {
    if (this.#finished) return;
    this.#finished = true;
    this.#report = { ...this.#report, state, played: this.#frames(samples), buffered: 0 };
    this.dispatchEvent(new Event("statechange"));
    this.#resolve({ state, played: samples, underruns: this.underruns });
  }
}

/** All packets of a signal as samples: {samples, rate}. Cut to `length` samples of `sampleRate`. */
export async function decodeAll(packets, { codec, sampleRate, preSkip = 0, length, way }) {
  const parts = [];
  let failure = null;
  const decoder = await createDecoder({ codec, sampleRate, way, onsamples: (s) => parts.push(s), onerror: (e) => (failure = e) });
  for (const packet of packets) decoder.decode(packet);
  await decoder.flush();
  decoder.close();
  if (failure) throw failure;
  const scale = decoder.rate / sampleRate;
  const joined = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (joined.set(part, at), at + part.length), 0);
  const start = Math.round(preSkip * scale);
  return { samples: joined.subarray(start, start + Math.round(length * scale)), rate: decoder.rate };
}

function wait(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
