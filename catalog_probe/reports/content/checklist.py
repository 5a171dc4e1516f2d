"""What a probe saw of each thing that a record asserts, as a short checklist by endpoint."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.assertion import AssertionKey
from catalog_probe.catalog.observed.cells import last_day
from catalog_probe.catalog.reading.assertions import assumed_keys
from catalog_probe.reports.content.words import AS_DOCUMENTED, ASSUMED, MISMATCHED, NOT_OBSERVED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model.observation import Observation


@dataclass(frozen=True, slots=True)
class Checked:
    """The assertions under one label on one endpoint, by their result; keys without their label."""

    endpoint: str
    """The address of the endpoint that was asked, or empty."""
    label: str
    as_documented: tuple[str, ...]
    assumed: tuple[str, ...]
    """Those that no document states and that matched what we assumed."""
    mismatched: Mapping[str, str]
    """Keys, and the class of what was observed instead."""
    not_observed: Mapping[str, tuple[str, ...]]
    """Why, and when it was last seen if it ever was; and the keys of which that is so."""


def checklist(result: Result) -> list[Checked]:
    """List a result's observations by endpoint and label; assertions that share a reason stand together."""
    patterns = assumed_keys(result.parsed_record)
    is_assumed = cache(lambda text: _is_assumed(text, patterns))  # on each endpoint the same few are asked for
    return [
        _checked(each, result, is_assumed)
        for each in sorted(result.observations, key=lambda observation: observation.endpoint)
    ]


def not_drawn(result: Result) -> dict[str, str]:
    """The record's other endpoints, which this run did not draw, and when each was last observed, if it ever was."""
    return {each: _day(last_day(result.parsed_record, each)) for each in result.not_drawn}


def tally(checked: Iterable[Checked]) -> str:
    """Count assertions by their result; empty if nothing was observed."""
    numbers: Counter[str] = Counter()
    for each in checked:
        numbers[AS_DOCUMENTED] += len(each.as_documented)
        numbers[MISMATCHED] += len(each.mismatched)
        numbers[NOT_OBSERVED] += sum(map(len, each.not_observed.values()))
        numbers[ASSUMED] += len(each.assumed)
    return ", ".join(f"{number} {name}" for name, number in numbers.items() if number)


def _checked(observation: Observation, result: Result, is_assumed: Callable[[str], bool]) -> Checked:
    keys = {each: is_assumed(f"{observation.label}/{each}") for each in observation.matched}
    hidden: dict[str, list[str]] = defaultdict(list)
    for key, why in observation.not_observed.items():
        last = last_day(result.parsed_record, observation.endpoint, f"{observation.label}/{key}")
        hidden[f"{why}{_day(last)}"].append(key)
    return Checked(
        observation.endpoint,
        observation.label,
        tuple(each for each, ours in keys.items() if not ours),
        tuple(each for each, ours in keys.items() if ours),
        observation.mismatched,
        {why: tuple(found) for why, found in hidden.items()},
    )


def _is_assumed(text: str, patterns: tuple[AssertionKey, ...]) -> bool:
    try:
        key = AssertionKey.parse(text)
    except ValueError:
        return False
    return any(each.covers(key) for each in patterns)


def _day(last: str | None) -> str:
    return f", last seen {last}" if last else ""
