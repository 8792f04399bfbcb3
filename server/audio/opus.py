"""Raw Opus packets: 24 kHz mono, 20 ms, tuned for speech over a reliable connection."""

import opuslib_next

from server.audio.format import AudioFormat, Packet
from streaming.engine import SAMPLE_BYTES

RATE = 24_000
FRAME = RATE // 50

_FRAME_BYTES = FRAME * SAMPLE_BYTES
_BITRATE = 32_000
_COMPLEXITY = 5
"""From 7 on, an analyser takes much speech for music; 5 costs 0.5 % of a core for a live stream."""


class OpusEncoder:
    """One encoder for one context: VOIP, voice, VBR, no DTX and no FEC, which only lossy transports need.

    A decoder is late by the encoder's look-ahead, so `finish` feeds that much silence before it pads the last frame:
    after `pre_skip` samples are dropped, `samples` real ones remain, then `tail` silent ones.
    """

    def __init__(self, bit_rate: int | None = None, tail: int = 0) -> None:
        self._encoder = opuslib_next.Encoder(RATE, 1, opuslib_next.APPLICATION_VOIP)
        self._encoder.bitrate = bit_rate or _BITRATE
        self._encoder.complexity = _COMPLEXITY
        self._encoder.signal = opuslib_next.SIGNAL_VOICE
        self._encoder.vbr = 1
        self._encoder.dtx = 0
        self._encoder.inband_fec = 0
        self._tail = tail
        self._rest = b""
        self._encoded = 0
        self.format = AudioFormat("opus", RATE, bit_rate)
        self.pre_skip: int = self._encoder.lookahead
        self.frame_samples = FRAME
        self.samples = 0

    def encode(self, pcm: bytes) -> list[Packet]:
        """Whole frames; the rest waits."""
        assert len(pcm) % SAMPLE_BYTES == 0, "half a sample would turn all that follows into noise"
        self.samples += len(pcm) // SAMPLE_BYTES
        return self._frames(pcm)

    def finish(self) -> list[Packet]:
        """What waits and the look-ahead, in whole frames."""
        if not self.samples:
            return []
        silent = self._tail + self.pre_skip
        padding = silent + -(self.samples + silent) % FRAME
        return self._frames(bytes(padding * SAMPLE_BYTES))

    def _frames(self, pcm: bytes) -> list[Packet]:
        pcm = self._rest + pcm
        whole = len(pcm) - len(pcm) % _FRAME_BYTES
        self._rest = pcm[whole:]
        return [self._packet(pcm[at : at + _FRAME_BYTES]) for at in range(0, whole, _FRAME_BYTES)]

    def _packet(self, frame: bytes) -> Packet:
        first = self._encoded
        self._encoded += FRAME
        return Packet(self._encoder.encode_float(frame, FRAME), first, max(0, min(FRAME, self.samples - first)))
