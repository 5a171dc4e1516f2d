"""Handle recordings whose headers or values were removed: what is hidden was not observed, and is no drift."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import unwrap
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Aspect, Outcome
from catalog_probe.catalog.model.assertion import AssertionKey
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.reading.expectations import answer_body
from catalog_probe.catalog.reading.relations import Location
from catalog_probe.catalog.text.json_values import find_values, map_strings
from catalog_probe.probes.judging.comparison.locations import is_somewhere_in, values_at

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from catalog_probe.catalog.model import Exchange, Finding, Json
    from catalog_probe.catalog.model.assertion import Observation
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.probes.judging.verdict import Verdict

NOT_RECORDED = "not-recorded"
"""The reason for a header that a filtered recording lacks."""

HIDDEN = "***"
"""Replaces each value that a recorder hid; too short to be taken for a secret."""

# A mark must be the whole value, except for the prefix of an id or a scheme, because providers themselves mask keys
# inside sentences. Words that may be values of a provider (`filtered`, `removed`) count only in brackets.
RECORDER_MARKS = re.compile(
    r"(?:[a-z]{1,12}[ _-])?"
    r"(?:redacted|\*{3,}|x{4,}|[\[<({*]+(?:redacted|filtered|scrubbed|sanitized|masked|removed|hidden)[\]>)}*]+)",
    re.IGNORECASE,
)

_ABSENCE_CODES = frozenset({FindingCode.HEADER_MISSING, FindingCode.HEADER_INCONSISTENT})


def mark_hidden(exchange: Exchange, marks: re.Pattern[str], *, complete: bool | None) -> Exchange:
    """Replace each header and each string of the answer that matches `marks` by HIDDEN.

    An empty header counts as hidden unless the recording says that it has all headers (`complete`), because recorders
    often empty headers. This hides a provider that sends an empty header. Example: `{"request-id": "[REDACTED]"}` ->
    `{"request-id": "***"}`; the text `your key sk-*** is wrong` stays, because the mark is only part of the value.
    """

    def mark_headers(headers: Mapping[str, str]) -> dict[str, str]:
        return {
            name: HIDDEN if marks.fullmatch(value) or (not value and not complete) else value
            for name, value in headers.items()
        }

    def mark_text(text: str) -> str:
        return HIDDEN if marks.fullmatch(text) else text

    request, response = exchange.request, exchange.response
    exchange = replace(exchange, request=replace(request, headers=mark_headers(request.headers)))
    if response is None:
        return exchange
    marked = replace(
        response,
        headers=mark_headers(response.headers),
        body=map_strings(response.body, mark_text) if response.body_type == "json" else response.body,
        events=response.events
        and tuple(replace(event, data=map_strings(event.data, mark_text)) for event in response.events),
    )
    return replace(exchange, response=marked)


def is_hidden_whole(exchange: Exchange) -> bool:
    """Whether the whole body, or all data of an event, is hidden, e.g. a body that reads `***`."""
    response = exchange.response
    return response is not None and HIDDEN in (response.body, *(event.data for event in response.events or ()))


def without_hidden_headers(exchange: Exchange) -> Exchange:
    """Remove hidden headers, for recognition, to which a missing header says nothing."""
    response = exchange.response
    if response is None or HIDDEN not in response.headers.values():
        return exchange
    visible = {name: value for name, value in response.headers.items() if value != HIDDEN}
    return replace(exchange, response=replace(response, headers=visible))


def has_all_headers(provider: str, exchanges: Iterable[Exchange]) -> bool:
    """Guess whether a recording has all headers, if it does not say so itself: most answers have the request id.

    The provider names each answer by its request id, and a recording with filtered headers lacks it throughout. If a
    provider documents no such header, the recording counts as filtered. This prevents that filtered headers are
    reported as missing. It hides that a provider no longer sends one, if the recording lacks the request ids too.
    Example: two of three answers have `request-id` -> True.
    """
    request_id = manifest(provider).request_id
    answers = Counter(
        request_id in exchange.response.headers
        for exchange in exchanges
        if exchange.response is not None and exchange.response.status
    )
    return bool(request_id) and answers[True] > answers[False]


def drop_hidden_findings(verdict: Verdict, expected: Expected, exchange: Exchange, *, complete: bool) -> Verdict:
    """Take back the findings and observations of a verdict that rest on hidden values.

    Args:
        verdict: the verdict on one step.
        expected: what the exchange was compared with.
        exchange: the exchange, with its hidden values marked.
        complete: whether the recording has all headers; otherwise a missing header is hidden too.
    """
    response = exchange.response
    if response is None or verdict.outcome not in (Outcome.CONFORMS, Outcome.DRIFTED):
        return verdict

    def is_hidden(local_key: str) -> bool:
        aspect, _, location = local_key.partition(":")
        is_missing_header = aspect == Aspect.HEADER and location not in response.headers and "*" not in location
        return (is_missing_header and not complete) or HIDDEN in _asserted_values(local_key, expected, exchange)

    def rests_on_hidden(finding: Finding) -> bool:
        is_about_missing_header = finding.code in _ABSENCE_CODES and finding.location not in response.headers
        if finding.observed == HIDDEN or (is_about_missing_header and not complete):
            return True
        # What is nowhere in the answer may be what was hidden.
        if finding.code == FindingCode.VALUE_NOWHERE and is_somewhere_in(answer_body(expected, response), HIDDEN):
            return True
        return bool(finding.assertion) and is_hidden(AssertionKey.parse(finding.assertion).local_key)

    findings = tuple(finding for finding in verdict.findings if not rests_on_hidden(finding))
    # An assertion about the shape of a body may have differed only in a hidden value.
    dropped_keys = {finding.assertion for finding in verdict.findings} - {finding.assertion for finding in findings}
    return replace(
        verdict,
        outcome=Outcome.DRIFTED if any(finding.is_drift for finding in findings) else Outcome.CONFORMS,
        findings=findings,
        observations=tuple(
            _drop_hidden_observations(observation, is_hidden, dropped_keys) for observation in verdict.observations
        ),
    )


def _asserted_values(local_key: str, expected: Expected, exchange: Exchange) -> Collection[Json]:
    """Return the values of an answer that an assertion is about."""
    aspect, _, location = local_key.partition(":")
    if aspect == "relation":
        return [
            value
            for relation in expected.relations
            if relation.local_key == local_key
            for relation_location in relation.locations()
            for value in values_at(relation_location, expected, exchange)
        ]
    if aspect == Aspect.HEADER:
        return values_at(Location("header", location), expected, exchange)
    pointer = location or expected.envelope.wire.get(aspect, "")
    response = exchange.response
    if not pointer or response is None:
        return ()
    return find_values(unwrap(expected.envelope, answer_body(expected, response)), pointer)


def _drop_hidden_observations(
    observation: Observation, is_hidden: Callable[[str], bool], dropped_keys: Collection[str]
) -> Observation:
    hidden = [
        local_key
        for local_key in (*observation.matched, *observation.mismatched)
        if is_hidden(local_key) or f"{observation.label}/{local_key}" in dropped_keys
    ]
    return replace(
        observation,
        matched=tuple(local_key for local_key in observation.matched if local_key not in hidden),
        mismatched={
            local_key: observed for local_key, observed in observation.mismatched.items() if local_key not in hidden
        },
        not_observed={**observation.not_observed, **dict.fromkeys(hidden, NOT_RECORDED)},
    )
