"""The client's messages on a socket: their types and fields, checked as a body over HTTP is (1:6, 2:7.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.pc.bodies import check_object
from catalog_probe.mockserver.pc.errors import INVALID_JSON
from catalog_probe.mockserver.pc.fields import EVENT, EVENTS

ONLY_HERE = ("type", "stream_id", "generate")
"""Fields of response.create that POST /v1/responses has not; what else it may have is checked as there."""


def read_message(raw: str | bytes) -> dict[str, Any]:
    """A message, its type among its fields.

    Raises:
        Refusal: it is not one that the socket takes.
    """
    try:
        value = strict_json.loads(raw)
    except ValueError as error:
        raise INVALID_JSON(reason=error) from None
    message = check_object(value, EVENT)
    table = EVENTS.get(message["type"])
    return message if table is None else check_object(message, table)


def response_asked_by(message: Mapping[str, Any]) -> dict[str, Any]:
    """What response.create asks for, as a body of POST /v1/responses would."""
    return {name: value for name, value in message.items() if name not in ONLY_HERE}
