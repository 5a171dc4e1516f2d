"""The client's messages on a live connection: one field each, in camelCase or snake_case, checked (1:4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.pb import fields
from catalog_probe.mockserver.pb.errors import invalid
from catalog_probe.mockserver.pb.generation.conversation import CONTENT
from catalog_probe.mockserver.pb.generation.settings import GENERATION_CONFIG

if TYPE_CHECKING:
    from collections.abc import Mapping

SETUP = "setup"
CLIENT_CONTENT = "clientContent"
REALTIME_INPUT = "realtimeInput"
TOOL_RESPONSE = "toolResponse"

RESUMPTION: fields.Fields = {"handle": fields.string, "transparent": fields.boolean}

LIVE_CONFIG: fields.Fields = {**GENERATION_CONFIG, "enableAffectiveDialog": fields.boolean}

BLOB: fields.Fields = {"data": fields.string, "mimeType": fields.string, "displayName": fields.string}

MESSAGES: Mapping[str, fields.Fields] = {
    SETUP: {
        "model": fields.string,
        "generationConfig": fields.mapping,
        "systemInstruction": fields.mapping,
        "tools": fields.objects,
        "sessionResumption": fields.mapping,
        "contextWindowCompression": fields.mapping,
        "realtimeInputConfig": fields.mapping,
        "inputAudioTranscription": fields.mapping,
        "outputAudioTranscription": fields.mapping,
        "proactivity": fields.mapping,
        "historyConfig": fields.mapping,
        "explicitVadSignal": fields.boolean,
        "safetySettings": fields.objects,
    },
    CLIENT_CONTENT: {"turns": fields.objects, "turnComplete": fields.boolean},
    REALTIME_INPUT: {
        "audio": fields.mapping,
        "video": fields.mapping,
        "text": fields.string,
        "mediaChunks": fields.objects,
        "audioStreamEnd": fields.boolean,
        "activityStart": fields.mapping,
        "activityEnd": fields.mapping,
    },
    TOOL_RESPONSE: {"functionResponses": fields.objects},
}
"""The documents show none of these; they are what clients send."""


def read(raw: str | bytes) -> tuple[str, dict[str, Any]]:
    """The name and the content of a message.

    Raises:
        PbError: it is no message of the live API.
    """
    try:
        message = strict_json.loads(raw)
    except ValueError as error:
        raise invalid(f"Invalid JSON payload received: {error}") from None
    if not isinstance(message, dict):
        raise invalid("Invalid JSON payload received: the root is not an object.")
    given = fields.read(message, dict.fromkeys(MESSAGES, fields.mapping))
    if len(given) != 1:
        raise invalid(f"A message holds exactly one of {', '.join(MESSAGES)}.")
    ((name, content),) = given.items()
    return name, fields.read(content, MESSAGES[name], name)


def is_video(content: Mapping[str, Any]) -> bool:
    """Whether a realtime input brings pictures."""
    chunks = [fields.read(chunk, BLOB, "media_chunks") for chunk in content.get("mediaChunks", ())]
    return "video" in content or any(str(chunk.get("mimeType")).startswith(("image/", "video/")) for chunk in chunks)


def said_in(turns: list[Mapping[str, Any]]) -> str:
    """The text of the last turn; unlike those of generateContent, the turns of a live session may lack one."""
    if not turns:
        return ""
    parts = fields.read(turns[-1], CONTENT, "turns").get("parts", ())
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
