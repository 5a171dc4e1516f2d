"""The end of a run in a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from catalog.model import Outcome, Reason
from reports import terminal
from tests.unit.reports import sample
from tests.unit.reports.making import finding, result, run
from tests.unit.reports.special import HOSTILE

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

A = "pa/errors/general/a"


def test_the_summary_of_a_run(snapshot: SnapshotAssertion) -> None:
    assert terminal.summary(*sample.full()) == snapshot


def test_quietly(snapshot: SnapshotAssertion) -> None:
    assert terminal.summary(*sample.full(), quiet=True) == snapshot


def test_a_good_run_says_little() -> None:
    assert terminal.summary(run(), [result(A)]).splitlines()[0] == "No drift; 1 of 1 verified, oldest evidence today."
    assert terminal.summary(run(), [result(A)], quiet=True).count("\n") == 0


def test_colours_are_asked_for() -> None:
    assert "\x1b[" not in terminal.summary(*sample.full())
    coloured = terminal.summary(*sample.full(), colour=True)
    assert coloured.startswith("\x1b[31;1m")
    assert re.sub(r"\x1b\[[\d;]+m", "", coloured) == terminal.summary(*sample.full())


@given(st.text() | st.just(HOSTILE))
def test_an_answer_cannot_steer_the_terminal(text: str) -> None:
    wrong = finding(message=text, at=text, observed=text)
    unseen = result(f"{A}2", Outcome.INCONCLUSIVE, reason=Reason("read-timeout", text))
    told = terminal.summary(run(), [result(A, Outcome.DRIFTED, findings=(wrong,)), unseen])
    assert all(character == "\n" or character >= " " for character in told)
    assert "\x7f" not in told
    assert "\x9b" not in told


def test_lines_keep_to_the_width() -> None:
    told = terminal.summary(*sample.full(), width=70)
    assert all(
        len(line) <= 70 for line in told.splitlines()[1:] if "records  conforms" not in line and "  ·" not in line
    )


def test_many_records_behind_one_dead_host_are_one_line() -> None:
    reason = Reason("connect-refused", "GET https://api.pa.example/v1/models")
    results = [result(f"{A}{number}", Outcome.INCONCLUSIVE, reason=reason) for number in range(40)]
    told = terminal.summary(run(), results)
    assert "  40 records of PA: connect-refused" in told
    assert f"{A}7" not in told


ACCEPTED = {"state": "accounted", "reason": "a fix is due", "detail": "accepted", "review_by": "2027-01-01"}


def test_an_accepted_drift_says_until_when_and_why() -> None:
    told = terminal.summary(run(), [result(A, Outcome.DRIFTED, findings=(finding(),), ledger=ACCEPTED)])
    assert f"  {A}  review by 2027-01-01\n    a fix is due\n" in told
    of_old = terminal.summary(run(), [result(A, Outcome.DRIFTED, ledger={"state": "accounted"})])
    assert f"  {A}\n" in of_old
    assert "no date" not in of_old


def test_who_was_not_looked_at_is_told_first() -> None:
    refused = result(A, Outcome.RESTRICTED, reason=Reason("probe-refused"))
    second = terminal.summary(run(), [refused]).splitlines()[1]
    assert second == "blind: pa was not looked at: no record has a verdict (probe-refused) (exit 10)"
    assert "blind" not in terminal.summary(run(expected=()), [refused, result("pb/errors/general/b")])


def test_an_entry_of_the_ledger_that_fails_the_run_is_told() -> None:
    entry = "ledger: divergences.json:pa/errors/general/gone: no record has this address; remove the entry"
    described = run(policy={"stale_ledger": [entry]})
    assert entry in terminal.summary(described, [result(A)], width=200).splitlines()
    assert terminal.summary(described, [result(A)]).startswith("No drift, 1 stale ledger entry;")


def test_progress_of_a_provider() -> None:
    seen = [result(A), result(f"{A}2", Outcome.DRIFTED, findings=(finding(),)), result("pb/errors/http/a")]
    assert terminal.provider_line("pa", seen, 4) == "PA  ██████████░░░░░░░░░░  2/4  1 drifted"
    assert terminal.provider_line("pb", seen, 1) == "PB  ████████████████████  1/1"
