"""A server that murmurs: something like a voice, never the same twice, for next to no work.

What a page plays can be compared with it to the sample, however busy the machine is.
"""

import sys
import zlib

import numpy as np

from streaming.engine import EngineSpec, SegmentRequest
from tests.doubles import RATE, ScriptedEngine
from tests.serving import serve_engine

MURMUR = ("tests.web.murmur",)
"""For `running_server`."""

_SAMPLES_PER_CHAR = 1500


class MurmuringEngine(ScriptedEngine):
    """Each text has a murmur of its own, and then its pause."""

    def start(self, request: SegmentRequest) -> None:
        super().start(request)
        self._left[request.request_id] = murmur(request.text) + bytes(4 * round(request.pause_s * RATE))


def murmur(text: str) -> bytes:
    """A wandering pitch with harmonics; it begins and ends in silence. float32 at 24 kHz."""
    samples = len(text) * _SAMPLES_PER_CHAR
    random = np.random.default_rng(zlib.crc32(text.encode()))
    knots = np.linspace(0, samples, max(4, len(text)))
    hertz = np.interp(np.arange(samples), knots, random.uniform(90, 220, len(knots)))
    loudness = np.interp(np.arange(samples), knots, random.uniform(0.3, 1, len(knots)))
    phase = 2 * np.pi * np.cumsum(hertz) / RATE
    voice = np.sum([np.sin(k * phase) / k for k in range(1, 9)], axis=0)
    edge = np.minimum(1, np.minimum(np.arange(samples), np.arange(samples)[::-1]) / 240)
    return bytes((0.25 * voice * loudness * edge).astype("<f4").tobytes())


def main() -> int:
    """`python -m tests.web.murmur [server flags]`."""
    return serve_engine(EngineSpec("tests.web.murmur:MurmuringEngine"), sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
