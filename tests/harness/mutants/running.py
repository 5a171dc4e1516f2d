"""Runs mutants one after the other in this process: serves the mutated mock, probes it, and compares who noticed."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from typing import TYPE_CHECKING

from catalog.model import Outcome
from probes.planning.rotation import Depth, Drawing
from probes.target import target as targets
from tests.harness.engines import probe
from tests.harness.mutants import instead
from tests.harness.mutants.hooks import Hook
from tests.harness.mutants.instead import Reached
from tests.harness.mutants.mutated import imported_anew
from tests.harness.mutants.tables import Mutant, Of
from tests.harness.serving import serving_mock

if TYPE_CHECKING:
    from catalog.evidence.results import Result
    from catalog.model import Record
    from probes.target.target import Target

NOTICED = (Outcome.DRIFTED, Outcome.FLAKY)
"""What fails a run for what was seen."""


@dataclass(frozen=True)
class Verdict:
    """Who noticed a mutant."""

    id: str
    drifted: frozenset[str]
    missed: tuple[str, ...]
    """What the row names that did not drift."""
    elsewhere: tuple[str, ...]
    """What drifted, and the row does not name."""
    blind: Mapping[str, str] = field(default_factory=dict)
    """What could not look, and why."""
    why: tuple[str, ...] = ()
    """The first difference that each record told."""
    broken: str = ""
    """What the mutated mock raised: it does something else than the row says, whoever notices."""
    in_effect: bool = True
    """Whether anything came to where the replacement stands."""

    @property
    def detected(self) -> bool:
        return not self.missed and not self.broken and self.in_effect

    @property
    def state(self) -> str:
        if self.broken:
            return "broken"
        if not self.in_effect:
            return "never in effect"
        if self.detected:
            return "elsewhere" if self.elsewhere else "detected"
        return "missed in part" if self.drifted else "survived"


@dataclass(frozen=True, slots=True)
class _Named(Drawing):
    """All endpoints of the records named, the first of the others."""

    records: frozenset[str] = frozenset()

    def draws(self, record: Record, endpoint: str) -> bool:
        return str(record.address) in self.records


@cache
def of(provider: str) -> Of:
    return Of(provider)


def run(mutant: Mutant, *, named_only: bool = False) -> Verdict:
    """Serve the mock with the mutant in it, probe it, and say who noticed.

    Raises:
        Unresolved: the hook leads nowhere.
    """
    known = of(mutant.provider)
    named = {pattern: known.matching(pattern) for pattern in mutant.noticed_by}
    expected = frozenset[str]().union(*named.values())
    raised = _Raised()
    reached = Reached()
    with raised.heard(), _serving(mutant, reached) as target:
        chosen = sorted(expected) if named_only else known.addresses
        found = probe(target, chosen, drawing=_Named(Depth.QUICK, date.min, expected))
    return replace(_verdict(mutant, named, found), broken=raised.first, in_effect=reached.count > 0)


def untouched(provider: str) -> dict[str, Outcome]:
    """What does not conform on the mock imported anew with nothing changed: no mutant can be judged by it."""
    with imported_anew() as app, serving_mock(app.create_app(only=[provider])) as addresses:
        results = probe(targets.load("mock").served_by(addresses), of(provider).addresses)
    return {address: each.outcome for address, each in results.items() if each.outcome is not Outcome.CONFORMS}


@contextmanager
def _serving(mutant: Mutant, reached: Reached) -> Iterator[Target]:
    hook = Hook.parse(mutant.hook)
    needed = mutant.instead.removeprefix("=") if mutant.instead.startswith("=") else ""

    def change(original: object) -> object:
        return instead.stands_in(mutant.instead, mutant.file, original, reached)

    with (
        imported_anew(hook, change, needed) as app,
        serving_mock(app.create_app(only=[mutant.provider])) as addresses,
    ):
        yield targets.load("mock").served_by(addresses)


class _Raised(logging.Handler):
    """Hears what the servers say of an exception that no handler of the mock expected."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.first = ""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not self.first:
            self.first = f"{type(error).__name__}: {error}"

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Hear it while the block runs."""
        loggers = [logging.getLogger(name) for name in ("uvicorn.error", "grpc")]
        for each in loggers:
            each.addHandler(self)
        try:
            yield
        finally:
            for each in loggers:
                each.removeHandler(self)


def _verdict(mutant: Mutant, named: Mapping[str, set[str]], results: Mapping[str, Result]) -> Verdict:
    drifted = {address for address, each in results.items() if each.outcome in NOTICED}
    expected = set[str]().union(*named.values())
    return Verdict(
        mutant.id,
        frozenset(drifted),
        missed=tuple(pattern for pattern, records in named.items() if not records & drifted),
        elsewhere=tuple(sorted(drifted - expected)),
        blind={
            address: f"{each.outcome}: {each.reason.code if each.reason else ''}"
            for address, each in results.items()
            if each.outcome not in (*NOTICED, Outcome.CONFORMS)
        },
        why=tuple(f"{address}: {_first(results[address])}" for address in sorted(drifted)),
    )


def _first(result: Result) -> str:
    return next((f"{each.label}: {each.message}" for each in result.drifts), str(result.outcome))
