// The native protocol over one WebSocket. `onmessage` hears control messages, `onaudio` packets.

const HEADER_BYTES = 16;

export class Client {
  static connect(key, handlers) {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const protocols = ["firstword.v1", ...(key ? [`firstword.key.${key}`] : [])];
    const socket = new WebSocket(`${scheme}://${location.host}/v1/stream`, protocols);
    socket.binaryType = "arraybuffer";
    return new Promise((resolve, reject) => {
      socket.onopen = () => resolve(new Client(socket, handlers));
      socket.onerror = () => reject(new Error(key ? "The server refused the key or is not there." : "The server is not there, or asks for a key."));
    });
  }

  constructor(socket, { onmessage, onaudio, onclose }) {
    this.socket = socket;
    socket.onmessage = ({ data }) => (typeof data === "string" ? onmessage(JSON.parse(data)) : onaudio(parsePacket(data)));
    socket.onclose = (event) => onclose(event);
    socket.onerror = null;
  }

  get open() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  send(type, context, fields = {}) {
    this.socket.send(JSON.stringify({ type, context, ...fields }));
  }
}

function parsePacket(frame) {
  const view = new DataView(frame);
  return { number: view.getUint16(2), sequence: view.getUint32(4), payload: frame.slice(HEADER_BYTES) };
}
