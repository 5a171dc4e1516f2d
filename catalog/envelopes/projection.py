"""The wire values of an answer: what its envelope carries of type, code and param."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.envelopes.envelope import WIRE_ASPECTS, Envelope
from catalog.envelopes.pointer import ABSENT, find
from catalog.model import Json

if TYPE_CHECKING:
    pass


def unwrapped(envelope: Envelope, body: Json) -> Json:
    """The body, out of the array that its surface may put around it."""
    return body[0] if envelope.unwrap and isinstance(body, list) and body else body


def wire_of(envelope: Envelope, body: Json) -> dict[str, Json]:
    """The values of type, code and param where the envelope carries them; absent ones are left out."""
    body = unwrapped(envelope, body)
    found = {aspect: find(body, envelope.wire[aspect]) for aspect in WIRE_ASPECTS if aspect in envelope.wire}
    return {aspect: value for aspect, value in found.items() if value is not ABSENT}
