/**
 * The native protocol (docs/protocol.md) over one WebSocket that comes back when it is lost.
 *
 *   const client = new Client({ url: "wss://host/v1/stream", key: "" });
 *   await client.connect();
 *   const context = client.context({ voice: "hibari" }, { onopened, onsegment, ontiming, onaudio, onerror, onended, onlost });
 *   context.send("Hello ");
 *   context.end();
 *
 * Handlers get the server's messages as they are; `onaudio` gets {sequence, firstSample, last, payload}. `onended` or
 * `onlost` is a context's last. The client itself dispatches "statechange".
 */

const HEADER_BYTES = 16;
const FLAG_LAST = 2;
const NORMAL = 1000;
const RETRY_MS = [250, 5000]; // first wait, longest wait

export class Client extends EventTarget {
  #socket = null;
  #contexts = new Map(); // by name
  #numbers = new Map(); // the same by the number in packets
  #names = 0;
  #failures = 0;
  #timer = null;
  #wanted = false;

  constructor({ url, key = "" }) {
    super();
    this.url = url;
    this.key = key;
    /** "idle", "connecting", "open" or "waiting" (to try again). */
    this.state = "idle";
    /** The server's hello, of the last connection. */
    this.hello = null;
    /** Why the last connection ended: {code, reason}. */
    this.closed = null;
  }

  /** Resolves once there is a connection. Rejects if this try fails; it is tried again all the same. */
  async connect() {
    this.#wanted = true;
    if (this.state === "open") return;
    if (this.state !== "connecting") this.#open();
    await new Promise((resolve, reject) => {
      const settle = () => {
        if (this.state === "connecting") return;
        this.removeEventListener("statechange", settle);
        if (this.state === "open") resolve();
        else reject(new Error("The server cannot be reached, or does not let this page in."));
      };
      this.addEventListener("statechange", settle);
    });
  }

  /** Leave, and do not come back. */
  close() {
    this.#wanted = false;
    clearTimeout(this.#timer);
    if (this.#socket) {
      this.#socket.onclose = this.#socket.onmessage = null;
      this.#socket.close(NORMAL);
    }
    this.#lost({ code: NORMAL, reason: "" });
  }

  /** A new context; its `open` is sent now. `options` are the fields of `open`. */
  context(options, handlers) {
    if (this.state !== "open") throw new Error("There is no connection to the server.");
    const context = new Context(`c${++this.#names}`, handlers, (message) => this.#send(message));
    this.#contexts.set(context.name, context);
    this.#send({ type: "open", context: context.name, ...options });
    return context;
  }

  #send(message) {
    if (this.state === "open") this.#socket.send(JSON.stringify(message));
  }

  #open() {
    clearTimeout(this.#timer);
    const socket = new WebSocket(this.url, ["firstword.v1", ...(this.key ? [`firstword.key.${this.key}`] : [])]);
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => (typeof data === "string" ? this.#message(JSON.parse(data)) : this.#audio(data));
    socket.onclose = (event) => this.#lost(event);
    this.#socket = socket;
    this.#become("connecting");
  }

  #become(state) {
    this.state = state;
    this.dispatchEvent(new Event("statechange"));
  }

  #message(message) {
    if (message.type === "hello") return this.#greeted(message);
    const context = this.#contexts.get(message.context);
    if (!context) return;
    if (message.type === "opened") this.#numbers.set((context.number = message.number), context);
    const refused = message.type === "error" && context.number === null;
    if (message.type === "ended" || refused) this.#forget(context);
    context.handle(message);
  }

  #greeted(hello) {
    this.hello = hello;
    this.#failures = 0;
    this.#become("open");
  }

  #audio(frame) {
    const view = new DataView(frame);
    const context = this.#numbers.get(view.getUint16(2));
    context?.handle({
      type: "audio",
      last: (view.getUint8(1) & FLAG_LAST) !== 0,
      sequence: view.getUint32(4),
      firstSample: Number(view.getBigUint64(8)),
      payload: frame.slice(HEADER_BYTES),
    });
  }

  #forget(context) {
    this.#contexts.delete(context.name);
    this.#numbers.delete(context.number);
  }

  #lost({ code, reason }) {
    const contexts = [...this.#contexts.values()];
    this.#contexts.clear();
    this.#numbers.clear();
    this.#socket = null;
    this.closed = { code, reason };
    for (const context of contexts) context.handle({ type: "lost", code, reason });
    if (!this.#wanted || code === NORMAL) return this.#become("idle");
    const wait = Math.min(RETRY_MS[1], RETRY_MS[0] * 2 ** this.#failures++) * (0.75 + Math.random() / 2);
    this.#timer = setTimeout(() => this.#open(), wait);
    this.#become("waiting");
  }
}

/** One reply being spoken. Made by `Client.context`. */
class Context {
  #handlers;
  #send;

  constructor(name, handlers, send) {
    this.name = name;
    this.number = null;
    this.#handlers = handlers;
    this.#send = send;
  }

  /** Append text, cut anywhere. */
  send(text) {
    this.#send({ type: "text", context: this.name, text });
  }

  /** Speak what was sent without waiting for more. */
  flush() {
    this.#send({ type: "flush", context: this.name });
  }

  /** No more text comes. */
  end() {
    this.#send({ type: "end", context: this.name });
  }

  /** Stop; `ended` says what was heard of what was played. */
  cancel(playedMs) {
    this.#send({ type: "cancel", context: this.name, played_ms: playedMs });
  }

  /** So much audio waits here. */
  credit(bufferedMs) {
    this.#send({ type: "credit", context: this.name, buffered_ms: bufferedMs });
  }

  /** For the client: a message of this context. */
  handle(message) {
    this.#handlers[`on${message.type}`]?.(message);
  }
}
