"""`firstword explain`: asks a server what it would speak for a text, and prints it stage by stage."""

import json
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import Request, urlopen

from firstword.client import ConnectError

_TIMEOUT_S = 30.0


def explain(url: str, text: str, *, key: str | None = None, **options: Any) -> dict[str, Any]:
    """The answer of `POST /v1/explain`; `options` are fields of `open`. Raises `ConnectError` with a sentence."""
    body = {"text": text, **{name: value for name, value in options.items() if value is not None}}
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    request = Request(_endpoint(url), json.dumps(body).encode(), headers)  # noqa: S310 - http or https only
    try:
        with urlopen(request, timeout=_TIMEOUT_S) as response:  # noqa: S310
            answer: dict[str, Any] = json.load(response)
            return answer
    except HTTPError as refused:
        with refused:
            raise ConnectError(f"{url} answered {refused.code}: {_sentence(refused.read())}") from None
    except (URLError, OSError) as error:
        raise ConnectError(f"There is no server at {url}: {error}.") from None


def show(answer: dict[str, Any]) -> str:
    """The answer for people."""
    lines = [f"voice {answer['voice']}, alphabet {answer['alphabet']}"]
    for segment in answer["segments"]:
        languages = "+".join(dict.fromkeys(run["language"] for run in segment["runs"]))
        lead = f"silence {segment['lead_ms']} ms, " if segment["lead_ms"] else ""
        lines.append(f"\n{segment['start']}-{segment['end']}  {languages}  {lead}then pause {segment['pause_ms']} ms")
        lines += [f"  {step['stage']:10}{_line(step['text'])}" for step in segment["stages"]]
        lines.append(f"  {'spoken':10}{_line(segment['spoken'])}")
        lines += map(_skip, segment["skipped"])
    return "\n".join(line.rstrip() for line in [*lines, *map(_skip, answer["skipped"])])


def _skip(skip: dict[str, Any]) -> str:
    text = f"{_line(skip['text'])} " if skip["text"] else ""
    return f"  {'skipped':10}{text}at {skip['start']}-{skip['end']}: {skip['reason']}"


def _line(text: str) -> str:
    """On one line, and harmless to a terminal."""
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text.replace("\n", "⏎"))


def _sentence(body: bytes) -> str:
    try:
        return str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace").strip()[:200]


def _endpoint(url: str) -> str:
    parts = urlsplit(url)
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    if scheme not in ("http", "https"):
        raise ConnectError(f"{url} is no address of a server: it begins with ws://, wss://, http:// or https://.")
    path = parts.path.rstrip("/").removesuffix("/v1/stream")
    return urlunsplit((scheme, parts.netloc, f"{path}/v1/explain", "", ""))
