"""The native protocol of `firstword.protocol`: a translation of `server.session`."""

from dataclasses import asdict
from functools import singledispatch

from firstword import protocol as wire
from firstword.protocol import ErrorCode, MessageError
from server import events
from server.audio.encoders import CODECS
from server.audio.format import AudioFormat
from server.edge import VERSION, Edge
from server.host import ContextOptions
from server.protocols.transport import Frame
from server.session import Session
from streaming.engine import Pace, SpeechParams
from streaming.parameter import Parameter
from streaming.text.lexicon import Entry, Lexicon, LexiconError


class NativeWire:
    """`firstword.protocol` over one session."""

    closing = None

    def __init__(self, session: Session, edge: Edge) -> None:
        self._session = session
        self._edge = edge

    def greeting(self, connection: str) -> list[Frame]:
        """`hello`."""
        settings = self._edge.settings
        hello = wire.Hello(
            protocol=wire.VERSION,
            server=f"firstword/{VERSION}",
            connection=connection,
            voice=self._edge.voices.default,
            codecs=tuple(CODECS),
            limits=wire.Limits(
                message_bytes=settings.max_message_bytes,
                contexts=settings.max_contexts,
                context_chars=settings.max_context_chars,
                lead_ms=round(settings.max_lead_s * 1000),
                idle_s=settings.idle_s,
            ),
            params=tuple(map(_param, self._edge.host.speech.parameters)),
        )
        return [wire.serialize(hello)]

    def receive(self, frame: Frame) -> None:
        """Each message is a verb."""
        if isinstance(frame, bytes):
            raise MessageError(ErrorCode.BAD_MESSAGE, "Binary messages go from the server to the client only.")
        session = self._session
        message = wire.parse_client(frame)
        match message:
            case wire.Text(context=name, text=text):
                session.text(name, text)
            case wire.Open(context=name):
                session.open(name, options_of(message))
            case wire.Flush(context=name):
                session.flush(name)
            case wire.End(context=name):
                session.end(name)
            case wire.Cancel(context=name, played_ms=played_ms):
                session.cancel(name, None if played_ms is None else played_ms / 1000)
            case wire.Credit(context=name, buffered_ms=buffered_ms):
                session.credit(name, buffered_ms / 1000)

    def frames(self, event: events.Event) -> list[Frame]:
        """Audio is binary, all else is text."""
        if isinstance(event, events.Audio):
            return [wire.serialize_packet(packet(event))]
        return [wire.serialize(translate(event))]


def options_of(message: wire.Open) -> ContextOptions:
    """How a context that is opened like this is to sound. Raises `MessageError`."""
    codec = CODECS.get(message.codec)
    default_rate = codec.default_rate if codec else 0
    return ContextOptions(
        voice=message.voice,
        format=AudioFormat(message.codec, message.sample_rate or default_rate),
        language=message.language,
        emoji=message.emoji,
        urls=message.urls,
        lexicon=_lexicon(message.lexicon),
        params=SpeechParams(message.speed, message.seed, tuple((message.params or {}).items())),
        pace=Pace(message.pace),
        max_buffer_s=message.max_buffer_ms / 1000,
        lead_in_s=message.lead_in_ms / 1000,
        tail_s=message.tail_ms / 1000,
    )


def _lexicon(entries: tuple[wire.LexiconEntry, ...]) -> Lexicon:
    try:
        return Lexicon.of(Entry(entry.word, entry.say, entry.language, exact=entry.exact) for entry in entries)
    except LexiconError as error:
        raise MessageError(ErrorCode.BAD_MESSAGE, f"`open.lexicon`: {error}.") from None


def _param(parameter: Parameter) -> wire.Param:
    return wire.Param(**asdict(parameter))


def packet(audio: events.Audio) -> wire.AudioPacket:
    """A session's packet as the protocol's."""
    return wire.AudioPacket(
        number=audio.number,
        sequence=audio.sequence,
        first_sample=audio.first_sample,
        payload=audio.data,
        first=audio.first,
        last=audio.last,
    )


def _skipped(skipped: tuple[events.Skipped, ...]) -> tuple[wire.Skipped, ...]:
    return tuple(wire.Skipped(start=skip.start, end=skip.end, reason=skip.reason) for skip in skipped)


@singledispatch
def translate(event: events.Event) -> wire.ServerMessage:
    """A session's event as the message that tells it."""
    raise TypeError(type(event))


@translate.register
def _(event: events.Opened) -> wire.ServerMessage:
    return wire.Opened(
        context=event.context,
        number=event.number,
        voice=event.voice.name,
        codec=event.format.codec,
        sample_rate=event.format.sample_rate,
        channels=1,
        frame_samples=event.frame_samples,
        pre_skip=event.pre_skip,
    )


@translate.register
def _(event: events.SegmentStarted) -> wire.ServerMessage:
    return wire.Segment(
        context=event.context,
        index=event.index,
        text=event.text,
        start=event.start,
        end=event.end,
        first_sample=event.first_sample,
        skipped=_skipped(event.skipped),
    )


@translate.register
def _(event: events.SegmentTimed) -> wire.ServerMessage:
    words = tuple(
        wire.Word(text=w.text, start=w.start, end=w.end, first_sample=w.first_sample, samples=w.samples)
        for w in event.words
    )
    return wire.Timing(context=event.context, index=event.index, estimated=True, words=words)


@translate.register
def _(event: events.Flushed) -> wire.ServerMessage:
    return wire.Flushed(context=event.context, samples=event.samples)


@translate.register
def _(event: events.Ended) -> wire.ServerMessage:
    return wire.Ended(
        context=event.context,
        reason=event.reason,
        samples=event.samples,
        spoken=event.spoken,
        spoken_chars=len(event.spoken),
        ttfa_ms=None if event.ttfa_s is None else round(event.ttfa_s * 1000, 1),
        skipped=_skipped(event.skipped),
    )


@translate.register
def _(event: events.Refused) -> wire.ServerMessage:
    return wire.Error(
        code=event.code,
        message=event.message,
        retryable=event.retryable,
        retry_after_ms=None if event.retry_after_s is None else round(event.retry_after_s * 1000),
        context=event.context,
    )
