"""Two runs side by side: the records whose outcome changed, and the assertions that were observed otherwise."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.harness_results import select_record_results
from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.catalog.text.sanitizing import sanitize_line, sanitize_row
from catalog_probe.reports.content.words import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run

MATCHED = "matched"
LONGEST = 200
"""Characters of what is said of one record."""


@dataclass(frozen=True, slots=True)
class AssertionChange:
    """An assertion that both runs observed, each in another way."""

    assertion: str
    """Its id, `<address>#<key>`."""
    before: str
    """`as stated`, or the observed class: a value, `absent`, `malformed` or `out-of-range`."""
    after: str
    endpoints: tuple[str, ...]


def compare_assertions(before: Sequence[Result], after: Sequence[Result]) -> list[AssertionChange]:
    """List the assertions that differ. What only one of the runs observed is none of them: its outcome tells."""
    old, new = _observations(before), _observations(after)
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for assertion, endpoint in sorted(old.keys() & new.keys()):
        was, now = old[assertion, endpoint], new[assertion, endpoint]
        if was != now:
            found[assertion, was, now].append(endpoint)
    return [AssertionChange(*change, tuple(endpoints)) for change, endpoints in found.items()]


def compare_outcomes(before: Sequence[Result], after: Sequence[Result]) -> list[tuple[Result, Result]]:
    """Pair the results of the records that both runs have with another outcome."""
    old = {result.record: result for result in select_record_results(before)}
    new = {result.record: result for result in select_record_results(after)}
    both = sorted(old.keys() & new.keys())
    return [(old[address], new[address]) for address in both if old[address].outcome is not new[address].outcome]


def compare_addresses(before: Sequence[Result], after: Sequence[Result]) -> tuple[list[str], list[str]]:
    """List the records that only the first run has, and those that only the second has."""
    old, new = ({result.record for result in select_record_results(results)} for results in (before, after))
    return sorted(old - new), sorted(new - old)


def render(before: tuple[Run, Sequence[Result]], after: tuple[Run, Sequence[Result]]) -> str | None:
    """Format all differences as text; None where there are none."""
    first, second = compare_addresses(before[1], after[1])
    sections = {
        "Other outcome": [_format_outcome(*pair) for pair in compare_outcomes(before[1], after[1])],
        "Assertions with another observation": list(map(_format_change, compare_assertions(before[1], after[1]))),
        "Only in the first": first,
        "Only in the second": second,
    }
    if not any(sections.values()):
        return None
    runs = [f"{run.run} ({run.target}, {run.today})" for run, _ in (before, after)]
    lines = [" -> ".join(runs)]
    for heading, entries in sections.items():
        if entries:
            lines += ["", f"{heading} ({len(entries)})", *(f"  {entry}" for entry in entries)]
    return "\n".join(map(sanitize_row, lines))


def _observations(results: Sequence[Result]) -> dict[tuple[str, str], str]:
    """What was observed, by assertion and endpoint."""
    found = {}
    for result in select_record_results(results):
        for observation in result.observations:
            endpoint = observation.endpoint or result.record
            for within in observation.matched:
                found[f"{result.record}#{observation.label}/{within}", endpoint] = MATCHED
            for within, observed in observation.mismatched.items():
                found[f"{result.record}#{observation.label}/{within}", endpoint] = observed
    return found


def _format_outcome(old: Result, new: Result) -> str:
    change = f"{new.record}  {OUTCOMES[old.outcome]} -> {OUTCOMES[new.outcome]}"
    why = next(_reasons(new), "")
    return sanitize_line(f"{change}: {why}" if why else change, LONGEST)


def _reasons(result: Result) -> Iterator[str]:
    yield from (finding.message for finding in result.drifts)
    if result.reason is not None:
        yield f"{result.reason.code} {result.reason.detail}".strip()


def _format_change(change: AssertionChange) -> str:
    where = change.endpoints[0] if len(change.endpoints) == 1 else format_count(len(change.endpoints), "endpoint")
    return sanitize_line(f"{change.assertion} on {where}: {change.before} -> {change.after}", LONGEST)
