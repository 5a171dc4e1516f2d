"""The input of an interaction: a text, contents, or the steps of a conversation, as turns (1:4.2).

The documents show no shape of it; this is the one that clients send.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from catalog_probe.mockserver.pb import fields
from catalog_probe.mockserver.pb.errors import invalid
from catalog_probe.mockserver.pb.generation.prompt import MODEL, USER, FunctionCall, Turn

Step = Mapping[str, Any]

CONTENT_TYPES = ("text", "image", "audio", "document", "video")


def steps_of(given: Any) -> list[Step]:
    """The input as steps; raises the first thing wrong with it."""
    if isinstance(given, str):
        given = [{"type": "text", "text": given}]
    if isinstance(given, dict):
        given = [given]
    fields.objects("input", given)
    if not given:
        raise invalid("input: must not be empty")
    if all(item.get("type") in CONTENT_TYPES for item in given):
        given = [{"type": "user_input", "content": given}]
    steps: list[Step] = given
    for index, step in enumerate(steps):
        _check_step(f"input[{index}]", step)
    return steps


def turns_of(steps: Sequence[Step]) -> tuple[Turn, ...]:
    """The conversation that the steps make.

    The signature of a thought belongs to the call that follows it; calls in a row are one turn.
    """
    turns: list[Turn] = []
    signature: str | None = None
    for step in steps:
        match step["type"]:
            case "user_input":
                turns.append(Turn(USER, text=_text(step), media=_media(step)))
            case "model_output":
                turns.append(Turn(MODEL, text=_text(step)))
            case "function_call":
                earlier = turns.pop().calls if turns and turns[-1].calls else ()
                called = FunctionCall(step["name"], step.get("arguments", {}), signature)
                turns.append(Turn(MODEL, calls=(*earlier, called)))
            case "function_result":
                turns.append(Turn(USER, results=(str(step.get("name", "")),)))
        signature = step.get("signature") if step["type"] == "thought" else None
    return tuple(turns)


def _check_step(at: str, step: Step) -> None:
    fields.string(f"{at}.type", fields.require(step, "type", at))
    kind = step["type"]
    if kind in ("user_input", "model_output"):
        content = step.get("content", [])
        fields.objects(f"{at}.content", content)
        for index, item in enumerate(content):
            _check_content(f"{at}.content[{index}]", item)
    elif kind == "function_call":
        fields.string(f"{at}.name", fields.require(step, "name", at))
        fields.mapping(f"{at}.arguments", step.get("arguments", {}))
    elif kind == "function_result":
        fields.string(f"{at}.call_id", fields.require(step, "call_id", at))
        fields.require(step, "result", at)
    elif kind == "thought":
        fields.string(f"{at}.signature", step.get("signature", ""))
    elif not kind.endswith(("_call", "_result")):
        raise invalid(f"{at}.type: {kind!r} is no type of step")


def _check_content(at: str, content: Mapping[str, Any]) -> None:
    kind = fields.require(content, "type", at)
    if kind not in CONTENT_TYPES:
        raise invalid(f"{at}.type: {kind!r} is no type of content")
    if kind == "text":
        fields.string(f"{at}.text", fields.require(content, "text", at))
    elif "data" not in content and "uri" not in content:
        raise invalid(f"{at}: one of data and uri is required")


def _text(step: Step) -> str:
    return "\n".join(item["text"] for item in step.get("content", ()) if item["type"] == "text")


def _media(step: Step) -> int:
    return sum(item["type"] != "text" for item in step.get("content", ()))
