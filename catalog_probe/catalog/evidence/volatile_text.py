"""Texts of answers with placeholders for ids, times and amounts, so that records do not churn."""

from __future__ import annotations

import re

from catalog_probe.catalog.text.phrases import shorten

MAX_TEXT = 300  # characters

# Placeholders prevent a diff of the records in each night in which only an id, a time or an amount differs. They hide
# that such a value changed its meaning: `retry after 5 s` and `retry after 500 s` are equal.
_PLACEHOLDERS = (
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "{id}"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "{time}"),
    (re.compile(r"\b[A-Za-z]+(?:[_-][A-Za-z]+)*[_-](?=[A-Za-z]*\d)[A-Za-z0-9]{8,}\b"), "{id}"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b", re.IGNORECASE), "{id}"),
    (re.compile(r"\b\d+(?:\.\d+)?(?=\s?(?:ms|s|m|h|seconds?|minutes?|hours?)\b)"), "{n}"),
    (re.compile(r"\b\d+\.\d+\b"), "{n}"),
    (re.compile(r"\b\d[\d,]{4,}\b"), "{n}"),
)


def mask_volatile(text: str) -> str:
    """Put a text on one line, and replace what differs between two answers to the same request."""
    text = " ".join(text.split())
    for pattern, placeholder in _PLACEHOLDERS:
        text = pattern.sub(placeholder, text)
    return shorten(text, MAX_TEXT)
