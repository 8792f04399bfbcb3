"""What must hold of everything that a server tells a client, whatever the client said."""

from dataclasses import dataclass, field

from firstword.protocol import AudioPacket, Ended, Error, Flushed, Opened, Segment, ServerMessage, Timing


@dataclass(slots=True)
class _Seen:
    """One context, from `opened` to `ended`."""

    number: int
    packets: int = 0
    next_sample: int = 0
    segments: int = 0
    text_end: int = 0
    last: bool = False


@dataclass(slots=True)
class Watcher:
    """Sees every message in order and raises `AssertionError` at the first that must not be."""

    open: dict[str, _Seen] = field(default_factory=dict)
    ended: int = 0
    refused: int = 0
    packets: int = 0

    def see(self, message: ServerMessage | AudioPacket) -> None:
        """One message, in the order in which it came."""
        if isinstance(message, AudioPacket):
            self._packet(message)
        elif isinstance(message, Opened):
            assert message.context not in self.open, "opened twice"
            assert message.number not in {seen.number for seen in self.open.values()}, "number in use"
            self.open[message.context] = _Seen(message.number)
        elif isinstance(message, Ended):
            self._ended(message)
        elif isinstance(message, Error):
            self.refused += 1
            assert message.message.endswith((".", "?"))
        elif isinstance(message, Segment):
            self._segment(message)
        elif isinstance(message, Timing | Flushed):
            assert message.context in self.open, "nothing follows ended"

    def _packet(self, packet: AudioPacket) -> None:
        (seen,) = [seen for seen in self.open.values() if seen.number == packet.number]
        assert not seen.last, "a packet after the last"
        assert packet.sequence == seen.packets
        assert packet.first == (packet.sequence == 0)
        assert packet.first_sample == seen.next_sample
        seen.packets += 1
        seen.next_sample = packet.first_sample + 480
        seen.last = packet.last
        self.packets += 1

    def _segment(self, segment: Segment) -> None:
        seen = self.open[segment.context]
        assert segment.index >= seen.segments
        assert segment.start >= seen.text_end
        assert segment.end > segment.start
        seen.segments = segment.index + 1
        seen.text_end = segment.end

    def _ended(self, ended: Ended) -> None:
        seen = self.open.pop(ended.context)
        assert ended.samples <= seen.next_sample
        assert len(ended.spoken) == ended.spoken_chars
        if ended.reason == "completed":
            assert seen.last == (seen.packets > 0)
        self.ended += 1
