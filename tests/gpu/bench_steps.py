"""Milliseconds a step on a card, eager and as a graph: `python -m tests.gpu.bench_steps`."""

import argparse
import json
import statistics
import time
from pathlib import Path

import torch

from streaming.chattts import weights
from streaming.chattts.model import TorchGpt
from streaming.chattts.prompt import Embedder, Prompt
from streaming.chattts.runner import Job
from streaming.chattts.sampling import Sampling
from streaming.chattts.torch_runner import TorchRunner

STEPS = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", default="random:0")
    parser.add_argument("--json")
    options = parser.parse_args()
    assets = weights.load(options.weights)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; milliseconds a step: median (p95)\n")
    result = {}
    for dtype in (torch.float32, torch.bfloat16):
        for slots in (1, 8, 32):
            for graphs in (False, True):
                times = sorted(_steps(assets, dtype, slots, graphs=graphs))
                name = f"{dtype} slots {slots} {'graph' if graphs else 'eager'}".removeprefix("torch.")
                result[name] = {"median": statistics.median(times), "p95": times[int(0.95 * len(times))]}
                print(f"{name:30}{result[name]['median']:8.2f} ({result[name]['p95']:.2f})", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=2) + "\n")


def _steps(assets: weights.Assets, dtype: torch.dtype, slots: int, *, graphs: bool) -> list[float]:
    with torch.inference_mode():
        gpt = TorchGpt(assets, slots, 1025, dtype, torch.device("cuda"))
    runner = TorchRunner(gpt, Embedder(assets.embed, assets.config), graphs=graphs)
    sampling = Sampling(min_tokens=STEPS + 10)
    for slot in range(slots):
        runner.start(slot, Job(Prompt([21_143] * 40, 21_143), sampling, slot, STEPS + 10))
    while not all(runner.prefilled(slot) for slot in range(slots)):
        runner.step([slot for slot in range(slots) if not runner.prefilled(slot)])
    times = []
    for _ in range(STEPS):
        start = time.perf_counter()
        runner.step(range(slots))
        times.append(1e3 * (time.perf_counter() - start))
    torch.cuda.synchronize()
    return times[10:]


if __name__ == "__main__":
    main()
