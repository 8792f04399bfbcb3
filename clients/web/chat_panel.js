// A conversation whose answers are spoken as they are written. Typing, or stopping, interrupts the model and the voice.

import { answer } from "./chat_models.js";

const SYSTEM = "You are speaking aloud. Answer in short spoken sentences, without lists or markup.";

export class ChatPanel {
  #elements;
  #settings;
  #speaker;
  #history = [];
  #writing = null; // the AbortController of the answer that is being written

  constructor({ form, input, messages }, settings, speaker) {
    this.#elements = { form, input, messages };
    this.#settings = settings;
    this.#speaker = speaker;
    form.addEventListener("submit", (event) => this.#submit(event));
    input.addEventListener("input", () => this.interrupt());
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
  }

  /** Stop the model and the voice. */
  interrupt() {
    this.#writing?.abort();
    this.#writing = null;
    this.#speaker.stop();
  }

  #submit(event) {
    event.preventDefault();
    const content = this.#elements.input.value.trim();
    if (!content) return;
    this.#elements.input.value = "";
    this.interrupt();
    this.#add("user", content);
    this.#history.push({ role: "user", content });
    this.#speaker.attempt(() => this.#answer());
  }

  async #answer() {
    const writing = (this.#writing = new AbortController());
    const reply = await this.#speaker.begin();
    const message = { role: "assistant", content: "" };
    const item = this.#add("assistant", "…");
    this.#history.push(message);
    reply.addEventListener("change", () => this.#heard(reply, message, item, writing));
    try {
      for await (const token of answer(this.#settings.values, [{ role: "system", content: SYSTEM }, ...this.#history.slice(0, -1)], writing.signal)) {
        if (reply.over) break;
        reply.write(token);
        message.content = item.textContent = reply.text;
        this.#elements.messages.scrollTop = this.#elements.messages.scrollHeight;
      }
      reply.finish();
    } catch (error) {
      if (error.name !== "AbortError") reply.fail(error.message);
    }
  }

  // The model is to remember what was heard, not what it wrote.
  #heard(reply, message, item, writing) {
    if (!reply.over) return;
    writing.abort();
    const chars = [...reply.text];
    message.content = chars.slice(0, reply.heardChars).join("");
    const unheard = Object.assign(document.createElement("span"), { className: "unheard", textContent: chars.slice(reply.heardChars).join("") });
    item.replaceChildren(message.content, unheard);
  }

  #add(role, text) {
    const item = Object.assign(document.createElement("li"), { className: role, textContent: text });
    this.#elements.messages.append(item);
    this.#elements.messages.scrollTop = this.#elements.messages.scrollHeight;
    return item;
  }
}
