"""A table for people, a JSON file for comparison over time."""

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """p50, p95 and p99, rounded to a hundredth."""
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {"p50": round(cuts[49], 2), "p95": round(cuts[94], 2), "p99": round(cuts[98], 2)}


class Report:
    """One table, headed by what was measured, the machine and the commit."""

    def __init__(self, title: str) -> None:
        self._lines = [title, f"{_machine()}, commit {_commit()}", ""]

    def row(self, name: str, values: Mapping[str, float] | float | str) -> None:
        """A line: a name and its figures."""
        if isinstance(values, Mapping):
            shown = "  ".join(f"{key} {value:>9.2f}" for key, value in values.items())
        else:
            shown = f"{values:.2f}" if isinstance(values, float) else values
        self._lines.append(f"{name:<44}{shown}")

    def print(self, data: Mapping[str, object], path: str | None) -> None:
        """Show it, and write `data` to `path` if there is one."""
        print("\n".join(self._lines))
        if path:
            Path(path).write_text(json.dumps(data, indent=2) + "\n")


def _machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"
