"""The finding of a difference: made, and merged over endpoints. Pure."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.causes import observed_class
from catalog_probe.catalog.evidence.retention import mask_volatile
from catalog_probe.catalog.model import Aspect, Finding, Json, Severity
from catalog_probe.catalog.reading.expectations import message_of
from catalog_probe.catalog.text.json_values import ABSENT, build_document
from catalog_probe.catalog.text.readable_text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model import Response
    from catalog_probe.catalog.model.outcome import FindingCode
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


MAX_VALUE_CHARACTERS = 240  # of a value's JSON, that a finding keeps


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
    return Finding(
        code=code,
        aspect=aspect,
        severity=Severity.MUST,
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


def merge_findings(findings_by_endpoint: Iterable[tuple[str, Iterable[Finding]]]) -> tuple[Finding, ...]:
    """Return each difference once, as it was observed first, with all its endpoints.

    Two differences of one endpoint stay two, even if they look the same.
    """
    merged: dict[tuple[object, ...], Finding] = {}
    for endpoint, findings in findings_by_endpoint:
        occurrences: Counter[tuple[str, ...]] = Counter()
        for finding in findings:
            identity = _identify(finding)
            key = (*identity, occurrences[identity])
            occurrences[identity] += 1
            first = merged.setdefault(key, finding)
            if endpoint:
                merged[key] = replace(first, endpoints=(*first.endpoints, endpoint))
    return tuple(merged.values())


def _identify(finding: Finding) -> tuple[str, ...]:
    observed = finding.message if finding.severity is Severity.INFO else observed_class(finding)
    return finding.code, str(finding.severity), finding.label, finding.location, finding.assertion, observed
