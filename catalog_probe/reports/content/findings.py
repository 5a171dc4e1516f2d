"""What was found on a record: where it differs, and its checklists by step."""

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
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Attempt, Finding
    from catalog_probe.catalog.model.assertion import Observation


MAX_ENDPOINTS = 3  # named; the others are counted


def describe_endpoints(endpoints: Sequence[str], result: Result) -> str:
    """Return `on 2 of 28 endpoints: …`; empty if all that were asked differ, and for an endpoint's own record."""
    asked = {observation.endpoint for observation in result.observations}
    if not endpoints or len(endpoints) >= len(asked) or result.address.kind == "endpoints":
        return ""
    names = ", ".join(map(shorten_endpoint, endpoints[:MAX_ENDPOINTS]))
    hidden = f" and {len(endpoints) - MAX_ENDPOINTS} more" if len(endpoints) > MAX_ENDPOINTS else ""
    return f"on {len(endpoints)} of {len(asked)} endpoints: {names}{hidden}"


def describe_finding(finding: Finding, result: Result) -> str:
    """Return the message of a finding, with its endpoints unless it was observed on all of them."""
    endpoints = describe_endpoints(finding.endpoints, result)
    return f"{finding.message}, {endpoints}" if endpoints else finding.message


def shorten_endpoint(endpoint: str) -> str:
    """Return the address of an endpoint without provider and kind: `messages/create_message`."""
    return "/".join(endpoint.split("/")[2:]) or endpoint


def list_exchange_endpoints(result: Result, attempt: Attempt) -> list[str]:
    """Return the endpoint of each exchange of an attempt: as the recipe says, else as observed, else empty.

    Observations are of the last attempt, so of an earlier one only what the recipe says is known.
    """
    named_by_recipe = {(exchange.label, exchange.endpoint) for exchange in attempt.exchanges}
    observed_by_label = {
        observation.label: observation.endpoint
        for observation in result.observations
        if (observation.label, observation.endpoint) not in named_by_recipe
    }
    return [exchange.endpoint or observed_by_label.get(exchange.label, "") for exchange in attempt.exchanges]


def list_mismatched_steps(result: Result) -> frozenset[tuple[str, str]]:
    """Return label and endpoint of each exchange in which something mismatched."""
    return frozenset(
        (observation.label, observation.endpoint) for observation in result.observations if observation.mismatched
    )


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
