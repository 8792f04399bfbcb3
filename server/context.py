"""One reply being spoken: ordered text in, one continuous audio signal out."""

import itertools
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from firstword.protocol import EndReason, ErrorCode
from server.audio.encoders import UnsupportedFormatError, create_encoder
from server.audio.format import AudioFormat, Encoder
from server.events import Audio, Ended, Event, Flushed, Opened, Refused, SegmentStarted, SegmentTimed, Skipped
from server.host import ContextOptions, Host, Refusal
from server.intake import EndMark, FlushMark, Intake
from server.reading import text_options
from server.timing import SpokenSegment, estimated_s, spoken_until, word_times
from server.track import Track
from streaming.engine import SAMPLE_BYTES, Chunk, Failed, SegmentRequest, SpeechParams, StopReason
from streaming.parameter import ParameterError, choose
from streaming.text.alphabet import Skip
from streaming.text.front import TextFront
from streaming.text.segment import Segment

_MOST_MARKS = 1000
"""Flushes of one context that wait to be answered. More than these are answered together with the last."""


@dataclass(slots=True)
class _Utterance:
    """A segment and what the engine has made of it. Owned by its context."""

    segment: Segment
    index: int
    pcm: deque[bytes] = field(default_factory=deque)
    samples: int = 0
    first_sample: int | None = None
    stop: StopReason | None = None
    timed: bool = False
    failure: Refused | None = None


