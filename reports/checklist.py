"""What a probe saw of each thing that a record asserts, as a short checklist by endpoint."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog.evidence.results import Result


@dataclass(frozen=True, slots=True)
class Checked:
    """The assertions under one label on one endpoint, by what was seen of them; keys without their label."""

    endpoint: str
    """The address of the endpoint that was asked, or empty."""
    label: str
    as_stated: tuple[str, ...]
    otherwise: Mapping[str, str]
    """Keys, and the class of what was observed instead."""
    unseen: Mapping[str, tuple[str, ...]]
    """Why nothing was seen, and the keys of which that is so."""


def checklist(result: Result) -> list[Checked]:
    """A result's looks, by endpoint and label; what is unseen for the same reason stands together."""
    return [
        Checked(look.endpoint, look.label, look.as_stated, look.otherwise, _by_reason(look.unseen))
        for look in sorted(result.looks, key=lambda look: look.endpoint)
    ]


def tally(result: Result) -> str:
    """How many assertions were seen as stated, seen otherwise, and not seen; empty where nothing was looked at."""
    numbers = {
        "as stated": sum(len(look.as_stated) for look in result.looks),
        "otherwise": sum(len(look.otherwise) for look in result.looks),
        "unseen": sum(len(look.unseen) for look in result.looks),
    }
    return ", ".join(f"{number} {name}" for name, number in numbers.items() if number)


def _by_reason(unseen: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for key, reason in unseen.items():
        found[reason].append(key)
    return {reason: tuple(keys) for reason, keys in found.items()}
