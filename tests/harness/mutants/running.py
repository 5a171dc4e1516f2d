"""Runs mutants one after the other in this process: serves the mutated mock, probes it, and compares who noticed."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.run_verdict import find_blind_providers
from catalog_probe.catalog.model import Outcome, Severity
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.planning.plan import Depth, Rotation
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.targets import target_file as targets
from tests.harness.engines import probe
from tests.harness.exit_status import LIVE
from tests.harness.mutants import instead
from tests.harness.mutants.hooks import Hook
from tests.harness.mutants.instead import EffectCounter
from tests.harness.mutants.mutated import reimported_mock
from tests.harness.mutants.reach import MockReach, trace_records
from tests.harness.mutants.tables import MockMutant, ProviderScope
from tests.harness.serving import serving_mock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Record
    from catalog_probe.probes.targets.target import Target

LARGE_VALUES: Mapping[str, Mapping[str, str]] = {"pa": {"large_batches": "yes"}}
"""Values of a target that enable the optional steps with requests of megabytes."""


@cache
def list_large_steps(provider: str) -> frozenset[tuple[str, str]]:
    """Return the address and label of each step that sends megabytes; only the proofs send them."""
    values = LARGE_VALUES.get(provider, {}).keys()
    return frozenset(
        (address, label)
        for address, recipe in recipe_book(provider).recipes.items()
        for label, step in recipe.optional.items()
        if values & set(step.needs)
    )


NOTICED_OUTCOMES = (Outcome.DRIFTED, Outcome.FLAKY)


@dataclass(frozen=True)
class MutantVerdict:
    """Who noticed a mutant."""

    id: str
    drifted: frozenset[str]
    missed: tuple[str, ...]
    """Patterns of the row without a record that drifted, or that reported an assumption."""
    unexpected: tuple[str, ...]
    """Records that drifted and are not in the row. If nobody should notice, also those that report an assumption."""
    not_observed: Mapping[str, str] = field(default_factory=dict)
    """Records without an observation, with the reason."""
    blindness: str = ""
    """Why the run is blind (exit 10), for instance because no control was green. Such a run is not silent."""
    told: frozenset[str] = frozenset()
    """Records that report a wrong assumption or lost an observation. Neither is drift, and neither is silent."""
    first_differences: tuple[str, ...] = ()
    """The first difference of each drifted record."""
    error: str = ""
    """The exception that the mutated mock raised: it did something else than the row says."""
    is_in_effect: bool = True
    """Whether any request reached the replacement."""
    expects_nobody: bool = False
    """Whether the row says that nobody notices the mutant."""

    @property
    def is_sound(self) -> bool:
        """Whether the mutant did what its row says."""
        return not self.error and self.is_in_effect

    @property
    def is_detected(self) -> bool:
        return self.is_sound and not self.missed and not self.expects_nobody

    @property
    def is_unnoticed_as_expected(self) -> bool:
        return self.is_sound and self.expects_nobody and not self.unexpected and not self.blindness

    @property
    def is_noticed_after_all(self) -> bool:
        """Whether somebody noticed a mutant of which the row says that nobody does."""
        return self.is_sound and self.expects_nobody and not self.is_unnoticed_as_expected

    @property
    def is_survivor(self) -> bool:
        """Whether a run would have missed the mutant, wholly or at some record of the row, and should not have."""
        return not self.is_detected and not (self.is_sound and (self.blindness or self.expects_nobody))

    @property
    def state(self) -> str:
        if self.error:
            return "broken"
        if not self.is_in_effect:
            return "never in effect"
        if self.expects_nobody:
            return "noticed after all" if self.is_noticed_after_all else "unnoticed"
        if self.is_detected and self.unexpected:
            return "elsewhere"
        if self.is_detected:
            return "detected" if self.drifted else "told"
        if self.blindness:
            return "blinded"
        return "missed in part" if self.drifted else "survived"


@dataclass(frozen=True, slots=True)
class _NamedRecordsRotation(Rotation):
    """All endpoints of some records, the first endpoint of the others."""

    records: frozenset[str] = frozenset()

    def includes(self, record: Record, endpoint: str) -> bool:
        return str(record.address) in self.records


@cache
def provider_scope(provider: str) -> ProviderScope:
    return ProviderScope(provider)


class ProbedRecords(StrEnum):
    """The records that a mutant is tried on."""

    NAMED = "named"
    """Those of its row."""
    REACHING = "reaching"
    """Also those whose requests reach its hook: the others cannot notice."""
    ALL = "all"


@cache
def trace_provider(provider: str) -> MockReach:
    return trace_records(provider, provider_scope(provider).addresses)


def run_mutant(mutant: MockMutant, probed: ProbedRecords = ProbedRecords.REACHING) -> MutantVerdict:
    """Serve the mock with the mutant in it, probe it, and return who noticed.

    A survivor among the reaching records is tried on all: requests of controls are not traced, and may blind the run.
    """
    scope = provider_scope(mutant.provider)
    named = frozenset[str]().union(*map(scope.matching, (*mutant.must_drift, *mutant.must_report)))
    if probed is not ProbedRecords.REACHING:
        return _probe_mutant(mutant, named, named if probed is ProbedRecords.NAMED else frozenset(scope.addresses), {})
    reach = trace_provider(mutant.provider)
    unchanged = {address: trace.result for address, trace in reach.records.items()}
    verdict = _probe_mutant(mutant, named, named | reach.reached_by(Hook.parse(mutant.hook)), unchanged)
    return run_mutant(mutant, ProbedRecords.ALL) if verdict.is_survivor else verdict


def _probe_mutant(
    mutant: MockMutant, named: frozenset[str], chosen: frozenset[str], unchanged: Mapping[str, Result]
) -> MutantVerdict:
    """Probe the chosen records; results on the unchanged mock stand for the others when blindness is judged."""
    errors = _ErrorRecorder()
    counter = EffectCounter()
    try:
        with errors.recording(), _serving_target(mutant, counter) as target:
            results = probe(target, sorted(chosen), drawing=_NamedRecordsRotation(Depth.QUICK, date.min, named))
    except Exception as error:  # noqa: BLE001 - a mutated mock may raise anything, which is part of the verdict
        message = f"{type(error).__name__}: {error}"
        return MutantVerdict(mutant.id, frozenset(), mutant.must_drift, (), error=message)
    blind = find_blind_providers(replace(LIVE, expected=(mutant.provider,)), [*{**unchanged, **results}.values()])
    verdict = _conclude(mutant, results)
    return replace(
        verdict, error=errors.first, is_in_effect=counter.count > 0, blindness=blind.get(mutant.provider, "")
    )


def find_unsound_records(provider: str) -> dict[str, str]:
    """Return the records that do not conform, or report an assumption, on the unchanged mock imported again.

    No mutant can be judged by them.
    """
    with reimported_mock() as app, serving_mock(app.create_app(only=[provider])) as addresses:
        results = probe(targets.load("mock").with_addresses(addresses), provider_scope(provider).addresses)
    unsound: dict[str, str] = {}
    for address, result in results.items():
        if _reports_assumption(result):
            unsound[address] = f"{result.outcome}, and reports an assumption"
        elif result.outcome is not Outcome.CONFORMS and not result.is_beyond_verifying:
            unsound[address] = str(result.outcome)
    return unsound


@contextmanager
def _serving_target(mutant: MockMutant, counter: EffectCounter) -> Iterator[Target]:
    with serving_mutant(mutant, counter) as addresses:
        target = targets.load("mock").with_addresses(addresses)
        yield target.with_values(LARGE_VALUES) if mutant.is_large else target


@contextmanager
def serving_mutant(
    mutant: MockMutant, counter: EffectCounter, settings: Mapping[str, Any] | None = None
) -> Iterator[Mapping[str, Mapping[str, str]]]:
    """Serve the mock with the mutant in it, and yield the addresses; `settings` are those of the mock."""
    hook = Hook.parse(mutant.hook)
    used_hook = mutant.instead.removeprefix("=") if mutant.instead.startswith("=") else ""

    def replace_original(original: object) -> object:
        return instead.make_replacement(mutant.instead, mutant.file, original, counter)

    with (
        reimported_mock(hook, replace_original, used_hook) as app,
        serving_mock(app.create_app(only=[mutant.provider], settings=settings, list_requests=True)) as addresses,
    ):
        yield addresses


class _ErrorRecorder(logging.Handler):
    """Records the first unexpected exception that the servers log."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.first = ""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not self.first:
            self.first = f"{type(error).__name__}: {error}"

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record while the block runs."""
        loggers = [logging.getLogger(name) for name in ("uvicorn.error", "grpc", "asyncio")]
        for logger in loggers:
            logger.addHandler(self)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeHandler(self)


def _conclude(mutant: MockMutant, results: Mapping[str, Result]) -> MutantVerdict:
    matching = provider_scope(mutant.provider).matching
    drifted = {address for address, result in results.items() if result.outcome in NOTICED_OUTCOMES}
    told = {address for address, result in results.items() if _reports_assumption(result)}
    may_drift = set[str]().union(*map(matching, (*mutant.must_drift, *mutant.must_report, *mutant.may_drift)))
    not_drifted = [pattern for pattern in mutant.must_drift if not matching(pattern) & drifted]
    not_reported = [pattern for pattern in mutant.must_report if not matching(pattern) & (drifted | told)]
    expects_nobody = bool(mutant.unnoticed_because)
    noticing = drifted | told if expects_nobody else drifted
    return MutantVerdict(
        mutant.id,
        frozenset(drifted),
        missed=(*not_drifted, *not_reported),
        unexpected=tuple(sorted(noticing - may_drift)),
        not_observed={
            address: f"{result.outcome}: {result.reason.code if result.reason else ''}"
            for address, result in results.items()
            if result.outcome not in (*NOTICED_OUTCOMES, Outcome.CONFORMS)
        },
        told=frozenset(told),
        expects_nobody=expects_nobody,
        first_differences=tuple(f"{address}: {_describe_first_drift(results[address])}" for address in sorted(drifted)),
    )


def _reports_assumption(result: Result) -> bool:
    """Whether a result reports a wrong assumption of ours, or has no verdict, which makes a run on a mock blind.

    If the other steps of the record conform, only the observations of the step report the assumption.
    """
    has_no_verdict = result.outcome in (Outcome.INCONCLUSIVE, Outcome.RESTRICTED) and not result.is_beyond_verifying
    return (
        has_no_verdict
        or any(finding.severity is Severity.SHOULD for finding in result.findings)
        or any(ReasonCode.ASSUMPTION_FAILED in steps.not_observed.values() for steps in result.observations)
    )


def _describe_first_drift(result: Result) -> str:
    return next((f"{drift.label}: {drift.message}" for drift in result.drifts), str(result.outcome))
