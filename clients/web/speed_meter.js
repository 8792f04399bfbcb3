// How fast speech is made: time over audio, inside segments only, and only while nothing holds the server back.

const PACED_MS = 6000; // with so much in hand the server waits for the listener

export class SpeedMeter {
  #last = null;
  #took = 0;
  #made = 0;

  /** A new segment: the time until it came was the writer's. */
  segment() {
    this.#last = null;
  }

  /** A packet at `now` ms whose audio begins at `second` of the signal, with so much waiting to be played. */
  packet(now, second, bufferedMs) {
    if (this.#last && bufferedMs < PACED_MS) {
      this.#took += (now - this.#last.now) / 1000;
      this.#made += second - this.#last.second;
    }
    this.#last = { now, second };
  }

  get rtf() {
    return this.#made > 0.2 ? this.#took / this.#made : null;
  }
}
