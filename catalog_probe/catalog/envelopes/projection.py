"""The values of an answer where its envelope carries them: type, code, param and message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.envelope import WIRE_ASPECTS
from catalog_probe.catalog.text.json_pointer import ABSENT, find_value

if TYPE_CHECKING:
    from catalog_probe.catalog.envelopes.envelope import Envelope
    from catalog_probe.catalog.model import Json


def unwrap(envelope: Envelope, body: Json) -> Json:
    """The body, out of the array that its surface may put around it."""
    return body[0] if envelope.unwrap and isinstance(body, list) and body else body


def wire_values(envelope: Envelope, body: Json) -> dict[str, Json]:
    """The values of type, code and param where the envelope carries them; absent ones are left out."""
    body = unwrap(envelope, body)
    found = {aspect: find_value(body, envelope.wire[aspect]) for aspect in WIRE_ASPECTS if aspect in envelope.wire}
    return {aspect: value for aspect, value in found.items() if value is not ABSENT}


def find_message(envelope: Envelope, body: Json) -> str | None:
    """The message, or None where the envelope carries none, or the body holds no text there."""
    return _text(envelope, body, "message")


def find_param(envelope: Envelope, body: Json) -> str | None:
    """The name of the field that is at fault, or None where the envelope or the body names none."""
    return _text(envelope, body, "param")


def _text(envelope: Envelope, body: Json, aspect: str) -> str | None:
    pointer = envelope.wire.get(aspect)
    found = find_value(unwrap(envelope, body), pointer) if pointer is not None else ABSENT
    return found if isinstance(found, str) else None
