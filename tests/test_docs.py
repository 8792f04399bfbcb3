"""The documents say what the code does."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

from docs.build import CHATTTS, TARGET, chattts, reference
from firstword.protocol import CloseCode, EndReason, ErrorCode
from server.edge import VERSION

ROOT = Path(__file__).parent.parent


def test_the_protocol_reference_is_written_from_the_types() -> None:
    assert TARGET.read_text(encoding="utf-8").startswith(reference()), "run `make docs`"


def test_the_tables_of_chattts_are_the_engines_own() -> None:
    page = CHATTTS.read_text(encoding="utf-8")
    assert page == chattts(page), "run `make docs`"
    assert page.count("\n| `") >= 12


def test_every_code_is_documented() -> None:
    text = reference()
    for code in (*ErrorCode, *EndReason, *CloseCode):
        assert re.search(rf"^\| `{code.value}` \| \S", text, re.MULTILINE), code


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION
    assert f"## {VERSION}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_wheel_holds_the_client_alone(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    sources = (path for path in (ROOT / "clients/firstword").iterdir() if path.is_file())
    assert names == {path.relative_to(ROOT / "clients").as_posix() for path in sources}
