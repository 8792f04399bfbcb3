"""How many texts are said rightly, per kind; with other normalisers where they are installed.

    python -m tests.bench.text [--json FILE]

`make normalisers` installs the others. `read` are texts that were written down before our rules were run on them.

The others are judged leniently: letters and Han characters only, whatever the case, the spaces and the marks.
"""

import argparse
import importlib
import json
import platform
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from streaming.text.front import TextFront
from tests.streaming.text.cases import CASES, Case
from tests.streaming.text.readings import READINGS

Normalise = Callable[[str], str]


def say(case: Case) -> list[str]:
    """What is spoken for the case, segment by segment."""
    front = TextFront()
    segments = [segment for delta in case.deltas for segment in front.push(delta)] + front.flush()
    return [segment.spoken for segment in segments if segment.spoken]


def loose(text: str) -> str:
    """Only what is heard: letters, lower-case."""
    return "".join(filter(str.isalnum, text)).lower().replace("幺", "一")


def wetext() -> Normalise:
    """The Python port of WeTextProcessing."""
    normalizer = importlib.import_module("wetext").Normalizer
    chinese, english = normalizer(lang="zh", operator="tn"), normalizer(lang="en", operator="tn")
    return lambda text: str(
        (chinese if any("\u4e00" <= char <= "\u9fff" for char in text) else english).normalize(text)
    )


def we_text_processing() -> Normalise:
    """WeTextProcessing itself."""
    chinese = importlib.import_module("tn.chinese.normalizer").Normalizer()
    english = importlib.import_module("tn.english.normalizer").Normalizer()
    return lambda text: str(
        (chinese if any("\u4e00" <= char <= "\u9fff" for char in text) else english).normalize(text)
    )


def upstream() -> Normalise:
    """What ChatTTS does to text before its model sees it."""
    norm = importlib.import_module("ChatTTS.norm")
    package = Path(str(norm.__file__)).parent
    normalizer = norm.Normalizer(str(package / "res" / "homophones_map.json"))
    return lambda text: str(normalizer(text))


OTHERS: dict[str, Callable[[], Normalise]] = {
    "wetext": wetext,
    "WeTextProcessing": we_text_processing,
    "ChatTTS": upstream,
}


def installed() -> dict[str, Normalise]:
    """The normalisers that this machine has."""
    found = {}
    for name, build in OTHERS.items():
        try:
            found[name] = build()
        except (ImportError, OSError) as error:
            print(f"{name}: not compared ({error})")
    return found


def attempt(normalise: Normalise, text: str) -> str:
    """What another normaliser says; nothing if it raises."""
    try:
        return normalise(text)
    except Exception:  # noqa: BLE001 - whatever it raises, it did not say it
        return ""


def results(others: dict[str, Normalise]) -> dict[str, list[list[bool]]]:
    """For each kind a row a text: who says it rightly, we first."""
    rows: dict[str, list[list[bool]]] = defaultdict(list)
    for case in CASES:
        wanted, text = loose("".join(case.spoken)), "".join(case.deltas)
        theirs = [loose(attempt(other, text)) == wanted for other in others.values()]
        rows[case.kind].append([say(case) == list(case.spoken), *theirs])
    for reading in READINGS:
        ours = " ".join(say(Case("", reading.kind, (reading.text,), ())))
        wanted_one_of = set(map(loose, reading.accepted))
        theirs = [loose(attempt(other, reading.text)) in wanted_one_of for other in others.values()]
        rows[f"read {reading.kind}"].append([reading.allows(ours), *theirs])
    return rows


def milliseconds_per_segment() -> float:
    """CPU time, best of five passes over all cases."""
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        count = sum(len(say(case)) for case in CASES)
        best = min(best, (time.process_time() - start) / count)
    return best * 1e3


def commit() -> str:
    """The commit that is measured."""
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def main() -> int:
    """Print the table; fail if a case is said wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    others = installed()
    rows = results(others)
    print(f"{platform.machine()}, Python {platform.python_version()}, commit {commit()}")
    print_table(["firstword", *others], rows)
    speed = milliseconds_per_segment()
    print(f"{speed:.2f} ms CPU per segment")
    everything = [row for kind in rows.values() for row in kind]
    passed = [sum(column) for column in zip(*everything, strict=True)]
    report = {"passed": passed[0], "total": len(everything), "ms_per_segment": round(speed, 3)}
    report |= dict(zip(others, passed[1:], strict=True))
    if arguments.json:
        arguments.json.write_text(json.dumps(report))
    return int(passed[0] < len(everything))


def print_table(names: list[str], rows: dict[str, list[list[bool]]]) -> None:
    """Cases said rightly, one line per kind and the sum."""
    print(f"{'kind':24}" + "".join(f"{name:>18}" for name in names))
    for kind in [*sorted(rows), "all"]:
        texts = rows[kind] if kind in rows else [row for each in rows.values() for row in each]
        counts = [f"{sum(column)}/{len(texts)}" for column in zip(*texts, strict=True)]
        print(f"{kind:24}" + "".join(f"{count:>18}" for count in counts))


if __name__ == "__main__":
    sys.exit(main())
