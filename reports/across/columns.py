"""A column: one of several runs, and what tells it from the others. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.evidence.results_file import EvidenceError

if TYPE_CHECKING:
    from catalog.evidence.results import Result, Run
    from catalog.model.standpoint import StandsFor

Told = tuple["Run", Sequence["Result"]]


@dataclass(frozen=True, slots=True)
class Column:
    """One run, in words."""

    run: str
    label: str
    """What tells it from the others, as short as it can be: its target, then region, revision, day, name."""
    target: str
    stands_for: StandsFor
    region: str
    revisions: tuple[tuple[str, str], ...]
    today: str

    @property
    def facets(self) -> tuple[str, ...]:
        """What a query finds it by, in small letters, whatever it saw of a record."""
        told = [f"run:{self.run}", f"target:{self.target}", f"for:{self.stands_for}"]
        told += [f"region:{self.region}"] if self.region else []
        return tuple(each.lower() for each in told)

    def revision_of(self, provider: str) -> str:
        """The revision under which a provider was asked, or nothing."""
        return dict(self.revisions).get(provider, "")


def columns(runs: Sequence[Run]) -> tuple[Column, ...]:
    """A column for each run, in their order.

    Raises:
        EvidenceError: there is none, or one is there twice.
    """
    for name, number in Counter(run.run for run in runs).items():
        if number > 1:
            raise EvidenceError(f"run {name!r} is given {number} times", "give each run once")
    labels = _labels(runs)
    return tuple(
        Column(run.run, label, run.target, run.standpoint, run.region, tuple(sorted(run.revisions.items())), run.today)
        for run, label in zip(runs, labels, strict=True)
    )


_PARTS: Sequence[Callable[[Run], str]] = (
    lambda run: run.region,
    lambda run: " ".join(f"{provider}:{value}" for provider, value in sorted(run.revisions.items())),
    lambda run: run.today,
)


def _labels(runs: Sequence[Run]) -> list[str]:
    """The target's name, and of what differs between the runs as much as it takes; at last the run's own name."""
    labels = [run.target for run in runs]
    for part in _PARTS:
        if len(set(labels)) < len(labels) and len({part(run) for run in runs}) > 1:
            labels = [f"{label} {part(run)}".strip() for label, run in zip(labels, runs, strict=True)]
    if len(set(labels)) < len(labels):
        labels = [run.run for run in runs]
    return labels
