"""Codec tokens per second: `python -m tests.bench.gpt --upstream --json out.json`.

Every contender is a process of its own with one thread, all on the same full-size random weights, and they take
turns so that whatever else the machine does falls on all of them. A step is everything from one codec token to the
next: embedding, transformer, heads, sampling. Upstream's is timed inside its own `generate`.
"""

import argparse
import gc
import itertools
import json
import logging
import multiprocessing
import os
import platform
import statistics
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from streaming.chattts import layout, speaker, synthetic, weights
from streaming.chattts.cpu_model import CpuGpt
from streaming.chattts.options import PIECE, Precision
from streaming.chattts.prompt import Embedder, Prompt
from streaming.chattts.runner import CpuRunner, Job
from streaming.chattts.sampling import Sampling
from streaming.chattts.tokenizer import Tokenizer
from streaming.chattts.vocoder import Vocoder
from streaming.memory import give_back
from tests.bench.upstream import load_chat

CONTEXT = 170
STEPS = 20
"""Half of them before the context is reached, half after."""
PREFILL = 40
BATCHES = (1, 4, 8)
LONG = 2000
TARGETS = {"int8": 4.0, "bf16": 2.0, "fp32": 1.0}

Times = dict[str, list[float]]
Source = tuple[str, dict[str, str]]


def main() -> None:
    options = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        config = layout.TINY if options.tiny else layout.ModelConfig()
        source = (folder, synthetic.write(Path(folder), config, 0))
        result = _compare(source, options)
    _show(result)
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--upstream", action="store_true", help="run upstream too (needs the group `parity`)")
    parser.add_argument("--precision", nargs="+", default=list(Precision), help="default: all")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-memory", action="store_true", help="leave out the memory runs")
    parser.add_argument("--tiny", action="store_true", help="tiny weights: does the benchmark run?")
    parser.add_argument("--json")
    options = parser.parse_args()
    if options.tiny and options.upstream:
        parser.error("upstream's sizes are fixed in its code: leave out --tiny or --upstream")
    return options


def _compare(source: Source, options: argparse.Namespace) -> dict[str, Any]:
    names = [*options.precision, *(["upstream"] if options.upstream else [])]
    contenders = {name: _Contender(name, source) for name in names}
    samples: dict[str, Times] = {name: {} for name in names}
    for _ in range(options.rounds):
        for name, contender in contenders.items():
            for key, values in contender.ask("measure").items():
                samples[name].setdefault(key, []).extend(values)
    for contender in contenders.values():
        contender.end()
    result = {name: _figures(times) for name, times in samples.items()}
    if not options.no_memory:
        _show(result)
        for name in {"int8", "upstream"}.intersection(names):
            contender = _Contender(name, source, alone=True)
            result[name]["memory_mb"] = contender.ask("memory")
            contender.end()
    _relate(result)
    return result


def _figures(times: Times) -> dict[str, Any]:
    figures: dict[str, Any] = {"steps_per_s": round(1e3 / statistics.median(times["1"]), 2)}
    for key, values in times.items():
        name = "prefill_40_ms" if key == "prefill" else f"step_ms_batch_{key}"
        figures[name] = {"median": round(statistics.median(values), 2), "min": round(min(values), 2)}
    if "8" in times:
        figures["batch8_over_batch1"] = round(statistics.median(times["8"]) / statistics.median(times["1"]), 2)
    return figures


def _relate(result: dict[str, Any]) -> None:
    base = result.get("upstream")
    for name, figures in result.items():
        if base is not None and name != "upstream":
            figures["ratio_to_upstream"] = round(figures["steps_per_s"] / base["steps_per_s"], 2)
            ours, theirs = (side["step_ms_batch_1"]["min"] for side in (figures, base))
            figures["ratio_to_upstream_of_minima"] = round(theirs / ours, 2)
            if "memory_mb" in figures:
                figures["memory_to_upstream"] = round(figures["memory_mb"]["load"] / base["memory_mb"]["load"], 2)
    if "int8" in result:
        result["batch8_over_batch1"] = result["int8"]["batch8_over_batch1"]


def _show(result: dict[str, Any]) -> None:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    print(
        f"{_processor()}, {os.cpu_count()} cores, one thread, torch {torch.__version__}, commit {commit.stdout.strip()}"
    )
    print(f"context {CONTEXT}, milliseconds: median (least)\n")
    print(
        f"{'':10}"
        + "".join(f"{f'{batch} rows':>17}" for batch in BATCHES)
        + f"{'prefill 40':>17}{'8/1':>6}{'x':>7}  MB"
    )
    for name, figures in result.items():
        if isinstance(figures, dict):
            keys = [*(f"step_ms_batch_{batch}" for batch in BATCHES), "prefill_40_ms"]
            cells = [figures.get(key) for key in keys]
            shown = "".join(f"{_cell(cell):>17}" for cell in cells)
            ratio, spread = figures.get("ratio_to_upstream", "-"), figures.get("batch8_over_batch1", "-")
            print(f"{name:10}{shown}{spread:>6}{ratio:>7}  {figures.get('memory_mb', '')}")


