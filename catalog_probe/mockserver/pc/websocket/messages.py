"""The client's messages on a socket: their types and fields, checked as strictly as a body over HTTP (1:4.3, 2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.pc.errors import INVALID_JSON, INVALID_TYPE, missing
from catalog_probe.mockserver.pc.fields import OBJECT, Field, array, check, check_value, string

if TYPE_CHECKING:
    from collections.abc import Mapping

CREATE = "response.create"
STEER = "response.steer"
INJECT = "response.inject"
INJECT_FAILED = "response.inject.failed"

TYPE = string(CREATE, STEER, INJECT)

ONLY_HERE = ("type", "stream_id", "generate")
"""Fields of response.create that POST /v1/responses has not; what else it may have is checked as there."""

FIELDS: Mapping[str, Mapping[str, Field]] = {
    STEER: {"type": string(), "previous_response_id": string(), "input": Field(("string", "array"))},
    INJECT: {"type": string(), "response_id": string(), "input": array()},
}
"""The documents name these messages and show no field of them; these are what clients send."""


def read(raw: str | bytes) -> dict[str, Any]:
    """A message, its type among its fields.

    Raises:
        PcError: it is not one that the socket takes.
    """
    try:
        message = strict_json.loads(raw)
    except ValueError as error:
        raise INVALID_JSON(f"The message is not valid JSON: {error}") from None
    if not isinstance(message, dict):
        raise INVALID_TYPE("The message is not a JSON object.")
    name = message.get("type")
    if name is None:
        raise missing("type")
    check_value("type", name, TYPE)
    if name in FIELDS:
        check(message, FIELDS[name], required=[field for field in FIELDS[name] if field != "type"])
        _check_items(message["input"])
    return message


def response_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """What response.create asks for, as a body of POST /v1/responses would."""
    return {name: value for name, value in message.items() if name not in ONLY_HERE}


def _check_items(given: Any) -> None:
    """Items are objects, and so are the parts of their content; what clients may inject is not shown beyond that."""
    for number, item in enumerate(given if isinstance(given, list) else ()):
        check_value(f"input[{number}]", item, OBJECT)
        content = item.get("content")
        for index, part in enumerate(content if isinstance(content, list) else ()):
            check_value(f"input[{number}].content[{index}]", part, OBJECT)
