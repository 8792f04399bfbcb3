"""Where speech goes: a file, or the loudspeakers."""

import shutil
import subprocess
import wave
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

_PLAYERS = (
    ("ffplay", "-loglevel", "quiet", "-nodisp", "-autoexit", "-f", "s16le", "-ar", "{rate}", "-"),
    (
        "mpv",
        "--really-quiet",
        "--demuxer=rawaudio",
        "--demuxer-rawaudio-rate={rate}",
        "--demuxer-rawaudio-channels=1",
        "-",
    ),
    ("paplay", "--raw", "--rate={rate}", "--format=s16le", "--channels=1"),
    ("aplay", "-q", "-t", "raw", "-f", "S16_LE", "-r", "{rate}", "-c", "1"),
    ("play", "-q", "-t", "raw", "-r", "{rate}", "-e", "signed", "-b", "16", "-c", "1", "-"),
)
"""Programs that play s16le mono from their standard input."""


class SinkError(Exception):
    """There is nowhere for the speech to go. The message says what to do."""


class Sink(Protocol):
    """Takes what the server sends in `codec`."""

    codec: str

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def write(self, data: bytes, sample_rate: int) -> None: ...


class OpusFile:
    """Ogg Opus, as it comes."""

    codec = "ogg_opus"

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: bytes, sample_rate: int) -> None:  # noqa: ARG002
        """Append a page."""
        self._file.write(data)


class WavFile:
    """16-bit WAV."""

    codec = "pcm_s16le"

    def __init__(self, path: Path) -> None:
        self._file = wave.open(str(path), "wb")  # noqa: SIM115
        self._file.setnchannels(1)
        self._file.setsampwidth(2)
        self._file.setframerate(24_000)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: bytes, sample_rate: int) -> None:
        """Append samples."""
        if self._file.getnframes() == 0:
            self._file.setframerate(sample_rate)
        self._file.writeframes(data)


class Speakers:
    """The loudspeakers: by the `sounddevice` package if it is there, else by a player program."""

    codec = "pcm_s16le"

    def __init__(self) -> None:
        self._output: _Output | None = None
        self._check()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._output is not None:
            self._output.close()

    def write(self, data: bytes, sample_rate: int) -> None:
        """Play samples; waits while the device has enough."""
        self._output = self._output or _open_output(sample_rate)
        self._output.write(data)

    def _check(self) -> None:
        if not (_has_sounddevice() or _player(24_000)):
            names = ", ".join(player[0] for player in _PLAYERS)
            raise SinkError(
                f"There is nothing to play with: `pip install firstword[play]`, or install one of {names}, "
                "or write a file with `--out speech.wav`."
            )


class _Output(Protocol):
    def write(self, data: bytes) -> object: ...

    def close(self) -> None: ...


class _Program:
    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0)  # noqa: S603

    def write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(data)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class _Device:
    def __init__(self, sample_rate: int) -> None:
        import sounddevice  # noqa: PLC0415  # an extra, and slow to import

        self._stream = sounddevice.RawOutputStream(samplerate=sample_rate, channels=1, dtype="int16")
        self._stream.start()

    def write(self, data: bytes) -> None:
        self._stream.write(data)

    def close(self) -> None:
        self._stream.stop()
        self._stream.close()


def _open_output(sample_rate: int) -> _Output:
    if _has_sounddevice():
        return _Device(sample_rate)
    command = _player(sample_rate)
    assert command is not None
    return _Program(command)


def _has_sounddevice() -> bool:
    try:
        import sounddevice  # noqa: PLC0415
    except (ImportError, OSError):
        return False
    return bool(sounddevice.query_devices())


def _player(sample_rate: int) -> list[str] | None:
    for name, *arguments in _PLAYERS:
        if path := shutil.which(name):
            return [path, *(argument.format(rate=sample_rate) for argument in arguments)]
    return None


def sink_for(out: Path | None) -> Sink:
    """A file by its suffix, or the loudspeakers. Raises `SinkError`."""
    if out is None:
        return Speakers()
    kinds: dict[str, Callable[[Path], Sink]] = {".opus": OpusFile, ".ogg": OpusFile, ".wav": WavFile}
    kind = kinds.get(out.suffix.lower())
    if kind is None:
        raise SinkError(f"{out.name}: give the file a name that ends in {', '.join(kinds)}.")
    return kind(out)
