// What is being spoken: the signal, the words, the figures, and what to do about it.

import { LevelChart } from "./level_chart.js";
import { Scope } from "./scope.js";
import { Transcript } from "./transcript.js";

const IDLE = "What you write is spoken here,\nand each word lights up as it is heard.";

export class Stage {
  #scope;
  #level;
  #transcript;
  #elements;
  #player;
  #reply = null;
  #underruns = 0;
  #frame = null;

  constructor(player, elements, onstop) {
    this.#player = player;
    this.#elements = elements;
    this.#scope = new Scope(elements.wave);
    this.#level = new LevelChart(elements.level);
    this.#transcript = new Transcript(elements.transcript, IDLE);
    elements.stop.addEventListener("click", onstop);
    elements.save.addEventListener("click", () => this.#save());
    new ResizeObserver(() => this.#draw()).observe(elements.wave);
  }

  /** From now on, this reply. */
  show(reply) {
    this.#reply = reply;
    this.#underruns = 0;
    this.#scope.clear();
    this.#level.clear();
    this.#transcript.clear();
    this.#figures({ ttfa: "–", "ttfa-note": "", buffered: "–", underruns: "0", "underruns-note": "", rtf: "–", "rtf-note": "" });
    this.tell("");
    const ours = (action) => (event) => reply === this.#reply && action(event);
    reply.addEventListener("text", ours(() => this.#transcript.text(reply.text)));
    reply.addEventListener("words", ours(() => this.#transcript.words(reply.words, reply.skipped)));
    reply.addEventListener("samples", ours(({ detail }) => this.#scope.push(detail, this.#player.context.sampleRate)));
    reply.addEventListener("change", ours(() => this.#changed()));
    this.#changed();
    cancelAnimationFrame(this.#frame);
    this.#animate();
  }

  /** A sentence for people. */
  tell(text, { error = false } = {}) {
    this.#elements.status.textContent = text;
    this.#elements.status.classList.toggle("error", error);
  }

  /** After the theme changed. */
  recolor() {
    this.#scope.recolor();
    this.#level.recolor();
    this.#draw();
  }

  #animate() {
    this.#update();
    if (!this.#reply.over) this.#frame = requestAnimationFrame(() => this.#animate());
  }

  #update() {
    const reply = this.#reply;
    this.#draw();
    this.#transcript.mark(reply.word, { current: !reply.over });
    this.#figures({
      ttfa: reply.ttfaMs === null ? "–" : `${Math.round(reply.ttfaMs)} ms`,
      "ttfa-note": reply.startMs === null ? "" : `+ ${Math.round(reply.startMs)} ms buffer`,
      buffered: reply.over ? "–" : `${(reply.bufferedMs / 1000).toFixed(1)} s`,
      underruns: String(reply.underruns),
      rtf: reply.rtf === null ? "–" : reply.rtf.toFixed(2),
      "rtf-note": reply.rtf === null ? "" : `${Math.round(1 / Math.max(reply.rtf, 0.001))}× real time`,
    });
    if (!reply.over) this.#level.add(performance.now() / 1000, reply.bufferedMs, reply.underruns > this.#underruns);
    this.#underruns = reply.underruns;
  }

  #draw() {
    this.#scope.draw(this.#reply ? this.#reply.heard / this.#reply.rate : 0, { stopped: this.#reply?.over });
  }

  #changed() {
    const reply = this.#reply;
    this.#elements.stop.disabled = reply.over;
    this.#elements.save.hidden = !reply.audible;
    if (!reply.over) return reply.error ? this.tell(reply.error, { error: true }) : undefined;
    this.#update();
    this.#transcript.heard(reply.heardChars);
    this.#conclude(reply);
  }

  #conclude(reply) {
    const heard = reply.heardText.trim();
    const seconds = (reply.heard / reply.rate).toFixed(1);
    if (reply.state === "failed") return this.tell(`${reply.error ?? "It could not be spoken."}${heard ? ` You heard: “${ending(heard)}”` : ""}`, { error: true });
    if (reply.state === "stopped") return this.tell(heard ? `Stopped. You heard: “${ending(heard)}”` : "Stopped before the first word.");
    this.tell(reply.error ?? `Spoken, ${seconds} seconds.`, { error: reply.error !== null });
  }

  #figures(values) {
    for (const [name, value] of Object.entries(values)) {
      const element = this.#elements[name];
      if (element.textContent !== value) element.textContent = value;
    }
  }

  async #save() {
    const url = URL.createObjectURL(await this.#reply.wav());
    Object.assign(document.createElement("a"), { href: url, download: "firstword.wav" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }
}

// The last words: enough to know the place.
function ending(text) {
  const chars = [...text];
  return chars.length > 60 ? `… ${chars.slice(-58).join("").replace(/^\S*\s+/, "")}` : text;
}
