"""How these weights are best spoken: how far the first sound must look ahead, and what each precision costs.

Random weights prove nothing about trained ones, so whoever has those measures on them.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from streaming.chattts import speaker, weights
from streaming.chattts.calibration import Calibration
from streaming.chattts.cpu_model import CpuGpt
from streaming.chattts.layout import EXACT, TOKEN_SAMPLES
from streaming.chattts.options import PIECE, Precision
from streaming.chattts.prompt import Embedder, Prompt
from streaming.chattts.tokenizer import Tokenizer
from streaming.chattts.vocoder import Row, Vocoder
from streaming.chattts.weights import Assets

TEXT = "The first word is heard before the last one is written."
TOKENS = 160
WANTED_DB = -50.0
"""The first samples may be this wrong."""
LOOKAHEADS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32)
_ENDS = (52, 76, 100, 124, 148)
"""Tokens known when a look-ahead is tried."""
_HEARD = 4
"""Tokens heard each time, as in the first piece of an utterance."""
_TEMPERATURE = 0.7
_CPU = torch.device("cpu")

Values = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Take:
    """A spoken text, teacher for all precisions: what went into the model, and what fp32 made of it."""

    rows: Values
    """Embeddings (prompt + tokens, hidden)."""
    hidden: torch.Tensor
    """(tokens, hidden)."""
    logits: Values
    """(tokens, codebooks, codes)."""


def calibrate(source: str) -> Iterator[str]:
    """Measure step by step; yields the table's lines. Writes beside the weights if `source` is a folder.

    Raises WeightsError.
    """
    torch.set_num_threads(1)
    assets = weights.load(source)
    vocoder = Vocoder(assets.decoder, assets.vocos, _CPU)
    take = speak(assets)
    errors = lookahead_errors(vocoder, take.hidden)
    yield "look-ahead   error of the first samples against decoding the whole"
    for tokens, decibels in errors.items():
        yield f"{tokens:>7} tokens {decibels:>8.1f} dB  {'#' * max(0, round(60 + decibels / 2.5))}"
    chosen = Calibration(smallest(errors))
    yield f"chosen       {chosen.lookahead} tokens: the fewest that stay under {WANTED_DB:.0f} dB"
    yield "precision    same likeliest code as fp32, and divergence from it in nats, of each codebook"
    for precision in (Precision.BF16, Precision.INT8):
        same, divergence = agreement(assets, precision, take)
        cells = "  ".join(f"{share:6.1%} {nats:.1e}" for share, nats in zip(same, divergence, strict=True))
        yield f"{precision:>14} {cells}"
    yield "time         one thread, ms"
    for name, milliseconds in times(assets, vocoder, take).items():
        yield f"{name:>36} {milliseconds:8.1f}"
    if Path(source).is_dir():
        yield f"written      {chosen.write(Path(source))}: `--lookahead auto` reads it"


def speak(assets: Assets) -> Take:
    """`TOKENS` tokens of a text in fp32, each drawn from what the model gives, none of them the end."""
    tokenizer = Tokenizer(assets.tokenizer)
    embedder = Embedder(assets.embed, assets.config)
    vector = speaker.draw(2, speaker.Statistics.released(), assets.config.hidden)
    prompt = embedder.prompt(Prompt(tokenizer.prompt(TEXT, speaker=True), tokenizer.speaker_id, vector)).numpy()
    gpt = CpuGpt(assets, Precision.FP32, 1, len(prompt) + TOKENS, PIECE)
    generator = torch.Generator().manual_seed(0)
    rows, hidden, logits = [prompt], [], []
    states = _forward(gpt, prompt, 0)[-1:]
    for token in range(TOKENS):
        hidden.append(states)
        logits.append(gpt.logits(states).reshape(assets.config.codebooks, -1).copy())
        scores = torch.from_numpy(logits[-1].copy())
        scores[:, assets.config.eos] = -torch.inf
        codes = torch.multinomial((scores / _TEMPERATURE).softmax(1), 1, generator=generator)
        rows.append(embedder.spoken(codes.T).numpy())
        states = _forward(gpt, rows[-1], len(prompt) + token)
    return Take(np.concatenate(rows), torch.from_numpy(np.concatenate(hidden)), np.stack(logits))


def lookahead_errors(vocoder: Vocoder, hidden: torch.Tensor) -> dict[int, float]:
    """dB of the largest error of a look-ahead's newest samples, over several places, by tokens."""
    blank = vocoder.blank()

    def decoded(tokens: int) -> Values:
        samples: Values = vocoder.decode([Row(blank, hidden[:tokens], last=True)])[0].pcm.numpy()
        return samples

    exact = decoded(len(hidden))
    cut = {end: decoded(end) for end in _ENDS}
    errors = {}
    for tokens in LOOKAHEADS:
        stretches = [
            (end, slice(TOKEN_SAMPLES * (end - tokens - _HEARD), TOKEN_SAMPLES * (end - tokens))) for end in cut
        ]
        errors[tokens] = max(_decibels(cut[end][heard] - exact[heard], exact[heard]) for end, heard in stretches)
    return errors


