// How much audio to gather before playing: as little as the network allows, learned from how late packets were.

const MARGIN_MS = 20;
const AFTER_UNDERRUN_MS = 80;
const FORGET = 0.7; // a clean stretch of speech takes the buffer this far back towards what it needed

export class StartBuffer {
  #needed = 0; // the most that a packet of this stretch was late
  #begin = null; // {at, media} of its first packet

  constructor([least, most] = [60, 300]) {
    this.least = least;
    this.most = most;
    this.ms = least;
  }

  /** Other bounds from now on. */
  keep([least, most]) {
    [this.least, this.most] = [least, most];
    this.#set(this.ms);
  }

  /** A packet whose audio begins at `mediaMs` came at `atMs`. */
  arrived(mediaMs, atMs) {
    this.#begin ??= { at: atMs, media: mediaMs };
    this.#needed = Math.max(this.#needed, atMs - this.#begin.at - (mediaMs - this.#begin.media));
  }

  /** A stretch of speech begins or is over: between two, packets are late because there was no text. */
  stretch() {
    if (this.#begin) {
      const wanted = this.#needed ? this.#needed * 1.25 + MARGIN_MS : 0;
      this.#set(Math.max(wanted, this.ms * FORGET));
    }
    this.#begin = null;
    this.#needed = 0;
  }

  /** It was too little. */
  ranDry() {
    this.#set(this.ms + AFTER_UNDERRUN_MS);
  }

  #set(ms) {
    this.ms = Math.min(this.most, Math.max(this.least, ms));
  }
}
