"""The snippet for Home Assistant's protocol; the rest of it is in `tests/server/test_wyoming.py`."""

import wave
from pathlib import Path

from server.listener import bind
from server.protocols import wyoming
from tests.clients.snippets import run_snippet
from tests.clients.spoken import assert_same, spoken
from tests.conftest import Serve


async def test_the_snippet(serve: Serve, tmp_path: Path) -> None:
    server = await serve()
    sock = bind("127.0.0.1", 0)
    async with await wyoming.serve(server.edge, sock):
        await run_snippet("wyoming", tmp_path, wyoming=sock.getsockname()[1])
    with wave.open(str(tmp_path / "hello.wav")) as file:
        assert_same(file.readframes(file.getnframes()), await spoken(server, "Hello there. How are you today?"))
