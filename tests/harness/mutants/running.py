"""Runs mutants one after the other in this process: serves the mutated mock, probes it, and compares who noticed."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.verdicts.blindness import find_blind_providers
from catalog_probe.catalog.model import Outcome, Severity
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.reading.expectations import documented_labels
from catalog_probe.probes.planning.rotation import Depth, Rotation
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.targets import target_file as targets
from tests.harness.engines import catalog, probe
from tests.harness.mutants import instead
from tests.harness.mutants.hooks import Hook
from tests.harness.mutants.instead import ExplainedReach
from tests.harness.mutants.mutated import imported_anew
from tests.harness.mutants.reach import Reach, traced
from tests.harness.mutants.tables import Mutant, Of
from tests.harness.serving import serving_mock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Record
    from catalog_probe.probes.targets.target import Target

LARGE_TOO: Mapping[str, Mapping[str, str]] = {"pa": {"large_batches": "yes"}}
"""What opens the looks that are too large for each run."""


@cache
def too_large(provider: str) -> frozenset[tuple[str, str]]:
    """The address and the label of each look that is too large for each run: the proofs send them."""
    opened = LARGE_TOO.get(provider, {}).keys()
    looks = (
        (address, look) for address, recipe in recipe_book(provider).recipes.items() for look in recipe.optional.items()
    )
    return frozenset((address, label) for address, (label, look) in looks if opened & set(look.needs))


@cache
def left_to_others(provider: str) -> frozenset[tuple[str, str]]:
    """The address and the label of what no ordinary run sends: it is too large, or left to recorded traffic."""
    unsent = (recipe for recipe in recipe_book(provider).recipes.values() if recipe.not_sent is not None)
    labels = (
        (recipe.address, label)
        for recipe in unsent
        for label in documented_labels(catalog()[recipe.address], catalog().__getitem__) - recipe.labels
    )
    return too_large(provider) | frozenset(labels)


NOTICED = (Outcome.DRIFTED, Outcome.FLAKY)
"""What fails a run for what was seen."""


@dataclass(frozen=True)
class Verdict:
    """Who noticed a mutant."""

    id: str
    drifted: frozenset[str]
    missed: tuple[str, ...]
    """What the row names that did not drift, or did not tell."""
    elsewhere: tuple[str, ...]
    """What drifted, and the row does not name."""
    unseen: Mapping[str, str] = field(default_factory=dict)
    """What could not look, and why."""
    blinded: str = ""
    """Why the run would have ended as blind (exit 10), for instance because no control was green: it is not silent."""
    told: frozenset[str] = frozenset()
    """Who says that an assumption is not so (`should`, `assumption-failed`): no drift, for the documents do not show
    how it is asked or where it stands; or who lost an observation, which makes the run blind. It is not silent."""
    why: tuple[str, ...] = ()
    """The first difference that each record told."""
    broken: str = ""
    """What the mutated mock raised: it does something else than the row says, whoever notices."""
    in_effect: bool = True
    """Whether anything came to where the replacement stands."""

    @property
    def sound(self) -> bool:
        """Whether the mutant did what its row says."""
        return not self.broken and self.in_effect

    @property
    def detected(self) -> bool:
        return self.sound and not self.missed

    @property
    def survived(self) -> bool:
        """Whether a run would have been none the wiser, or not all whom the row names."""
        return not self.detected and not (self.sound and self.blinded)

    @property
    def state(self) -> str:
        if self.broken:
            return "broken"
        if not self.in_effect:
            return "never in effect"
        if self.detected:
            return "elsewhere" if self.elsewhere else "detected" if self.drifted else "told"
        if self.blinded:
            return "blinded"
        return "missed in part" if self.drifted else "survived"


@dataclass(frozen=True, slots=True)
class _Named(Rotation):
    """All endpoints of the records named, the first of the others."""

    records: frozenset[str] = frozenset()

    def includes(self, record: Record, endpoint: str) -> bool:
        return str(record.address) in self.records


@cache
def of(provider: str) -> Of:
    return Of(provider)


class Shown(StrEnum):
    """To which records a mutant is shown."""

    NAMED = "named"
    MET = "met"
    """Those named, and those that come to what stands at its hook: the others cannot tell."""
    ALL = "all"


@cache
def reach(provider: str) -> Reach:
    return traced(provider, of(provider).addresses)


def run(mutant: Mutant, shown: Shown = Shown.MET) -> Verdict:
    """Serve the mock with the mutant in it, probe it, and say who noticed.

    One that survives with those who meet it is shown to all: what a control asks is not traced, and may blind the run.
    """
    known = of(mutant.provider)
    named = frozenset[str]().union(*(known.matching(pattern) for pattern in (*mutant.wanted, *mutant.told)))
    if shown is not Shown.MET:
        return _run(mutant, named, named if shown is Shown.NAMED else frozenset(known.addresses), {})
    met = reach(mutant.provider)
    unshown = {address: each.result for address, each in met.records.items()}
    verdict = _run(mutant, named, named | met.met_by(Hook.parse(mutant.hook)), unshown)
    return run(mutant, Shown.ALL) if verdict.survived else verdict


def _run(mutant: Mutant, named: frozenset[str], chosen: frozenset[str], unshown: Mapping[str, Result]) -> Verdict:
    """Probe those chosen; whether the run is blind is judged with what comes of the others on the mock unchanged."""
    raised = _Raised()
    reached = ExplainedReach()
    try:
        with raised.heard(), _serving(mutant, reached) as target:
            found = probe(target, sorted(chosen), drawing=_Named(Depth.QUICK, date.min, named))
    except Exception as error:  # noqa: BLE001 - whatever the mutated mock does to itself is told of this mutant alone
        return Verdict(mutant.id, frozenset(), mutant.wanted, (), broken=f"{type(error).__name__}: {error}")
    blinded = _blinded(mutant.provider, {**unshown, **found})
    return replace(_verdict(mutant, found), broken=raised.first, in_effect=reached.count > 0, blinded=blinded)


def _blinded(provider: str, results: Mapping[str, Result]) -> str:
    return find_blind_providers(list(results.values()), [provider]).get(provider, "")


def untouched(provider: str) -> dict[str, str]:
    """What does not conform, or tells, on the mock imported anew unchanged: no mutant can be judged by it."""
    with imported_anew() as app, serving_mock(app.create_app(only=[provider])) as addresses:
        results = probe(targets.load("mock").with_addresses(addresses), of(provider).addresses)
    return {
        address: f"{each.outcome}, and tells of an assumption" if _tells(each) else str(each.outcome)
        for address, each in results.items()
        if (each.outcome is not Outcome.CONFORMS and not each.is_beyond_verifying) or _tells(each)
    }


@contextmanager
def _serving(mutant: Mutant, reached: ExplainedReach) -> Iterator[Target]:
    with served(mutant, reached) as addresses:
        target = targets.load("mock").with_addresses(addresses)
        yield target.with_values(LARGE_TOO) if mutant.is_large else target


@contextmanager
def served(
    mutant: Mutant, reached: ExplainedReach, given: Mapping[str, Any] | None = None
) -> Iterator[Mapping[str, Mapping[str, str]]]:
    """The addresses of the mock with the mutant in it, speaking the prefixes given."""
    hook = Hook.parse(mutant.hook)
    needed = mutant.instead.removeprefix("=") if mutant.instead.startswith("=") else ""

    def change(original: object) -> object:
        return instead.stands_in(mutant.instead, mutant.file, original, reached)

    with (
        imported_anew(hook, change, needed) as app,
        serving_mock(app.create_app(only=[mutant.provider], settings=given)) as addresses,
    ):
        yield addresses


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
        """Hear them while the block runs."""
        loggers = [logging.getLogger(name) for name in ("uvicorn.error", "grpc", "asyncio")]
        for each in loggers:
            each.addHandler(self)
        try:
            yield
        finally:
            for each in loggers:
                each.removeHandler(self)


def _verdict(mutant: Mutant, results: Mapping[str, Result]) -> Verdict:
    matching = of(mutant.provider).matching
    drifted = {address for address, each in results.items() if each.outcome in NOTICED}
    told = {address for address, each in results.items() if _tells(each)}
    may = set[str]().union(*map(matching, (*mutant.wanted, *mutant.told, *mutant.allowed)))
    unnoticed = [pattern for pattern in mutant.wanted if not matching(pattern) & drifted]
    untold = [pattern for pattern in mutant.told if not matching(pattern) & (drifted | told)]
    return Verdict(
        mutant.id,
        frozenset(drifted),
        missed=(*unnoticed, *untold),
        elsewhere=tuple(sorted(drifted - may)),
        unseen={
            address: f"{each.outcome}: {each.reason.code if each.reason else ''}"
            for address, each in results.items()
            if each.outcome not in (*NOTICED, Outcome.CONFORMS)
        },
        told=frozenset(told),
        why=tuple(f"{address}: {_first(results[address])}" for address in sorted(drifted)),
    )


def _tells(result: Result) -> bool:
    """Return whether it reports a wrong assumption of ours, or has no verdict, which makes a run on a mock blind.

    A record whose other steps conform reports an assumption as failed in the observations of the step alone.
    """
    has_no_verdict = result.outcome in (Outcome.INCONCLUSIVE, Outcome.RESTRICTED) and not result.is_beyond_verifying
    return (
        has_no_verdict
        or any(each.severity is Severity.SHOULD for each in result.findings)
        or any(ReasonCode.ASSUMPTION_FAILED in each.not_observed.values() for each in result.observations)
    )


def _first(result: Result) -> str:
    return next((f"{each.label}: {each.message}" for each in result.drifts), str(result.outcome))
