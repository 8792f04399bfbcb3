"""Time to first audio, as a listener with no start buffer would feel it."""

import asyncio
import re
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from firstword.client import Context
from firstword.protocol import AudioPacket, Ended, Opened, Segment

SilenceMeter = Callable[[Sequence[bytes], Opened], float]
"""Seconds before the first audible sample in a context's packets."""

AUDIBLE = 10 ** (-50 / 20)
"""-50 dBFS: below this nothing is heard yet."""


def words_of(text: str) -> list[str]:
    """The text cut in front of the space before each word, as language models write it."""
    return re.findall(r"\s*\S+\s*$|\s*\S+", text)


class SendLog:
    """When each character of a context's text was sent."""

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._times: list[float] = []

    def sent(self, text: str, at: float) -> None:
        """`text` was sent at `at` seconds."""
        self._ends.append((self._ends[-1] if self._ends else 0) + len(text))
        self._times.append(at)

    @property
    def times(self) -> tuple[float, ...]:
        """Of every delta."""
        return tuple(self._times)

    def time_of(self, end: int) -> float:
        """When the delta was sent that completed the text up to `end`."""
        return self._times[min(bisect_left(self._ends, end), len(self._times) - 1)]


def leading_silence(pcm: bytes) -> int:
    """Samples of s16le PCM before the first audible one; all of them if none is."""
    samples = array("h", pcm[: len(pcm) // 2 * 2])
    threshold = AUDIBLE * 32_768
    return next((i for i, sample in enumerate(samples) if abs(sample) > threshold), len(samples))


@dataclass(frozen=True, slots=True)
class Heard:
    """One context from its first word to its end."""

    ttfa_s: float
    """From sending the end of the first segment's text to the first packet, plus the silence it begins with."""
    sent_at: tuple[float, ...]
    """When each delta was sent; seconds of the same clock as `first_at`."""
    first_at: float
    """When the first packet was there."""
    silence_s: float
    """Before the first audible sample."""
    packets: tuple[bytes, ...]
    opened: Opened
    ended: Ended
    segments: tuple[Segment, ...]


async def listen(context: Context, words: Iterable[str], interval_s: float, silence: SilenceMeter) -> Heard:
    """Send `words` one each `interval_s`, end, and hear the context out. Raises `ValueError` if it stays silent."""
    log = SendLog()
    sending = asyncio.create_task(_send(context, words, interval_s, log))
    packets: list[bytes] = []
    segments: list[Segment] = []
    first_at = 0.0
    ended: Ended | None = None
    async for event in context:
        if isinstance(event, AudioPacket):
            first_at = first_at or time.perf_counter()
            packets.append(event.payload)
        elif isinstance(event, Segment):
            segments.append(event)
        elif isinstance(event, Ended):
            ended = event
    await sending
    if context.opened is None or ended is None or not segments:
        raise ValueError("the context had no audio")
    silence_s = silence(packets, context.opened)
    ttfa_s = first_at - log.time_of(segments[0].end) + silence_s
    return Heard(ttfa_s, log.times, first_at, silence_s, tuple(packets), context.opened, ended, tuple(segments))


def pcm_silence(packets: Sequence[bytes], opened: Opened) -> float:
    """Seconds before the first audible sample of s16le packets."""
    return leading_silence(b"".join(packets)) / opened.sample_rate


async def _send(context: Context, words: Iterable[str], interval_s: float, log: SendLog) -> None:
    """Word n leaves at n intervals after the first, whatever the sending itself takes."""
    started = time.perf_counter()
    for n, word in enumerate(words):
        await asyncio.sleep(max(0.0, started + n * interval_s - time.perf_counter()))
        log.sent(word, time.perf_counter())
        await context.send(word)
    await context.end()
