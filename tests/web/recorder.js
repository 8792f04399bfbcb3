// Test side: everything a track hands to the loudspeaker, one recording for each track, in `window.recordings`.
// A recording is {frames: context frame of its first sample, parts: [Float32Array]}.

(() => {
  const SOURCE = `registerProcessor("recorder", class extends AudioWorkletProcessor {
    #part = []; #start = 0;
    process([[input]]) {
      if (!this.#part.length) this.#start = currentFrame;
      this.#part.push(...(input ?? new Float32Array(128)));
      if (this.#part.length >= 1024) {
        this.port.postMessage({ frame: this.#start, samples: Float32Array.from(this.#part) });
        this.#part = [];
      }
      return true;
    }
  });`;
  window.recordings = [];
  const Real = window.AudioContext;
  if (!Real || !window.AudioWorkletNode) return;
  window.AudioContext = class extends Real {
    constructor(options) {
      super(options);
      window.soundContext = this;
      const add = this.audioWorklet.addModule.bind(this.audioWorklet);
      this.audioWorklet.addModule = async (url) => {
        await add(URL.createObjectURL(new Blob([SOURCE], { type: "text/javascript" })));
        await add(url);
      };
    }
  };
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (target, ...rest) {
    if (target instanceof AudioDestinationNode) {
      const recorder = new AudioWorkletNode(this.context, "recorder");
      const recording = { frame: null, parts: [] };
      recorder.port.onmessage = ({ data }) => {
        recording.frame ??= data.frame;
        recording.parts.push(data.samples);
      };
      window.recordings.push(recording);
      connect.call(recorder, target); // it is silent; without an end nothing would pull it
      connect.call(this, recorder);
    }
    return connect.call(this, target, ...rest);
  };
})();
