"""What vocoding costs: `python -m tests.bench.vocoder [--json FILE]`, full-size random weights, one thread.

Upstream vocodes a stream by decoding, every 24 tokens, everything so far once more; its own modules do so here, in
turns with ours and on the same weights. Needs the dependency group `parity`.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from streaming.chattts import layout, synthetic
from streaming.chattts.layout import EXACT, SAMPLE_RATE, TOKEN_SAMPLES
from streaming.chattts.pacing import ON_CPU, Pacing
from streaming.chattts.utterance import Utterance
from streaming.chattts.vocoder import Row, State, Vocoder
from tests.bench.report import Report
from tests.streaming.chattts import upstream_vocoder
from tests.streaming.chattts.upstream_vocoder import Decode

CPU = torch.device("cpu")
PIECE = 24
PLACES = (96, 480, 960, 1992)
LONG_S = 20.0
EDGE = 256
"""Samples on each side of a join that are looked at."""


def ms(call: Callable[[], object], times: int = 5) -> float:
    """The median."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append(1000 * (time.perf_counter() - begin))
    return statistics.median(taken)


def reached(vocoder: Vocoder, hidden: torch.Tensor, tokens: int) -> State:
    """The state behind so many tokens."""
    (decoded,) = vocoder.decode([Row(vocoder.blank(), hidden[:tokens], last=False)])
    return decoded.state


def flatness(vocoder: Vocoder, theirs: Decode, hidden: torch.Tensor) -> dict[int, tuple[float, float]]:
    """Milliseconds a token, ours and upstream's, for the piece that ends at each place."""
    states = {place: reached(vocoder, hidden, place - PIECE) for place in PLACES}
    rounds: dict[int, list[tuple[float, float]]] = {place: [] for place in PLACES}
    for _ in range(5):  # in turns, so that what else the machine does falls on all
        for place, state in states.items():
            row = Row(state, hidden[place - PIECE : place], last=False)
            ours = ms(lambda row=row: vocoder.decode([row]), 1)  # type: ignore[misc]
            again = ms(lambda place=place: theirs(hidden[:place]), 1)  # type: ignore[misc]
            rounds[place].append((ours / PIECE, again / PIECE))
    return {
        place: (statistics.median(ours for ours, _ in each), statistics.median(other for _, other in each))
        for place, each in rounds.items()
    }


def utterance_s(vocoder: Vocoder, theirs: Decode, hidden: torch.Tensor) -> tuple[float, float]:
    """Seconds of vocoding for a stream of these tokens: ours as a live context is spoken, and upstream's."""
    begin = time.perf_counter()
    spoken(vocoder, hidden, 12)
    ours = time.perf_counter() - begin
    begin = time.perf_counter()
    for end in [*range(3 * PIECE, len(hidden), PIECE), len(hidden)]:  # the first two batches are passed over
        theirs(hidden[:end])
    return ours, time.perf_counter() - begin


def join_errors(vocoder: Vocoder, theirs: Decode, hidden: torch.Tensor) -> tuple[float, float, float]:
    """Largest difference from offline around the joins and elsewhere, exact; and dB of the error when provisional."""
    expected = theirs(hidden).numpy()
    heard, joins = spoken(vocoder, hidden, EXACT)
    difference = np.abs(heard - expected)
    near = np.zeros(len(heard), bool)
    for join in joins:
        near[max(0, join - EDGE) : join + EDGE] = True
    provisional, _ = spoken(vocoder, hidden, 12)
    error = 20 * np.log10(np.linalg.norm(provisional - expected) / np.linalg.norm(expected))
    return float(difference[near].max()), float(difference[~near].max()), float(error)


def spoken(vocoder: Vocoder, hidden: torch.Tensor, lookahead: int) -> tuple[Any, list[int]]:
    """What is heard, and where its pieces join."""
    utterance, at, parts = Utterance(vocoder.blank()), 0, []
    for piece in Pacing(ON_CPU, lookahead):
        part, last = hidden[at : piece.tokens], piece.tokens >= len(hidden)
        row = utterance.row(part, piece.lookahead, last=last)
        parts.append(utterance.take(vocoder.decode([row])[0], len(part), piece.lookahead))
        at = piece.tokens
        if last:
            break
    return np.concatenate(parts), list(accumulate(map(len, parts)))[:-1]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    report = Report("Vocoder, full-size random weights, one thread")
    with tempfile.TemporaryDirectory() as folder:
        synthetic.write(Path(folder), layout.ModelConfig(), 0)
        theirs = upstream_vocoder.load(Path(folder), layout.ModelConfig())
        tensors = (load_file(Path(folder) / layout.DECODER), load_file(Path(folder) / layout.VOCOS))
    vocoder = Vocoder(*tensors, CPU)
    hidden = torch.randn(2048, layout.ModelConfig().gpt.hidden, generator=torch.Generator().manual_seed(0))
    data: dict[str, object] = {}

    flat = flatness(vocoder, theirs, hidden)
    for place, (ours, other) in flat.items():
        report.row(f"ms a token at token {place}", {"ours": ours, "upstream": other})
    data["ms_per_token"] = {str(place): each for place, each in flat.items()}

    offline = ms(lambda: vocoder.decode([Row(vocoder.blank(), hidden[:400], last=True)]), 3) / 400
    their_offline = ms(lambda: theirs(hidden[:400]), 3) / 400
    report.row("offline, ms a token", {"ours": offline, "upstream": their_offline})
    state = reached(vocoder, hidden, 100)
    for rows, tokens in ((1, 1), (1, 4), (1, 8), (1, 16), (1, 24), (2, 8), (4, 4), (8, 2), (8, 4)):
        batch = [Row(state, hidden[:tokens], last=False)] * rows
        taken = ms(lambda batch=batch: vocoder.decode(batch))  # type: ignore[misc]
        share = taken / rows / tokens
        shares = {"over offline": share / offline, "over upstream's": share / their_offline}
        report.row(f"{rows} rows of {tokens} tokens", {"ms a call": taken, **shares})
        data[f"rows_{rows}x{tokens}"] = shares

    for name, kind in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        contender = Vocoder(*tensors, CPU, kind)
        plain = [Row(state, hidden[:4], last=False)]
        peek = [Row(state, hidden[:4], last=False, peek=True)]
        alone, both = ms(lambda o=contender, r=plain: o.decode(r), 9), ms(lambda o=contender, r=peek: o.decode(r), 9)  # type: ignore[misc]
        report.row(f"a peek in {name}, ms", both - alone)
        data[f"peek_{name}_ms"] = round(both - alone, 1)

    near, elsewhere, error = join_errors(vocoder, theirs, hidden[:400])
    report.row("largest difference, exact", f"at joins {near:.1e}  elsewhere {elsewhere:.1e}")
    report.row("error when provisional, dB", error)
    data["join_difference"], data["provisional_db"] = near, round(error, 1)

    ours_s, other_s = utterance_s(vocoder, theirs, hidden[: round(LONG_S * SAMPLE_RATE / TOKEN_SAMPLES)])
    report.row(f"{LONG_S:g} s of speech, s", {"ours": ours_s, "upstream": other_s, "times": other_s / ours_s})
    data["ratio_to_upstream"] = round(other_s / ours_s, 1)
    report.print(data, arguments.json)


if __name__ == "__main__":
    main()
