"""The client's messages on a WebSocket, checked like bodies (1:6, 2:7.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.pc.bodies import check_object
from catalog_probe.mockserver.pc.errors import INVALID_JSON
from catalog_probe.mockserver.pc.fields import EVENT, EVENTS

SOCKET_FIELDS = ("type", "stream_id", "generate")  # fields of response.create that POST /v1/responses does not have


def read_message(raw: str | bytes) -> dict[str, Any]:
    """Read a message.

    Raises:
        Refusal: it is no JSON, has an unknown type, or breaks the table of its type.
    """
    try:
        value = strict_json.loads(raw)
    except ValueError as error:
        raise INVALID_JSON(reason=error) from None
    message = check_object(value, EVENT)
    table = EVENTS.get(message["type"])
    return message if table is None else check_object(message, table)


def read_response_body(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of POST /v1/responses that a response.create stands for."""
    return {name: value for name, value in message.items() if name not in SOCKET_FIELDS}
