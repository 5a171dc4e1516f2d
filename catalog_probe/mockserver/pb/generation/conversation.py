"""The contents of a generateContent request: their shape, and what they come to as turns (1:4.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from catalog_probe.mockserver.pb import fields
from catalog_probe.mockserver.pb.errors import invalid
from catalog_probe.mockserver.pb.generation.prompt import MODEL, USER, FunctionCall, Turn

MayRead = Callable[[str], None]
"""Raises why the file at an address may not be read."""

CONTENT: fields.Fields = {"role": fields.string, "parts": fields.objects}

PART: fields.Fields = {
    "text": fields.string,
    "inlineData": fields.mapping,
    "fileData": fields.mapping,
    "functionCall": fields.mapping,
    "functionResponse": fields.mapping,
    "executableCode": fields.mapping,
    "codeExecutionResult": fields.mapping,
    "toolCall": fields.mapping,
    "toolResponse": fields.mapping,
    "thought": fields.boolean,
    "thoughtSignature": fields.string,
    "videoMetadata": fields.mapping,
    "partMetadata": fields.mapping,
    "mediaResolution": fields.anything,
}
DATA = ("text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult")
"""What a part may hold; exactly one of them."""

FUNCTION_CALL: fields.Fields = {"name": fields.string, "args": fields.mapping, "id": fields.string}
FUNCTION_RESPONSE: fields.Fields = {
    **FUNCTION_CALL,
    "response": fields.mapping,
    "parts": fields.objects,
    "willContinue": fields.boolean,
    "scheduling": fields.string,
}
INLINE_DATA: fields.Fields = {"mimeType": fields.string, "data": fields.string, "displayName": fields.string}
FILE_DATA: fields.Fields = {"mimeType": fields.string, "fileUri": fields.string, "displayName": fields.string}


def turns_of(contents: Sequence[Mapping[str, Any]], may_read: MayRead) -> tuple[Turn, ...]:
    """The conversation; raises the first thing wrong with it."""
    if not contents:
        raise invalid("contents: contents are required")
    turns = tuple(_turn(f"contents[{index}]", content, may_read) for index, content in enumerate(contents))
    if turns[-1].role == MODEL:
        raise invalid("contents: the last turn must be the user's")
    return turns


def system_text(content: Mapping[str, Any], may_read: MayRead) -> str:
    """The text of a system instruction."""
    return _turn("system_instruction", {**content, "role": USER}, may_read).text


def _turn(at: str, content: Mapping[str, Any], may_read: MayRead) -> Turn:
    given = fields.read(content, CONTENT, at)
    role = given.get("role", USER)
    if role not in (USER, MODEL, "function"):
        raise invalid(f"{at}.role: Please use a valid role: {USER}, {MODEL}.")
    parts = [fields.read(part, PART, f"{at}.parts[{index}]") for index, part in enumerate(given.get("parts", ()))]
    if not parts:
        raise invalid(f"{at}.parts: contents.parts must not be empty.")
    for index, part in enumerate(parts):
        _check_part(f"{at}.parts[{index}]", part, may_read)
    return Turn(
        role=MODEL if role == MODEL else USER,
        text="\n".join(part["text"] for part in parts if "text" in part and not part.get("thought")),
        calls=tuple(_call(f"{at}.parts[{index}]", part) for index, part in enumerate(parts) if "functionCall" in part),
        results=tuple(part["functionResponse"]["name"] for part in parts if "functionResponse" in part),
        media=sum("inlineData" in part or "fileData" in part for part in parts),
    )


def _check_part(at: str, part: Mapping[str, Any], may_read: MayRead) -> None:
    held = [name for name in DATA if name in part]
    if len(held) > 1 or (not held and "thoughtSignature" not in part):
        raise invalid(f"{at}.data: required oneof field 'data' must have one initialized field")
    if "inlineData" in part:
        given = fields.read(part["inlineData"], INLINE_DATA, f"{at}.inline_data")
        fields.require(given, "mimeType", f"{at}.inline_data")
    if "fileData" in part:
        given = fields.read(part["fileData"], FILE_DATA, f"{at}.file_data")
        may_read(fields.require(given, "fileUri", f"{at}.file_data"))
    if "functionResponse" in part:
        given = fields.read(part["functionResponse"], FUNCTION_RESPONSE, f"{at}.function_response")
        fields.require(given, "name", f"{at}.function_response")


def _call(at: str, part: Mapping[str, Any]) -> FunctionCall:
    given = fields.read(part["functionCall"], FUNCTION_CALL, f"{at}.function_call")
    return FunctionCall(
        fields.require(given, "name", f"{at}.function_call"), given.get("args", {}), part.get("thoughtSignature")
    )
