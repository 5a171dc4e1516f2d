"""Coverage lost: a record that had a verdict and has none is reported and counts as blind."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from catalog_probe.catalog.evidence import earlier_runs, run_verdict
from catalog_probe.catalog.evidence.earlier_runs import EarlierOutcome
from catalog_probe.catalog.evidence.results import Invocation, Result, Run
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.reports.history import build_history_line
from catalog_probe.reports.views import summary, terminal
from tests.unit.catalog.catalog_factories import make_record, make_result, make_run

ADDRESSES = [f"pa/errors/compliance/r{number}" for number in range(10)]
REFUSED = (Outcome.RESTRICTED, "probe-refused")
CONFORMS = (Outcome.CONFORMS, "")


def make_night(*outcomes: tuple[Outcome, str]) -> list[Result]:
    return [_make_result(address, *outcome) for address, outcome in zip(ADDRESSES, outcomes, strict=True)]


def _make_result(address: str, outcome: Outcome, reason: str = "") -> Result:
    return Result(address, {}, outcome, Reason(reason, "as told") if reason else None)


def make_run_after(*nights: list[Result], **changes: Any) -> Run:
    """A run that carries what these nights left behind, one a day."""
    rows: list[Any] = []
    for number, results in enumerate(nights, start=1):
        rows.append(build_history_line(_make_run(f"2026-11-{number:02}", rows), results))
    return _make_run(f"2026-11-{len(nights) + 1:02}", rows, expected=("pa",), **changes)


def _make_run(today: str, rows: list[Any], **changes: Any) -> Run:
    return Run("r", "live", live=True, started_at=f"{today}T00:00:00Z", today=today, history=tuple(rows), **changes)


ALL_CONFORM = make_night(*[CONFORMS] * 10)


def test_a_newly_refused_record_is_lost_coverage() -> None:
    cases: list[tuple[int, Exit, str | None]] = [
        (1, Exit.FINE, None),
        (2, Exit.FINE, None),
        (3, Exit.BLIND, "3 of 10 had a verdict before and have none now (probe-refused)"),
        (10, Exit.BLIND, "no record has a verdict (probe-refused)"),
    ]
    for refused, status, reason in cases:
        run, results = make_run_after(ALL_CONFORM), make_night(*[REFUSED] * refused, *[CONFORMS] * (10 - refused))
        assert earlier_runs.find_lost_coverage(run, results) == set(ADDRESSES[:refused])
        assert run_verdict.exit_status(run, results) is status, refused
        assert run_verdict.find_blind_providers(run, results).get("pa") == reason, refused
        for text in (terminal.render(run, results), summary.render(run, results)):
            assert f"Coverage lost ({refused})" in text
            assert "Nothing changed" not in text, refused
            assert "No drift;" not in text, refused


def test_a_record_that_was_always_refused_is_not_lost() -> None:
    refused = make_night(*[REFUSED] * 5, *[CONFORMS] * 5)
    run = make_run_after(refused)
    assert earlier_runs.find_lost_coverage(run, refused) == frozenset()
    assert run_verdict.exit_status(run, refused) is Exit.FINE
    assert "Coverage lost" not in terminal.render(run, refused)


def test_coverage_stays_lost_until_the_next_verdict() -> None:
    refused = make_night(REFUSED, *[CONFORMS] * 9)
    run = make_run_after(ALL_CONFORM, refused, refused)
    assert "probe-refused, since 2026-11-02" in terminal.render(run, refused)
    assert (
        earlier_runs.find_lost_coverage(make_run_after(ALL_CONFORM, refused, ALL_CONFORM), ALL_CONFORM) == frozenset()
    )


def test_coverage_is_lost_only_if_the_record_was_to_be_probed() -> None:
    """A variable that is set and empty is a secret that a CI could not find; what is sought on the account is meant."""
    cases: list[tuple[str, bool]] = [
        ("cost-not-allowed", False),
        ("credential-missing", False),
        ("provider-not-configured", False),
        ("stopped-early", False),
        ("value-missing", False),
        ("credential-empty", True),
        ("value-not-found", True),
        ("family-missing", True),
    ]
    for reason, is_lost in cases:
        results = make_night((Outcome.NOT_PROBED, reason), *[CONFORMS] * 9)
        assert bool(earlier_runs.find_lost_coverage(make_run_after(ALL_CONFORM), results)) == is_lost, reason


def test_lost_coverage_of_an_unexpected_provider_is_reported_and_does_not_fail() -> None:
    results = make_night(*[REFUSED] * 9, CONFORMS)
    relaxed = replace(make_run_after(ALL_CONFORM), expected=())
    assert run_verdict.exit_status(relaxed, results) is Exit.FINE
    assert "Coverage lost (9)" in terminal.render(relaxed, results)


def test_a_record_remembers_its_verdict_without_a_history() -> None:
    """Evidence of another account says nothing: what one key may see, another need not."""
    cases: list[tuple[str, str, bool, bool]] = [
        ("conforms, seen on live in run r1 at 2026-11-02T04:00:00Z", "live", True, True),
        ("drifted, seen on live in run r1 at 2026-11-02T04:00:00Z: status", "live", True, True),
        ("expired: last seen 2026-01-01", "live", True, False),
        ("conforms, seen on live in run r1 at 2026-11-02T04:00:00Z", "staging", True, False),
        ("conforms, seen on mock in run r1 at 2026-11-02T04:00:00Z", "mock", False, False),
    ]
    for note, target, live, is_lost in cases:
        probed = make_record(observed={"verified_at": "2026-11-02", "endpoint": "/v1", "param": None, "note": note})
        observed = make_result(Outcome.RESTRICTED, probed_record=probed)
        assert bool(earlier_runs.find_lost_coverage(make_run(target=target, live=live), [observed])) == is_lost, (
            note,
            target,
        )


def test_the_later_verdict_of_record_and_history_counts() -> None:
    cases: list[tuple[str, Outcome]] = [
        ("2026-10-30", Outcome.CONFORMS),
        ("2026-11-01", Outcome.CONFORMS),
        ("2026-11-02", Outcome.DRIFTED),
    ]
    for noted, last_known in cases:
        note = f"drifted, seen on live in run r1 at {noted}T04:00:00Z: status"
        probed = make_record(observed={"verified_at": noted, "endpoint": "/v1", "param": None, "note": note})
        earlier = [
            EarlierOutcome(date(2026, 11, 1), Outcome.CONFORMS),
            EarlierOutcome(date(2026, 11, 2), Outcome.INCONCLUSIVE),
        ]
        last = earlier_runs.last_known_outcome(
            make_result(Outcome.RESTRICTED, probed_record=probed), make_run(), earlier
        )
        assert last is not None, noted
        assert last.outcome is last_known, noted
        of_another_revision = replace(make_run(), invocation=Invocation(revision="pa:2026-10-21"))
        assert (
            earlier_runs.last_known_outcome(
                make_result(Outcome.RESTRICTED, probed_record=probed), of_another_revision, []
            )
            is None
        ), noted


def test_a_missing_result_blinds_the_run_and_is_no_lost_coverage() -> None:
    run = make_run_after(ALL_CONFORM, selected=tuple(ADDRESSES))
    results = ALL_CONFORM[:9]
    assert earlier_runs.find_lost_coverage(run, results) == frozenset()
    assert run_verdict.exit_status(run, results) is Exit.BLIND


def test_with_expect_all_a_record_without_verdict_is_blind() -> None:
    cases: list[tuple[tuple[Outcome, str], bool]] = [
        ((Outcome.INCONCLUSIVE, "read-timeout"), True),
        (REFUSED, True),
        ((Outcome.NOT_PROBED, "cost-not-allowed"), False),
        (CONFORMS, False),
    ]
    for outcome, is_blind in cases:
        results = make_night(outcome, *[CONFORMS] * 9)
        strict = make_run_after(policy={"expect_all": True})
        assert (run_verdict.exit_status(strict, results) is Exit.BLIND) == is_blind, outcome
        assert run_verdict.exit_status(make_run_after(), results) in (Exit.FINE, Exit.DRIFT), outcome
        if is_blind:
            message = f"all was expected, and 1 record has no verdict: {ADDRESSES[0]} ({outcome[1]})"
            assert run_verdict.find_blind_providers(strict, results) == {"pa": message}, outcome
            assert message in summary.render(strict, results), outcome


def test_since_is_the_first_day_without_a_verdict() -> None:
    assert earlier_runs.first_day_without_verdict(date(2026, 11, 5), []) == date(2026, 11, 5)
    blind, conforms = Outcome.INCONCLUSIVE, Outcome.CONFORMS
    nights = [
        EarlierOutcome(date(2026, 11, day), outcome)
        for day, outcome in ((1, blind), (2, conforms), (3, blind), (4, blind))
    ]
    assert earlier_runs.first_day_without_verdict(date(2026, 11, 5), nights) == date(2026, 11, 3)
    assert earlier_runs.first_day_without_verdict(date(2026, 11, 5), nights[:2]) == date(2026, 11, 5)
