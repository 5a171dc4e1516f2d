"""Several instances of the mock, each perhaps with one behaviour broken, and what a run saw of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from catalog.evidence.results import Run
from probes.target import target as targets
from tests.harness.engines import probe
from tests.harness.mutants.instead import Reached
from tests.harness.mutants.running import served
from tests.harness.mutants.tables import mutants

if TYPE_CHECKING:
    from catalog.evidence.results import Result

Told = tuple[Run, list["Result"]]


def run_of(name: str, results: Mapping[str, Result], **changes: Any) -> Told:
    """What a run of that name says; `changes` are made to its first line."""
    described: dict[str, Any] = {
        "run": name,
        "target": name,
        "live": False,
        "started_at": "2026-11-21T04:00:00Z",
        "today": "2026-11-21",
        "selected": tuple(sorted(results)),
    }
    return Run(**{**described, **changes}), list(results.values())


def broken(mutant: str, addresses: Sequence[str], **changes: Any) -> Told:
    """A run over these records of one provider, on the mock in which a mutant (`pd/key_is_401`) broke one thing."""
    provider = mutant.partition("/")[0]
    chosen = next(each for each in mutants([provider]) if each.goes_by(mutant))
    with served(chosen, Reached()) as at:
        return run_of(mutant.replace("/", "-"), probe(targets.load("mock").served_by(at), addresses), **changes)
