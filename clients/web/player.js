// Plays float samples as they arrive. `onstate` hears {buffered, played, underruns, done} in samples.

export class Player {
  static async create(sampleRate, onstate) {
    const context = new AudioContext({ sampleRate, latencyHint: "interactive" });
    await context.audioWorklet.addModule(new URL("worklet.js", import.meta.url));
    await context.resume();
    return new Player(context, onstate);
  }

  constructor(context, onstate) {
    this.context = context;
    this.node = new AudioWorkletNode(context, "firstword-player", { numberOfInputs: 0, outputChannelCount: [1] });
    this.node.port.onmessage = ({ data }) => onstate(data);
    this.node.connect(context.destination);
  }

  push(samples) {
    this.node.port.postMessage({ verb: "push", samples }, [samples.buffer]);
  }

  end() {
    this.node.port.postMessage({ verb: "end" });
  }

  clear() {
    this.node.port.postMessage({ verb: "clear" });
  }
}
