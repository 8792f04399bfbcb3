"""The embedded engine: small models that come inside Python packages, one call of one request a step."""

import logging
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnxruntime

from streaming.embedded.hibari_voice import SAMPLE_RATE, HibariVoice
from streaming.embedded.phonemes import gap_s, sounds
from streaming.embedded.silence import Samples, repair, silence, trim
from streaming.embedded.speaker import Piece, Speaker
from streaming.engine import Chunk, EngineInfo, Failed, RequestError, SegmentRequest, StopReason, Voice

_log = logging.getLogger(__name__)

_HIBARI = Voice(
    name="hibari",
    languages=("en-US",),
    sex="female",
    licence="Apache-2.0",
    description="American English, the fastest voice.",
)


def create(slots: int = 64) -> "EmbeddedEngine":
    """Loads and warms every model; what `EngineSpec.factory` names."""
    hibari = HibariVoice()
    hibari.warm()
    return EmbeddedEngine({_HIBARI: hibari}, slots)


@dataclass(slots=True)
class _Utterance:
    """A started request and what is left of it. The engine owns it."""

    request: SegmentRequest
    pieces: deque[Piece]


class EmbeddedEngine:
    """Owns its models and the started requests. Only `interrupt` may be called by another thread."""

    def __init__(self, speakers: dict[Voice, Speaker], slots: int) -> None:
        self._speakers = {voice.name: speaker for voice, speaker in speakers.items()}
        self._info = EngineInfo(
            name="embedded",
            sample_rate=SAMPLE_RATE,
            slots=slots,
            batch=1,
            voices=tuple(speakers),
            default_voice=next(iter(speakers)).name,
        )
        self._utterances: dict[int, _Utterance] = {}
        self._call = _Call()
        self.lost_samples = 0
        """Samples that a model gave as NaN or infinity and that became silence."""

    @property
    def info(self) -> EngineInfo:
        return self._info

    def start(self, request: SegmentRequest) -> None:
        if len(self._utterances) >= self._info.slots:
            raise RequestError("no_slot", f"All {self._info.slots} slots of the engine are taken.")
        self._utterances[request.request_id] = _Utterance(request, deque(self._pieces(request)))

    def step(self, request_ids: Sequence[int]) -> list[Chunk | Failed]:
        request_id = request_ids[0]
        utterance = self._utterances[request_id]
        try:
            samples = self._speak(utterance)
        except _Interrupted:
            return []
        except RequestError as error:
            del self._utterances[request_id]
            return [Failed(request_id, error.code, str(error))]
        utterance.pieces.popleft()
        if utterance.pieces:
            return [Chunk(request_id, samples.tobytes())]
        del self._utterances[request_id]
        return [Chunk(request_id, samples.tobytes(), StopReason.COMPLETE)]

    def cancel(self, request_id: int) -> None:
        self._utterances.pop(request_id, None)

    def interrupt(self, request_id: int) -> None:
        self._call.terminate(request_id)

    def _pieces(self, request: SegmentRequest) -> list[Piece]:
        speaker = self._speaker(request)
        if not request.text.strip():
            raise RequestError("empty_text", "The segment has no text.")
        phonemes = [piece for piece in speaker.pieces(request.text) if sounds(piece)]
        if not phonemes:
            raise RequestError("nothing_to_say", f"The voice {request.voice!r} finds nothing to say in this text.")
        pieces = [Piece(speaker, piece, gap_s(piece)) for piece in phonemes[:-1]]
        return [*pieces, Piece(speaker, phonemes[-1], request.pause_s)]

    def _speaker(self, request: SegmentRequest) -> Speaker:
        speaker = self._speakers.get(request.voice)
        if speaker is None:
            offered = ", ".join(self._speakers)
            raise RequestError("unknown_voice", f"There is no voice {request.voice!r}; this engine has {offered}.")
        return speaker

    def _speak(self, utterance: _Utterance) -> Samples:
        request, piece = utterance.request, utterance.pieces[0]
        raw = self._call.run(request.request_id, piece, request)
        samples, lost = repair(raw)
        if lost:
            self.lost_samples += lost
            _log.warning("request %d: %d samples were no numbers", request.request_id, lost)
        return np.concatenate([trim(samples, SAMPLE_RATE), silence(piece.gap_s, SAMPLE_RATE)])


class _Interrupted(Exception):  # noqa: N818 - no error: somebody asked for it
    """The running call was terminated."""


class _Call:
    """The one model call that may be running, and the way to end it from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: tuple[int, onnxruntime.RunOptions] | None = None

    def run(self, request_id: int, piece: Piece, request: SegmentRequest) -> Samples:
        options = onnxruntime.RunOptions()
        with self._lock:
            self._running = (request_id, options)
        try:
            return piece.speaker.speak(piece.phonemes, request.params, options)
        except Exception as error:  # onnxruntime raises several types of its own, and RuntimeError when terminated
            if options.terminate:
                raise _Interrupted from error
            raise RequestError("synthesis_failed", f"The model failed: {error}") from error
        finally:
            with self._lock:
                self._running = None

    def terminate(self, request_id: int) -> None:
        with self._lock:
            if self._running and self._running[0] == request_id:
                self._running[1].terminate = True
