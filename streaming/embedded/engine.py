"""The embedded engine: small models that come inside Python packages, one bounded call of one request a step."""

import logging
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import onnxruntime

from streaming.embedded.kokoro_model import SAMPLE_RATE
from streaming.embedded.language import CHINESE, ENGLISH, has_han, primary
from streaming.embedded.phonemes import gap_s, sounds
from streaming.embedded.speaker import Piece, Speaker, Speech
from streaming.embedded.voices import load
from streaming.engine import Chunk, EngineInfo, Failed, RequestError, SegmentRequest, StopReason, Voice
from streaming.silence import Samples, Trimmer, repair, silence
from streaming.text.alphabet import CHINESE_AND_ENGLISH
from streaming.text.limits import SegmentLimits

_log = logging.getLogger(__name__)

LIMITS = SegmentLimits(first_min=4)
"""These models say "Well," alone as well as in a sentence, and it is heard a sentence earlier."""


def create(slots: int = 64) -> "EmbeddedEngine":
    """Loads and warms every model; what `EngineSpec.factory` names."""
    return EmbeddedEngine(load(), slots)


class EmbeddedEngine:
    """Owns its voices and the started requests. Only `interrupt` may be called by another thread."""

    def __init__(self, speakers: dict[Voice, Speaker], slots: int) -> None:
        self._speakers = {voice.name: (voice, speaker) for voice, speaker in speakers.items()}
        self._info = EngineInfo(
            name="embedded",
            sample_rate=SAMPLE_RATE,
            slots=slots,
            batch=1,
            voices=tuple(speakers),
            default_voice=next(iter(speakers)).name,
            limits=LIMITS,
            alphabet=replace(CHINESE_AND_ENGLISH, name="embedded", dotted=True),
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
        self._utterances[request.request_id] = _Utterance(request, self._pieces(request))

    def step(self, request_ids: Sequence[int]) -> list[Chunk | Failed]:
        """Advances the first of these requests. Nothing is returned for a call that made no audio yet."""
        request_id = request_ids[0]
        utterance = self._utterances[request_id]
        try:
            samples = self._call.run(utterance)
        except _Interrupted:
            return []
        except Exception as error:  # noqa: BLE001 - whatever a model raises ends its request, not the worker
            del self._utterances[request_id]
            return [Failed(request_id, "synthesis_failed", f"The model failed: {error}")]
        return self._chunks(utterance, self._repaired(samples, request_id))

    def cancel(self, request_id: int) -> None:
        self._utterances.pop(request_id, None)

    def interrupt(self, request_id: int) -> None:
        self._call.terminate(request_id)

    def _pieces(self, request: SegmentRequest) -> list[Piece]:
        if request.voice not in self._speakers:
            offered = ", ".join(self._speakers)
            raise RequestError("unknown_voice", f"There is no voice {request.voice!r}; this engine has {offered}.")
        if not request.text.strip():
            raise RequestError("empty_text", "The segment has no text.")
        voice, speaker = self._speakers[request.voice]
        pieces = [piece for piece in speaker.pieces(request.text, _language(request, voice)) if sounds(piece.phonemes)]
        if not pieces:
            raise RequestError("nothing_to_say", f"The voice {request.voice!r} finds nothing to say in this text.")
        return pieces

    def _repaired(self, samples: Samples, request_id: int) -> Samples:
        repaired, lost = repair(samples)
        if lost:
            self.lost_samples += lost
            _log.warning("request %d: %d samples were no numbers", request_id, lost)
        return repaired

    def _chunks(self, utterance: "_Utterance", samples: Samples) -> list[Chunk | Failed]:
        request_id = utterance.request.request_id
        pcm = utterance.take(samples).tobytes()
        if utterance.done:
            del self._utterances[request_id]
            return [Chunk(request_id, pcm, StopReason.COMPLETE)]
        return [Chunk(request_id, pcm)] if pcm else []


def _language(request: SegmentRequest, voice: Voice) -> str:
    """What digits without a neighbour are read in."""
    asked = primary(request.language or "")
    if asked in (CHINESE, ENGLISH):
        return asked
    if has_han(request.text):
        return CHINESE
    return ENGLISH if any(char.isalpha() for char in request.text) else primary(voice.languages[0])


class _Utterance:
    """A started request and what is left of it."""

    def __init__(self, request: SegmentRequest, pieces: list[Piece]) -> None:
        self.request = request
        self._pieces = deque(pieces)
        self._trimmer = Trimmer(SAMPLE_RATE)
        self._speech: Speech = pieces[0].begin(request.params)

    @property
    def done(self) -> bool:
        return not self._pieces

    def advance(self, options: onnxruntime.RunOptions) -> Samples:
        """The model's next samples. Changes nothing if the call is terminated."""
        return self._speech.advance(options)

    def take(self, samples: Samples) -> Samples:
        """Of these samples what is speech, with the silence after it where a piece ends."""
        trimmed = self._trimmer.push(samples)
        return np.concatenate([trimmed, self._end_piece()]) if self._speech.done else trimmed

    def _end_piece(self) -> Samples:
        ended = self._pieces.popleft()
        pause_s = gap_s(ended.phonemes) if self._pieces else self.request.pause_s
        end = np.concatenate([self._trimmer.finish(), silence(pause_s, SAMPLE_RATE)])
        if self._pieces:
            self._trimmer = Trimmer(SAMPLE_RATE)
            self._speech = self._pieces[0].begin(self.request.params)
        return end


class _Interrupted(Exception):  # noqa: N818 - no error: somebody asked for it
    """The running call was terminated."""


class _Call:
    """The one model call that may be running, and the way to end it from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: tuple[int, onnxruntime.RunOptions] | None = None

    def run(self, utterance: _Utterance) -> Samples:
        options = onnxruntime.RunOptions()
        with self._lock:
            self._running = (utterance.request.request_id, options)
        try:
            return utterance.advance(options)
        except Exception as error:  # onnxruntime has no class of its own for a terminated run
            if options.terminate:
                raise _Interrupted from error
            raise
        finally:
            with self._lock:
                self._running = None

    def terminate(self, request_id: int) -> None:
        with self._lock:
            if self._running and self._running[0] == request_id:
                self._running[1].terminate = True
