"""The native protocol over a real socket, as a client meets it."""

import asyncio
import json
from array import array

import httpx
import pytest
from opuslib_next import Decoder
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as connect_websocket
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from firstword.client import ConnectError, Context, ContextEvent, ServerGoneError, SpeechError, connect
from firstword.protocol import AudioPacket, Ended, Error, ErrorCode, Flushed, Opened, Segment, Timing
from server.protocols.connection import Connection
from tests.conftest import Serve, Served

KEY = "a-key-of-enough-length"


async def speak(context: Context, *deltas: str) -> list[ContextEvent]:
    for delta in deltas:
        await context.send(delta)
    await context.end()
    return [event async for event in context]


def only(events: list[ContextEvent], kind: type) -> list[ContextEvent]:
    return [event for event in events if isinstance(event, kind)]


def payload(events: list[ContextEvent]) -> bytes:
    return b"".join(event.payload for event in events if isinstance(event, AudioPacket))


async def raw(server: Served) -> ClientConnection:
    websocket = await connect_websocket(f"{server.url}/v1/stream", max_size=2**20)
    assert json.loads(await websocket.recv())["type"] == "hello"
    return websocket


async def test_a_reply_arrives_whole_and_in_order(serve: Serve) -> None:
    server = await serve()
    async with connect(server.url) as tts:
        assert (tts.hello.voice, tts.hello.protocol) == ("alto", 1)
        events = await speak(tts.context(codec="pcm_s16le"), "Hello ", "there. ", "How are you?")
    assert [type(e) for e in events if not isinstance(e, AudioPacket)] == [
        Opened,
        Segment,
        Timing,
        Segment,
        Timing,
        Ended,
    ]
    ended = events[-1]
    assert isinstance(ended, Ended)
    assert (ended.reason, ended.spoken) == ("completed", "Hello there. How are you?")
    assert len(payload(events)) == 2 * ended.samples


async def test_opus_decodes_to_exactly_the_announced_samples(serve: Serve) -> None:
    server = await serve()
    async with connect(server.url) as tts:
        pcm = await speak(tts.context(codec="pcm_s16le"), "Hello there.")
        opus = await speak(tts.context(), "Hello there.")
    (opened,) = only(opus, Opened)
    ended = opus[-1]
    assert isinstance(opened, Opened) and isinstance(ended, Ended)
    assert (opened.codec, opened.sample_rate, opened.frame_samples, opened.pre_skip) == ("opus", 24_000, 480, 156)
    decoder = Decoder(24_000, 1)
    decoded = b"".join(decoder.decode(p.payload, 480) for p in opus if isinstance(p, AudioPacket))
    samples = array("h", decoded)[opened.pre_skip :][: ended.samples]
    original = array("h", payload(pcm))
    assert len(samples) == len(original) == ended.samples
    energy = sum(x * x for x in original)
    error = sum((x - y) ** 2 for x, y in zip(samples, original, strict=True))
    assert error < 0.25 * energy, "one sample out of step would be twice the energy"


async def test_two_contexts_speak_at_once_on_one_socket(serve: Serve) -> None:
    server = await serve()
    async with connect(server.url) as tts:
        contexts = [tts.context(codec="pcm_s16le", seed=seed) for seed in (0, 3)]
        both = await asyncio.gather(*(speak(c, "The same words, said twice.") for c in contexts))
        again = await speak(tts.context(codec="pcm_s16le", seed=3), "The same words, said twice.")
    assert payload(both[0]) != payload(both[1])
    assert payload(both[1]) == payload(again)


async def test_cancel_silences_one_context_and_the_socket_lives_on(serve: Serve) -> None:
    server = await serve({"samples_per_step": 480})
    async with connect(server.url) as tts:
        context = tts.context(codec="pcm_s16le")
        await context.send("This is a long sentence that will be cut off in the middle of it. " * 3)
        async for event in context:
            if isinstance(event, AudioPacket):
                break
        ended = await context.cancel(played_ms=500)
        assert ended.reason == "cancelled"
        assert 0 < len(ended.spoken) < 66
        events = await speak(tts.context(context.name, codec="pcm_s16le"), "Next.")
        assert isinstance(events[-1], Ended) and events[-1].spoken == "Next."