def _cell(times: dict[str, float] | None) -> str:
    return f"{times['median']:.1f} ({times['min']:.1f})" if times else "-"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


class _Contender:
    """A process that measures when asked."""

    def __init__(self, name: str, source: Source, *, alone: bool = False) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs, name, source, alone), daemon=True)
        self._process.start()

    def ask(self, what: str) -> Any:
        self._pipe.send(what)
        return self._pipe.recv()

    def end(self) -> None:
        self._pipe.send(None)
        self._process.join()


def _serve(pipe: Connection, name: str, source: Source, alone: bool) -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    side = (_upstream if name == "upstream" else _ours)(name, source, alone)
    while (what := pipe.recv()) is not None:
        pipe.send(side[what]())


Side = dict[str, Callable[[], Any]]


def _ours(name: str, source: Source, alone: bool) -> Side:
    folder, hashes = source
    assets = weights.load(folder, hashes)
    slots, length = (1, LONG + 64) if alone else (8, 256)
    embedder = Embedder(assets.embed, assets.config)
    runner = CpuRunner(CpuGpt(assets, Precision(name), slots, length, slots + PIECE), embedder)
    # Upstream's process holds these too.
    others = [Tokenizer(assets.tokenizer), Vocoder(assets.decoder, assets.vocos, torch.device("cpu"))]
    vector = speaker.draw(2, speaker.Statistics.released(), assets.config.hidden)
    # What was packed need not stay mapped.
    del assets
    give_back()

    def job(tokens: int, limit: int) -> Job:
        return Job(Prompt([21_143] * tokens, 21_143, vector), Sampling(min_tokens=min(limit, 2048)), 1, limit)

    def steps(batch: int) -> list[float]:
        for slot in range(batch):
            runner.start(slot, job(CONTEXT - STEPS // 2, STEPS))
        while not all(runner.prefilled(slot) for slot in range(batch)):
            runner.step([slot for slot in range(batch) if not runner.prefilled(slot)])
        times = [_timed(lambda: runner.step(range(batch))) for _ in range(STEPS - 1)]
        for slot in range(batch):
            runner.free(slot)
        return times

    def prefill() -> float:
        runner.start(0, job(PREFILL, 1))
        spent = _timed(lambda: runner.step([0]))
        runner.free(0)
        return spent

    def measure() -> Times:
        prefill()
        return {**{str(batch): steps(batch) for batch in BATCHES}, "prefill": [prefill() for _ in range(4)]}

    def memory() -> dict[str, float]:
        at = {"load": _resident()}
        runner.start(0, job(40, LONG))
        for number in range(1, LONG + 1):
            runner.step([0])
            if number in {1, 20, LONG}:
                at[f"step_{number}"] = _resident()
        others.clear()
        return at

    return {"measure": measure, "memory": memory}


def _upstream(_name: str, source: Source, _alone: bool) -> Side:
    import ChatTTS  # noqa: PLC0415 (only this process may load it)

    chat = load_chat(*source)
    gpt: Any = chat.gpt
    at: list[tuple[int, float]] = []
    forward = gpt.gpt.forward

    def recorded(*args: Any, **kwargs: Any) -> Any:
        at.append((kwargs["inputs_embeds"].shape[1], time.perf_counter()))
        return forward(*args, **kwargs)

    gpt.gpt.forward = recorded

    def generate(batch: int, tokens: int, new: int) -> list[float]:
        """Milliseconds from each forward pass to the next."""
        ids = torch.full((batch, tokens, 4), 21_143)
        mask = torch.ones(batch, tokens, dtype=torch.bool)
        warpers, processors = ChatTTS.model.processors.gen_logits(625, 0.7, 20, 1.05)
        at.clear()
        outputs = gpt.generate(
            chat.embed(ids, mask),
            ids,
            temperature=torch.tensor([0.3] * 4),
            eos_token=625,
            attention_mask=mask.long(),
            max_new_token=new,
            min_new_token=new,
            logits_processors=(*processors, *warpers),
            return_hidden=True,
            show_tqdm=False,
        )
        list(outputs)
        moments = [moment for _, moment in at]
        return [1e3 * (later - earlier) for earlier, later in itertools.pairwise(moments)]

    def measure() -> Times:
        times = {str(batch): generate(batch, CONTEXT - STEPS // 2, STEPS)[1:] for batch in BATCHES}
        return {**times, "prefill": [generate(1, PREFILL, 2)[0] for _ in range(4)]}

    def memory() -> dict[str, float]:
        before = {"load": _resident()}
        generate(1, 40, 20)
        return {**before, "step_20": _resident()}

    return {"measure": measure, "memory": memory}


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - start)


def _resident() -> float:
    """Megabytes of this process in memory."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


if __name__ == "__main__":
    main()
