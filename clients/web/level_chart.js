// The buffer's level over the last seconds, with a mark where it ran dry.

import { colors, surface } from "./scope.js";

const SPAN_S = 15;
const STEP_S = 0.1;

export class LevelChart {
  #canvas;
  #points = []; // {at, ms, dry}
  #colors;

  constructor(canvas) {
    this.#canvas = canvas;
    this.recolor();
  }

  clear() {
    this.#points = [];
  }

  /** The level now, and whether it ran dry since the last one. `at` in seconds. */
  add(at, ms, dry) {
    const last = this.#points.at(-1);
    if (last && at - last.at < STEP_S && !dry) return;
    this.#points.push({ at, ms, dry });
    while (this.#points[0].at < at - SPAN_S) this.#points.shift();
    this.#draw(at);
  }

  recolor() {
    this.#colors = colors(this.#canvas, ["accent", "glow", "alarm"]);
  }

  #draw(now) {
    const { context, width, height } = surface(this.#canvas);
    const most = Math.max(1000, ...this.#points.map((point) => point.ms));
    const x = (at) => width - ((now - at) / SPAN_S) * width;
    const y = (ms) => height - 1 - (ms / most) * (height - 2);
    const line = new Path2D();
    for (const { at, ms } of this.#points) line.lineTo(x(at), y(ms));
    const area = new Path2D(line);
    area.lineTo(width, height);
    area.lineTo(x(this.#points[0].at), height);
    context.fillStyle = this.#colors.glow;
    context.fill(area);
    context.strokeStyle = this.#colors.accent;
    context.lineWidth = 1.5;
    context.stroke(line);
    context.fillStyle = this.#colors.alarm;
    for (const { at, dry } of this.#points) if (dry) context.fillRect(x(at) - 1, 0, 2, height);
  }
}
