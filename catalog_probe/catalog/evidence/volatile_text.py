"""A text of an answer without what differs from one to the next though nothing changed."""

from __future__ import annotations

import re

from catalog_probe.catalog.text.phrases import shorten

MAX_TEXT = 300

_VOLATILE = (
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "{id}"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "{time}"),
    (re.compile(r"\b[A-Za-z]+(?:[_-][A-Za-z]+)*[_-](?=[A-Za-z]*\d)[A-Za-z0-9]{8,}\b"), "{id}"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b", re.IGNORECASE), "{id}"),
    (re.compile(r"\b\d+(?:\.\d+)?(?=\s?(?:ms|s|m|h|seconds?|minutes?|hours?)\b)"), "{n}"),
    (re.compile(r"\b\d+\.\d+\b"), "{n}"),
    (re.compile(r"\b\d[\d,]{4,}\b"), "{n}"),
)
"""What differs from one answer to the next though nothing changed: identifiers, times, amounts."""


def mask_volatile(text: str) -> str:
    """A text on one line with placeholders for what is volatile, so that records do not churn."""
    text = " ".join(text.split())
    for pattern, placeholder in _VOLATILE:
        text = pattern.sub(placeholder, text)
    return shorten(text, MAX_TEXT)
