"""Builds the finding of one difference between what is documented and what was observed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Finding, Json, Severity
from catalog_probe.catalog.text.json_values import ABSENT
from catalog_probe.catalog.text.readable_text import quote_if_ambiguous, shorten

if TYPE_CHECKING:
    from catalog_probe.catalog.model.outcome import FindingCode
    from catalog_probe.catalog.reading.expectations import Expected

MAX_VALUE_CHARACTERS = 240  # of a value's JSON, that a finding keeps
MAX_MESSAGE_CHARACTERS = 120  # of each value, in the sentence of a finding


def mismatch(
    expected: Expected,
    local_key: str,
    code: FindingCode,
    aspect: Aspect,
    location: str,
    documented: Json,
    observed: Json,
) -> Finding:
    """Return the finding that an assertion mismatched; `local_key` is its key without the label."""
    if observed is ABSENT:
        observed = "absent"
    where = f" {location}" if location and location != aspect else ""
    documented_text = shorten(quote_if_ambiguous(documented, observed), MAX_MESSAGE_CHARACTERS)
    observed_text = shorten(quote_if_ambiguous(observed, documented), MAX_MESSAGE_CHARACTERS)
    return Finding(
        code=code,
        aspect=aspect,
        severity=Severity.MUST,
        message=f"{aspect}{where}: documented {documented_text}, observed {observed_text}",
        label=expected.label,
        location=location,
        documented=documented,
        observed=observed,
        assertion=f"{expected.label}/{local_key}",
    )


def abbreviate(value: Json) -> Json:
    """Return a value, or the beginning of its JSON if that is long; the exchange has all of it."""
    if value is ABSENT or is_short(value):
        return value
    return shorten(_to_json(value), MAX_VALUE_CHARACTERS)


def is_short(value: Json) -> bool:
    return len(_to_json(value)) <= MAX_VALUE_CHARACTERS


def _to_json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
