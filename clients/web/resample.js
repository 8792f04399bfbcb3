// A streaming resampler: a windowed sinc of 32 taps, its cut-off at the lower of the two rates.

const HALF = 16;

export class Resampler {
  #step; // input samples for each output sample
  #scale; // of the sinc: under 1 where the rate goes down
  #reach; // input samples that an output sample sees on each side
  #input = new Float32Array(0);
  #base = 0; // index of the first sample kept
  #position = 0; // outputs made

  constructor(from, to) {
    this.#step = from / to;
    this.#scale = Math.min(1, to / from);
    this.#reach = Math.ceil(HALF / this.#scale);
  }

  // The output that `samples` made certain.
  push(samples) {
    const joined = new Float32Array(this.#input.length + samples.length);
    joined.set(this.#input);
    joined.set(samples, this.#input.length);
    this.#input = joined;
    return this.#make(this.#base + joined.length - this.#reach);
  }

  // What is left, as if silence followed.
  flush() {
    const end = this.#base + this.#input.length;
    this.#input = Float32Array.from({ length: this.#input.length + this.#reach }, (_, i) => this.#input[i] ?? 0);
    return this.#make(end);
  }

  // Outputs whose centre lies before `limit`, an index of the input.
  #make(limit) {
    const count = Math.max(0, Math.ceil(limit / this.#step) - this.#position);
    const out = Float32Array.from({ length: count }, (_, i) => this.#at((this.#position + i) * this.#step));
    this.#position += count;
    const unneeded = Math.floor(this.#position * this.#step) - this.#reach - this.#base;
    if (unneeded > 0) {
      this.#input = this.#input.slice(unneeded);
      this.#base += unneeded;
    }
    return out;
  }

  #at(centre) {
    const first = Math.max(Math.floor(centre) - this.#reach + 1, this.#base);
    const last = Math.min(Math.floor(centre) + this.#reach, this.#base + this.#input.length - 1);
    let sum = 0;
    for (let n = first; n <= last; n++) sum += this.#input[n - this.#base] * this.#kernel(n - centre);
    return sum;
  }

  #kernel(distance) {
    const x = distance * this.#scale;
    if (Math.abs(x) >= HALF) return 0;
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
    return this.#scale * sinc * (0.42 + 0.5 * Math.cos((Math.PI * x) / HALF) + 0.08 * Math.cos((2 * Math.PI * x) / HALF));
  }
}