async def test_flush_is_answered_and_the_context_goes_on(serve: Serve) -> None:
    server = await serve()
    async with connect(server.url) as tts:
        context = tts.context(codec="pcm_s16le")
        await context.send("one two three")
        await context.flush()
        async for event in context:
            if isinstance(event, Flushed):
                break
        events = await speak(context, " four five")
        assert isinstance(events[-1], Ended) and events[-1].spoken == "one two three four five"


async def test_what_can_not_be_had_raises_with_a_sentence(serve: Serve) -> None:
    server = await serve()
    async with connect(server.url) as tts:
        with pytest.raises(SpeechError, match="There is no voice 'nobody'; there are: alto, bass") as caught:
            await speak(tts.context(voice="nobody"), "Hello.")
        assert caught.value.error.code == ErrorCode.UNKNOWN_VOICE
        with pytest.raises(SpeechError, match="no codec 'mp9'"):
            await speak(tts.context(codec="mp9"), "Hello.")
        events = await speak(tts.context(codec="pcm_s16le"), "Hello.")
        assert payload(events)


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("{", ErrorCode.BAD_MESSAGE),
        ("[]", ErrorCode.BAD_MESSAGE),
        (b"\x00\x01", ErrorCode.BAD_MESSAGE),
        ('{"type":"sing"}', ErrorCode.UNKNOWN_TYPE),
        ('{"type":"text","context":"a","text":7}', ErrorCode.BAD_MESSAGE),
        ('{"type":"text","context":"a","text":"' + "x" * 70_000 + '"}', ErrorCode.MESSAGE_TOO_LARGE),
    ],
)
async def test_a_bad_message_is_an_error_and_the_socket_lives_on(
    serve: Serve, frame: str | bytes, code: ErrorCode
) -> None:
    server = await serve()
    async with await raw(server) as websocket:
        await websocket.send(frame)
        error = json.loads(await websocket.recv())
        assert (error["type"], error["code"]) == ("error", code)
        await websocket.send('{"type":"text","context":"a","text":"Still here."}')
        assert json.loads(await websocket.recv())["type"] == "opened"


@pytest.mark.parametrize(
    ("frame", "code"),
    [("x" * 10_000_000, 1009), (None, 1007)],
)
async def test_what_breaks_the_framing_closes_with_its_code(serve: Serve, frame: str | None, code: int) -> None:
    server = await serve()
    async with connect(server.url) as other:
        websocket = await raw(server)
        with pytest.raises(ConnectionClosed) as closed:
            await websocket.send(frame or b"\xff\xfe", text=True if frame is None else None)
            await websocket.recv()
        assert closed.value.rcvd is not None and closed.value.rcvd.code == code
        assert payload(await speak(other.context(), "Nobody noticed."))


async def test_ten_thousand_contexts_are_refused_one_by_one(serve: Serve) -> None:
    server = await serve(max_contexts=4, max_messages_per_s=1e6)
    async with await raw(server) as websocket:
        for n in range(10_000):
            await websocket.send(json.dumps({"type": "open", "context": f"c{n}"}))
        answers = [json.loads(await websocket.recv()) for _ in range(10_000)]
    kinds = [a["type"] if a["type"] == "opened" else a["code"] for a in answers]
    assert kinds.count("opened") == 4
    assert kinds.count("too_many_contexts") == 9_996


async def test_one_connection_too_many_is_told_to_try_later(serve: Serve) -> None:
    server = await serve(max_connections=1)
    async with connect(server.url):
        with pytest.raises(ServerGoneError, match="1013"):
            async with connect(server.url):
                pass


async def test_an_idle_connection_is_closed_cleanly(serve: Serve) -> None:
    server = await serve(idle_s=0.2)
    async with await raw(server) as websocket:
        with pytest.raises(ConnectionClosed) as closed:
            await websocket.recv()
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1000


async def test_an_open_context_is_not_idle(serve: Serve) -> None:
    server = await serve(idle_s=0.1)
    async with await raw(server) as websocket:
        await websocket.send('{"type":"open","context":"a"}')
        await websocket.recv()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await websocket.recv()


