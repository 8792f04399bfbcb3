"""Upstream's own streaming, in a process of its own with one thread, for benchmarks to compare with."""

import logging
import multiprocessing
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any


class Upstream:
    """Loaded from full-size random weights, those of `random:SEED`."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def ttfa_s(self, texts: list[str], tokens: int) -> float:
        """Seconds from `infer(stream=True)` to its first samples, every text forced to so many tokens."""
        self._pipe.send((texts, tokens))
        seconds: float = self._pipe.recv()
        return seconds


@contextmanager
def upstream(seed: int) -> Iterator[Upstream]:
    """Write the weights, start it, wait until it is warm, and end it."""
    from streaming.chattts import layout, synthetic  # noqa: PLC0415  # torch, which other benches don't need

    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        hashes = synthetic.write(Path(folder), layout.ModelConfig(), seed)
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=_serve, args=(theirs, folder, hashes), daemon=True)
        process.start()
        side = Upstream(ours)
        side.ttfa_s(["Hello."], 80)
        yield side
        ours.send(None)
        process.join()


def load_chat(folder: str, hashes: dict[str, str]) -> Any:
    """Upstream's own object, from the files of a release with these hashes."""
    import ChatTTS  # noqa: PLC0415  # heavy, and for a process of its own
    import torch  # noqa: PLC0415

    chat = ChatTTS.Chat()
    chat.sha256_map = hashes
    if not chat.load(source="custom", custom_path=folder, compile=False, device=torch.device("cpu")):
        raise RuntimeError("upstream does not load the weights")
    return chat


def _serve(pipe: Connection, folder: str, hashes: dict[str, str]) -> None:
    import torch  # noqa: PLC0415  # only this process may load upstream

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    import ChatTTS  # noqa: PLC0415

    chat = load_chat(folder, hashes)
    torch.manual_seed(1)
    speaker = chat.sample_random_speaker()
    while (asked := pipe.recv()) is not None:
        texts, tokens = asked
        params = ChatTTS.Chat.InferCodeParams(
            spk_emb=speaker, min_new_token=tokens, max_new_token=tokens, show_tqdm=False
        )
        begin = time.perf_counter()
        waves = chat.infer(texts, stream=True, skip_refine_text=True, split_text=False, params_infer_code=params)
        next(iter(waves))
        seconds = time.perf_counter() - begin
        for _ in waves:  # or it would compute on while the other side is measured
            pass
        pipe.send(seconds)
