"""Downloads from a local server that breaks off, lies and can't resume."""

import re
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from streaming import __main__ as command
from streaming.chattts import layout, upstream, weights
from streaming.chattts.pull import pull
from tests.streaming.chattts.conftest import Release


@dataclass
class Mirror:
    """Serves a release. `cut`: bytes after which an answer breaks off; `ranges`: whether it can resume."""

    address: str = ""
    folder: Path = Path()
    cut: int | None = None
    ranges: bool = True
    asked: list[tuple[str, str | None]] = field(default_factory=list)


@pytest.fixture
def mirror(release: Release, tmp_path: Path) -> Iterator[Mirror]:
    state = Mirror(folder=tmp_path / "served")
    shutil.copytree(release.folder, state.folder)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.removeprefix("/2Noise/ChatTTS/resolve/main/")
            wanted = self.headers["Range"]
            state.asked.append((name, wanted))
            data = (state.folder / name).read_bytes()
            start = int(re.findall(r"\d+", wanted)[0]) if wanted and state.ranges else 0
            if start >= len(data):
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            self.wfile.write(data[start:][: state.cut])
            self.close_connection = True

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    state.address = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def fetch(mirror: Mirror, release: Release, target: Path) -> list[tuple[str, int, int]]:
    seen: list[tuple[str, int, int]] = []
    pull(target, release.hashes, lambda *state: seen.append(state), mirror.address)
    return seen


def test_everything_arrives_and_is_not_fetched_twice(mirror: Mirror, release: Release, tmp_path: Path) -> None:
    seen = fetch(mirror, release, tmp_path / "new")
    weights.check(tmp_path / "new", release.hashes)
    assert {name for name, done, total in seen if done == total} == set(layout.FILES)
    mirror.asked.clear()
    fetch(mirror, release, tmp_path / "new")
    assert mirror.asked == []
    assert not list((tmp_path / "new").rglob("*.part"))


def test_a_broken_download_continues(mirror: Mirror, release: Release, tmp_path: Path) -> None:
    mirror.cut = 100_000
    with pytest.raises(weights.WeightsError, match="run the same command again to continue"):
        fetch(mirror, release, tmp_path / "new")
    mirror.cut = None
    mirror.asked.clear()
    fetch(mirror, release, tmp_path / "new")
    assert mirror.asked[0] == (layout.FILES[0], "bytes=100000-")
    weights.check(tmp_path / "new", release.hashes)


def test_a_server_that_cannot_continue_starts_again(mirror: Mirror, release: Release, tmp_path: Path) -> None:
    mirror.ranges = False
    part = tmp_path / "new" / (layout.DECODER + ".part")
    part.parent.mkdir(parents=True)
    part.write_bytes(b"xyz")
    fetch(mirror, release, tmp_path / "new")
    weights.check(tmp_path / "new", release.hashes)


def test_a_part_that_is_too_long_starts_again(mirror: Mirror, release: Release, tmp_path: Path) -> None:
    part = tmp_path / "new" / (layout.DECODER + ".part")
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * 10_000_000)
    fetch(mirror, release, tmp_path / "new")
    weights.check(tmp_path / "new", release.hashes)


def test_another_file_is_refused(mirror: Mirror, release: Release, tmp_path: Path) -> None:
    (mirror.folder / layout.DECODER).write_bytes(b"something else")
    with pytest.raises(weights.WeightsError, match="is not the released file; try again or another --endpoint"):
        fetch(mirror, release, tmp_path / "new")
    assert not list((tmp_path / "new").rglob("Decoder*"))


def test_no_server(release: Release, tmp_path: Path) -> None:
    with pytest.raises(weights.WeightsError, match="can't be read"):
        pull(tmp_path, release.hashes, lambda *_: None, "http://127.0.0.1:9")


def test_only_http(release: Release, tmp_path: Path) -> None:
    with pytest.raises(weights.WeightsError, match="must start with https://"):
        pull(tmp_path, release.hashes, lambda *_: None, "file:///etc")


def test_the_command(
    mirror: Mirror,
    release: Release,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(upstream, "asset_hashes", lambda: release.hashes)
    assert command.main(["pull", "--target", str(tmp_path / "new"), "--endpoint", mirror.address]) == 0
    printed = capsys.readouterr()
    assert "CC BY-NC 4.0" in printed.err
    assert f"{'#' * 30}" in printed.err
    assert f"--weights {tmp_path / 'new'}" in printed.out
    assert command.main(["pull", "--target", str(tmp_path / "other"), "--endpoint", "ftp://x"]) == 1
    assert "error: the endpoint must start with" in capsys.readouterr().err


def test_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("transformers")
    out = tmp_path / "said.wav"
    assert command.main(["verify", "random-tiny:1", "--text", "hello", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines()] == [
        "hashes",
        "parity",
        "speed",
        "speed",
        "speed",
        "sentence",
        "word",
    ]
    judged = printed.splitlines()[-1]
    assert ("skipped" in judged) == (find_spec("faster_whisper") is None)
    assert re.fullmatch(r"word error   (skipped: .*judge`|\d+% of the words: a recogniser heard .*)", judged)
    assert out.stat().st_size > 1000
    assert command.main(["verify", str(tmp_path / "nothing")]) == 1
    assert "there is no directory" in capsys.readouterr().err
