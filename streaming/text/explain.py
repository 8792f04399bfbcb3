"""What will be spoken for a text, stage by stage."""

from dataclasses import dataclass

from streaming.text.clean import Cleaner
from streaming.text.front import TextFront
from streaming.text.mapped import Mapped
from streaming.text.segment import Segment
from streaming.text.speak import TextOptions


@dataclass(frozen=True, slots=True)
class Step:
    """The text after one stage."""

    stage: str
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """One segment, and the stages that changed it."""

    segment: Segment
    steps: tuple[Step, ...]


def explain(text: str, options: TextOptions | None = None) -> list[Explanation]:
    """Every segment of `text` with what each stage made of it."""
    options = options or TextOptions()
    front = TextFront(options)
    segments = front.push(text) + front.flush()
    return [Explanation(segment, _steps(segment, options)) for segment in segments]


def clean(text: str, options: TextOptions | None = None) -> str:
    """`text` without markup and invisible characters."""
    cleaner = Cleaner((options or TextOptions()).controls)
    return cleaner.push(text).text + cleaner.flush().text


def _steps(segment: Segment, options: TextOptions) -> tuple[Step, ...]:
    text = Mapped.plain(segment.text)
    steps = [Step("clean", text.text)]
    for name, stage in options.stages[segment.language]:
        text = stage(text)
        if text.text != steps[-1].text:
            steps.append(Step(name, text.text))
    if segment.spoken != steps[-1].text:
        steps.append(Step("alphabet", segment.spoken))
    return tuple(steps)
