// The text box: spoken at once, word by word, or while it is being typed.

import { feed, TypedText } from "./writing.js";

const PAUSE_MS = 700; // after so long without a key, the last word is a word
const LEAVE_MS = 8000; // and after so long the reply is over

export class WritePanel {
  #elements;
  #settings;
  #speaker;
  #reply = null; // what is being typed into
  #opening = null;
  #typed = null;
  #timers = [];

  constructor({ form, text, modes, pace, paceBox, paceValue }, settings, speaker) {
    this.#elements = { form, text, modes, pace, paceBox, paceValue };
    this.#settings = settings;
    this.#speaker = speaker;
    form.addEventListener("submit", (event) => this.#submit(event));
    text.addEventListener("input", () => this.#mode === "typing" && speaker.attempt(() => this.#type()));
    text.addEventListener("keydown", (event) => this.#key(event));
    for (const mode of modes) mode.addEventListener("change", () => this.#modeChanged());
    pace.addEventListener("input", () => this.#paceChanged());
    for (const mode of modes) mode.checked = mode.value === settings.values.mode;
    pace.value = settings.values.pace;
    this.#modeChanged();
    this.#paceChanged();
  }

  get #mode() {
    return [...this.#elements.modes].find((mode) => mode.checked)?.value ?? "words";
  }

  #submit(event) {
    event.preventDefault();
    if (this.#mode === "typing") this.#speaker.attempt(() => this.#close());
    else this.#speaker.attempt(() => this.#speak());
  }

  async #speak() {
    const text = this.#elements.text.value;
    if (!text.trim()) throw new Error("There is nothing to speak yet.");
    const reply = await this.#speaker.begin();
    await feed(reply, text, this.#mode === "once" ? Infinity : Number(this.#elements.pace.value));
  }

  async #type() {
    this.#timers.forEach(clearTimeout);
    if (this.#reply?.over) this.#forget();
    if (!this.#opening) {
      this.#typed = new TypedText();
      this.#opening = this.#speaker.begin();
      this.#opening.catch(() => this.#forget());
    }
    const reply = (this.#reply = await this.#opening);
    reply.write(this.#typed?.take(this.#elements.text.value));
    this.#timers = [setTimeout(() => this.#pause(reply), PAUSE_MS), setTimeout(() => reply === this.#reply && this.#close(), LEAVE_MS)];
  }

  #pause(reply) {
    if (reply !== this.#reply || reply.over) return;
    reply.write(this.#typed.take(this.#elements.text.value, { all: true }));
    reply.flush();
  }

  async #close() {
    this.#timers.forEach(clearTimeout);
    const reply = this.#opening ? await this.#opening : null;
    if (!reply) return;
    reply.write(this.#typed.take(this.#elements.text.value, { all: true }));
    reply.finish();
    this.#elements.text.value = "";
    this.#forget();
  }

  #forget() {
    [this.#reply, this.#opening, this.#typed] = [null, null, null];
  }

  #key(event) {
    if (event.key !== "Enter" || event.isComposing) return;
    const submits = event.ctrlKey || event.metaKey || (this.#mode === "typing" && !event.shiftKey);
    if (!submits) return;
    event.preventDefault();
    this.#elements.form.requestSubmit();
  }

  #modeChanged() {
    const typing = this.#mode === "typing";
    this.#elements.paceBox.hidden = this.#mode !== "words";
    this.#elements.text.placeholder = typing ? "Type, and hear it. Enter ends the reply." : "Write or paste a text";
    if (typing) {
      this.#elements.text.value = "";
      this.#elements.text.focus();
    }
    this.#settings.set({ mode: this.#mode });
  }

  #paceChanged() {
    this.#elements.paceValue.textContent = `${this.#elements.pace.value} words/s`;
    this.#settings.set({ pace: this.#elements.pace.value });
  }
}
