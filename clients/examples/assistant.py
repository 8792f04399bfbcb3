"""A voice assistant's loop: listens, answers, and stops talking when it is talked to.

    python -m server                                                        # speaks
    python clients/examples/assistant.py                                    # listens to the microphone
    python clients/examples/assistant.py --wav questions.wav --out said.wav # or to a file, in real time

It hears that somebody speaks, not what: in place of a recogniser and a model there is `reply_to`, to be replaced by
yours. What matters is the barge-in: the reply is cancelled at the first loud moment, and the server says which words
were heard. Needs `pip install firstword[play]` for the microphone and the loudspeakers.
"""

import argparse
import asyncio
import math
import os
import time
import wave
from array import array
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from reply import Reply

from firstword.client import connect
from firstword.sink import sink_for

FRAME_S = 0.02
RATE = 16_000
LOUD_DB = -35.0
START_S = 0.06
"""So long must it be loud to be speech."""
STOP_S = 0.6
"""So long must it be quiet for the speaker to have finished."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Somebody began to speak (`seconds` is None), or has spoken for so long."""

    seconds: float | None


async def main() -> None:
    """Listen until the sound ends."""
    arguments = parser().parse_args()
    frames = from_wav(arguments.wav) if arguments.wav else from_microphone()
    async with connect(arguments.url, key=os.environ.get("FIRSTWORD_KEY")) as tts:
        with sink_for(arguments.out) as sink:
            reply: Reply | None = None
            async for turn in turns(frames):
                if turn.seconds is not None:
                    reply = Reply(tts, sink, reply_to(turn.seconds))
                elif reply and not reply.over:
                    print(f"interrupted after: {await reply.interrupt()!r}", flush=True)
            if reply:
                print(f"said: {await reply.finish()!r}", flush=True)


def parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="ws://127.0.0.1:8000", help="the speech server (%(default)s)")
    parser.add_argument("--wav", type=Path, help=f"listen to this file, 16-bit mono at {RATE} Hz")
    parser.add_argument("--out", type=Path, help="write a .wav file instead of playing")
    return parser


async def reply_to(seconds: float) -> AsyncIterator[str]:
    """The dialogue: put a recogniser and a language model here."""
    yield f"You spoke for {seconds:.1f} seconds. "
    yield "I could not tell you what you said, but I can go on talking about it, "
    yield "until you say something else and interrupt me, which you may do at any moment."


async def turns(frames: AsyncIterator[bytes]) -> AsyncIterator[Turn]:
    """Who speaks when, by loudness alone."""
    loud = quiet = spoken = 0.0
    async for frame in frames:
        if level_db(frame) > LOUD_DB:
            loud, quiet = loud + FRAME_S, 0.0
        else:
            loud, quiet = 0.0, quiet + FRAME_S
        if spoken:
            spoken += FRAME_S
            if quiet >= STOP_S:
                yield Turn(spoken - quiet)
                spoken = 0.0
        elif loud >= START_S:
            spoken = loud
            yield Turn(None)


def level_db(frame: bytes) -> float:
    """RMS of s16le samples below full scale."""
    samples = array("h", frame)
    mean = sum(sample * sample for sample in samples) / max(1, len(samples))
    return 10 * math.log10(mean / 32_768**2 + 1e-12)


async def from_wav(path: Path) -> AsyncIterator[bytes]:
    """Frames of a file, as fast as they would be heard."""
    with wave.open(str(path)) as file:
        if (file.getframerate(), file.getnchannels(), file.getsampwidth()) != (RATE, 1, 2):
            raise SystemExit(f"{path.name}: 16-bit mono at {RATE} Hz is needed.")
        started = time.monotonic()
        frames = 0
        while frame := file.readframes(round(RATE * FRAME_S)):
            frames += 1
            yield frame
            await asyncio.sleep(max(0.0, started + frames * FRAME_S - time.monotonic()))


async def from_microphone() -> AsyncIterator[bytes]:
    """Frames as they are heard."""
    try:
        import sounddevice  # noqa: PLC0415  # an extra
    except (ImportError, OSError) as error:
        raise SystemExit(f"There is no microphone ({error}): `pip install firstword[play]`, or use --wav.") from None
    loop = asyncio.get_running_loop()
    heard: asyncio.Queue[bytes] = asyncio.Queue()

    def on_frame(data: object, *_: object) -> None:
        loop.call_soon_threadsafe(heard.put_nowait, bytes(data))  # type: ignore[call-overload]

    size = round(RATE * FRAME_S)
    with sounddevice.RawInputStream(samplerate=RATE, channels=1, dtype="int16", blocksize=size, callback=on_frame):
        while True:
            yield await heard.get()


if __name__ == "__main__":
    asyncio.run(main())
