"""Exit status, report, terminal, summary and JUnit agree for any results."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from catalog_probe.catalog.evidence import completeness, earlier_runs, run_verdict
from catalog_probe.catalog.evidence.completeness import add_missing_results, is_unreported
from catalog_probe.catalog.evidence.earlier_runs import is_pending
from catalog_probe.catalog.evidence.results import Invocation, Result
from catalog_probe.catalog.model import AcceptanceState, Outcome, Reason
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.record_states import RecordState
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.history import build_history_line
from catalog_probe.reports.page import html
from catalog_probe.reports.views import junit, summary, terminal
from tests.unit.reports.factories import make_finding, make_result, make_run

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Run

SELF_TEST = completeness.self_test_address("pa:inference")
CONFIRMATIONS = (
    {"statements": "9f31c2ab", "regressed": ["answer/status"], "never_confirmed": {}},
    {"statements": "9f31c2ab", "regressed": [], "never_confirmed": {"answer/status": {"first": "2026-11-10"}}},
    {
        "statements": "9f31c2ab",
        "regressed": [],
        "never_confirmed": {"answer/status": {"first": "2026-11-20", "until": "2026-11-27"}},
    },
)
PROVIDERS = ("pa", "pb", "pc", "pd")
REASONS = (
    "read-timeout",
    "lane-stopped",
    "no-recipe",
    "credential-missing",
    "credential-empty",
    "stopped-early",
    "probe-refused",
)
# made once, for to make a strategy takes longer than to draw from it
OUTCOMES = st.sampled_from(Outcome)
STATES = st.none() | st.sampled_from(AcceptanceState)
SOME_REASON = st.none() | st.sampled_from(REASONS)
OBSERVED = st.sampled_from([403, 500])
CONFIRMED = st.none() | st.sampled_from(CONFIRMATIONS)
SOME_PROVIDER = st.sampled_from(PROVIDERS)
LANES = st.sampled_from(["", "pa:inference"])
SELF_TESTS = st.lists(st.sampled_from([Outcome.DRIFTED, Outcome.CONFORMS]), max_size=1)
EXPECTED = st.sets(SOME_PROVIDER)


@st.composite
def results(draw: st.DrawFn) -> list[Result]:
    """Any outcomes, reasons and states of acceptance of any providers, also those that no run should give."""
    drawn = []
    for number in range(draw(st.integers(0, 8))):
        outcome = draw(OUTCOMES)
        state = draw(STATES)
        reason = draw(SOME_REASON)
        observed = draw(OBSERVED)
        confirmation = draw(CONFIRMED) if outcome is Outcome.DRIFTED else None
        drawn.append(
            make_result(
                f"{draw(SOME_PROVIDER)}/errors/general/r{number}",
                outcome,
                reason=Reason(reason) if reason else None,
                findings=(make_finding(observed=observed),) if outcome in (Outcome.DRIFTED, Outcome.FLAKY) else (),
                accepted_difference={"state": str(state), "reason": "r", "detail": "d"} if state else None,
                confirmation=confirmation,
                lane=draw(LANES),
            )
        )
    for state in draw(SELF_TESTS):
        findings = (make_finding(),) if state is Outcome.DRIFTED else ()
        drawn.append(Result(SELF_TEST, {}, state, findings=findings, lane="pa:inference"))
    if draw(st.integers(0, 9)) == 0:
        drawn.append(completeness.lost_worker_result("gw0", "worker gw0: killed"))
    return drawn


OVERDUE = "accepted difference: l.json:pa/errors/general/r0: was to be reviewed; renew it"


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """A run that expects some providers, with or without a past and an overdue accepted difference."""
    described: dict[str, Any] = {
        "expected": tuple(sorted(draw(EXPECTED))),
        "selected": tuple(f"{provider}/errors/general/r{n}" for n, provider in enumerate(PROVIDERS)),
    }
    if draw(st.booleans()):
        described["policy"] = {
            "stale_accepted_differences": [OVERDUE],
            "stale_accepted_addresses": {"pa/errors/general/r0": OVERDUE},
        }
    if draw(st.booleans()):
        described["policy"] = {**described.get("policy", {}), "expect_all": True}
    if draw(st.booleans()):
        past = make_run(run="r-1", started_at="2026-11-20T00:00:00Z", today="2026-11-20")
        described["history"] = (build_history_line(past, draw(results())),)
    if draw(st.booleans()):
        described["self_tests"] = ("pa:inference",)
    return make_run(**described)


@given(runs(), results())
@settings(max_examples=settings().max_examples * 3 // 5)
def test_every_view_agrees_with_the_exit_status(described: Run, results_drawn: list[Result]) -> None:
    status = run_verdict.exit_status(described, results_drawn)
    overview = Overview(described, results_drawn)
    blind = set(run_verdict.find_blind_providers(described, results_drawn))
    record_results = completeness.select_record_results(add_missing_results(described, results_drawn))
    run_faults = run_verdict.list_faults(described, results_drawn)
    unreported = sum(map(completeness.is_unreported, record_results))
    broken = sum(map(run_verdict.is_broken, record_results)) + len(run_faults)
    faults = broken - unreported
    pending = [
        result
        for result in record_results
        if is_pending(result) and not run_verdict.is_stale(result) and not run_verdict.is_accepted(result)
    ]
    assert {result.record for result in pending} == {
        record.address for record in overview.records_in(RecordState.PENDING)
    }
    assert not any(map(run_verdict.is_failure, pending))
    assert not pending or overview.mood != "good"
    lost = earlier_runs.find_lost_coverage(described, record_results)
    stale = {result.record for result in record_results if run_verdict.is_stale(result)}
    assert lost - stale == {record.address for record in overview.records_in(RecordState.COVERAGE_LOST)}
    for record in overview.records:
        assert record.outcome in record.state.outcomes
        assert record.state.is_red == (run_verdict.is_failure(record.result) or run_verdict.is_broken(record.result))
    lost_records = overview.records_in(RecordState.COVERAGE_LOST)
    assert not lost or overview.has_news
    if described.policy.get("expect_all"):
        assert {result.address.provider for result in record_results if result.outcome is Outcome.RESTRICTED} <= blind
    assert (status is Exit.BLIND) == bool((blind or unreported) and not faults)
    assert (status is Exit.HARNESS_ERROR) == bool(faults)
    assert overview.mood != "good" or status is Exit.FINE

    page = html.render(described, results_drawn)
    text = terminal.render(described, results_drawn)
    quiet = terminal.render(described, results_drawn, quiet=True)
    markdown = summary.render(described, results_drawn)
    document = ElementTree.fromstring(junit.render(described, results_drawn).encode())
    assert f'<section class="verdict {overview.mood}"' in page
    for provider in PROVIDERS:
        for view in (text, quiet):
            assert (f"blind: {provider} was {overview.describe_coverage(provider)}" in view) == (provider in blind)
        assert (f"Blind: {provider.upper()} was {overview.describe_coverage(provider)}" in page) == (provider in blind)
        assert (f"- **{provider.upper()}**: blind: " in markdown) == (provider in blind)
    assert {
        suite.get("name", "")[:2] for suite in document if suite.find(".//property[@name='blind']") is not None
    } == (blind)
    for view in (page, " ".join(text.split()), " ".join(quiet.split()), markdown):
        assert ("no live run has confirmed yet" in view) == bool(pending)
    for view in (page, text, quiet, markdown):
        assert f"Coverage lost ({len(lost_records)})" in view or not lost_records or view is page
    assert (f"<b>{len(lost_records)}</b> coverage lost</a>" in page) == bool(lost_records)
    for page_or_summary in (page, markdown):
        assert not ((blind or lost) and "Nothing changed" in page_or_summary)

    failures, errors = int(document.get("failures", "")), int(document.get("errors", ""))
    assert errors == broken
    failing = sum(map(run_verdict.is_failure, completeness.select_record_results(results_drawn)))
    assert bool(failures) == bool(failing + len(run_verdict.list_stale_entries(described, results_drawn)))
    vocabulary = '"self-test-silent"'  # among the words that a query of the page may hold
    for view in (page.replace(vocabulary, ""), text, quiet, markdown):
        assert ("self-test" in view) == any("self-test" in record for record in run_faults)
    assert failures == len(list(document.iter("failure")))
    assert (overview.mood == "bad") == bool(failures + errors)


@given(runs(), results())
def test_the_counts_add_up_to_the_results(described: Run, record_results: list[Result]) -> None:
    fault_count = len(run_verdict.list_faults(described, record_results))
    overview = Overview(described, record_results)
    document_text = junit.render(described, record_results)
    record_results = completeness.select_record_results(add_missing_results(described, record_results))
    assert sum(overview.counts.values()) == len(record_results)
    assert sum(len(cell.records) for cell in overview.cells) == len(record_results)
    assert {finding.address for finding in overview.findings} >= {
        result.record
        for result in record_results
        if run_verdict.is_failure(result) or (run_verdict.is_broken(result) and not is_unreported(result))
    }
    assert sum(len(section.records) for section in overview.sections) == len(record_results)
    assert len({record.address for section in overview.sections for record in section.records}) == len(record_results)
    tally = next(line for line in summary.render(described, record_results).splitlines() if line.endswith(" selected"))
    numbers, _, total = tally.partition(" = ")
    assert sum(map(int, re.findall(r"(?:^|· )(\d+) ", numbers))) == int(total.split()[0]) == len(record_results)

    document = ElementTree.fromstring(document_text.encode())
    stale_count = len(run_verdict.list_stale_entries(described, record_results))
    for element in (document, *document.iter("testsuite")):
        cases = list(element.iter("testcase"))
        assert int(element.get("tests", "")) == len(cases)
        counted = {tag: sum(case.find(tag) is not None for case in cases) for tag in ("failure", "error", "skipped")}
        assert [int(element.get(name, "")) for name in ("failures", "errors", "skipped")] == list(counted.values())
    assert len(list(document.iter("testcase"))) == len(record_results) + stale_count + fault_count


def test_each_view_names_a_revision_other_than_the_usual_one() -> None:
    options: dict[str, Any] = {"revisions": {"pa": "2026-10-21"}, "target": "live-2026-10-21"}
    results = [make_result("pa/errors/general/a")]
    other_revision = make_run(invocation=Invocation(revision="pa:2026-10-21"), **options)
    assert "on target `live-2026-10-21`, `under PA 2026-10-21`, run" in summary.render(other_revision, results)
    page = html.render(other_revision, results)
    assert "<b>live-2026-10-21</b> under PA 2026-10-21" in page
    assert "nothing here is evidence for the records" in page
    assert '<property name="revision" value="pa:2026-10-21" />' in junit.render(other_revision, results)
    for view in (summary, html, junit):
        usual = view.render(make_run(revisions={"pa": "2023-06-01"}), results)
        assert "under PA" not in usual
        assert 'name="revision"' not in usual


def test_each_view_of_a_shard_names_the_shard() -> None:
    shard_cases: list[tuple[str | None, str]] = [
        (None, ""),
        ("1/1", ""),
        ("2/3", ", in shard 2/3 alone, without 1/3 + 3/3"),
        ("1/3 2/3", ", in shard 1/3 + 2/3 alone, without 3/3"),
    ]
    for live in [True, False]:
        for shard, expected in shard_cases:
            share = make_run(policy={"shard": shard} if shard else {}, live=live)
            results = [make_result("pa/errors/general/a")]
            observed = "record that your keys reach was observed, oldest evidence today"
            coverage = f"1 of 1 {observed if live else 'conform on the mock'}{expected}."
            assert coverage in terminal.render(share, results, width=200), live
            assert coverage in summary.render(share, results), live
            page = html.render(share, results)
            assert f"{expected}." in page, live
            assert ("in shard" in page) == bool(expected), live
