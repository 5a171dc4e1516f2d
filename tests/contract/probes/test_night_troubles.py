"""Troubles of a night are no drift; changes of a provider that resemble them are."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.results import Run
from catalog_probe.catalog.files.store import RECORDS
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.writeback.update import update_records
from tests.harness.engines import catalog, probe
from tests.harness.night_table import CASES_OF_DRIFT, CASES_WITHOUT_DRIFT, NightCase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.targets.target import Target
    from tests.harness.fault_proxy import FaultServer

NIGHT = "night-1"
VARIABLE = "{provider}_{role}_KEY"


def name_key_variables(target: Target) -> Target:
    """The target with a variable behind each key, as a nightly job has them."""
    providers = {
        name: replace(
            provider,
            credentials={
                role: replace(key, variable=VARIABLE.format(provider=name, role=role).upper())
                for role, key in provider.credentials.items()
            },
        )
        for name, provider in target.providers.items()
    }
    return replace(target, providers=providers)


def run_night(case: NightCase, fault_server: FaultServer) -> dict[str, Result]:
    addresses = [str(record.address) for record in catalog().records if str(record.address).startswith(case.prefixes)]
    return probe(name_key_variables(fault_server.target_behind(*case.faults, **case.settings)), addresses)


def make_run(results: Sequence[Result]) -> Run:
    """A live night that had to look at every provider it has a result of."""
    providers = tuple(sorted({result.address.provider for result in results}))
    day = "2026-11-21"
    return Run(
        NIGHT, "night", True, f"{day}T04:00:00Z", day, providers, providers, tuple(result.record for result in results)
    )


def list_updated_records(results: Sequence[Result]) -> list[str]:
    """The records that such a night would change."""
    return [
        address for address, _ in update_records([(make_run(results), results)], into=RECORDS, dry_run=True).patched
    ]


def collect_codes_and_words(results: Sequence[Result]) -> tuple[Counter[str], str]:
    """Return how often each code of a reason or finding occurs, and the details of all reasons."""
    reasons = [result.reason for result in results if result.reason is not None]
    codes = Counter(str(reason.code) for reason in reasons)
    codes.update(finding.code for result in results for finding in result.findings)
    return codes, "\n".join(reason.detail for reason in reasons)


def check_case(case: NightCase, results: Sequence[Result]) -> None:
    codes, words = collect_codes_and_words(results)
    assert run_verdict.exit_status(make_run(results), results) is case.exit_status, codes
    assert case.reasons <= codes.keys(), codes
    assert all(word in words for word in case.words), words[:2000]


@pytest.mark.parametrize("name", CASES_WITHOUT_DRIFT)
def test_troubles_of_a_night_are_no_drift(name: str, fault_server: FaultServer) -> None:
    case = CASES_WITHOUT_DRIFT[name]
    results = list(run_night(case, fault_server).values())
    wrong = [
        (result.record, result.outcome, result.reason)
        for result in results
        if result.outcome in case.forbidden_outcomes
    ]
    assert wrong == []
    check_case(case, results)
    updated = list_updated_records(results)
    assert bool(updated) is case.is_written, updated
    if case.exit_status is Exit.FINE:
        assert Counter(result.outcome for result in results)[Outcome.CONFORMS] > 0.8 * len(results)


@pytest.mark.usefixtures("short_silence")
@pytest.mark.parametrize("name", CASES_OF_DRIFT)
def test_a_providers_change_is_drift(name: str, fault_server: FaultServer) -> None:
    case = CASES_OF_DRIFT[name]
    results = list(run_night(case, fault_server).values())
    check_case(case, results)
    drifted = [result for result in results if result.outcome is Outcome.DRIFTED]
    assert all(any(result.record.startswith(begin) for begin in case.drifting_prefixes) for result in drifted), drifted
    assert all(any(result.record.startswith(begin) for result in drifted) for begin in case.drifting_prefixes)
    assert {finding.code for result in drifted for finding in result.drifts} <= (
        case.drifts or {"body-shape", "type-differs"}
    )
    assert {result.outcome for result in results} <= {Outcome.DRIFTED, Outcome.CONFORMS, Outcome.NOT_PROBED}
    assert {result.record for result in drifted} <= set(list_updated_records(results))
