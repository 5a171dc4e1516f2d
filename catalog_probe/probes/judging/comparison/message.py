"""The words of an answer: quoted for a person, and normalized to compare answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.retention import mask_volatile
from catalog_probe.catalog.reading.expectations import message_of
from catalog_probe.catalog.text.json_values import build_document

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Response
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary

MAX_QUOTE = 160  # characters of an answer that a reason quotes


def quote(response: Response) -> str:
    """Return status and beginning of the body, on one line."""
    if response.grpc is not None:
        return f"gRPC status {response.grpc.status}: {response.grpc.message[:MAX_QUOTE]}"
    body = response.body
    if body is None:
        body = "empty body"
    return _format_quote(response, str(body))


def quote_message(response: Response, vocabulary: ProviderVocabulary) -> str:
    """Return status and the message in the provider's envelope; without one, the beginning of the body."""
    message = vocabulary.find_message(response.body)
    return quote(response) if message is None else _format_quote(response, message)


def _format_quote(response: Response, text: str) -> str:
    return f"HTTP {response.status}: {' '.join(text.split())[:MAX_QUOTE]}"


def normalize_message(expected: Expected, response: Response, vocabulary: ProviderVocabulary) -> str:
    """Return the message of an answer without what changes each time; the whole body if it has no message.

    The message may stand in any envelope of the provider.
    """
    # Rules that see a whole lane run when only the asserted values of a large body are kept.
    body = response.body if response.cut is None else build_document(response.cut.values)
    message = vocabulary.find_message(body) if response.grpc is None else message_of(expected, response)
    if message is None and response.body is not None:
        message = response.body if isinstance(response.body, str) else json.dumps(response.body, sort_keys=True)
    return mask_volatile(message or "")