class Context:
    """One reply being spoken."""

    def __init__(self, name: str, number: int, options: ContextOptions, host: Host, wake: Callable[[], None]) -> None:
        self.name = name
        self.number = number
        self.voice = host.voices.resolve(options.voice)
        self._params = _params(options.params, host)
        encoder = _encoder(options.format, host.speech.sample_rate)
        self.ending = False
        self._host = host
        self._options = options
        self._wake = wake
        self._source_rate = host.speech.sample_rate
        self._stream_id = host.speech.next_stream_id()
        self._front = TextFront(text_options(host, self.voice, options), host.speech.segment_limits)
        self._intake = Intake(self._front)
        self._untold: list[Skipped] = []
        self._chars = 0
        self._settle_at: float | None = None
        self._queue: deque[_Utterance | FlushMark | EndMark] = deque()
        self._unsubmitted: deque[_Utterance] = deque()
        self._marks = 0
        self._marked_at = 0
        self._owed = False
        self._indexes = itertools.count()
        self._spoken: list[SpokenSegment] = []
        self._requested: dict[int, _Utterance] = {}
        self._text_at = 0.0
        self._ttfa_s: float | None = None
        self._reason: EndReason | None = None
        self._failed_at = 0
        self._track = Track(
            name,
            number,
            encoder,
            host.encoders,
            pace=options.pace,
            source_rate=self._source_rate,
            max_lead_s=host.limits.max_lead_s,
            message_s=options.message_s,
            clock=host.clock,
            wake=wake,
            failed=self._encoder_failed,
        )
        self.opened = Opened(name, number, self.voice, encoder.format, encoder.frame_samples, encoder.pre_skip)
        """What the client is to be told first, even if it cancels at once."""

    # Verbs.

    def text(self, delta: str) -> None:
        """Append text. Raises `Refusal` if the context would grow too long; then none of it is taken."""
        limit = self._host.limits.context_chars
        if self._chars + len(delta) > limit:
            raise Refusal(
                ErrorCode.TEXT_TOO_LONG,
                f"A context takes at most {limit} characters; this one has {self._chars} and {len(delta)} more came. "
                "End it and go on in another.",
            )
        self._chars += len(delta)
        self._owed = self._owed or bool(delta.strip())
        self._take_in(delta)

    def flush(self) -> None:
        """Speak what is there."""
        answered = self._marks < _MOST_MARKS
        self._marks += answered
        self._take_in(FlushMark(answered, self._owe()))

    def end(self) -> None:
        """No more text. A second time it changes nothing."""
        if self.ending:
            return
        self.ending = True
        self._take_in(EndMark(self._owe()))

    def credit(self, buffered_s: float) -> None:
        """The listener has this much left to play."""
        self._track.playback.correct(self._host.clock(), buffered_s)
        self._submit()
        self._wake()

    def stop(self, reason: EndReason, played_s: float | None = None) -> Ended:
        """Drop everything that was not given out and say what was heard."""
        spoken = self._front.text[: spoken_until(self._segments(), self._heard(played_s))]
        self._drop()
        self._track.clear()
        self.ending = True
        self._reason = reason
        return self._ended(self._track.samples_sent, spoken)

    # What the client is to be told.

    def take(self) -> Event | None:
        """The next event that may go now; `Ended` is the last."""
        event = self._track.take()
        if isinstance(event, Audio):
            if event.first:
                self._ttfa_s = self._host.clock() - self._text_at
            self._submit()
        if event is None and self._reason and self._track.drained:
            return self._ended(self._track.samples, self._spoken_text())
        return event

    @property
    def reading(self) -> bool:
        """Does something of what was sent wait to be read."""
        return self._intake.behind

    def due_at(self) -> float | None:
        """When there is something to do without anybody saying anything."""
        if self.reading:
            return self._host.clock()
        times = [at for at in (self._settle_at, self._track.due_at()) if at is not None]
        return min(times, default=None)

    def settle(self) -> None:
        """Text has stopped coming for as long as it may: decide what was held back."""
        if self._settle_at is not None and self._host.clock() >= self._settle_at:
            self._settle_at = None
            self._say(self._front.settle())

    # What the engine says.

    def on_chunk(self, chunk: Chunk) -> None:
        """Audio of one of our segments."""
        utterance = self._requested[chunk.request_id]
        utterance.pcm.append(chunk.pcm)
        utterance.samples += len(chunk.pcm) // SAMPLE_BYTES
        if chunk.stop is not None:
            utterance.stop = chunk.stop
            del self._requested[chunk.request_id]
        self._advance()

    def on_failed(self, failed: Failed) -> None:
        """One of our segments can't be spoken."""
        utterance = self._requested.pop(failed.request_id)
        refusal = Refusal(_error_code(failed.code), failed.message, retry_after_s=failed.retry_after_s)
        utterance.failure = refusal.told(self.name)
        self._advance()

    # Inside.

    def read(self) -> None:
        """Read on, a bounded piece of what was sent."""
        for read in self._intake.read():
            if isinstance(read, list):
                self._say(read)
            else:
                self._queue.append(read)
            if self._reason is not None:
                return
        self._arm_settling()
        self._advance()

    def _take_in(self, item: str | FlushMark | EndMark) -> None:
        behind = self.reading
        self._intake.put(item)
        if not behind:
            self.read()

    def _say(self, segments: list[Segment]) -> None:
        if not segments:
            return
        now = self._host.clock()
        if not self._queue:
            self._track.want_since(now)
        for segment in segments:
            utterance = _Utterance(segment, next(self._indexes))
            if utterance.index == 0:
                self._text_at = now
            self._queue.append(utterance)
            if segment.spoken:
                self._unsubmitted.append(utterance)
            else:
                utterance.failure = _unreadable(segment).told(self.name)
        self._submit()

    def _owe(self) -> bool:
        """Is audio owed for the text since the last mark."""
        owed, self._owed = self._owed, False
        return owed

    def _arm_settling(self) -> None:
        waits = self._front.waiting and not self.reading
        if waits and not self._options.max_buffer_s:  # now, not at the next turn: a message more would change the cut
            self._say(self._front.settle())
            waits = False
        self._settle_at = self._host.clock() + self._options.max_buffer_s if waits else None
        self._wake()

    def _submit(self) -> None:
        """Hand the next segments to the engine, as many as may be ahead."""
        limits = self._host.limits
        while self._unsubmitted and len(self._requested) < limits.window and self._track.unsent_s < limits.unsent_s:
            self._request(self._unsubmitted.popleft())

    def _request(self, utterance: _Utterance) -> None:
        request = SegmentRequest(
            request_id=self._host.speech.next_request_id(),
            stream_id=self._stream_id,
            index=utterance.index,
            text=utterance.segment.spoken,
            voice=self.voice.name,
            language=self._options.language or utterance.segment.language or None,
            pause_s=utterance.segment.pause_s,
            pace=self._options.pace,
            params=self._params,
        )
        try:
            self._host.speech.submit(request, self)
        except Refusal as refusal:
            self._unsubmitted.clear()
            utterance.failure = refusal.told(self.name)
            self._advance()
        else:
            self._requested[request.request_id] = utterance

    def _advance(self) -> None:
        """Play what is at the head of the queue, in order."""
        while self._queue and self._play(self._queue[0]):
            self._queue.popleft()
        self._submit()

    def _play(self, item: _Utterance | FlushMark | EndMark) -> bool:
        """True when this item is done and the next may play."""
        if isinstance(item, _Utterance):
            return self._play_utterance(item)
        if item.owed and self._track.position == self._marked_at:
            self._track.push_pcm(self._silence(self._options.floor_s))
        self._marked_at = self._track.position
        if isinstance(item, EndMark):
            self._finish(EndReason.COMPLETED)
        elif item.answered:
            self._marks -= 1
            self._track.push_event(Flushed(self.name, self._track.position))
        return True

    def _play_utterance(self, utterance: _Utterance) -> bool:
        if utterance.pcm and utterance.first_sample is None:
            self._begin(utterance)
        while utterance.pcm:
            self._track.push_pcm(utterance.pcm.popleft())
        if utterance.failure is not None:
            return self._give_up(utterance, utterance.failure)
        if utterance.stop is not None:
            self._time(utterance)
        return utterance.stop is not None

    def _begin(self, utterance: _Utterance) -> None:
        segment = utterance.segment
        lead_in_s = 0.0 if self._track.position else self._options.lead_in_s
        self._track.push_pcm(self._silence(lead_in_s + segment.lead_s))
        utterance.first_sample = self._track.position
        self._track.push_event(
            SegmentStarted(
                self.name,
                utterance.index,
                segment.text,
                segment.start,
                segment.end,
                utterance.first_sample,
                self._tell(segment.skipped),
            )
        )
        if utterance.stop is not None:
            self._time(utterance)

    def _time(self, utterance: _Utterance) -> None:
        """Tell the times of the words once the segment's length is known: before its audio, where it is by then."""
        if utterance.first_sample is None or utterance.timed:
            return
        utterance.timed = True
        spoken = self._spoken_segment(utterance)
        self._spoken.append(spoken)
        self._track.push_event(SegmentTimed(self.name, utterance.index, word_times(spoken)))

    def _tell(self, skipped: tuple[Skip, ...]) -> tuple[Skipped, ...]:
        """What was left out since the last time this was told, and these."""
        told = (*self._untold, *(Skipped(skip.start, skip.end, skip.reason) for skip in skipped))
        self._untold.clear()
        return told

    def _give_up(self, utterance: _Utterance, failure: Refused) -> bool:
        """A segment without speech is passed over; anything else ends the context after what was said before it."""
        self._track.push_event(failure)
        if failure.code is ErrorCode.NOTHING_TO_SAY:
            if utterance.first_sample is None:
                self._untold += self._tell(utterance.segment.skipped)
            return True
        self._failed_at = spoken_until(self._segments(), self._track.position)
        self._drop()
        self.ending = True
        self._finish(EndReason.FAILED)
        return False

    def _finish(self, reason: EndReason) -> None:
        self._reason = reason
        self._host.speech.leave(self._stream_id)
        if self._spoken:
            self._track.push_pcm(self._silence(self._front.owed_s + self._options.tail_s))
        self._track.finish()
        self._wake()

    def _drop(self) -> None:
        """Forget the text that is not spoken yet and stop the engine."""
        for request_id in self._requested:
            self._host.speech.cancel(request_id)
        self._host.speech.leave(self._stream_id)
        self._requested.clear()
        self._unsubmitted.clear()
        self._queue.clear()
        self._intake.clear()
        self._settle_at = None

    def _encoder_failed(self, error: Exception) -> None:
        self._drop()
        self._track.clear()
        self.ending = True
        self._track.push_event(Refused(ErrorCode.ENGINE_FAILED, f"The encoder failed: {error}.", self.name))
        self._reason = EndReason.FAILED
        self._wake()

    def _silence(self, duration_s: float) -> bytes:
        return bytes(round(duration_s * self._source_rate) * SAMPLE_BYTES)

    def _spoken_segment(self, utterance: _Utterance) -> SpokenSegment:
        """Its text as it was sent, and its speech without the pause behind it."""
        segment = utterance.segment
        text = self._front.text[segment.start : segment.end]
        samples = utterance.samples - round(segment.pause_s * self._source_rate)
        if utterance.stop is None:
            samples = max(utterance.samples, round(estimated_s(text) * self._source_rate))
        return SpokenSegment(text, segment.start, utterance.first_sample or 0, self._track.rescaled(max(0, samples)))

    def _segments(self) -> Iterator[SpokenSegment]:
        """Everything whose audio has begun."""
        yield from self._spoken
        if self._queue and isinstance(head := self._queue[0], _Utterance) and head.first_sample is not None:
            yield self._spoken_segment(head)

    def _heard(self, played_s: float | None) -> int:
        """Samples that have reached the listener's ear."""
        rate = self._options.format.sample_rate
        if played_s is None:
            played_s = self._track.samples_sent / rate - self._track.playback.lead_s(self._host.clock())
        return max(0, min(round(played_s * rate), self._track.samples_sent))

    def _spoken_text(self) -> str:
        """All of the text, or up to where it failed."""
        text = self._front.text
        return text if self._reason is EndReason.COMPLETED else text[: self._failed_at]

    def _ended(self, samples: int, spoken: str) -> Ended:
        assert self._reason is not None
        skipped = self._tell(self._front.unreported())
        return Ended(self.name, self._reason, samples, spoken, self._ttfa_s, skipped)


def _unreadable(segment: Segment) -> Refusal:
    reasons = ", ".join(sorted({skip.reason for skip in segment.skipped}))
    return Refusal(ErrorCode.NOTHING_TO_SAY, f"Nothing in {segment.text[:80]!r} can be spoken: {reasons}.")


def _error_code(code: str) -> ErrorCode:
    try:
        return ErrorCode(code)
    except ValueError:
        return ErrorCode.ENGINE_FAILED


def _params(params: SpeechParams, host: Host) -> SpeechParams:
    try:
        return replace(params, options=choose(host.speech.parameters, dict(params.options)))
    except ParameterError as error:
        raise Refusal(ErrorCode.INVALID_PARAMS, f"`open.params`: {error}.") from None


def _encoder(audio_format: AudioFormat, source_rate: int) -> Encoder:
    try:
        return create_encoder(audio_format, source_rate)
    except UnsupportedFormatError as error:
        raise Refusal(ErrorCode.UNSUPPORTED_FORMAT, str(error)) from None
