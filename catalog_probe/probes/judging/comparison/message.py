"""The words of an answer: as a person reads them, and without what changes from one answer to the next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.volatile_text import mask_volatile
from catalog_probe.catalog.reading.expected import message_of
from catalog_probe.catalog.text.json_pointer import build_document

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Response
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.recognition.known import Known

QUOTED = 160
"""Characters of an answer's own words that a reason quotes."""


def quote(response: Response) -> str:
    """Status and beginning of the body, on one line."""
    if response.grpc is not None:
        return f"gRPC status {response.grpc.status}: {response.grpc.message[:QUOTED]}"
    body = response.body
    text = body if isinstance(body, str) else str(body) if body is not None else "empty body"
    return f"HTTP {response.status}: {' '.join(text.split())[:QUOTED]}"


def quote_message(response: Response, known: Known) -> str:
    """Status and the message in the provider's envelope; without one, the beginning of the body."""
    message = known.message_of(response.body)
    return quote(response) if message is None else f"HTTP {response.status}: {' '.join(message.split())[:QUOTED]}"


def wording(expected: Expected, response: Response, known: Known) -> str:
    """The message of an answer in whichever envelope of the provider; the whole body where it stands in none."""
    # What is settled when all of a lane are judged is kept by then: of a large body, what the record asserts.
    read = response.body if response.cut is None else build_document(response.cut.values)
    found = known.message_of(read) if response.grpc is None else message_of(expected, response)
    if found is None and response.body is not None:
        found = response.body if isinstance(response.body, str) else json.dumps(response.body, sort_keys=True)
    return mask_volatile(found or "")
