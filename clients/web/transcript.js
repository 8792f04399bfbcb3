// The text of a reply, word by word as it is heard.

export class Transcript {
  #element;
  #tail; // text that no timing has come for yet
  #cursor = 0; // code points that have their place
  #chars = [];
  #spans = [];
  #now = -1;
  #skipped = [];

  constructor(element, idle) {
    this.#element = element;
    element.textContent = idle;
  }

  clear() {
    this.#tail = document.createTextNode("");
    this.#element.replaceChildren(this.#tail);
    [this.#cursor, this.#chars, this.#spans, this.#now] = [0, [], [], -1];
  }

  /** All of the text so far. */
  text(text) {
    this.#chars = [...text];
    this.#tail.data = this.#chars.slice(this.#cursor).join("");
  }

  /** All words whose time is known so far; the first ones may be placed already. */
  words(words, skipped) {
    this.#skipped = skipped;
    for (const { start, end } of words.slice(this.#spans.length)) {
      this.#plain(start);
      const span = Object.assign(document.createElement("span"), { className: "word", textContent: this.#chars.slice(this.#cursor, end).join("") });
      this.#tail.before(span);
      this.#spans.push(span);
      this.#cursor = Math.max(this.#cursor, end);
    }
    this.#tail.data = this.#chars.slice(this.#cursor).join("");
  }

  /** The word with this index is being heard; `current`: mark it. */
  mark(index, { current = true } = {}) {
    this.#spans[this.#now]?.classList.remove("now");
    for (; this.#now < index; this.#now++) this.#spans[this.#now + 1]?.classList.add("said");
    const span = this.#spans[index];
    if (!span) return;
    span.classList.toggle("now", current);
    if (current) this.#keepInView(span);
  }

  /** Only so much was heard, in code points. */
  heard(chars) {
    let at = 0;
    for (const node of this.#element.childNodes) {
      if (at >= chars && node.classList) node.classList.remove("said", "now");
      at += [...node.textContent].length;
    }
  }

  // What lies between words: spaces, and what is not spoken.
  #plain(until) {
    while (this.#cursor < until) {
      const skip = this.#skipped.find(({ start, end }) => start <= this.#cursor && this.#cursor < end);
      const next = Math.min(until, skip?.end ?? Math.min(...this.#skipped.filter(({ start }) => start > this.#cursor).map(({ start }) => start), until));
      const text = this.#chars.slice(this.#cursor, next).join("");
      this.#tail.before(skip ? Object.assign(document.createElement("span"), { className: "skipped", textContent: text, title: `Not spoken: ${skip.reason}` }) : text);
      this.#cursor = next;
    }
  }

  #keepInView(span) {
    const box = this.#element;
    const below = span.offsetTop + span.offsetHeight - box.offsetTop - box.scrollTop - box.clientHeight;
    if (below > -span.offsetHeight / 2) box.scrollTo({ top: span.offsetTop - box.offsetTop - box.clientHeight / 3, behavior: "smooth" });
  }
}
