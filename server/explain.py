"""`POST /v1/explain`: what will be spoken for a text, stage by stage. Nothing is spoken."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firstword import protocol as wire
from firstword.protocol import MessageError
from server.edge import Edge
from server.host import Refusal
from server.protocols.native import options_of
from server.reading import text_options
from streaming.text.alphabet import Skip
from streaming.text.explain import Explained, Explanation, explain

_MOST_CHARS = 10_000
_MOST_BYTES = 65_536


async def explain_text(request: Request) -> Response:
    """Takes `text` and any of the fields of `open`."""
    edge: Edge = request.app.state.edge
    edge.gate.check(request.headers)
    if edge.pool.info is None:
        return _refused(503, "No engine is ready yet; try again soon.")
    try:
        text, opening = _parsed(await _body(request))
        voice = edge.voices.resolve(opening.voice)
        options = text_options(edge.host, voice, options_of(opening))
    except (MessageError, Refusal) as error:
        return _refused(400, str(error))
    except _TooLongError as error:
        return _refused(413, str(error))
    explained = await asyncio.to_thread(explain, text, options, edge.pool.info.limits)
    return JSONResponse({"voice": voice.name, "alphabet": options.alphabet.name, **_plain(explained)})


class _TooLongError(Exception):
    """More than is explained at once."""


async def _body(request: Request) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BYTES:
            raise _TooLongError(f"A request has at most {_MOST_BYTES} bytes.")
    return body


def _parsed(body: bytes) -> tuple[str, wire.Open]:
    """The text, and how it would be opened."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MessageError(wire.ErrorCode.BAD_MESSAGE, f"The body is not JSON: {error}.") from None
    if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
        raise MessageError(wire.ErrorCode.BAD_MESSAGE, "The body is a JSON object with a `text`, a string.")
    text = fields.pop("text")
    if len(text) > _MOST_CHARS:
        raise _TooLongError(f"At most {_MOST_CHARS} characters are explained at once; this text has {len(text)}.")
    opening = wire.parse_client(json.dumps({**fields, "type": "open", "context": "explain"}))
    assert isinstance(opening, wire.Open)
    return text, opening


def _refused(status: int, message: str) -> Response:
    return JSONResponse({"error": message}, status_code=status)


def _plain(explained: Explained) -> dict[str, Any]:
    return {"segments": list(map(_segment, explained.segments)), "skipped": _skipped(explained.skipped)}


def _segment(explanation: Explanation) -> dict[str, Any]:
    segment = explanation.segment
    return {
        "start": segment.start,
        "end": segment.end,
        "runs": [{"language": run.language, "text": run.text} for run in explanation.runs],
        "stages": [{"stage": step.stage, "text": step.text} for step in explanation.steps],
        "spoken": segment.spoken,
        "lead_ms": round(segment.lead_s * 1000),
        "pause_ms": round(segment.pause_s * 1000),
        "skipped": _skipped(segment.skipped),
    }


def _skipped(skipped: Sequence[Skip]) -> list[dict[str, Any]]:
    return [{"start": skip.start, "end": skip.end, "text": skip.text, "reason": skip.reason} for skip in skipped]
