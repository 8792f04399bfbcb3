// One reply: text goes in, sound comes out, and what was heard is known to the word.
//
// Events: "text" (some was written), "words" (timings came), "samples" (detail: Float32Array), "change" (of `state`).

import { decodeAll } from "./player.js";
import { SpeedMeter } from "./speed_meter.js";
import { encodeWav } from "./wav.js";

const AUDIBLE = 10 ** (-50 / 20);
const CREDIT_MS = 1000;

export class Reply extends EventTarget {
  #player;
  #context;
  #track = null;
  #opened = null;
  #packets = [];
  #sent = []; // {end, at} of each delta
  #ended = null;
  #creditAt = 0;
  #starts = 0; // first sample of the newest segment
  #silent = 0; // samples before the first sound, until one is found
  #needed = null; // when the text that completed the first segment was sent
  #arrived = null;
  #speed = new SpeedMeter();

  constructor(client, player, options) {
    super();
    this.#player = player;
    /** "waiting" for sound, "speaking", "done", "stopped" or "failed". */
    this.state = "waiting";
    this.text = "";
    this.words = []; // {start, end, first_sample, samples}, offsets in code points
    this.skipped = []; // {start, end, reason}
    this.error = null;
    /** From sending the text that the first segment needed to its first sound, without the start buffer; ms. */
    this.ttfaMs = null;
    this.startMs = null;
    this.writing = true;
    this.#context = client.context(
      { ...options, codec: player.codec },
      {
        onopened: (message) => this.#open(message),
        onsegment: (message) => this.#segment(message),
        ontiming: (message) => this.#timing(message),
        onaudio: (packet) => this.#audio(packet),
        onerror: (message) => this.#refused(message),
        onended: (message) => this.#end(message),
        onlost: (closed) => this.#lost(closed),
      },
    );
  }

  /** Append text, cut anywhere. */
  write(delta) {
    if (!delta || !this.writing || this.over) return;
    this.text += delta;
    this.#sent.push({ end: codePoints(this.text), at: performance.now() });
    this.#context.send(delta);
    this.#tell("text");
  }

  /** Speak what is there. */
  flush() {
    if (this.writing && !this.over) this.#context.flush();
  }

  /** No more text. */
  finish() {
    if (!this.writing || this.over) return;
    this.writing = false;
    this.#context.end();
  }

  /** The writer failed, and says why: speak what is there, then tell. */
  fail(message) {
    this.error = message;
    this.finish();
    this.#tell("change");
  }

  /** Silence at once. */
  stop() {
    if (this.over) return;
    const samples = this.#track?.stop() ?? 0;
    this.heardSamples = samples;
    if (!this.#ended) this.#context.cancel((samples / this.rate) * 1000);
    this.#finish("stopped");
  }

  get over() {
    return ["done", "stopped", "failed"].includes(this.state);
  }

  get rate() {
    return this.#opened?.sample_rate ?? 24000;
  }

  /** Samples heard so far. */
  get heard() {
    return this.heardSamples ?? this.#track?.heard ?? 0;
  }

  /** Index of the word being heard; -1 before the first. */
  get word() {
    const heard = this.heard;
    return this.words.findLastIndex((word) => word.first_sample <= heard);
  }

  /** Code points that were heard. The server's word on it counts, where it has spoken. */
  get heardChars() {
    if (this.#ended?.reason === "cancelled") return this.#ended.spoken_chars;
    if (this.state === "done") return codePoints(this.text);
    return this.words[this.word]?.end ?? 0;
  }

  /** The text that was heard. */
  get heardText() {
    return [...this.text].slice(0, this.heardChars).join("");
  }

  get bufferedMs() {
    return this.over ? 0 : (this.#track?.bufferedMs ?? 0);
  }

  get underruns() {
    return this.#track?.underruns ?? 0;
  }

  /** Time to make audio over its length: below 1 is faster than speech. Null: not known yet. */
  get rtf() {
    return this.#speed.rtf;
  }

  /** Whether there is something to save. */
  get audible() {
    return this.#packets.length > 0 && this.over && this.heard > 0;
  }

  /** What was heard, as a WAV file. */
  async wav() {
    const { codec, sample_rate: sampleRate, pre_skip: preSkip } = this.#opened;
    const { samples, rate } = await decodeAll(this.#packets, { codec, sampleRate, preSkip, length: this.heard, way: this.#player.way });
    return encodeWav(samples, rate);
  }

  #open(opened) {
    this.#opened = opened;
    if (this.over) return;
    this.#track = this.#player.track({
      codec: opened.codec,
      sampleRate: opened.sample_rate,
      preSkip: opened.pre_skip,
      onsamples: (samples) => this.#samples(samples),
    });
    this.startMs = this.#player.startMs;
    this.#track.addEventListener("statechange", () => this.#moved());
    this.#track.done.then(({ state, played }) => this.#played(state, played));
  }

  #segment({ index, end, first_sample: first, skipped }) {
    this.skipped.push(...(skipped ?? []));
    if (index === 0) this.#needed = this.#sent.find((delta) => delta.end >= end)?.at ?? this.#sent.at(-1)?.at ?? null;
    this.#speed.segment();
    this.#track?.speech(first);
    this.#starts = first;
  }

  #timing({ words }) {
    if (!words.length) return;
    this.words.push(...words);
    const last = words.at(-1);
    this.#track?.speech(this.#starts, last.first_sample + last.samples);
    this.#tell("words");
  }

  #audio({ payload, last, firstSample }) {
    if (this.over) return;
    const now = performance.now();
    this.#arrived ??= now;
    this.#packets.push(payload);
    this.#speed.packet(now, firstSample / this.rate, this.bufferedMs);
    this.#track.push(payload, { last });
    if (now - this.#creditAt < CREDIT_MS) return;
    this.#creditAt = now;
    this.#context.credit(this.bufferedMs);
  }

  #samples(samples) {
    if (this.ttfaMs === null) this.#findSound(samples);
    this.dispatchEvent(new CustomEvent("samples", { detail: samples }));
  }

  #findSound(samples) {
    const sound = samples.findIndex((sample) => Math.abs(sample) > AUDIBLE);
    this.#silent += sound < 0 ? samples.length : sound;
    if (sound < 0 || this.#needed === null) return;
    this.ttfaMs = this.#arrived - this.#needed + (this.#silent / this.#player.context.sampleRate) * 1000;
  }

  #moved() {
    if (this.state === "waiting" && this.#track.state === "playing") {
      this.state = "speaking";
      this.#tell("change");
    }
  }

  #refused({ message, code }) {
    this.error = message;
    if (!this.#opened || code === "context_ending") this.#finish("failed");
    else this.#tell("change");
  }

  #end(ended) {
    this.#ended = ended;
    this.writing = false;
    if (this.state === "stopped") return this.#tell("change"); // now it is known what was heard
    if (this.#track) this.#track.end(ended.samples);
    else this.#finish(ended.reason === "completed" ? "done" : "failed");
  }

  #lost({ code, reason }) {
    this.writing = false;
    if (this.over) return;
    this.error = `The connection ended (${code}${reason ? `: ${reason}` : ""}).`;
    this.#ended = { reason: "lost" };
    if (this.#track) this.#track.end();
    else this.#finish("failed");
  }

  #played(state, samples) {
    if (this.over) return;
    this.heardSamples = samples;
    if (state === "failed") this.error = `The audio cannot be decoded: ${this.#track.error.message}`;
    this.#finish(state === "ended" && this.#ended?.reason === "completed" ? "done" : "failed");
  }

  #finish(state) {
    this.state = state;
    this.writing = false;
    this.#tell("change");
  }

  #tell(type) {
    this.dispatchEvent(new Event(type));
  }
}

/** The length of a string as the protocol counts it. */
export function codePoints(text) {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
