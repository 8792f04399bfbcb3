// The signal as bars that pass a playhead: to the left what was heard, to the right what waits.

const BAR_S = 0.04;
const BAR_PX = 3;
const GAP_PX = 2.5;
const HEAD = 0.36; // where the playhead stands

export class Scope {
  #canvas;
  #peaks = [];
  #filled = 0; // samples in the last peak
  #colors = {};

  constructor(canvas) {
    this.#canvas = canvas;
    this.#readColors();
  }

  clear() {
    this.#peaks = [];
    this.#filled = 0;
  }

  /** Samples at `rate` that will be heard next. */
  push(samples, rate) {
    const perBar = Math.round(BAR_S * rate);
    for (const sample of samples) {
      if (this.#filled === 0) this.#peaks.push(0);
      const last = this.#peaks.length - 1;
      if (Math.abs(sample) > this.#peaks[last]) this.#peaks[last] = Math.abs(sample);
      this.#filled = (this.#filled + 1) % perBar;
    }
  }

  /** Draw with `second` of the signal at the playhead. */
  draw(second, { stopped = false } = {}) {
    const { context, width, height } = surface(this.#canvas);
    const pitch = BAR_PX + GAP_PX;
    const head = Math.round(width * HEAD);
    const now = second / BAR_S;
    const first = Math.floor(now - head / pitch) - 1;
    const count = Math.ceil(width / pitch) + 2;
    for (let bar = first; bar < first + count; bar++) {
      const x = head + (bar - now) * pitch;
      const size = Math.max(BAR_PX, Math.min(1, 1.3 * (this.#peaks[bar] ?? 0) ** 0.6) * (height - 2));
      context.fillStyle = this.#color(bar, now, stopped);
      context.beginPath();
      context.roundRect(x, (height - size) / 2, BAR_PX, size, BAR_PX / 2);
      context.fill();
    }
    this.#edges(context, width, height);
    if (this.#peaks.length) this.#playhead(context, head - GAP_PX / 2, height);
  }

  /** After the theme changed. */
  recolor() {
    this.#readColors();
  }

  #color(bar, now, stopped) {
    if (!(bar in this.#peaks)) return this.#colors.line;
    if (bar < now) return this.#colors.accent;
    return stopped ? this.#colors.line : this.#colors.faint;
  }

  #playhead(context, x, height) {
    context.fillStyle = this.#colors.ink;
    context.globalAlpha = 0.55;
    context.fillRect(x - 0.5, 0, 1, height);
    context.globalAlpha = 1;
  }

  // The bars come out of the paper and go back into it.
  #edges(context, width, height) {
    const fade = context.createLinearGradient(0, 0, width, 0);
    for (const [at, alpha] of [[0, 1], [0.12, 0], [0.84, 0], [1, 1]]) fade.addColorStop(at, `rgb(0 0 0 / ${alpha})`);
    context.globalCompositeOperation = "destination-out";
    context.fillStyle = fade;
    context.fillRect(0, 0, width, height);
    context.globalCompositeOperation = "source-over";
  }

  #readColors() {
    this.#colors = colors(this.#canvas, ["accent", "faint", "line", "ink"]);
  }
}

/** The canvas's drawing context, cleared and scaled to CSS pixels. */
export function surface(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = globalThis.devicePixelRatio;
  const size = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/** Custom properties of the page as colours that a canvas takes. */
export function colors(element, names) {
  const probe = document.createElement("i");
  element.parentElement.append(probe);
  const entries = names.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(entries);
}
