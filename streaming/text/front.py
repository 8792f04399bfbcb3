"""The text front end of one context: deltas in, segments with what is spoken for them out."""

from dataclasses import replace

from streaming.text.alphabet import Skip
from streaming.text.clean import Cleaner
from streaming.text.language import language_of
from streaming.text.limits import SegmentLimits
from streaming.text.mapped import Mapped
from streaming.text.segment import Segment, Segmenter
from streaming.text.speak import TextOptions, fit_spoken, verbalise
from streaming.text.surrogates import SurrogateJoiner

_PIECE = 1024


class TextFront:
    """Cleans, segments and verbalises; keeps the text as it came. Owned by one context."""

    def __init__(self, options: TextOptions | None = None, limits: SegmentLimits | None = None) -> None:
        options = options or TextOptions()
        self._options = options
        self._joiner = SurrogateJoiner()
        self._cleaner = Cleaner(options.controls)
        self._segmenter = Segmenter(limits or SegmentLimits())
        self._clean = Mapped()
        self._clean_at = 0
        self._parts: list[str] = []
        self._language = options.languages[0]

    @property
    def text(self) -> str:
        """Everything pushed, halves of surrogate pairs joined: what the offsets of segments count in code points."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    @property
    def waiting(self) -> bool:
        """Is there text that would be spoken if nothing followed."""
        return self._segmenter.waiting or self._cleaner.holding

    @property
    def owed_s(self) -> float:
        """Silence that was asked for behind the last segment, in seconds, and that none has given yet."""
        return self._segmenter.owed_s

    def push(self, delta: str) -> list[Segment]:
        """Take in more text; return the segments that became certain."""
        return self._push(self._joiner.push(delta))

    def settle(self) -> list[Segment]:
        """Text has stopped coming: return what ends at a sentence or a clause, as if nothing followed."""
        return self._speak_all(self._cut(self._cleaner.settle()) + self._segmenter.settle())

    def flush(self) -> list[Segment]:
        """Return everything that is left. Idempotent; text may go on."""
        segments = self._push(self._joiner.flush())
        return segments + self._speak_all(self._cut(self._cleaner.flush()) + self._segmenter.flush())

    def unreported(self) -> tuple[Skip, ...]:
        """What was skipped behind the last segment. Ask after a flush; each is given once."""
        return self._skips_before(len(self.text))

    def _push(self, text: str) -> list[Segment]:
        """A piece at a time: what is kept for each character is forgotten before the next piece."""
        segments = []
        for at in range(0, len(text), _PIECE):
            piece = text[at : at + _PIECE]
            self._parts.append(piece)
            segments += self._speak_all(self._cut(self._cleaner.push(piece)))
        return segments

    def _cut(self, clean: Mapped) -> list[Segment]:
        """The segments of clean text; what is said for them is not known yet."""
        self._clean += clean
        for at, pause_s in self._cleaner.pauses:
            self._segmenter.ask_pause(at, pause_s)
        self._cleaner.pauses.clear()
        return self._segmenter.push(clean.text)

    def _speak_all(self, segments: list[Segment]) -> list[Segment]:
        spoken = [self._speak(segment) for segment in segments]
        self._forget()
        return [segment for segment in spoken if segment.spoken or segment.skipped]

    def _speak(self, segment: Segment) -> Segment:
        clean = self._clean[segment.start - self._clean_at : segment.end - self._clean_at]
        self._language = language_of(clean.text, self._language)
        language = self._options.language(self._language)
        said = verbalise(clean, self._options, language)
        start, end = clean.starts[0], max(clean.ends)
        hidden = self._skips_before(end)
        spoken, skipped = fit_spoken(said, self._options, self.text)
        return replace(
            segment,
            start=start,
            end=end,
            spoken=spoken.text,
            mapping=spoken.links(),
            skipped=(*hidden, *skipped),
            language=language,
        )

    def _skips_before(self, end: int) -> tuple[Skip, ...]:
        """What the cleaner left out before `end`."""
        found = [skip for skip in self._cleaner.skipped if skip[0] < end]
        self._cleaner.skipped = [skip for skip in self._cleaner.skipped if skip[0] >= end]
        return tuple(Skip("", start, stop, reason) for start, stop, reason in found)

    def _forget(self) -> None:
        """Let go of clean text that no later segment can need."""
        done = self._segmenter.consumed - self._clean_at
        if done:
            self._clean = self._clean[done:]
            self._clean_at += done
