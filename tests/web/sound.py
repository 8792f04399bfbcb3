"""What the server says, as samples, and how to find it in a recording."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import opuslib_next
import soxr

from firstword.client import connect
from firstword.protocol import AudioPacket, Ended, Opened
from tests.web.browser import Float

RATE = 48_000


@dataclass(frozen=True, slots=True)
class Spoken:
    """One context as any client hears it, at 48 kHz; Opus decoded by libopus itself, pre-skip and padding off."""

    samples: Float
    ended: Ended


def spoken(url: str, text: str, **options: Any) -> Spoken:
    """Have `text` spoken, all of it at once."""
    with ThreadPoolExecutor(1) as thread:  # the test's own thread runs the browser's event loop
        return thread.submit(lambda: asyncio.run(_spoken(url, text, options))).result()


async def _spoken(url: str, text: str, options: dict[str, Any]) -> Spoken:
    async with connect(url) as tts:
        context = tts.context(pace="fast", **options)
        await context.send(text)
        await context.end()
        packets: list[bytes] = []
        ended: Ended | None = None
        async for event in context:
            if isinstance(event, AudioPacket):
                packets.append(event.payload)
            elif isinstance(event, Ended):
                ended = event
        assert context.opened is not None and ended is not None
        return Spoken(_samples(packets, context.opened, ended), ended)


def _samples(packets: list[bytes], opened: Opened, ended: Ended) -> Float:
    if opened.codec == "pcm_f32le":
        return np.frombuffer(b"".join(packets), "<f4")
    if opened.codec == "pcm_s16le":
        pcm = np.frombuffer(b"".join(packets), "<i2") / np.float32(32_768)
        return np.asarray(soxr.resample(pcm, opened.sample_rate, RATE, quality="VHQ"), np.float32)
    scale = RATE // opened.sample_rate
    start = opened.pre_skip * scale
    decoder = opuslib_next.Decoder(RATE, 1)
    decoded = b"".join(bytes(decoder.decode_float(packet, RATE // 50)) for packet in packets)
    return np.frombuffer(decoded, "<f4")[start : start + ended.samples * scale]


def offset_of(signal: Float, recording: Float) -> int:
    """Where `signal` begins in `recording`."""
    size = 1 << (len(signal) + len(recording)).bit_length()
    match = np.fft.irfft(np.fft.rfft(recording, size) * np.conj(np.fft.rfft(signal, size)), size)
    return int(np.argmax(match[: len(recording)]))


def assert_played(signal: Float, recording: Float) -> None:
    """The recording is silence, the signal, silence: not a sample more or less, none of it changed or missing."""
    start = offset_of(signal, recording)
    end = start + len(signal)
    assert end < len(recording), "the recording ends before the signal does"
    assert not recording[:start].any()
    assert not recording[end:].any()
    heard = recording[start:end]
    assert np.corrcoef(signal, heard)[0, 1] > 0.999
    for at in range(0, len(signal), RATE // 50):
        difference = np.abs(signal[at : at + RATE // 50] - heard[at : at + RATE // 50])
        assert difference.max() < 0.02, f"changed at {at / RATE:.2f} s"
