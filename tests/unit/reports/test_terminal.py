"""The end of a run in a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.reports.content import reasons as advice
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.content.run_sentence import format_sentence
from catalog_probe.reports.page import html
from catalog_probe.reports.views import summary, terminal
from tests.unit.reports import sample
from tests.unit.reports.factories import make_finding, make_result, make_run

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

A = "pa/errors/general/a"


def test_the_summary_of_a_run(snapshot: SnapshotAssertion) -> None:
    assert terminal.render(*sample.make_full_run()) == snapshot


def test_the_summary_of_a_run_in_a_wide_terminal(snapshot: SnapshotAssertion) -> None:
    assert terminal.render(*sample.make_full_run(), width=200) == snapshot


def test_the_summary_of_a_thousand_records(snapshot: SnapshotAssertion) -> None:
    assert terminal.render(*sample.make_large_run(1000), width=80) == snapshot


NO_KEY, NO_MODEL = "add providers.pb.key", "add providers.pb.model"


def test_a_group_has_a_reason_only_if_its_records_share_it() -> None:
    def render_views(*details: str) -> tuple[str, str, str]:
        results = [
            make_result(f"pb/errors/general/r{number}", Outcome.INCONCLUSIVE, reason=Reason("setup-failed", detail))
            for number, detail in enumerate(details)
        ]
        run = make_run(expected=())
        return terminal.render(run, results), summary.render(run, results), html.render(run, results)

    for view in render_views(NO_KEY, NO_KEY):
        assert NO_KEY in view
    in_terminal, in_summary, in_page = render_views(NO_KEY, NO_KEY, NO_MODEL)
    for view in (in_terminal, in_summary):
        assert f"2 of them: {NO_KEY}" in view
        assert f"1 of them: {NO_MODEL}" in view
    in_terminal, in_summary, _ = render_views(*(f"reason {number}" for number in range(9)))
    for view in (in_terminal, in_summary):
        assert view.count("1 of them: reason") == 3
        assert "and 6 more reasons" in view
    assert advice.explain_code("setup-failed") in render_views("", "")[0]
    group = in_page[in_page.index('<section class="told inconclusive warn"') :].partition("</section>")[0]
    assert NO_KEY not in group.partition("</summary>")[0]
    assert [group.count(f'<span class="note">{detail}</span>') for detail in (NO_KEY, NO_MODEL)] == [2, 1]


def test_the_sentence_says_mostly_if_reasons_differ() -> None:
    cases: list[tuple[list[str], str]] = [
        (["setup-failed", "setup-failed"], "inconclusive (setup-failed)."),
        (["setup-failed", "setup-failed", "read-timeout"], "inconclusive (mostly setup-failed)."),
        (["setup-failed", ""], "inconclusive (mostly setup-failed)."),
        (["", ""], "inconclusive."),
    ]
    for reasons, ending in cases:
        unseen = [
            make_result(f"pb/errors/general/r{number}", Outcome.INCONCLUSIVE, reason=Reason(reason) if reason else None)
            for number, reason in enumerate(reasons)
        ]
        conforming = [make_result(f"pb/errors/general/c{number}") for number in range(20)]
        assert format_sentence(Overview(make_run(), [*unseen, *conforming])).endswith(ending), reasons


def test_quietly(snapshot: SnapshotAssertion) -> None:
    assert terminal.render(*sample.make_full_run(), quiet=True) == snapshot


def test_colours_are_asked_for() -> None:
    assert "\x1b[" not in terminal.render(*sample.make_full_run())
    coloured = terminal.render(*sample.make_full_run(), colour=True)
    assert coloured.startswith("\x1b[31;1mOur fault (1)\x1b[0m")
    assert re.sub(r"\x1b\[[\d;]+m", "", coloured) == terminal.render(*sample.make_full_run())


def test_lines_keep_to_the_width() -> None:
    text_shown = terminal.render(*sample.make_full_run(), width=70)
    commands = ("pytest probes", "python -m")
    wrapped_lines = [
        line for line in text_shown.splitlines() if "  ·" not in line and not line.strip().startswith(commands)
    ]
    assert [
        line for line in wrapped_lines if len(line) > 70 and "records  conforms" not in line and " " in line.strip()
    ] == []


ACCEPTED = {"state": "accounted", "reason": "a fix is due", "detail": "accepted", "review_by": "2027-01-01"}


def test_an_accepted_drift_has_its_review_date_and_reason() -> None:
    text_shown = terminal.render(
        make_run(), [make_result(A, Outcome.DRIFTED, findings=(make_finding(),), accepted_difference=ACCEPTED)]
    )
    assert f"{A}\n      a fix is due; review by 2027-01-01\n" in text_shown
    of_old = terminal.render(
        make_run(),
        [make_result(A, Outcome.DRIFTED, findings=(make_finding(),), accepted_difference={"state": "accounted"})],
    )
    assert "Accepted (1 record, 1 cause)" in of_old
    assert "review by" not in of_old


def test_unobserved_providers_are_in_the_last_lines() -> None:
    refused = make_result(A, Outcome.RESTRICTED, reason=Reason("probe-refused"))
    last = terminal.render(make_run(), [refused], width=200).splitlines()[-2:]
    assert last == [
        "blind: pa was not observed: no record has a verdict (probe-refused) (exit 10)",
        "PA was not observed. 1 of 1 record that your keys reach was observed, oldest evidence 5 days.",
    ]
    assert "blind" not in terminal.render(make_run(expected=()), [refused, make_result("pb/errors/general/b")])


def test_an_accepted_difference_that_fails_the_run_is_shown() -> None:
    entry = "accepted difference: divergences.json:pa/errors/general/gone: no record has this address; remove the entry"
    run = make_run(policy={"stale_accepted_differences": [entry]})
    assert entry in terminal.render(run, [make_result(A)], width=200).splitlines()
    verdict = terminal.render_verdict(run, [make_result(A)], width=200)
    assert verdict.splitlines()[-1].startswith("Nothing new drifts, and 1 accepted difference is stale.")


def test_not_probed_is_ten_lines_at_most_and_says_what_would_help_most() -> None:
    codes = [
        ReasonCode.CREDENTIAL_MISSING, ReasonCode.COST_NOT_ALLOWED, ReasonCode.VALUE_MISSING, ReasonCode.NO_RECIPE,
        ReasonCode.NOT_ON_THE_WIRE, ReasonCode.INVISIBLE_TO_CLIENT, ReasonCode.SURFACE_OUT_OF_REACH,
        ReasonCode.NO_DOCUMENTED_SETUP, ReasonCode.NOTHING_DOCUMENTED, ReasonCode.PROVIDER_ONLY_CAUSE,
    ]  # fmt: skip
    results = [
        make_result(f"{provider}/errors/general/e{number}", Outcome.NOT_PROBED, reason=Reason(code, f"set V{number}"))
        for provider in ("pa", "pb", "pc", "pd")
        for number, code in enumerate(codes)
    ]
    lines = terminal.render(make_run(expected=()), results, width=60).splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("Not probed (40): set V0 (4) would help"))
    section = lines[start : lines.index("", start)]
    assert len(section) <= 10
    assert all(len(line) <= 60 for line in section)
