"""The data that the report's script reads: a row for every record, and the details that it draws when asked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from catalog.model import Finding, Json, Outcome
from catalog.model.json_tree import map_texts, texts
from reports import advice, exchanges
from reports.facts import Relations, facts, title
from reports.history import LETTERS
from reports.reproduce import pytest_command
from reports.visible import tree

if TYPE_CHECKING:
    from reports.attribution import Attributor
    from reports.overview import Overview
    from reports.standing import Standing

BUDGET = 8_000_000
"""Characters of details. Beyond it records keep what they say and leave their exchanges to results.jsonl, those that
conform first."""

BODY = 1200
"""Characters of a body kept with a record that the page itself does not show whole."""

MARK = "~"
"""Begins a string that stands for another: `~` and its place in the table, in base 36; a real `~` is doubled."""

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


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
    """Every record that the page itself does not show whole, within the budget; what does not conform comes first."""
    members = sorted(overview.standings, key=lambda each: (each.outcome is Outcome.CONFORMS, not each.result.findings))
    found: dict[str, dict[str, Json]] = {}
    left = BUDGET
    for each in members:
        if each.address not in shown_whole:
            said = _said(each, overview, relations, attributor)
            left -= _size(said)
            found[each.address] = said if left > 0 else {"left_out": True}
    for each in members:
        if each.address in found and each.result.attempts:
            attempts = exchanges.attempts(each.result, max_body=BODY) if left > 0 else []
            left -= _size(attempts)
            found[each.address].update({"attempts": attempts} if left > 0 else {"left_out": True})
    return dict(sorted(found.items()))


def text(data: Json) -> str:
    """JSON for a `<script type="application/json">`: nothing in it can end the element, or hide."""
    dumped = json.dumps(tree(data), ensure_ascii=False, separators=(",", ":"))
    return dumped.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def shared(data: Json) -> dict[str, Json]:
    """The same data with every string that recurs kept once, in a table."""
    counts = Counter(texts(data))
    table = [string for string, count in counts.items() if count > 1 and len(string) > 5]
    places = {string: MARK + _base36(place) for place, string in enumerate(table)}

    def in_its_place(text: str) -> str:
        return places.get(text) or (MARK + text if text.startswith(MARK) else text)

    return {"table": table, "data": map_texts(data, in_its_place)}


def _said(standing: Standing, overview: Overview, relations: Relations, attributor: Attributor) -> dict[str, Json]:
    result = standing.result
    attribution = attributor.of(standing)
    found: dict[str, Json] = {
        "facts": facts(result, relations),
        "reason": advice.reason(result),
        "codes": [[code, advice.means(code), advice.next_step(code)] for code in advice.codes(result)],
        "findings": [_finding(finding) for finding in result.findings],
        "attribution": [attribution.party, attribution.why] if attribution else None,
        "pytest": pytest_command(overview.run, result),
    }
    return {key: value for key, value in found.items() if value}


def _finding(finding: Finding) -> Sequence[Json]:
    documented = "" if finding.documented is None else exchanges.shorten(finding.documented)
    return [finding.code, finding.message, finding.label, documented, exchanges.shorten(finding.observed)]


def _size(data: Json) -> int:
    return len(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def _base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits
