"""Recordings of which headers were taken out: what such a one lacks was not looked at, and is no drift."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog.model import Aspect, Outcome
from catalog.model.codes import FindingCode
from catalog.reading.manifest import manifest

if TYPE_CHECKING:
    from catalog.model import Exchange, Finding
    from catalog.model.look import Look
    from probes.judging.verdict import Verdict

NOT_RECORDED = "not-recorded"
"""Why nothing is known of a header that a filtered recording lacks."""

_HEADER = f"{Aspect.HEADER}:"

_ABOUT_ABSENCE = frozenset({FindingCode.HEADER_MISSING, FindingCode.HEADER_INCONSISTENT})


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


def without_what_was_filtered(verdict: Verdict, exchange: Exchange) -> Verdict:
    """The verdict on a cell as far as it rests on headers that are there."""
    if verdict.outcome not in (Outcome.CONFORMS, Outcome.DRIFTED):
        return verdict
    left = tuple(each for each in verdict.findings if not misses_a_header(each, exchange))
    drifts = any(each.drifts for each in left)
    outcome = Outcome.DRIFTED if drifts else Outcome.CONFORMS
    headers = _headers(exchange)
    return replace(
        verdict, outcome=outcome, findings=left, looks=tuple(_seen_of(look, headers) for look in verdict.looks)
    )


def misses_a_header(finding: Finding, exchange: Exchange) -> bool:
    """Whether a finding rests on a header that the recording does not have."""
    about_absence = finding.aspect is Aspect.HEADER and finding.code in _ABOUT_ABSENCE
    return about_absence and finding.at not in _headers(exchange)


def _headers(exchange: Exchange) -> Mapping[str, str]:
    return exchange.response.headers if exchange.response is not None else {}


def _seen_of(look: Look, there: Collection[str]) -> Look:
    def filtered(key: str) -> bool:
        return key.startswith(_HEADER) and key.removeprefix(_HEADER) not in there and "*" not in key

    lost = [key for key in (*look.as_stated, *look.otherwise) if filtered(key)]
    return replace(
        look,
        as_stated=tuple(key for key in look.as_stated if not filtered(key)),
        otherwise={key: seen for key, seen in look.otherwise.items() if not filtered(key)},
        unseen={**look.unseen, **dict.fromkeys(lost, NOT_RECORDED)},
    )
