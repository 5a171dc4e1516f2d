"""Find type, code, param and message in a body, where its envelope has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.envelope import WIRE_ASPECTS
from catalog_probe.catalog.text.json_pointer import ABSENT, find_value

if TYPE_CHECKING:
    from catalog_probe.catalog.envelopes.envelope import Envelope
    from catalog_probe.catalog.model import Json


def unwrap(envelope: Envelope, body: Json) -> Json:
    """Take a body out of the array that its surface may put around it."""
    return body[0] if envelope.unwrap and isinstance(body, list) and body else body


def wire_values(envelope: Envelope, body: Json) -> dict[str, Json]:
    """Return type, code and param of a body; those that the envelope or the body lacks are left out."""
    body = unwrap(envelope, body)
    values = {aspect: find_value(body, envelope.wire[aspect]) for aspect in WIRE_ASPECTS if aspect in envelope.wire}
    return {aspect: value for aspect, value in values.items() if value is not ABSENT}


def find_message(envelope: Envelope, body: Json) -> str | None:
    """Return the message, or None if the envelope has no place for one or the body has no text there."""
    return _find_text(envelope, body, "message")


def find_param(envelope: Envelope, body: Json) -> str | None:
    """Return the name of the field that is at fault, or None."""
    return _find_text(envelope, body, "param")


def _find_text(envelope: Envelope, body: Json, aspect: str) -> str | None:
    pointer = envelope.wire.get(aspect)
    if pointer is None:
        return None
    value = find_value(unwrap(envelope, body), pointer)
    return value if isinstance(value, str) else None
