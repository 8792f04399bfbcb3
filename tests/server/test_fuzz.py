"""Clients that say anything in any order: nothing they do breaks what other messages may rely on."""

import asyncio
import json
import random
from collections.abc import Callable

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as connect_websocket

from firstword.client import connect
from firstword.protocol import AudioPacket, Ended, ServerMessage, parse_packet, parse_server
from server.audio.format import AudioFormat, Encoder
from server.audio.pool import Done, InlineEncoders
from server.events import Audio, Event
from server.host import ContextOptions, Host, SessionLimits
from server.protocols.native import packet, translate
from server.session import Session
from server.voices import VoiceRegistry
from streaming.engine import Pace
from tests.conftest import Serve
from tests.doubles import INFO, Clock, FakeSpeech
from tests.server.invariants import Watcher

CORE_MESSAGES = 100_000
SOCKET_MESSAGES = 10_000
NAMES = [f"c{n}" for n in range(12)]
TEXTS = [
    "Hello. ",
    "a",
    "",
    " ",
    "One, two, three. ",
    "\ud83d",
    "\ude00",
    "你好，世界。",
    "3.",
    "14",
    "\n",
    "…",
    "x" * 400,
]


class LateEncoders(InlineEncoders):
    """Encoders whose answers come when the test says so."""

    def __init__(self, late: list[Callable[[], None]]) -> None:
        self._late = late

    def submit(self, encoder: Encoder, pcm: bytes | None, done: Done) -> None:
        super().submit(encoder, pcm, lambda packets: self._late.append(lambda: done(packets)))


def message(event: Event) -> ServerMessage | AudioPacket:
    """An event as what goes over the wire."""
    return packet(event) if isinstance(event, Audio) else translate(event)


def test_a_hundred_thousand_messages_at_the_session_core() -> None:
    dice = random.Random(20_261_201)
    clock, speech, watcher = Clock(), FakeSpeech(samples_per_char=24), Watcher()
    late: list[Callable[[], None]] = []
    host = Host(
        clock=clock,
        encoders=LateEncoders(late),
        speech=speech,
        voices=VoiceRegistry(lambda: INFO),
        limits=SessionLimits(contexts=8, context_chars=5_000, max_lead_s=2.0, unsent_s=2.0),
    )
    pcm = ContextOptions(format=AudioFormat("pcm_s16le", 24_000))
    session = Session(host, lambda: None, pcm)

    def options() -> ContextOptions:
        return ContextOptions(
            voice=dice.choice([None, "alto", "bass", "nobody"]),
            format=AudioFormat(dice.choice(["pcm_s16le", "pcm_s16le", "mp9"]), 24_000),
            pace=dice.choice(list(Pace)),
            lead_in_s=dice.choice([0, 0.01]),
        )

    verbs: list[Callable[[str], object]] = [
        lambda name: session.open(name, options()),
        *[lambda name: session.text(name, dice.choice(TEXTS))] * 6,
        session.flush,
        session.end,
        lambda name: session.cancel(name, dice.choice([None, 0.0, 0.1, 1e9])),
        lambda name: session.credit(name, dice.choice([0.0, 0.5, 1e6])),
    ]
    for n in range(CORE_MESSAGES):
        dice.choice(verbs)(dice.choice(NAMES))
        clock.now += dice.random() / 100
        if n % 3 == 0:
            session.settle()
        if speech.live and dice.random() < 0.5:
            happen = dice.random()
            victim = dice.choice(speech.live).request_id
            if happen < 0.05:
                speech.fail(dice.choice(["nothing_to_say", "engine_failed", "who_knows"]), victim)
            else:
                speech.speak(victim, pieces=dice.randint(1, 3))
        while late and dice.random() < 0.7:
            late.pop(0)()
        for _ in range(dice.randint(0, 12)):
            event = session.take()
            if event is None:
                break
            watcher.see(message(event))
        assert session.contexts <= 8
        assert len(speech.live) <= 8 * host.limits.window
    session.shut_down()
    while late:
        late.pop(0)()
    while (rest := session.take()) is not None:
        watcher.see(message(rest))
    assert watcher.open == {}
    assert watcher.ended > 1_000
    assert watcher.packets > 5_000
    assert speech.live == []


BROKEN: list[str | bytes] = [
    "",
    "{",
    "[]",
    "null",
    '{"type":1}',
    '{"type":"sing"}',
    '{"type":"text"}',
    b"\xff",
    "[" * 5000,
]


def frames(dice: random.Random) -> str | bytes:
    """Something a client might send, or should not."""
    name = dice.choice(NAMES)
    if dice.random() < 0.15:
        return dice.choice(BROKEN)
    fields: dict[str, object] = {
        "type": dice.choice(["open", *["text"] * 6, "flush", "end", "cancel", "credit"]),
        "context": dice.choice([name, name, name, name, "", 7, "x" * 200]),
        "text": dice.choice([*TEXTS, 7, None]),
        "codec": dice.choice(["opus", "pcm_s16le", "opus", "mp9"]),
        "voice": dice.choice([None, "alto", "bass", "../voice"]),
        "speed": dice.choice([1, 1.5, 9, "fast"]),
        "played_ms": dice.choice([None, 10, -1]),
        "buffered_ms": dice.choice([0, 100, 1e308]),
    }
    kept = {key: value for key, value in fields.items() if key == "type" or dice.random() < 0.8}
    return json.dumps(kept)


async def test_ten_thousand_messages_over_a_real_socket(serve: Serve) -> None:
    server = await serve(max_messages_per_s=1e6, max_contexts=8)
    dice = random.Random(1_202_612)
    watcher = Watcher()

    async def read(websocket: ClientConnection) -> None:
        async for frame in websocket:
            told = parse_packet(frame) if isinstance(frame, bytes) else parse_server(frame)
            watcher.see(told)
            if isinstance(told, Ended) and told.context == "the last":
                return

    async with connect_websocket(f"{server.url}/v1/stream", max_size=2**20) as websocket:
        reading = asyncio.create_task(read(websocket))
        for _ in range(SOCKET_MESSAGES):
            await websocket.send(frames(dice))
        for name in [*NAMES, "the last"]:
            await websocket.send(json.dumps({"type": "cancel", "context": name}))
        await websocket.send(json.dumps({"type": "text", "context": "the last", "text": "Bye."}))
        await websocket.send(json.dumps({"type": "end", "context": "the last"}))
        async with asyncio.timeout(60):
            await reading
    assert watcher.refused > 1_000
    assert watcher.ended > 20
    async with connect(server.url) as tts:
        context = tts.context()
        await context.send("Nobody noticed.")
        await context.end()
        assert [event async for event in context]
    assert server.edge.pool.state()[0]["restarts"] == 0
