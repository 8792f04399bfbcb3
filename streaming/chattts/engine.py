"""The ChatTTS engine: segments in, PCM out."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch

from streaming.chattts import speaker, weights
from streaming.chattts.cpu_model import CpuGpt
from streaming.chattts.duration import longest_tokens
from streaming.chattts.layout import EXACT, SAMPLE_RATE
from streaming.chattts.model import TorchGpt
from streaming.chattts.options import PIECE, Options, Precision
from streaming.chattts.pacing import AT_LEISURE, ON_CARD, ON_CPU, Pacing, Piece
from streaming.chattts.prompt import Embedder, Prompt
from streaming.chattts.runner import CpuRunner, Job, Runner, Spoken
from streaming.chattts.sampling import PARAMETERS, Sampling
from streaming.chattts.speaker import Statistics, Vector
from streaming.chattts.tokenizer import CONTROLS, DEFAULT_SPEED, Tokenizer
from streaming.chattts.torch_runner import TorchRunner
from streaming.chattts.vocoder import Vocoder
from streaming.chattts.vocoder_thread import Made, VocoderThread, Work
from streaming.engine import (
    Chunk,
    EngineInfo,
    Failed,
    Pace,
    RequestError,
    SegmentRequest,
    SpeechParams,
    StopReason,
    Voice,
)
from streaming.memory import give_back
from streaming.parameter import ParameterError
from streaming.silence import Trimmer, repair, silence
from streaming.text.alphabet import CHATTTS

LANGUAGES = ("zh", "en")
LICENCE = "CC BY-NC 4.0"
SEEDED = "seed:"
DEFAULT_VOICE = "seed:2"
WARM_UP_SLOTS, WARM_UP_TOKENS = 8, 24
_VOCODER_WAIT_S = 0.01
"""How long a step with nothing else to do waits for the vocoder."""


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
    vocoder = Vocoder(
        assets.decoder, assets.vocos, device, torch.bfloat16 if chosen.vocoder == "bf16" else torch.float32
    )
    runner = _runner(assets, chosen, device)
    named = speaker.read_folder(Path(chosen.speakers), assets.config.hidden) if chosen.speakers else {}
    engine = ChatTtsEngine(
        runner,
        VocoderThread(vocoder, device),
        Tokenizer(assets.tokenizer),
        named,
        assets.config.hidden,
        Pacing(ON_CARD if device.type == "cuda" else ON_CPU, chosen.first_lookahead),
    )
    del assets  # what was packed need not stay mapped
    engine.warm_up()
    give_back()
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


@dataclass(slots=True)
class _Running:
    """A started request."""

    slot: int
    request: SegmentRequest
    key: int
    """What the vocoder calls it."""
    pieces: Iterator[Piece]
    piece: Piece
    """The next one to be vocoded."""
    given: int = 0
    """Tokens that the vocoder has got."""
    stop: StopReason | None = None
    """Why the model spoke no more: from then on only the vocoder works on it."""
    trimmer: Trimmer = field(default_factory=lambda: Trimmer(SAMPLE_RATE, pad=False))


class ChatTtsEngine:
    """See `streaming.engine.Engine`. Tokens go to the vocoder a piece at a time, while the next ones are made."""

    def __init__(
        self,
        runner: Runner,
        vocoder: VocoderThread,
        tokenizer: Tokenizer,
        voices: Mapping[str, Vector],
        size: int,
        pacing: Pacing,
    ) -> None:
        """`voices` by name, of `size` values each."""
        self._runner, self._vocoder, self._tokenizer = runner, vocoder, tokenizer
        self._voices, self._size = voices, size
        self._statistics = Statistics.released()
        self._pacing, self._at_leisure = pacing, Pacing(AT_LEISURE, EXACT)
        self._free = list(range(runner.slots))
        self._running: dict[int, _Running] = {}
        self._keys = itertools.count()
        self._ids: dict[int, int] = {}
        """Request ids by key."""
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
            controls=frozenset(control.strip("[]") for control in CONTROLS),
            parameters=PARAMETERS,
        )

    @property
    def info(self) -> EngineInfo:
        return self._info

    def start(self, request: SegmentRequest) -> None:
        """Give the request a slot. Raises RequestError.

        Its codes: unknown_voice, invalid_speed, invalid_params, text_too_long or no_slot.
        """
        if not self._free:
            raise RequestError("no_slot", "all slots are taken")
        self._take(request, self._job(request))

    def warm_up(self) -> None:
        """Speak a word in up to eight slots: compiles the kernels, and touches all that a first request would wait for.

        The slots join one by one, so every size of batch occurs. Raises RuntimeError if there is no speech.
        """
        ids = list(range(min(self._info.slots, WARM_UP_SLOTS)))
        for number in ids:
            request = SegmentRequest(number, number, 0, "one", DEFAULT_VOICE)
            self._take(
                request, replace(self._job(request), limit=WARM_UP_TOKENS, sampling=Sampling(min_tokens=WARM_UP_TOKENS))
            )
        while ids:
            for item in self.step(ids):
                if isinstance(item, Failed):
                    raise RuntimeError(item.message)  # noqa: TRY004  # the weights are wrong, not a type
                if item.stop is not None:
                    ids.remove(item.request_id)

    def _take(self, request: SegmentRequest, job: Job) -> None:
        self._runner.start(self._free[-1], job)
        pieces = iter(self._pacing if request.pace is Pace.REALTIME else self._at_leisure)
        running = _Running(self._free.pop(), request, next(self._keys), pieces, next(pieces))
        self._running[request.request_id] = running
        self._ids[running.key] = request.request_id

    def step(self, request_ids: Sequence[int]) -> list[Chunk | Failed]:
        """Advance them by a token each, one of those that are still reading by a piece of its prompt.

        Returns what the vocoder has made since, of any request.
        """
        speaking = {self._running[request_id].slot: self._running[request_id] for request_id in request_ids}
        speaking = {slot: running for slot, running in speaking.items() if running.stop is None}
        self._vocoder.rank([self._running[request_id].key for request_id in request_ids])
        for spoken in self._runner.step(list(speaking)) if speaking else ():
            if spoken.slot in speaking:
                self._vocode(speaking[spoken.slot], spoken)
        made = self._vocoder.made(0.0 if speaking else _VOCODER_WAIT_S)
        return [item for each in made if each.key in self._ids for item in self._told(self._ids[each.key], each)]

    def cancel(self, request_id: int) -> None:
        running = self._running.pop(request_id, None)
        if running is None:
            return  # it could not start
        del self._ids[running.key]
        self._vocoder.forget(running.key)
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

    def _vocode(self, running: _Running, spoken: Spoken) -> None:
        """Hand the vocoder the tokens that it has not got, if they are enough for it."""
        running.stop = spoken.stop
        if spoken.stop is None and spoken.tokens < running.piece.tokens:
            return
        hidden = self._runner.spoken(running.slot, running.given, spoken.tokens)
        last = spoken.stop is not None
        self._vocoder.submit(Work(running.key, hidden, running.piece.lookahead, last))
        running.given = spoken.tokens
        while running.piece.tokens <= spoken.tokens:
            running.piece = next(running.pieces)

    def _told(self, request_id: int, made: Made) -> Iterator[Chunk | Failed]:
        running = self._running[request_id]
        samples, lost = repair(made.pcm)
        if made.error or lost:
            self.cancel(request_id)
            problem = made.error or "the model gave sound that is not a number; check the weights"
            yield Failed(request_id, "engine_error", problem)
            return
        pcm = running.trimmer.push(samples)
        if made.last:
            self.cancel(request_id)
            pause = silence(running.request.pause_s, SAMPLE_RATE)
            pcm = np.concatenate((pcm, running.trimmer.finish(), pause))
            yield Chunk(request_id, pcm.tobytes(), running.stop)
        elif pcm.size:
            yield Chunk(request_id, pcm.tobytes())


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
