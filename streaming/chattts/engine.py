"""The ChatTTS engine: segments in, PCM out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from streaming.chattts import speaker, weights
from streaming.chattts.cpu_model import CpuGpt
from streaming.chattts.duration import longest_tokens
from streaming.chattts.layout import SAMPLE_RATE
from streaming.chattts.model import TorchGpt
from streaming.chattts.options import PIECE, Options, Precision
from streaming.chattts.prompt import Embedder, Prompt
from streaming.chattts.runner import CpuRunner, Job, Runner, Spoken
from streaming.chattts.sampling import PARAMETERS, Sampling
from streaming.chattts.speaker import Statistics, Vector
from streaming.chattts.tokenizer import DEFAULT_SPEED, Tokenizer
from streaming.chattts.torch_runner import TorchRunner
from streaming.chattts.vocoder import OfflineVocoder
from streaming.engine import Chunk, EngineInfo, Failed, RequestError, SegmentRequest, SpeechParams, Voice
from streaming.parameter import ParameterError
from streaming.text.alphabet import CHATTTS
from streaming.text.speak import CONTROLS

LANGUAGES = ("zh", "en")
LICENCE = "CC BY-NC 4.0"
SEEDED = "seed:"
DEFAULT_VOICE = "seed:2"
WARM_UP_SLOTS = 8
SILENCE = 10 ** (-50 / 20)
"""Below it nothing is heard."""


def build(**options: str | float) -> "ChatTtsEngine":
    """Load the weights, make the engine and warm it up. The factory that an `EngineSpec` names.

    Raises what `Options` and `weights.load` raise, and RuntimeError for a card that is not there.
    """
    chosen = Options(**options)  # type: ignore[arg-type]
    # Threads that meet in every small product cost more than they save once the cores are shared.
    torch.set_num_threads(1)
    assets = weights.load(chosen.weights)
    device = torch.device(chosen.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise RuntimeError(f"there is no {chosen.device} here; choose --device cpu")
    vocoder = OfflineVocoder(assets.decoder, assets.vocos, device)
    runner = _runner(assets, chosen, device)
    named = speaker.read_folder(Path(chosen.speakers), assets.config.hidden) if chosen.speakers else {}
    engine = ChatTtsEngine(runner, vocoder, Tokenizer(assets.tokenizer), named, assets.config.hidden)
    engine.warm_up()
    return engine


def _runner(assets: weights.Assets, options: Options, device: torch.device) -> Runner:
    embedder = Embedder(assets.embed, assets.config)
    precision = Precision(options.precision)
    if device.type == "cpu":
        gpt = CpuGpt(assets, precision, options.slots, options.length, options.slots + PIECE)
        return CpuRunner(gpt, embedder)
    kept = torch.float32 if precision is Precision.FP32 else torch.bfloat16
    with torch.inference_mode():
        model = TorchGpt(assets, options.slots, options.length + 1, kept, device)
    return TorchRunner(model, embedder, graphs=options.graphs)


@dataclass(frozen=True, slots=True)
class _Running:
    slot: int
    request: SegmentRequest


class ChatTtsEngine:
    """See `streaming.engine.Engine`. A segment's PCM comes in one chunk, when its last token is known."""

    def __init__(
        self,
        runner: Runner,
        vocoder: OfflineVocoder,
        tokenizer: Tokenizer,
        voices: Mapping[str, Vector],
        size: int,
    ) -> None:
        """`voices` by name, of `size` values each."""
        self._runner, self._vocoder, self._tokenizer = runner, vocoder, tokenizer
        self._voices, self._size = voices, size
        self._statistics = Statistics.released()
        self._free = list(range(runner.slots))
        self._running: dict[int, _Running] = {}
        listed = [Voice(DEFAULT_VOICE, LANGUAGES, "", LICENCE, "Drawn from the speaker statistics; any seed:N works.")]
        listed += [Voice(name, LANGUAGES, "", LICENCE) for name in voices]
        self._info = EngineInfo(
            name="chattts",
            sample_rate=SAMPLE_RATE,
            slots=runner.slots,
            batch=runner.slots,
            voices=tuple(listed),
            default_voice=DEFAULT_VOICE,
            alphabet=CHATTTS,
            controls=CONTROLS,
            parameters=PARAMETERS,
        )

    @property
    def info(self) -> EngineInfo:
        return self._info

    def start(self, request: SegmentRequest) -> None:
        """Give the request a slot. Raises RequestError: unknown_voice, invalid_speed, invalid_params,
        text_too_long or no_slot.
        """
        if not self._free:
            raise RequestError("no_slot", "all slots are taken")
        self._take(request, self._job(request))

    def warm_up(self) -> None:
        """Speak a word in up to eight slots: compiles the kernels, and touches all that a first request would wait for.

        The slots join one by one, so every size of batch occurs. Raises RuntimeError if there is no speech.
        """
        ids = list(range(min(self._info.slots, WARM_UP_SLOTS)))
        length = len(ids) + 1
        for number in ids:
            request = SegmentRequest(number, number, 0, "one", DEFAULT_VOICE)
            self._take(request, replace(self._job(request), limit=length, sampling=Sampling(min_tokens=length)))
        while ids:
            for item in self.step(ids):
                if isinstance(item, Failed):
                    raise RuntimeError(item.message)  # noqa: TRY004  # the weights are wrong, not a type
                if item.stop is not None:
                    ids.remove(item.request_id)

    def _take(self, request: SegmentRequest, job: Job) -> None:
        slot = self._free[-1]
        self._runner.start(slot, job)
        self._running[request.request_id] = _Running(self._free.pop(), request)

    def step(self, request_ids: Sequence[int]) -> list[Chunk | Failed]:
        """Advance them by a token each, one of those that are still reading by a piece of its prompt."""
        by_slot = {self._running[request_id].slot: request_id for request_id in request_ids}
        spoken = self._runner.step(list(by_slot))
        ended = [item for item in spoken if item.stop is not None and item.slot in by_slot]
        return [self._finish(by_slot[item.slot], item) for item in ended]

    def cancel(self, request_id: int) -> None:
        running = self._running.pop(request_id)
        self._runner.free(running.slot)
        self._free.append(running.slot)

    def interrupt(self, request_id: int) -> None:
        """Nothing: a step is short."""

    def _job(self, request: SegmentRequest) -> Job:
        vector = self._vector(request.voice)
        sampling = _sampling(request.params)
        level = speed_level(request.params.speed)
        ids = self._tokenizer.prompt(request.text, speaker=True, speed=level)
        room = self._runner.length - len(ids)
        longest = longest_tokens(request.text, request.params.speed)
        # Speech takes about half the longest time; with less room than that its end would be lost.
        if 2 * room < longest:
            raise RequestError(
                "text_too_long", f"{len(request.text)} characters may not fit a slot of {self._runner.length} tokens"
            )
        limit = min(longest, room)
        sampling = replace(sampling, min_tokens=min(sampling.min_tokens, limit))
        return Job(Prompt(ids, self._tokenizer.speaker_id, vector), sampling, request.params.seed, limit)

    def _vector(self, voice: str) -> Vector:
        if voice in self._voices:
            return self._voices[voice]
        seed = voice.removeprefix(SEEDED)
        if voice.startswith(SEEDED) and seed.isascii() and seed.isdecimal() and len(seed) <= 18:
            return speaker.draw(int(seed), self._statistics, self._size)
        known = ", ".join(self._voices) or "none yet"
        raise RequestError(
            "unknown_voice", f"there is no voice {voice!r}; write seed:N with a number, or a name: {known}"
        )

    def _finish(self, request_id: int, spoken: Spoken) -> Chunk | Failed:
        request = self._running[request_id].request
        pcm = self._vocoder.decode(self._runner.history[spoken.slot, : spoken.tokens]).cpu().numpy()
        self.cancel(request_id)
        if not np.isfinite(pcm).all():
            return Failed(request_id, "engine_error", "the model gave sound that is not a number; check the weights")
        return Chunk(request_id, with_pause(pcm, request.pause_s).tobytes(), spoken.stop)


def _sampling(params: SpeechParams) -> Sampling:
    try:
        return Sampling.of(dict(params.options))
    except ParameterError as error:
        raise RequestError("invalid_params", str(error)) from None


def speed_level(speed: float) -> int:
    """ChatTTS has ten speeds, of which 5 is the normal one: a step of 0.2 each, from 0 to 1.8. Raises RequestError."""
    if not 0 < speed <= 2:
        raise RequestError("invalid_speed", f"speed must be above 0 and at most 2, not {speed}")
    return min(round(speed * DEFAULT_SPEED), 9)


def with_pause(pcm: NDArray[np.float32], pause_s: float) -> NDArray[np.float32]:
    """The samples up to the last one heard, then silence of `pause_s` seconds."""
    heard = np.flatnonzero(np.abs(pcm) > SILENCE)
    end = int(heard[-1]) + 1 if len(heard) else 0
    pause = np.zeros(round(pause_s * SAMPLE_RATE), np.float32)
    return np.concatenate((pcm[:end].astype("<f4"), pause))
