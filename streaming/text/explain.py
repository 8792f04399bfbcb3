"""What will be spoken for a text, stage by stage."""

from dataclasses import dataclass

from streaming.text.alphabet import Skip
from streaming.text.clean import Cleaner, sanitise
from streaming.text.front import TextFront
from streaming.text.language import english_runs
from streaming.text.limits import SegmentLimits
from streaming.text.mapped import Mapped
from streaming.text.segment import Segment
from streaming.text.speak import TextOptions


@dataclass(frozen=True, slots=True)
class Step:
    """The text after one stage."""

    stage: str
    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of a segment that is read in one language."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """One segment: the languages its text is read in, and its source with what each stage made of it."""

    segment: Segment
    runs: tuple[Run, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """A whole text: its segments, and what was left out behind the last one."""

    segments: tuple[Explanation, ...]
    skipped: tuple[Skip, ...]


def explain(text: str, options: TextOptions | None = None, limits: SegmentLimits | None = None) -> Explained:
    """Every segment of `text` with what each stage made of it."""
    options = options or TextOptions()
    front = TextFront(options, limits)
    explanations, at = [], 0
    for segment in front.push(text) + front.flush():
        explanations.append(
            Explanation(segment, tuple(_runs(segment)), tuple(_steps(front.text[at : segment.end], segment, options)))
        )
        at = segment.end
    return Explained(tuple(explanations), front.unreported())


def clean(text: str, options: TextOptions | None = None) -> str:
    """`text` without markup and invisible characters."""
    cleaner = Cleaner((options or TextOptions()).controls)
    return cleaner.push(text).text + cleaner.flush().text


def _runs(segment: Segment) -> list[Run]:
    runs, at = [], 0
    for start, end in english_runs(segment.text) if segment.language == "zh" else ():
        runs += [Run("zh", segment.text[at:start]), Run("en", segment.text[start:end])]
        at = end
    runs.append(Run(segment.language, segment.text[at:]))
    return [run for run in runs if run.text.strip()]


def _steps(source: str, segment: Segment, options: TextOptions) -> list[Step]:
    """`source` and every stage that changed it."""
    steps = [Step("source", source)]
    text = Mapped.plain(segment.text)
    stages = [("sanitise", "".join(map(sanitise, source))), ("markup", segment.text)]
    for name, stage in options.stages[segment.language]:
        text = stage(text)
        stages.append((name, text.text))
    for name, said in [*stages, ("alphabet", segment.spoken)]:
        if said != steps[-1].text:
            steps.append(Step(name, said))
    return steps
