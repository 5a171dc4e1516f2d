"""Checklists: the result of every assertion of a record, by endpoint and step."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.assertion import AssertionKey
from catalog_probe.catalog.observed import last_day
from catalog_probe.catalog.reading.assertions import assumed_keys
from catalog_probe.reports.content.words import AS_DOCUMENTED, ASSUMED, MISMATCHED, NOT_OBSERVED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model.assertion import Observation


@dataclass(frozen=True, slots=True)
class StepChecklist:
    """The local keys of the assertions of one step on one endpoint, by their result."""

    endpoint: str
    """The address of the endpoint that was asked, or empty."""
    label: str
    as_documented: tuple[str, ...]
    assumed: tuple[str, ...]
    """Assertions that no document states and that matched what we assumed."""
    mismatched: Mapping[str, str]
    """The observed class by key."""
    not_observed: Mapping[str, tuple[str, ...]]
    """Keys by the reason, which also says when they were last seen, if ever."""


def list_step_checklists(result: Result) -> list[StepChecklist]:
    """Return the checklists of a result, by endpoint."""
    patterns = assumed_keys(result.parsed_record)
    is_assumed = cache(lambda key: _is_assumed(key, patterns))  # every endpoint has the same few keys
    observations = sorted(result.observations, key=lambda observation: observation.endpoint)
    return [_check_step(observation, result, is_assumed) for observation in observations]


def describe_not_drawn(result: Result) -> dict[str, str]:
    """Return the record's endpoints that this run did not draw, each with `, last seen DAY` or nothing."""
    return {endpoint: _format_last_seen(last_day(result.parsed_record, endpoint)) for endpoint in result.not_drawn}


def format_tally(checklists: Iterable[StepChecklist]) -> str:
    """Count assertions by their result; empty if there are none."""
    counts: Counter[str] = Counter()
    for step in checklists:
        counts[AS_DOCUMENTED] += len(step.as_documented)
        counts[MISMATCHED] += len(step.mismatched)
        counts[NOT_OBSERVED] += sum(map(len, step.not_observed.values()))
        counts[ASSUMED] += len(step.assumed)
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number)


def _check_step(observation: Observation, result: Result, is_assumed: Callable[[str], bool]) -> StepChecklist:
    label = observation.label
    matched_assumed = tuple(key for key in observation.matched if is_assumed(f"{label}/{key}"))
    keys_by_reason: dict[str, list[str]] = defaultdict(list)
    for key, reason in observation.not_observed.items():
        last_seen = last_day(result.parsed_record, observation.endpoint, f"{label}/{key}")
        keys_by_reason[f"{reason}{_format_last_seen(last_seen)}"].append(key)
    return StepChecklist(
        observation.endpoint,
        label,
        tuple(key for key in observation.matched if key not in matched_assumed),
        matched_assumed,
        observation.mismatched,
        {reason: tuple(keys) for reason, keys in keys_by_reason.items()},
    )


def _is_assumed(text: str, patterns: tuple[AssertionKey, ...]) -> bool:
    try:
        key = AssertionKey.parse(text)
    except ValueError:
        return False
    return any(pattern.covers(key) for pattern in patterns)


def _format_last_seen(day: str | None) -> str:
    return f", last seen {day}" if day else ""