async def test_a_client_that_sends_mistakes_and_never_reads_is_not_read_any_further(serve: Serve) -> None:
    server = await serve(max_messages_per_s=1e6, stall_s=1.0, ping_s=60.0)
    websocket = await raw(server)
    websocket.transport.pause_reading()
    (connection,) = server.edge._connections
    assert isinstance(connection, Connection)
    with pytest.raises((ConnectionClosed, TimeoutError)):
        async with asyncio.timeout(15):
            while True:
                await websocket.send("{" * 1000)
                assert connection._session.backlog < 300
    websocket.transport.abort()


async def test_a_client_that_vanishes_leaves_nothing_behind(serve: Serve) -> None:
    server = await serve({"samples_per_step": 480})
    websocket = await raw(server)
    await websocket.send(json.dumps({"type": "text", "context": "a", "text": "On and on it goes. " * 500}))
    await websocket.recv()
    websocket.transport.abort()
    async with asyncio.timeout(5):
        while server.edge.pool.streams or server.edge._connections:
            await asyncio.sleep(0.01)


async def test_a_client_that_does_not_read_pauses_only_itself_and_is_dropped(serve: Serve) -> None:
    server = await serve({"samples_per_step": 240_000}, stall_s=1.0, ping_s=60.0)
    websocket = await raw(server)
    websocket.transport.pause_reading()
    text = "A very long text that nobody ever reads. " * 2000
    message = {"type": "open", "context": "a", "codec": "pcm_f32le", "pace": "fast"}
    await websocket.send(json.dumps(message))
    for start in range(0, len(text), 40_000):
        await websocket.send(json.dumps({"type": "text", "context": "a", "text": text[start : start + 40_000]}))
    async with connect(server.url) as other:
        assert payload(await speak(other.context(), "Nobody noticed."))
        async with asyncio.timeout(20):
            while len(server.edge._connections) > 1:
                await asyncio.sleep(0.05)
    websocket.transport.abort()


# Who may connect.


async def test_without_a_key_nobody_connects(serve: Serve) -> None:
    server = await serve(keys=(KEY,))
    with pytest.raises(ConnectError, match="401: A key is needed"):
        async with connect(server.url):
            pass
    with pytest.raises(ConnectError, match="401"):
        async with connect(server.url, key="a-key-of-enough-lengtH"):
            pass
    async with connect(server.url, key=KEY) as tts:
        assert payload(await speak(tts.context(), "Hello."))


async def test_a_browser_offers_its_key_as_a_subprotocol(serve: Serve) -> None:
    server = await serve(keys=(KEY,))
    offered = [Subprotocol("firstword.v1"), Subprotocol(f"firstword.key.{KEY}")]
    async with connect_websocket(f"{server.url}/v1/stream", subprotocols=offered) as websocket:
        assert websocket.subprotocol == "firstword.v1"


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Origin": "http://evil.example"}, 403), ({"Host": "evil.example:80", "Origin": "http://evil.example:80"}, 403)],
)
async def test_pages_of_other_origins_and_rebound_names_are_refused(
    serve: Serve, headers: dict[str, str], status: int
) -> None:
    server = await serve()
    async with httpx.AsyncClient() as http:
        upgrade = {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        }
        response = await http.get(f"{server.http}/v1/stream", headers={**upgrade, **headers})
        assert response.status_code == status
        response = await http.get(f"{server.http}/v1/voices", headers=headers)
        assert response.status_code == status


async def test_an_allowed_origin_connects(serve: Serve) -> None:
    server = await serve(origins=("https://app.example",))
    async with connect_websocket(f"{server.url}/v1/stream", additional_headers={"Origin": "https://app.example"}):
        pass
    with pytest.raises(InvalidStatus):
        await connect_websocket(f"{server.url}/v1/stream", additional_headers={"Origin": "https://other.example"})


# HTTP beside it.


