"""One context's audio on its way from PCM to the socket."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from server.audio.format import Encoder, Packet
from server.audio.pool import Encoders
from server.events import Audio, Event
from streaming.engine import SAMPLE_BYTES, Pace

_REFILL_S = 0.1
"""A paced listener is topped up when this much has been played, not packet by packet: fewer wake-ups."""

_FIRST_CALL_S = 0.04
_CALL_S = 0.2
"""How much PCM the encoder gets at once: its packets leave when all of it is encoded, and others wait for it."""


@dataclass(slots=True)
class Playback:
    """When the listener will have played what it was sent. Kept by the one who sends."""

    dry_at: float | None = None
    underruns: int = 0

    def sent(self, now: float, duration_s: float, *, waited_since: float) -> None:
        """Audio leaves now. It is an underrun if the listener ran dry after the audio could have been asked for."""
        if self.dry_at is not None and waited_since < self.dry_at < now:
            self.underruns += 1
        self.dry_at = max(self.dry_at or now, now) + duration_s

    def lead_s(self, now: float) -> float:
        """Seconds of audio the listener still has."""
        return 0.0 if self.dry_at is None else max(0.0, self.dry_at - now)

    def correct(self, now: float, buffered_s: float) -> None:
        """The listener itself says how much it has."""
        if self.dry_at is not None:
            self.dry_at = now + buffered_s


class Track:
    """PCM and events in; encoded packets and the same events out, in that order, no faster than may be sent.

    PCM waits in the lane for the encoder, which runs elsewhere; what is encoded waits in the outbox for the
    listener. `take` is the only way out, so what was cleared is never sent.
    """

    def __init__(
        self,
        context: str,
        number: int,
        encoder: Encoder,
        encoders: Encoders,
        *,
        pace: Pace,
        source_rate: int,
        max_lead_s: float,
        message_s: float,
        clock: Callable[[], float],
        wake: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self.playback = Playback()
        self._finished = False
        self.samples_sent = 0
        self._context = context
        self._number = number
        self._encoder = encoder
        self._encoders = encoders
        self._paced = pace is Pace.REALTIME
        self._source_rate = source_rate
        self._max_lead_s = max_lead_s
        self._most_samples = round(message_s * encoder.format.sample_rate)
        self._clock = clock
        self._wake = wake
        self._failed = failed
        self._lane: deque[Event | bytes | None] = deque()
        """None is the end of the PCM."""
        self._outbox: deque[Event] = deque()
        self._encoding = False
        self._epoch = 0
        self._sequence = 0
        self.unsent_s = 0.0
        """Seconds of audio pushed and not taken."""
        self._pushed = 0
        self._full = False
        self._wanted_since = 0.0

    @property
    def position(self) -> int:
        """Samples of the signal pushed so far, at the format's rate."""
        return self.rescaled(self._pushed)

    def rescaled(self, samples: int) -> int:
        """Samples at the engine's rate as samples at the format's rate."""
        return round(samples * self._encoder.format.sample_rate / self._source_rate)

    @property
    def samples(self) -> int:
        """Real samples of the whole signal; exact once finished."""
        return self._encoder.samples

    @property
    def drained(self) -> bool:
        """The end was pushed and everything before it has been taken."""
        return self._finished and not self._outbox and not self._lane

    def push_event(self, event: Event) -> None:
        """Give out `event` after everything pushed before it."""
        self._lane.append(event)
        self._advance()

    def push_pcm(self, pcm: bytes) -> None:
        """Append engine PCM to the signal."""
        if not pcm:
            return
        self._pushed += len(pcm) // SAMPLE_BYTES
        self.unsent_s += len(pcm) / SAMPLE_BYTES / self._source_rate
        self._lane.append(pcm)
        self._advance()

    def finish(self) -> None:
        """No PCM follows."""
        if self._pushed:
            self._lane.append(None)
            self._advance()
        else:
            self._finished = True

    def want_since(self, now: float) -> None:
        """From now on the listener has text to hear: if it runs dry before the audio comes, that is an underrun."""
        self._wanted_since = now

    def clear(self) -> None:
        """Forget everything that has not been taken."""
        self._lane.clear()
        self._outbox.clear()
        self.unsent_s = 0.0
        self._epoch += 1
        self._finished = True

    def take(self) -> Event | None:
        """The next event that may go now, or None."""
        if not self._outbox:
            return None
        head = self._outbox[0]
        if not isinstance(head, Audio):
            return self._outbox.popleft()
        now = self._clock()
        if not self._may_send(now):
            return None
        self._outbox.popleft()
        audio = self._joined(head)
        self._account(audio, now)
        return audio

    def due_at(self) -> float | None:
        """When `take` will give something without anything being pushed; None if only a push can tell."""
        if not self._outbox:
            return None
        dry_at = self.playback.dry_at
        if not isinstance(self._outbox[0], Audio) or not self._full or dry_at is None:
            return self._clock()
        return dry_at - self._max_lead_s + _REFILL_S

    def _joined(self, audio: Audio) -> Audio:
        """With the packets that follow, as many as may leave in one piece."""
        while self._outbox and isinstance(following := self._outbox[0], Audio):
            samples = audio.samples + following.samples
            if samples > self._most_samples:
                break
            self._outbox.popleft()
            audio = replace(audio, samples=samples, data=audio.data + following.data, last=following.last)
        return audio

    def _may_send(self, now: float) -> bool:
        lead_s = self.playback.lead_s(now) if self._paced else 0.0
        if self._full:
            self._full = lead_s > self._max_lead_s - _REFILL_S
        else:
            self._full = lead_s > self._max_lead_s
        return not self._full

    def _account(self, audio: Audio, now: float) -> None:
        duration_s = audio.samples / self._encoder.format.sample_rate
        self.playback.sent(now, duration_s, waited_since=self._wanted_since)
        self.samples_sent += audio.samples
        self.unsent_s = max(0.0, self.unsent_s - duration_s)

    def _advance(self) -> None:
        """Move events to the outbox and PCM to the encoder until one of them has to wait."""
        while self._lane and not self._encoding:
            item = self._lane.popleft()
            if isinstance(item, bytes):
                self._encode(self._call_of(item))
            elif item is None:
                self._encode(None)
            else:
                self._outbox.append(item)
        if self._outbox or self.drained:
            self._wake()

    def _call_of(self, pcm: bytes) -> bytes:
        """The PCM up to the next event, but no more than one call may take; the rest goes back."""
        seconds = _CALL_S if self._sequence else _FIRST_CALL_S
        most = round(seconds * self._source_rate) * SAMPLE_BYTES
        parts = [pcm]
        while sum(map(len, parts)) < most and self._lane and isinstance(following := self._lane[0], bytes):
            parts.append(following)
            self._lane.popleft()
        joined = b"".join(parts)
        if len(joined) > most:
            self._lane.appendleft(joined[most:])
        return joined[:most]

    def _encode(self, pcm: bytes | None) -> None:
        self._encoding = True
        epoch = self._epoch
        self._encoders.submit(self._encoder, pcm, lambda packets: self._encoded(packets, epoch, last=pcm is None))

    def _encoded(self, packets: list[Packet] | Exception, epoch: int, *, last: bool) -> None:
        self._encoding = False
        if epoch != self._epoch:
            return
        if isinstance(packets, Exception):
            self._failed(packets)
            return
        for packet in packets:
            self._outbox.append(self._audio(packet, last=last and packet is packets[-1]))
        self._finished = self._finished or last
        self._advance()

    def _audio(self, packet: Packet, *, last: bool) -> Audio:
        sequence, self._sequence = self._sequence, self._sequence + 1
        return Audio(
            context=self._context,
            number=self._number,
            sequence=sequence,
            first_sample=packet.first_sample,
            samples=packet.samples,
            data=packet.data,
            first=sequence == 0,
            last=last,
        )
