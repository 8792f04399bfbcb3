// The ways a text reaches the server: at a speed, or as it is typed.

const CJK = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}";
const PIECE = new RegExp(`\\s*[${CJK}]{1,2}[^\\s\\p{L}\\p{N}]*|\\s*[^\\s${CJK}]+\\s*$|\\s*[^\\s${CJK}]+|\\s+$`, "gu");

/** The text cut as language models cut it: words with the space before them, Chinese by two. */
export function pieces(text) {
  return text.match(PIECE) ?? [];
}

/** Write `text` into `reply`, so many words a second (Infinity: at once), until it is over. */
export async function feed(reply, text, wordsPerSecond) {
  if (wordsPerSecond === Infinity) {
    reply.write(text);
  } else {
    const begun = performance.now();
    for (const [n, piece] of pieces(text).entries()) {
      await until(begun + (1000 * n) / wordsPerSecond);
      if (reply.over) return;
      reply.write(piece);
    }
  }
  reply.finish();
}

async function until(time) {
  const ms = time - performance.now();
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}

const SETTLED = new RegExp(`^.*(?:\\s|[${CJK}]|[^\\s\\p{L}\\p{N}'’-](?=\\s|$))`, "su");

/** A text that is being typed: which of it to speak, since it will not change any more. */
export class TypedText {
  #value = "";
  #spoken = 0; // UTF-16 units of the value

  /** What to speak now that the box holds `value`: whole words. `all`: the last one too. */
  take(value, { all = false } = {}) {
    this.#edited(value);
    const settled = all ? value : (value.match(SETTLED)?.[0] ?? "");
    const delta = settled.slice(this.#spoken);
    this.#spoken = Math.max(this.#spoken, settled.length);
    return delta;
  }

  // What was spoken can't be unsaid. A correction at its end is spoken, one further in is not.
  #edited(value) {
    const old = this.#value;
    const same = sharedStart(old, value);
    const appended = sharedStart(reversed(old.slice(same)), reversed(value.slice(same))) === 0;
    if (same < this.#spoken) this.#spoken = appended ? same : Math.max(same, this.#spoken + value.length - old.length);
    this.#value = value;
  }
}

function sharedStart(a, b) {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  return same;
}

function reversed(text) {
  return text.split("").reverse().join("");
}