async def test_health_readiness_voices_metrics_and_the_page(serve: Serve) -> None:
    server = await serve()
    async with connect(server.url) as tts:
        await speak(tts.context(), "Hello there.")
    async with httpx.AsyncClient(base_url=server.http) as http:
        assert (await http.get("/healthz")).json() == {"status": "ok"}
        ready = (await http.get("/readyz")).json()
        assert (ready["status"], ready["workers"][0]["ready"]) == ("ready", True)
        voices = (await http.get("/v1/voices")).json()["voices"]
        assert [(v["name"], v["languages"], v["sex"], v["licence"], v["default"]) for v in voices] == [
            ("alto", ["en"], "female", "Apache-2.0", True),
            ("bass", ["en", "zh"], "male", "Apache-2.0", False),
        ]
        metrics = (await http.get("/metrics")).text
        assert 'firstword_contexts_total{reason="completed"} 1.0' in metrics
        assert "firstword_ttfa_seconds_count 1.0" in metrics
        assert "firstword" in (await http.get("/")).text


# The worker.


async def test_a_worker_that_dies_in_the_middle_is_not_heard(serve: Serve, tmp_path: object) -> None:
    text = "This is the first sentence of it. And this sentence kills: die now. And this is the last."
    server = await serve({"die_marker": f"{tmp_path}/died", "samples_per_step": 480})
    async with connect(server.url) as tts:
        interrupted = await speak(tts.context(codec="pcm_s16le"), text)
        undisturbed = await speak(tts.context(codec="pcm_s16le"), text)
    assert server.edge.pool.state()[0]["restarts"] == 1
    assert payload(interrupted) == payload(undisturbed)
    assert isinstance(interrupted[-1], Ended) and interrupted[-1].reason == "completed"


async def test_a_request_that_kills_every_worker_is_given_up_and_others_are_not(serve: Serve) -> None:
    server = await serve({"samples_per_step": 480})
    async with connect(server.url) as tts:
        poison = tts.context()
        events = await speak(poison, "Please, die now.")
        errors = only(events, Error)
        assert [e.code for e in errors if isinstance(e, Error)] == [ErrorCode.ENGINE_RESTARTED]
        assert isinstance(events[-1], Ended) and events[-1].reason == "failed"
        assert payload(await speak(tts.context(), "All is well."))


@pytest.mark.parametrize("text", ["Please break at start.", "Please break in a step."])
async def test_a_bug_costs_one_request(serve: Serve, text: str, capfd: pytest.CaptureFixture[str]) -> None:
    server = await serve()
    async with connect(server.url) as tts:
        events = await speak(tts.context(), text)
        (error,) = only(events, Error)
        assert isinstance(error, Error) and error.code == ErrorCode.ENGINE_FAILED
        assert payload(await speak(tts.context(), "All is well."))
    assert server.edge.pool.state()[0]["restarts"] == 0


async def test_a_hanging_worker_is_replaced(serve: Serve) -> None:
    server = await serve(worker_stall_s=0.4)
    async with connect(server.url) as tts:
        events = await speak(tts.context(), "Please hang now.")
        assert isinstance(events[-1], Ended) and events[-1].reason == "failed"
        assert payload(await speak(tts.context(), "All is well."))


async def test_a_worker_that_can_not_start_is_told_and_tried_again(
    serve: Serve, capfd: pytest.CaptureFixture[str]
) -> None:
    server = await serve({"fail_to_load": True})
    async with httpx.AsyncClient(base_url=server.http) as http, asyncio.timeout(20):
        while True:
            ready = await http.get("/readyz")
            worker = ready.json()["workers"][0]
            if worker["restarts"] >= 1 and worker["problem"] != "starting":
                break
            await asyncio.sleep(0.05)
    assert ready.status_code == 503
    assert worker["problem"] == "exited with 1"


async def test_draining_finishes_what_is_spoken_then_closes(serve: Serve) -> None:
    server = await serve({"samples_per_step": 480})
    async with connect(server.url) as tts:
        context = tts.context(codec="pcm_s16le", pace="fast")
        await context.send("This has no full stop and is still spoken to its end")
        await context.flush()
        async for event in context:
            if isinstance(event, Opened):
                break
        draining = asyncio.create_task(server.edge.drain())
        events = [event async for event in context]
        assert isinstance(events[-1], Ended) and events[-1].reason == "completed"
        assert events[-1].spoken == "This has no full stop and is still spoken to its end"
        await draining
        with pytest.raises((SpeechError, ServerGoneError)):
            await speak(tts.context(), "Too late.")
