"""Comparison of two runs: records with another outcome, and assertions with another observation."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.completeness import select_record_results
from catalog_probe.catalog.text.readable_text import format_count, sanitize_line, sanitize_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run

MATCHED = "matched"
_MAX_LINE_LENGTH = 200  # characters


@dataclass(frozen=True, slots=True)
class AssertionChange:
    """An assertion of which two runs observed different things."""

    assertion: str
    """Its id, `<address>#<key>`."""
    before: str
    """`matched`, or the observed class: a value, `absent`, `malformed` or `out-of-range`."""
    after: str
    endpoints: tuple[str, ...]


def compare_assertions(before: Sequence[Result], after: Sequence[Result]) -> list[AssertionChange]:
    """List the assertions that both runs observed, and differently."""
    old, new = _collect_observations(before), _collect_observations(after)
    endpoints_by_change: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for assertion, endpoint in sorted(old.keys() & new.keys()):
        old_observation, new_observation = old[assertion, endpoint], new[assertion, endpoint]
        if old_observation != new_observation:
            endpoints_by_change[assertion, old_observation, new_observation].append(endpoint)
    return [AssertionChange(*change, tuple(endpoints)) for change, endpoints in endpoints_by_change.items()]


def compare_outcomes(before: Sequence[Result], after: Sequence[Result]) -> list[tuple[Result, Result]]:
    """Pair the results of the records that both runs have, with another outcome."""
    old = {result.record: result for result in select_record_results(before)}
    new = {result.record: result for result in select_record_results(after)}
    common = sorted(old.keys() & new.keys())
    return [(old[address], new[address]) for address in common if old[address].outcome is not new[address].outcome]


def compare_addresses(before: Sequence[Result], after: Sequence[Result]) -> tuple[list[str], list[str]]:
    """List the records that only the first run has, and those that only the second has."""
    old, new = ({result.record for result in select_record_results(results)} for results in (before, after))
    return sorted(old - new), sorted(new - old)


def render(before: tuple[Run, Sequence[Result]], after: tuple[Run, Sequence[Result]]) -> str | None:
    """Format all differences as text; None if there are none."""
    only_before, only_after = compare_addresses(before[1], after[1])
    sections = {
        "Other outcome": [_format_outcome(*pair) for pair in compare_outcomes(before[1], after[1])],
        "Assertions with another observation": list(map(_format_change, compare_assertions(before[1], after[1]))),
        "Only in the first": only_before,
        "Only in the second": only_after,
    }
    if not any(sections.values()):
        return None
    lines = [" -> ".join(f"{run.run} ({run.target}, {run.today})" for run, _ in (before, after))]
    for heading, entries in sections.items():
        if entries:
            lines += ["", f"{heading} ({len(entries)})", *(f"  {entry}" for entry in entries)]
    return "\n".join(map(sanitize_row, lines))


def _collect_observations(results: Sequence[Result]) -> dict[tuple[str, str], str]:
    """Return what was observed, by assertion and endpoint."""
    observations = {}
    for result in select_record_results(results):
        for observation in result.observations:
            endpoint = observation.endpoint or result.record
            for local_key, observed in [
                *((key, MATCHED) for key in observation.matched),
                *observation.mismatched.items(),
            ]:
                observations[f"{result.record}#{observation.label}/{local_key}", endpoint] = observed
    return observations


def _format_outcome(old: Result, new: Result) -> str:
    change = f"{new.record}  {old.outcome.words} -> {new.outcome.words}"
    reason = next(_iterate_reasons(new), "")
    return sanitize_line(f"{change}: {reason}" if reason else change, _MAX_LINE_LENGTH)


def _iterate_reasons(result: Result) -> Iterator[str]:
    yield from (finding.message for finding in result.drifts)
    if result.reason is not None:
        yield f"{result.reason.code} {result.reason.detail}".strip()


def _format_change(change: AssertionChange) -> str:
    endpoints = change.endpoints[0] if len(change.endpoints) == 1 else format_count(len(change.endpoints), "endpoint")
    return sanitize_line(f"{change.assertion} on {endpoints}: {change.before} -> {change.after}", _MAX_LINE_LENGTH)
