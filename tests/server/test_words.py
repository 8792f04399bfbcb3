"""What a recogniser hears of each container that leaves over HTTP. `make judge` runs it."""

import httpx
import pytest

from tests.server.audio.signals import RATE, played
from tests.serving import running_server

pytest.importorskip("faster_whisper")

TEXT = "Hello there, my friend. The train to the coast leaves at noon."


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_container_says_the_words() -> None:
    from streaming.judge import word_error_rate  # noqa: PLC0415

    with running_server() as server, httpx.Client(base_url=server.url, timeout=60) as client:
        for name in ("mp3", "opus", "aac", "flac", "wav"):
            body = client.post("/v1/audio/speech", json={"input": TEXT, "response_format": name}).content
            rate = 2 * RATE if name == "opus" else RATE
            assert word_error_rate(played(body), rate, TEXT) < 0.1, name  # a word of twelve may be misheard
