"""ChatTTS's weights: `python -m streaming pull` fetches, `verify` checks and `calibrate` measures them."""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

BAR = 30


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns the exit status; errors are a sentence on stderr."""
    options = _parser().parse_args(arguments)
    try:
        command = {"pull": _pull, "verify": _verify, "calibrate": _calibrate}[options.command]
        return command(options)
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m streaming", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    pull = commands.add_parser("pull", help="download the released weights, or continue a download")
    pull.add_argument("--target", type=Path, default=Path("weights"), help="where to put them (default: %(default)s)")
    pull.add_argument("--endpoint", help="a mirror to use instead of the hub, as in https://mirror.example")
    verify = commands.add_parser("verify", help="check weights: hashes, agreement with upstream, speed, a sentence")
    verify.add_argument("weights", help="a directory, random:SEED or random-tiny:SEED")
    verify.add_argument("--precision", default="int8", help="int8, bf16 or fp32 (default: %(default)s)")
    verify.add_argument("--text", default="Hello, this is the first word.", help="what to speak")
    verify.add_argument("--voice", default="seed:2", help="seed:N (default: %(default)s)")
    verify.add_argument("--out", type=Path, default=Path("verify.wav"), help="where to write it (default: %(default)s)")
    calibrate = commands.add_parser("calibrate", help="measure look-ahead and precisions, and keep what is best")
    calibrate.add_argument("--weights", required=True, help="a directory, random:SEED or random-tiny:SEED")
    return parser


def _pull(options: argparse.Namespace) -> int:
    # Imported here so that --help needs nothing installed.
    from streaming.chattts import pull, upstream, weights  # noqa: PLC0415

    print(pull.LICENCE, file=sys.stderr)  # noqa: T201
    bar = _Bar()
    try:
        pull.pull(options.target, upstream.asset_hashes(), bar.show, options.endpoint or pull.ENDPOINT)
    except (weights.WeightsError, RuntimeError) as error:
        print(f"\nerror: {error}", file=sys.stderr)  # noqa: T201
        return 1
    print(f"\nThe weights are in {options.target}. Speak with: --engine chattts --weights {options.target}")  # noqa: T201
    return 0


def _verify(options: argparse.Namespace) -> int:
    from streaming.chattts import verify  # noqa: PLC0415

    return _tell(verify.verify(options.weights, options.precision, options.text, options.voice, options.out))


def _calibrate(options: argparse.Namespace) -> int:
    from streaming.chattts import calibrate  # noqa: PLC0415

    return _tell(calibrate.calibrate(options.weights))


def _tell(lines: Iterator[str]) -> int:
    """Each as soon as it is found."""
    from streaming.chattts.weights import WeightsError  # noqa: PLC0415

    try:
        for line in lines:
            print(line, flush=True)  # noqa: T201
    except (WeightsError, RuntimeError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


class _Bar:
    """One line per file on stderr, redrawn a few times a second."""

    def __init__(self) -> None:
        self._name, self._drawn = "", 0.0

    def show(self, name: str, done: int, total: int) -> None:
        now = time.monotonic()
        if name == self._name and done < total and now - self._drawn < 0.2:
            return
        if name != self._name and self._name:
            print(file=sys.stderr)  # noqa: T201
        self._name, self._drawn = name, now
        filled = BAR * done // total if total else BAR
        bar = "#" * filled + "." * (BAR - filled)
        sizes = f"{done / 1e6:8.1f} / {total / 1e6:.1f} MB"
        print(f"\r{bar} {sizes}  {name}", end="", file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
