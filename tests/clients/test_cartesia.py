"""The `cartesia` SDK, unmodified, against a server of ours."""

import array
from pathlib import Path

import pytest
from cartesia import AsyncCartesia

from tests.clients.snippets import run_snippet
from tests.clients.spoken import assert_same, spoken
from tests.conftest import Serve

TURN = ["Hello there, ", "my friend. ", "How are you today?"]
LONG = "This is a long answer, and it goes on and on. " * 40
FORMAT = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000}


async def test_three_turns_on_one_connection(serve: Serve) -> None:
    server = await serve({"samples_per_step": 480}, keys="the-key-of-the-house")
    plain = await serve()
    client = AsyncCartesia(api_key="the-key-of-the-house", base_url=server.http, websocket_base_url=server.url)
    async with client.tts.websocket_connect() as connection:

        async def turn(*texts: str) -> tuple[bytes, list[str], list[float]]:
            context = connection.context(
                model_id="sonic-3", voice={"mode": "id", "id": "alto"}, output_format=FORMAT, add_timestamps=True
            )
            for text in texts:
                await context.push(text)
            await context.no_more_inputs()
            events = [event async for event in context.receive()]
            assert [event.type for event in events].count("done") == 1
            assert events[-1].type == "done"
            audio = b"".join(event.audio for event in events if event.type == "chunk")
            times = [event.word_timestamps for event in events if event.type == "timestamps"]
            starts = [start for time in times for start in time.start]
            assert starts == sorted(starts) and times[-1].end[-1] <= len(audio) / 48_000
            return audio, [word for time in times for word in time.words], starts

        audio, heard, starts = await turn(*TURN)
        assert_same(audio, await spoken(plain, "".join(TURN)))
        assert heard == "".join(TURN).split() and starts[0] == 0.0

        context = connection.context(model_id="sonic-3", voice={"mode": "id", "id": "alto"}, output_format=FORMAT)
        await context.push(LONG)
        first = await anext(context.receive())
        await context.cancel()  # the SDK forgets the context: what follows of it would be lost
        assert_same(first.audio, (await spoken(plain, LONG))[: len(first.audio)])

        audio, heard, _ = await turn("Once more, then.")
        assert_same(audio, await spoken(plain, "Once more, then."))
        assert heard == ["Once", "more,", "then."]
    await client.close()


async def test_the_sdks_own_format(serve: Serve) -> None:
    server = await serve()
    client = AsyncCartesia(api_key="any", base_url=server.http, websocket_base_url=server.url)
    async with client.tts.websocket_connect() as connection:
        context = connection.context(
            model_id="sonic-3",
            voice={"mode": "id", "id": "f786b574-daa5-4673-aa0c-cbe3e8534c02"},
            output_format={"container": "raw", "encoding": "pcm_f32le", "sample_rate": 44_100},
        )
        await context.push("Hello there.")
        await context.no_more_inputs()
        events = [event async for event in context.receive()]
        samples = array.array("f", b"".join(event.audio for event in events if event.type == "chunk"))
        assert max(map(abs, samples)) == pytest.approx(0.5, abs=0.02)

        context = connection.context(
            model_id="sonic-3", voice={"mode": "id", "id": "alto"}, output_format={**FORMAT, "sample_rate": 11_025}
        )
        await context.push("Hello there.")
        (error,) = [event async for event in context.receive()]
        assert (error.type, error.error_code) == ("error", "unsupported_format")
        assert "11025" in error.message
    await client.close()


async def test_the_snippet(serve: Serve, tmp_path: Path) -> None:
    server = await serve()
    await run_snippet("cartesia", tmp_path, http=server.http.removeprefix("http://"))
    assert len((tmp_path / "hello.pcm").read_bytes()) > 48_000
