// Packets to samples, by the browser's own decoder, by WebAssembly, or without one.
//
// A decoder is {rate, decode(bytes), flush() -> Promise, close()}; it hands `onsamples` a Float32Array at `rate` for each
// packet, in order. The pre-skip is not taken off.

const OPUS_RATE = 48000;

/** The ways to decode Opus that this browser has, best first. */
export async function opusDecoders() {
  const found = [];
  const config = { codec: "opus", sampleRate: OPUS_RATE, numberOfChannels: 1 };
  if (globalThis.AudioDecoder && (await AudioDecoder.isConfigSupported(config)).supported) found.push("webcodecs");
  if (globalThis.WebAssembly) found.push("wasm");
  return found;
}

/** A decoder for `codec`: "opus", "pcm_f32le" or "pcm_s16le". `way` is one of `opusDecoders()`. */
export async function createDecoder({ codec, sampleRate, way, onsamples, onerror }) {
  if (codec === "pcm_f32le") return new Pcm(sampleRate, onsamples, (bytes) => new Float32Array(bytes));
  if (codec === "pcm_s16le") return new Pcm(sampleRate, onsamples, (bytes) => Float32Array.from(new Int16Array(bytes), (s) => s / 32768));
  if (codec !== "opus") throw new Error(`This page cannot decode ${codec}.`);
  return way === "webcodecs" ? new WebCodecsOpus(onsamples, onerror) : new WasmOpus(await loadWasm(), onsamples);
}

class WebCodecsOpus {
  rate = OPUS_RATE;
  #decoder;
  #packets = 0;

  constructor(onsamples, onerror) {
    this.#decoder = new AudioDecoder({ output: (data) => onsamples(samplesOf(data)), error: onerror });
    // Without a description the packets are raw: no Ogg, no header, and nothing is skipped.
    this.#decoder.configure({ codec: "opus", sampleRate: OPUS_RATE, numberOfChannels: 1 });
  }

  decode(bytes) {
    this.#decoder.decode(new EncodedAudioChunk({ type: "key", timestamp: 20_000 * this.#packets++, data: bytes }));
  }

  async flush() {
    await this.#decoder.flush();
  }

  close() {
    if (this.#decoder.state !== "closed") this.#decoder.close();
  }
}

function samplesOf(data) {
  const samples = new Float32Array(data.numberOfFrames);
  data.copyTo(samples, { planeIndex: 0, format: "f32-planar" });
  data.close();
  return samples;
}

class WasmOpus {
  rate = OPUS_RATE;
  #decoder;
  #onsamples;

  constructor(decoder, onsamples) {
    this.#decoder = decoder;
    this.#onsamples = onsamples;
  }

  decode(bytes) {
    const { channelData, samplesDecoded } = this.#decoder.decodeFrame(new Uint8Array(bytes));
    this.#onsamples(channelData[0].slice(0, samplesDecoded));
  }

  async flush() {}

  close() {
    this.#decoder.free();
  }
}

async function loadWasm() {
  await import(new URL("vendor/opus-decoder.min.js", import.meta.url)); // an older kind of module: it leaves a global
  const { OpusDecoder } = globalThis["opus-decoder"];
  const decoder = new OpusDecoder({ sampleRate: OPUS_RATE, channels: 1, streamCount: 1, coupledStreamCount: 0, channelMappingTable: [0], preSkip: 0 });
  await decoder.ready;
  return decoder;
}

class Pcm {
  #onsamples;
  #parse;

  constructor(rate, onsamples, parse) {
    this.rate = rate;
    this.#onsamples = onsamples;
    this.#parse = parse;
  }

  decode(bytes) {
    this.#onsamples(this.#parse(bytes));
  }

  async flush() {}

  close() {}
}
