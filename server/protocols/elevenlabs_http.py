"""ElevenLabs' speech over HTTP: `POST /v1/text-to-speech/{voice}` and its `/stream`, which are one thing here."""

from collections.abc import Mapping
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from server.audio.encoders import CODECS
from server.edge import Edge
from server.protocols.elevenlabs import DEFAULT_FORMAT, audio_format, context_options, error_detail, speech_params
from server.protocols.handshake import language_tag
from server.protocols.http import Body, SpeechResponse, answering, as_body, read_fields, spoken_text


class SpeechBody(Body):
    """The audio itself, and ElevenLabs' errors."""

    def error(self, status: int, code: str, message: str) -> Mapping[str, object]:  # noqa: ARG002
        """One object, `detail`."""
        return error_detail(code, message)


@answering(SpeechBody(""))
async def speech(request: Request, edge: Edge) -> Response:
    """`POST /v1/text-to-speech/{voice}` and `/v1/text-to-speech/{voice}/stream`."""
    fields = await read_fields(request, edge.settings.max_message_bytes * 16)
    options = context_options(
        edge.voices.match(request.path_params["voice"]),
        audio_format(request.query_params.get("output_format", DEFAULT_FORMAT)),
        language_tag(fields.text("language_code")),
        sentences=False,
    )
    options = replace(options, params=speech_params(fields.inner("voice_settings")))
    body = SpeechBody(CODECS[options.format.codec].media_type)
    return SpeechResponse(edge, spoken_text(fields, "text"), as_body(options), body)
