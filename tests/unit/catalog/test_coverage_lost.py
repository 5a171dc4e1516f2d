"""What had a verdict and has none any more is news, told first, and counts towards blindness."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from catalog_probe.catalog.evidence.earlier_runs import EarlierOutcome
from catalog_probe.catalog.evidence.results import Invocation, Result, Run
from catalog_probe.catalog.evidence.verdicts import coverage_lost, run_verdict
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.reports.history.history_line import build_history_line
from catalog_probe.reports.views import summary, terminal
from tests.unit.catalog.catalog_factories import make_record, make_result, make_run

ADDRESSES = [f"pa/errors/compliance/r{number}" for number in range(10)]
REFUSED = (Outcome.RESTRICTED, "probe-refused")
CONFORMS = (Outcome.CONFORMS, "")


def night(*outcomes: tuple[Outcome, str]) -> list[Result]:
    return [_result(address, *outcome) for address, outcome in zip(ADDRESSES, outcomes, strict=True)]


def _result(address: str, outcome: Outcome, reason: str = "") -> Result:
    return Result(address, {}, outcome, Reason(reason, "as told") if reason else None)


def after(*nights: list[Result], **changes: Any) -> Run:
    """A run that carries what these nights left behind, one a day."""
    rows: list[Any] = []
    for number, results in enumerate(nights, start=1):
        rows.append(build_history_line(_described(f"2026-11-{number:02}", rows), results))
    return _described(f"2026-11-{len(nights) + 1:02}", rows, expected=("pa",), **changes)


def _described(today: str, rows: list[Any], **changes: Any) -> Run:
    return Run("r", "live", live=True, started_at=f"{today}T00:00:00Z", today=today, history=tuple(rows), **changes)


ALL = night(*[CONFORMS] * 10)


@pytest.mark.parametrize(
    ("refused", "status", "reason"),
    [
        (1, Exit.FINE, None),
        (2, Exit.FINE, None),
        (3, Exit.BLIND, "3 of 10 had a verdict before and have none now (probe-refused)"),
        (10, Exit.BLIND, "no record has a verdict (probe-refused)"),
    ],
)
def test_what_is_refused_and_was_not_is_lost(refused: int, status: Exit, reason: str | None) -> None:
    described, results = after(ALL), night(*[REFUSED] * refused, *[CONFORMS] * (10 - refused))
    assert coverage_lost.find_lost_coverage(described, results) == set(ADDRESSES[:refused])
    assert run_verdict.exit_status(described, results) is status
    assert run_verdict.blind_providers(described, results).get("pa") == reason
    for text in (terminal.render(described, results), summary.render(described, results)):
        assert f"Coverage lost ({refused})" in text
        assert "Nothing changed" not in text
        assert "No drift;" not in text


def test_what_was_always_refused_is_no_news() -> None:
    refused = night(*[REFUSED] * 5, *[CONFORMS] * 5)
    described = after(refused)
    assert coverage_lost.find_lost_coverage(described, refused) == frozenset()
    assert run_verdict.exit_status(described, refused) is Exit.FINE
    assert "Coverage lost" not in terminal.render(described, refused)


def test_lost_and_inconclusive_count_together() -> None:
    seen = night(
        REFUSED, (Outcome.INCONCLUSIVE, "read-timeout"), (Outcome.INCONCLUSIVE, "read-timeout"), *[CONFORMS] * 7
    )
    described = after(night(CONFORMS, *[(Outcome.INCONCLUSIVE, "read-timeout")] * 2, *[CONFORMS] * 7))
    assert run_verdict.blind_providers(described, seen) == {
        "pa": "2 of 10 probes are inconclusive and 1 had a verdict before and have none now (read-timeout)"
    }


def test_it_stays_lost_until_it_is_seen_again_and_says_since_when() -> None:
    refused = night(REFUSED, *[CONFORMS] * 9)
    described = after(ALL, refused, refused)
    assert "probe-refused, since 2026-11-02" in terminal.render(described, refused)
    assert coverage_lost.find_lost_coverage(after(ALL, refused, ALL), ALL) == frozenset()


@pytest.mark.parametrize(
    ("reason", "is_lost"),
    [
        ("cost-not-allowed", False),
        ("credential-missing", False),
        ("provider-not-configured", False),
        ("stopped-early", False),
        ("value-missing", False),
        ("credential-empty", True),
        ("value-not-found", True),
    ],
)
def test_what_was_not_meant_to_be_asked_is_not_lost(reason: str, is_lost: bool) -> None:
    """A variable that is set and empty is a secret that a CI could not find; what is sought on the account is meant."""
    results = night((Outcome.NOT_PROBED, reason), *[CONFORMS] * 9)
    assert bool(coverage_lost.find_lost_coverage(after(ALL), results)) == is_lost


@pytest.mark.parametrize("reason", ["credential-empty", "value-not-found"])
def test_what_is_gone_for_most_records_is_blind(reason: str) -> None:
    seen = night(*[(Outcome.NOT_PROBED, reason)] * 4, *[CONFORMS] * 6)
    assert run_verdict.exit_status(after(ALL), seen) is Exit.BLIND
    assert run_verdict.exit_status(after(), seen) is Exit.FINE


def test_a_provider_that_is_not_expected_is_told_and_makes_nothing_red() -> None:
    seen = night(*[REFUSED] * 9, CONFORMS)
    relaxed = replace(after(ALL), expected=())
    assert run_verdict.exit_status(relaxed, seen) is Exit.FINE
    assert "Coverage lost (9)" in terminal.render(relaxed, seen)


@pytest.mark.parametrize(
    ("note", "target", "live", "is_lost"),
    [
        ("conforms, seen on live in run r1 at 2026-11-02T04:00:00Z", "live", True, True),
        ("drifted, seen on live in run r1 at 2026-11-02T04:00:00Z: status", "live", True, True),
        ("expired: last seen 2026-01-01", "live", True, False),
        ("conforms, seen on live in run r1 at 2026-11-02T04:00:00Z", "staging", True, False),
        ("conforms, seen on mock in run r1 at 2026-11-02T04:00:00Z", "mock", False, False),
    ],
)
def test_a_record_remembers_its_verdict_without_a_history(note: str, target: str, live: bool, is_lost: bool) -> None:
    """Evidence of another account says nothing: what one key may see, another need not."""
    probed = make_record(observed={"verified_at": "2026-11-02", "endpoint": "/v1", "param": None, "note": note})
    observed = make_result(Outcome.RESTRICTED, probed_record=probed)
    assert bool(coverage_lost.find_lost_coverage(make_run(target=target, live=live), [observed])) == is_lost


@pytest.mark.parametrize(
    ("noted", "last_known"),
    [("2026-10-30", Outcome.CONFORMS), ("2026-11-01", Outcome.CONFORMS), ("2026-11-02", Outcome.DRIFTED)],
)
def test_of_a_record_and_a_history_the_later_verdict_counts(noted: str, last_known: Outcome) -> None:
    note = f"drifted, seen on live in run r1 at {noted}T04:00:00Z: status"
    probed = make_record(observed={"verified_at": noted, "endpoint": "/v1", "param": None, "note": note})
    earlier = [
        EarlierOutcome(date(2026, 11, 1), Outcome.CONFORMS),
        EarlierOutcome(date(2026, 11, 2), Outcome.INCONCLUSIVE),
    ]
    last = coverage_lost.last_known_outcome(make_result(Outcome.RESTRICTED, probed_record=probed), make_run(), earlier)
    assert last is not None
    assert last.outcome is last_known
    of_another_revision = replace(make_run(), invocation=Invocation(revision="pa:2026-10-21"))
    assert (
        coverage_lost.last_known_outcome(make_result(Outcome.RESTRICTED, probed_record=probed), of_another_revision, [])
        is None
    )


def test_what_was_never_reported_is_told_as_that() -> None:
    described = after(ALL, selected=tuple(ADDRESSES))
    seen = ALL[:9]
    assert coverage_lost.find_lost_coverage(described, seen) == frozenset()
    assert run_verdict.exit_status(described, seen) is Exit.HARNESS_ERROR


@pytest.mark.parametrize(
    ("outcome", "gap"),
    [
        ((Outcome.INCONCLUSIVE, "read-timeout"), True),
        ((Outcome.INCONCLUSIVE, "assumption-failed"), True),
        (REFUSED, True),
        ((Outcome.NOT_PROBED, "credential-missing"), True),
        ((Outcome.NOT_PROBED, "stopped-early"), True),
        ((Outcome.NOT_PROBED, "cost-not-allowed"), False),
        ((Outcome.NOT_PROBED, "provider-only-cause"), False),
        ((Outcome.FLAKY, "attempts-differ"), False),
        (CONFORMS, False),
    ],
)
def test_who_expects_all_takes_no_gap(outcome: tuple[Outcome, str], gap: bool) -> None:
    seen = night(outcome, *[CONFORMS] * 9)
    strict = after(policy={"expect_all": True})
    assert (run_verdict.exit_status(strict, seen) is Exit.BLIND) == gap
    assert run_verdict.exit_status(after(), seen) in (Exit.FINE, Exit.DRIFT)
    if gap:
        message = f"all was expected, and 1 record has no verdict: {ADDRESSES[0]} ({outcome[1]})"
        assert run_verdict.blind_providers(strict, seen) == {"pa": message}
        assert message in summary.render(strict, seen)


def test_since_is_the_first_day_without_a_verdict() -> None:
    assert coverage_lost.first_day_without_verdict(date(2026, 11, 5), []) == date(2026, 11, 5)
    blind, conforms = Outcome.INCONCLUSIVE, Outcome.CONFORMS
    nights = [
        EarlierOutcome(date(2026, 11, day), each) for day, each in ((1, blind), (2, conforms), (3, blind), (4, blind))
    ]
    assert coverage_lost.first_day_without_verdict(date(2026, 11, 5), nights) == date(2026, 11, 3)
    assert coverage_lost.first_day_without_verdict(date(2026, 11, 5), nights[:2]) == date(2026, 11, 5)
