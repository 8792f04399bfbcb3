"""For whoever has the real weights: are they whole, are we upstream's equal, how fast, and how does it sound?"""

import time
import wave
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from streaming.chattts import layout, weights
from streaming.chattts.cpu_model import CpuGpt
from streaming.chattts.engine import ChatTtsEngine, build
from streaming.chattts.options import Precision
from streaming.chattts.prompt import Embedder
from streaming.chattts.weights import Assets
from streaming.engine import Chunk, SegmentRequest
from streaming.text.chars import is_han

STEPS = 32
PROMPT = 40
CONTEXT = 170
LIMIT = {Precision.FP32: 1e-3, Precision.BF16: 0.05, Precision.INT8: 0.05}
"""Largest relative error of the hidden states against upstream."""


class VerifyError(RuntimeError):
    """A check failed."""


def verify(source: str, precision: str, text: str, voice: str, out: Path) -> Iterator[str]:
    """Check weights step by step; yields what was found. Raises WeightsError, VerifyError or ValueError."""
    torch.set_num_threads(1)
    chosen = Precision(precision)
    assets = weights.load(source)
    yield f"hashes       {'every file is the released one' if Path(source).is_dir() else 'random weights have none'}"
    if find_spec("transformers") is None:
        yield "parity       skipped: install the dependency group `parity`"
    else:
        yield from _parity(assets, chosen)
    yield from _speed(assets, chosen)
    engine = build(weights=source, precision=precision, slots=1)
    pcm = _speak(engine, text, voice)
    _write(out, pcm, engine.info.sample_rate)
    yield f"sentence     {len(pcm) / engine.info.sample_rate:.2f} s of {text!r} by {voice} in {out}"
    yield from _heard(pcm, engine.info.sample_rate, text)


def _parity(assets: Assets, precision: Precision) -> Iterator[str]:
    rows = _forced(assets)
    expected = _reference(assets, rows)
    gpt = CpuGpt(assets, precision, 1, 256, 64)
    ours = np.zeros_like(rows)
    for at in range(len(rows)):
        ours[at] = gpt.forward(rows[at : at + 1], np.zeros(1, np.int64), np.array([at]))[0]
    error = float(np.linalg.norm(ours - expected) / np.linalg.norm(expected))
    heads = gpt.logits(ours[-STEPS:]).copy().reshape(-1, assets.config.audio_tokens)
    theirs = gpt.logits(expected[-STEPS:]).reshape(-1, assets.config.audio_tokens)
    agreed = float((heads.argmax(1) == theirs.argmax(1)).mean())
    differ = f"hidden states differ from the reference by {error:.1e}"
    yield f"parity       {precision}: {differ}, the likeliest code agrees in {agreed:.0%}"
    if not error < LIMIT[precision]:
        raise VerifyError(
            f"the hidden states differ by {error:.1e}; {LIMIT[precision]} is the most that {precision} explains"
        )


def _forced(assets: Assets) -> NDArray[np.float32]:
    """A prompt and codes after it, as embeddings (PROMPT + STEPS, hidden)."""
    generator = torch.Generator().manual_seed(0)
    text = torch.randint(0, assets.config.text_tokens, (PROMPT,), generator=generator)
    codes = torch.randint(0, assets.config.eos, (STEPS, assets.config.codebooks), generator=generator)
    rows = torch.cat(
        (assets.embed["emb_text.weight"][text].float(), Embedder(assets.embed, assets.config).spoken(codes))
    )
    return np.asarray(rows.numpy(), np.float32)


def _reference(assets: Assets, rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Hidden states of the model class that upstream runs, in fp32."""
    from transformers import LlamaConfig, LlamaModel  # noqa: PLC0415 (heavy, and only needed here)

    sizes: dict[str, Any] = {**assets.config.to_json(), "vocab_size": 32}
    model = LlamaModel(LlamaConfig(**sizes))
    model.load_state_dict(dict(assets.gpt), strict=False)
    with torch.inference_mode():
        output = model(inputs_embeds=torch.from_numpy(rows).unsqueeze(0), use_cache=False)
    return np.asarray(output.last_hidden_state[0].numpy(), np.float32)


def _speed(assets: Assets, precision: Precision) -> Iterator[str]:
    gpt = CpuGpt(assets, precision, 8, 256, 64)
    rows = np.zeros((8, assets.config.hidden), np.float32)
    budget = 1e3 * layout.TOKEN_SAMPLES / layout.SAMPLE_RATE
    for batch in (1, 4, 8):
        slots, positions = np.arange(batch), np.full(batch, CONTEXT)
        times = []
        for _ in range(12):
            start = time.perf_counter()
            gpt.logits(gpt.forward(rows[:batch], slots, positions))
            times.append(1e3 * (time.perf_counter() - start))
        yield f"speed        {batch} at once: {np.median(times[2:]):.1f} ms a step, real time is {budget:.1f}"


def _speak(engine: ChatTtsEngine, text: str, voice: str) -> NDArray[np.float32]:
    engine.start(SegmentRequest(1, 1, 0, text, voice, pause_s=0.2))
    pcm, ended = b"", False
    while not ended:
        for made in engine.step([1]):
            if not isinstance(made, Chunk):
                raise VerifyError(made.message)
            pcm, ended = pcm + made.pcm, made.stop is not None
    return np.frombuffer(pcm, "<f4")


def _heard(pcm: NDArray[np.float32], rate: int, text: str) -> Iterator[str]:
    """What a recogniser makes of it. Said, not judged: it mishears people, too."""
    if find_spec("faster_whisper") is None:
        yield "word error   skipped: install the dependency group `judge`"
        return
    from streaming import judge  # noqa: PLC0415 (heavy, and only needed here)

    if any(is_han(character) for character in text):
        heard = judge.hear_chinese(pcm, rate)
        error = judge.error_rate(judge.chinese_units(text), judge.chinese_units(heard))
        yield f"word error   {error:.0%} of the characters: a recogniser heard {heard.strip()!r}"
    else:
        heard = judge.hear_english(pcm, rate)
        error = judge.error_rate(judge.english_units(text), judge.english_units(heard))
        yield f"word error   {error:.0%} of the words: a recogniser heard {heard.strip()!r}"


def _write(path: Path, pcm: NDArray[np.float32], rate: int) -> None:
    samples = (pcm.clip(-1, 1) * 32_767).round().astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
