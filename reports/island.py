"""The data that the report's script reads: a row for every record, and the details that it draws when asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from catalog.evidence import Finding, Outcome
from catalog.model import Json
from reports import advice, exchanges
from reports.attribution import Attributor
from reports.facts import Relations, facts, title
from reports.history import LETTERS
from reports.overview import Overview
from reports.reproduce import pytest_command
from reports.standing import Standing
from reports.visible import tree

BUDGET = 7_000_000
"""Bytes of details; beyond it, conforming records keep their facts and leave their exchanges to results.jsonl."""

BODY = 1200
"""Characters of a body kept with a conforming record."""


def rows(overview: Overview) -> list[list[Json]]:
    """One row a record: address, title, outcome, change, tags, age, strip, milliseconds."""
    return [
        [
            each.address,
            title(each.result),
            LETTERS[each.outcome],
            str(each.change),
            sorted(map(str, each.result.probed_record.tags)),
            each.age,
            "".join(LETTERS[outcome] if outcome else "." for outcome in each.strip),
            round(sum(attempt.elapsed_ms for attempt in each.result.attempts)),
        ]
        for each in sorted(overview.standings, key=lambda standing: standing.address)
    ]


def details(
    overview: Overview, shown_whole: frozenset[str], relations: Relations, attributor: Attributor
) -> dict[str, Json]:
    """Every record that the page itself does not show whole, within the budget; what is not as it should be first."""
    found: dict[str, Json] = {}
    spent = 0
    urgent = sorted(overview.standings, key=lambda each: (each.outcome is Outcome.CONFORMS, not each.result.findings))
    for each in urgent:
        if each.address in shown_whole:
            continue
        detail = _facts(each, overview, relations, attributor)
        whole = {**detail, "attempts": exchanges.attempts(each.result, max_body=BODY)}
        size = len(json.dumps(whole, separators=(",", ":")))
        if spent + size > BUDGET:
            whole, size = {**detail, "left_out": True}, len(json.dumps(detail, separators=(",", ":")))
        spent += size
        found[each.address] = whole
    return dict(sorted(found.items()))


def text(data: Json) -> str:
    """JSON for a `<script type="application/json">`: nothing in it can end the element or hide."""
    dumped = json.dumps(tree(data), ensure_ascii=False, separators=(",", ":"))
    return dumped.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _facts(standing: Standing, overview: Overview, relations: Relations, attributor: Attributor) -> dict[str, Json]:
    result = standing.result
    attribution = attributor.of(standing)
    found: dict[str, Json] = {
        "facts": facts(result, relations),
        "reason": advice.reason(result),
        "codes": [[code, advice.means(code), advice.next_step(code)] for code in advice.codes(result)],
        "findings": [_finding(finding) for finding in result.findings],
        "attribution": [attribution.party, attribution.why] if attribution else None,
        "seen_at": result.observed_at,
        "pytest": pytest_command(overview.run, result),
    }
    return {key: value for key, value in found.items() if value}


def _finding(finding: Finding) -> Mapping[str, Json] | Sequence[Json]:
    documented = "" if finding.documented is None else exchanges.shorten(finding.documented)
    return [finding.code, finding.message, finding.label, documented, exchanges.shorten(finding.observed)]
