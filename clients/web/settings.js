// What the user chose, kept in this browser: keys until the tab closes, the rest for good.

const NAME = "firstword";
const SECRET = ["key", "modelKey"];
const DEFAULTS = {
  voice: "", speed: "1", language: "", seed: "0", decoder: "auto", buffer: "60,300", key: "", mode: "words", pace: "20", theme: "",
  provider: "echo", endpoint: "http://localhost:11434/v1", model: "llama3.2", modelKey: "",
};

export class Settings extends EventTarget {
  #values = { ...DEFAULTS, ...read(localStorage), ...read(sessionStorage) };

  get values() {
    return { ...this.#values };
  }

  /** Change some; dispatches "change" with their names in `detail` if any differs. */
  set(changes) {
    const names = Object.keys(changes).filter((name) => changes[name] !== this.#values[name]);
    if (!names.length) return;
    Object.assign(this.#values, changes);
    write(localStorage, this.#values, (name) => !SECRET.includes(name));
    write(sessionStorage, this.#values, (name) => SECRET.includes(name));
    this.dispatchEvent(new CustomEvent("change", { detail: names }));
  }

  /** Tie form fields to the values of their names. */
  bind(...fields) {
    for (const field of fields) {
      const name = field.name || field.id;
      field.value = this.#values[name];
      field.addEventListener("change", () => this.set({ [name]: field.value }));
    }
  }

  /** The fields of `open`. */
  get options() {
    const { voice, speed, language, seed } = this.#values;
    return { voice: voice || null, speed: Number(speed), language: language || null, seed: Number(seed) || 0 };
  }
}

/** The bounds of the start buffer that a value of `buffer` means, in ms. */
export function startBounds(buffer) {
  return buffer.split(",").map(Number);
}

function read(storage) {
  try {
    return JSON.parse(storage.getItem(NAME)) ?? {};
  } catch {
    return {};
  }
}

function write(storage, values, chosen) {
  const kept = Object.fromEntries(Object.entries(values).filter(([name]) => chosen(name)));
  try {
    storage.setItem(NAME, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing: the values live as long as the page.
  }
}
