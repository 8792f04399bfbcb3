// One reply at a time: whoever begins one interrupts the other.

import { Reply } from "./reply.js";

export class Speaker extends EventTarget {
  #client;
  #player;
  #settings;
  #reply = null;
  #begun = 0;

  constructor(client, player, settings) {
    super();
    this.#client = client;
    this.#player = player;
    this.#settings = settings;
  }

  /** A new reply, in place of the one before. Call it in a click or key press. */
  async begin() {
    this.stop();
    const turn = ++this.#begun;
    await Promise.all([this.#player.unlock(), this.#client.connect()]);
    if (turn !== this.#begun) throw new DOMException("Another reply began.", "AbortError");
    this.#reply = new Reply(this.#client, this.#player, this.#settings.options);
    this.dispatchEvent(new CustomEvent("reply", { detail: this.#reply }));
    return this.#reply;
  }

  /** Silence. */
  stop() {
    this.#begun++;
    this.#reply?.stop();
  }

  /** Run what a user asked for, and tell them if it fails. */
  async attempt(action) {
    try {
      await action();
    } catch (error) {
      if (error.name !== "AbortError") this.dispatchEvent(new CustomEvent("failure", { detail: error.message }));
    }
  }
}