def smallest(errors: dict[int, float]) -> int:
    """The fewest tokens from which on every error is small enough."""
    good = EXACT
    for tokens, decibels in sorted(errors.items(), reverse=True):
        if decibels > WANTED_DB:
            return good
        good = tokens
    return good


def agreement(assets: Assets, precision: Precision, take: Take) -> tuple[list[float], list[float]]:
    """Of each codebook, how often the likeliest code is fp32's, and the mean divergence (KL) in nats."""
    gpt = CpuGpt(assets, precision, 1, len(take.rows), PIECE)
    begin = len(take.rows) - TOKENS - 1
    states = _forward(gpt, take.rows[:-1], 0)[begin:]
    logits = np.stack([gpt.logits(states[n : n + 1]).reshape(take.logits.shape[1:]).copy() for n in range(TOKENS)])
    same = (logits.argmax(2) == take.logits.argmax(2)).mean(0)
    ours, theirs = (torch.from_numpy(each).log_softmax(2) for each in (logits, take.logits))
    divergence = (theirs.exp() * (theirs - ours)).sum(2).mean(0)
    return same.tolist(), divergence.tolist()


def times(assets: Assets, vocoder: Vocoder, take: Take) -> dict[str, float]:
    """Milliseconds of each stage."""
    taken: dict[str, float] = {}
    prompt = len(take.rows) - TOKENS
    for precision in Precision:
        gpt = CpuGpt(assets, precision, 1, len(take.rows), PIECE)
        taken[f"{precision}: prompt of {prompt} tokens"] = _ms(partial(_forward, gpt, take.rows[:prompt], 0))
        taken[f"{precision}: one token"] = _ms(partial(_forward, gpt, take.rows[prompt:][:1], prompt))
    state = vocoder.decode([Row(vocoder.blank(), take.hidden[:64], last=False)])[0].state
    for tokens in (1, 4, 24):
        row = Row(state, take.hidden[64 : 64 + tokens], last=False)
        taken[f"vocoder: {tokens} token(s)"] = _ms(partial(vocoder.decode, [row]))
        both = [Row(state, row.hidden, last=False, peek=True)]
        taken[f"vocoder: {tokens} token(s), provisional"] = _ms(partial(vocoder.decode, both))
    return taken


def _forward(gpt: CpuGpt, rows: Values, position: int) -> Values:
    """Hidden states (rows, hidden), a copy."""
    made = []
    for at in range(0, len(rows), PIECE):
        piece = rows[at : at + PIECE]
        positions = np.arange(position + at, position + at + len(piece))
        made.append(gpt.forward(piece, np.zeros(len(piece), np.int64), positions).copy())
    return np.concatenate(made)


def _decibels(error: Values, signal: Values) -> float:
    return float(20 * np.log10(max(float(np.linalg.norm(error)), 1e-12) / float(np.linalg.norm(signal))))


def _ms(call: Callable[[], object]) -> float:
    taken = []
    for _ in range(5):
        begin = time.perf_counter()
        call()
        taken.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(taken)
