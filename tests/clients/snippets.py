"""The snippets of `docs/clients.md`, run as they stand there but for the server's address."""

import asyncio
import re
import sys
from pathlib import Path

_DOCUMENT = Path(__file__).parents[2] / "docs" / "clients.md"
_SNIPPET = re.compile(r"<!-- run: (\S+) -->\n```(\w+)\n(.*?)```", re.DOTALL)
_HTTP, _WYOMING = "127.0.0.1:8000", '"127.0.0.1", 10200'
_COMMANDS = {"python": [sys.executable, "-c"], "sh": ["sh", "-c"]}


def snippets() -> dict[str, tuple[str, str]]:
    """Language and code, by name."""
    return {name: (language, code) for name, language, code in _SNIPPET.findall(_DOCUMENT.read_text("utf-8"))}


async def run_snippet(name: str, folder: Path, *, http: str = "", wyoming: int = 0) -> None:
    """In a process of its own, which leaves its files in `folder`.

    `http` is the server's HOST:PORT, `wyoming` the port of that protocol.
    """
    language, code = snippets()[name]
    code = code.replace(_HTTP, http or _HTTP).replace(_WYOMING, f'"127.0.0.1", {wyoming}')
    process = await asyncio.create_subprocess_exec(
        *_COMMANDS[language], code, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, output.decode()
