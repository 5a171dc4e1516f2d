"""The client's messages on a live connection: objects with one member.

The documents show none of them; these are the messages of official clients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.core.fields import BOOLEAN, OBJECT, OBJECTS, STRING, Field, array, object_of, unread_rows
from catalog_probe.mockserver.core.sections import CLIENTS
from catalog_probe.mockserver.pb.bodies import check_object
from catalog_probe.mockserver.pb.errors import NOT_JSON, NOT_ONE_MESSAGE
from catalog_probe.mockserver.pb.fields import CONTENT, GENERATION_CONFIG, SAFETY_SETTING, TOOL

if TYPE_CHECKING:
    from collections.abc import Mapping

SETUP = "setup"
CLIENT_CONTENT = "clientContent"
REALTIME_INPUT = "realtimeInput"
TOOL_RESPONSE = "toolResponse"

LIVE_CONFIG = object_of(*GENERATION_CONFIG.members.values(), *unread_rows("enableAffectiveDialog"))

MESSAGES = object_of(
    Field(
        SETUP,
        object_of(
            Field("model", STRING, CLIENTS, required=True),
            Field("generationConfig", LIVE_CONFIG, CLIENTS),
            Field("systemInstruction", CONTENT, CLIENTS),
            Field("tools", array(TOOL), CLIENTS),
            Field("safetySettings", array(SAFETY_SETTING), CLIENTS),
            Field(
                "sessionResumption", object_of(Field("handle", STRING, "1:3"), *unread_rows("transparent")), "1:3"
            ),  # "resume with a session-resumption handle"
            Field("contextWindowCompression", OBJECT, "2:8.1"),  # "without context compression"
            *unread_rows("realtimeInputConfig", "inputAudioTranscription", "outputAudioTranscription", "proactivity"),
            *unread_rows("historyConfig", "explicitVadSignal", "avatarConfig", "labels"),
        ),
        CLIENTS,
    ),
    Field(
        CLIENT_CONTENT,
        object_of(Field("turns", array(CONTENT), CLIENTS), Field("turnComplete", BOOLEAN, CLIENTS)),
        CLIENTS,
    ),
    Field(
        REALTIME_INPUT,
        object_of(
            Field("text", STRING, CLIENTS),
            Field("mediaChunks", OBJECTS, CLIENTS),
            *unread_rows("audio", "video", "audioStreamEnd", "activityStart", "activityEnd"),
        ),
        CLIENTS,
    ),
    Field(TOOL_RESPONSE, object_of(Field("functionResponses", OBJECTS, CLIENTS)), CLIENTS),
)


def read_message(raw: str | bytes) -> tuple[str, dict[str, Any]]:
    """Read the name and the content of a message."""
    try:
        message = check_object(strict_json.loads(raw), MESSAGES)
    except ValueError as error:
        raise NOT_JSON(reason=error) from None
    if len(message) != 1:
        raise NOT_ONE_MESSAGE(names=", ".join(MESSAGES.members))
    ((name, content),) = message.items()
    return name, content


def is_video(content: Mapping[str, Any]) -> bool:
    """Return whether a realtime input has images or video."""
    kinds = [str(chunk.get("mimeType", chunk.get("mime_type"))) for chunk in content.get("mediaChunks", ())]
    return "video" in content or any(kind.startswith(("image/", "video/")) for kind in kinds)
