"""Downloading the released weights: resumed when broken off, checked when complete."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPResponse
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from streaming.chattts import layout
from streaming.chattts.weights import WeightsError, hash_key, sha256

ENDPOINT = "https://huggingface.co"
REPOSITORY = "2Noise/ChatTTS"
LICENCE = (
    "The ChatTTS weights are published under CC BY-NC 4.0: for education and research, not for commercial use.\n"
    "https://creativecommons.org/licenses/by-nc/4.0/"
)
TIMEOUT_S = 30.0

Progress = Callable[[str, int, int], None]
"""Called with a file's name, the bytes there are, and the bytes there will be."""


def pull(target: Path, hashes: Mapping[str, str], progress: Progress, endpoint: str = ENDPOINT) -> None:
    """Fetch every file of the release that `target` lacks or has damaged. Raises WeightsError.

    A file is downloaded beside its place as NAME.part, continued from there next time, and moved into place only
    with the right SHA-256.
    """
    if not endpoint.startswith(("http://", "https://")):
        raise WeightsError(f"the endpoint must start with https:// or http://, not {endpoint!r}")
    for name in layout.FILES:
        path, expected = target / name, hashes[hash_key(name)]
        if path.is_file() and sha256(path) == expected:
            progress(name, path.stat().st_size, path.stat().st_size)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        _fetch(f"{endpoint.rstrip('/')}/{REPOSITORY}/resolve/main/{name}", part, name, progress)
        if sha256(part) != expected:
            part.unlink()
            raise WeightsError(
                f"what {endpoint} sends as {name} is not the released file; try again or another --endpoint"
            )
        part.replace(path)


def _fetch(url: str, part: Path, name: str, progress: Progress) -> None:
    """Continue `part` to its end."""
    try:
        for _ in range(2):
            start = part.stat().st_size if part.exists() else 0
            with _open(url, start) as answer:
                if answer is not None:
                    _save(answer, part, name, start if answer.status == 206 else 0, progress)
                    return
            # The server can't continue from there: the part is whole already, or of another file.
            part.unlink()
    except (URLError, OSError) as error:
        raise WeightsError(f"{url} can't be read ({error}); run the same command again to continue") from error


@contextmanager
def _open(url: str, start: int) -> Iterator[HTTPResponse | None]:
    """The answer from byte `start` on, or None if the server has no such byte."""
    request = Request(url, headers={"Range": f"bytes={start}-"} if start else {})  # noqa: S310 (checked in pull)
    try:
        with urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310
            yield answer
    except HTTPError as error:
        if error.code != 416:
            raise
        yield None


def _save(answer: HTTPResponse, part: Path, name: str, start: int, progress: Progress) -> None:
    total = start + int(answer.headers.get("Content-Length", 0))
    with part.open("ab" if start else "wb") as file:
        done = start
        progress(name, done, total)
        while block := answer.read(1 << 20):
            file.write(block)
            done += len(block)
            progress(name, done, total)
    if done < total:
        raise OSError(f"{name} broke off after {done} of {total} bytes")
