"""Recordings from which headers or values were taken out: what is hidden was not observed, and is no drift."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.location import Location
from catalog_probe.catalog.envelopes.projection import unwrap
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Aspect, Outcome
from catalog_probe.catalog.model.assertion import AssertionKey
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.reading.expected import answer_body
from catalog_probe.catalog.text.json_pointer import find_values
from catalog_probe.catalog.text.json_tree import map_strings
from catalog_probe.probes.judging.comparison.locations import values_at

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from catalog_probe.catalog.model import Exchange, Finding, Json
    from catalog_probe.catalog.model.observation import Observation
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.probes.judging.verdicts.verdict import Verdict

NOT_RECORDED = "not-recorded"
"""Why nothing is known of a header that a filtered recording lacks."""

HIDDEN = "***"
"""What stands for each value that a recorder hid; too short to be taken for a secret."""

# The whole value, after the prefix of an id or a scheme at most: providers themselves mask keys inside of sentences.
# Words that may be values of a provider (`filtered`, `removed`) count in brackets only.
RECORDER_MARKS = re.compile(
    r"(?:[a-z]{1,12}[ _-])?"
    r"(?:redacted|\*{3,}|x{4,}|[\[<({*]+(?:redacted|filtered|scrubbed|sanitized|masked|removed|hidden)[\]>)}*]+)",
    re.IGNORECASE,
)

_ABOUT_ABSENCE = frozenset({FindingCode.HEADER_MISSING, FindingCode.HEADER_INCONSISTENT})


def mark_hidden(exchange: Exchange, marks: re.Pattern[str], *, complete: bool | None) -> Exchange:
    """The exchange with HIDDEN for each header and each text of an answer that is one of these marks.

    An empty header counts as hidden unless the recording says that it has all headers: recorders often empty them.
    This hides a provider that sends an empty header.
    """

    def mark(headers: Mapping[str, str]) -> dict[str, str]:
        is_hidden = {name: marks.fullmatch(value) or (not value and not complete) for name, value in headers.items()}
        return {name: HIDDEN if is_hidden[name] else value for name, value in headers.items()}

    def mark_text(text: str) -> str:
        return HIDDEN if marks.fullmatch(text) else text

    asked, answer = exchange.request, exchange.response
    exchange = replace(exchange, request=replace(asked, headers=mark(asked.headers)))
    if answer is None:
        return exchange
    events = answer.events and tuple(replace(event, data=map_strings(event.data, mark_text)) for event in answer.events)
    body = map_strings(answer.body, mark_text) if answer.body_type == "json" else answer.body
    return replace(exchange, response=replace(answer, headers=mark(answer.headers), body=body, events=events))


def is_hidden_whole(exchange: Exchange) -> bool:
    """Whether a body or the data of an event is one mark, so that nothing can be said of what was in it."""
    response = exchange.response
    return response is not None and HIDDEN in (response.body, *(event.data for event in response.events or ()))


def without_hidden_headers(exchange: Exchange) -> Exchange:
    """The exchange as recognition compares it, where a header that is missing says nothing."""
    response = exchange.response
    if response is None or HIDDEN not in response.headers.values():
        return exchange
    kept = {name: value for name, value in response.headers.items() if value != HIDDEN}
    return replace(exchange, response=replace(response, headers=kept))


def has_all_headers(provider: str, exchanges: Iterable[Exchange]) -> bool:
    """Whether a recording kept the headers of a provider's answers, where it does not say so itself.

    The provider names each answer by its request id: recordings of which headers were filtered lack it throughout.
    A provider that documents no such header gives no sign, and the recording counts as filtered.
    """
    named = manifest(provider).request_id
    answers = Counter(
        named in each.response.headers for each in exchanges if each.response is not None and each.response.status
    )
    return bool(named) and answers[True] > answers[False]


def drop_hidden_findings(verdict: Verdict, expected: Expected, exchange: Exchange, *, complete: bool) -> Verdict:
    """The verdict on a cell as far as it rests on what is there. `complete` says that no header was left out."""
    response = exchange.response
    if response is None or verdict.outcome not in (Outcome.CONFORMS, Outcome.DRIFTED):
        return verdict

    def is_lost(within: str) -> bool:
        aspect, _, place = within.partition(":")
        left_out = aspect == Aspect.HEADER and place not in response.headers and "*" not in place
        return (left_out and not complete) or HIDDEN in _values(within, expected, exchange)

    def rests_on_lost(finding: Finding) -> bool:
        within = AssertionKey.parse(finding.assertion).local_key if finding.assertion else ""
        absent = finding.code in _ABOUT_ABSENCE and finding.location not in response.headers and not complete
        return absent or finding.observed == HIDDEN or bool(within and is_lost(within))

    left = tuple(finding for finding in verdict.findings if not rests_on_lost(finding))
    differing = {finding.assertion for finding in left}
    # The shape of a body may differ in a hidden value alone.
    gone = {finding.assertion for finding in verdict.findings} - differing
    outcome = Outcome.DRIFTED if any(finding.is_drift for finding in left) else Outcome.CONFORMS
    observations = tuple(_without_lost(observation, is_lost, gone) for observation in verdict.observations)
    return replace(verdict, outcome=outcome, findings=left, observations=observations)


def _values(within: str, expected: Expected, exchange: Exchange) -> Collection[Json]:
    """The values of an answer that an assertion speaks of, by its key without the label."""
    aspect, _, place = within.partition(":")
    if aspect == "relation":
        relations = [relation for relation in expected.relations if relation.local_key == within]
        places = [place for relation in relations for place in relation.locations()]
        return [value for place in places for value in values_at(place, expected, exchange)]
    if aspect == Aspect.HEADER:
        return values_at(Location("header", place), expected, exchange)
    pointer = place or expected.envelope.wire.get(aspect, "")
    response = exchange.response
    if not pointer or response is None:
        return ()
    return find_values(unwrap(expected.envelope, answer_body(expected, response)), pointer)


def _without_lost(observation: Observation, is_lost: Callable[[str], bool], gone: Collection[str]) -> Observation:
    def is_unseen(within: str) -> bool:
        return is_lost(within) or f"{observation.label}/{within}" in gone

    unseen = [within for within in (*observation.matched, *observation.mismatched) if is_unseen(within)]
    return replace(
        observation,
        matched=tuple(within for within in observation.matched if within not in unseen),
        mismatched={within: observed for within, observed in observation.mismatched.items() if within not in unseen},
        not_observed={**observation.not_observed, **dict.fromkeys(unseen, NOT_RECORDED)},
    )
