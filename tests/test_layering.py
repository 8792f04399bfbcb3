"""Who may import whom (`docs/architecture.md`), read from the sources."""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = [*ROOT.glob("server/**/*.py"), *ROOT.glob("streaming/**/*.py"), *ROOT.glob("clients/firstword/**/*.py")]

FORBIDDEN = {
    "server": ["torch", "tests", "streaming.embedded", "streaming.scheduler", "firstword.client"],
    "streaming": ["asyncio", "socket", "server", "firstword", "tests", "websockets", "starlette", "uvicorn"],
    "streaming/text": ["torch", "numpy", "onnxruntime"],
    "streaming/engine.py": ["torch", "numpy"],
    "streaming/parameter.py": ["torch", "numpy"],
    "streaming/chattts/options.py": ["torch", "numpy"],
    "streaming/chattts/calibration.py": ["torch", "numpy", "streaming"],
    "streaming/chattts/layout.py": ["torch", "numpy", "streaming"],
    "streaming/chattts/sampling.py": ["torch", "numpy", "streaming.chattts"],
    "streaming/scheduler.py": ["torch", "numpy"],
    "clients/firstword": ["server", "streaming", "tests", "torch", "numpy"],
}

ALLOWED_FILES = {
    "av": {"server/audio/libav.py"},
    "fastcrc": {"server/audio/ogg.py"},
    "faster_whisper": {"streaming/judge.py"},
    "opuslib_next": {"server/audio/opus.py"},
    "prometheus_client": {"server/metrics.py"},
    "pydantic": {"server/settings.py"},
    "emoji": {"streaming/text/emoji_names.py"},
    "sentencex": {"streaming/text/boundary.py"},
    "sounddevice": {"clients/firstword/sink.py"},
    "soxr": {"server/audio/resample.py", "streaming/judge.py"},
    "uvicorn": {"server/listener.py"},
    "wyoming": {"server/protocols/wyoming.py"},
    "uvloop": {"server/__main__.py"},
}
"""Third-party libraries that one file each may know."""

CLIENT_LIBRARIES = {"websockets", "sounddevice"}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_imports_keep_their_direction(path: Path) -> None:
    for where, banned in FORBIDDEN.items():
        if name(path).startswith(where):
            for module in imports(path):
                assert not any(module == b or module.startswith(f"{b}.") for b in banned), f"{where} imports {module}"


def test_the_edge_sees_only_the_seams_of_streaming() -> None:
    seams = ("streaming.engine", "streaming.parameter", "streaming.text")
    workers = {
        "server/worker_link.py": ("streaming.worker", "streaming"),
        "server/settings.py": ("streaming.chattts.options",),
    }
    for path in ROOT.glob("server/**/*.py"):
        allowed = seams + workers.get(name(path), ())
        for module in imports(path):
            if module.split(".")[0] == "streaming":
                assert module.startswith(allowed), f"{name(path)} imports {module}"


def test_each_library_is_known_to_few_files() -> None:
    users = defaultdict(set)
    for path in SOURCES:
        for module in imports(path):
            users[module.split(".")[0]].add(name(path))
    for library, files in ALLOWED_FILES.items():
        assert users[library] <= files, library


def test_the_client_needs_no_more_than_websockets() -> None:
    known = {*sys.stdlib_module_names, "firstword", *CLIENT_LIBRARIES}
    for path in ROOT.glob("clients/firstword/**/*.py"):
        assert {module.split(".")[0] for module in imports(path)} <= known


def test_packages_hold_a_docstring_only() -> None:
    for path in SOURCES:
        if path.name == "__init__.py":
            body = ast.parse(path.read_text(encoding="utf-8")).body
            assert len(body) == 1 and isinstance(body[0], ast.Expr), name(path)
