"""News of a run for a webhook: each change in one run only, from the history alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence.merge import merge_runs
from catalog_probe.catalog.evidence.results import Invocation
from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.model import Outcome
from catalog_probe.cli.report_commands import main
from catalog_probe.reports.history import append_to_history
from catalog_probe.reports.news import build_news, find_drift_periods
from tests.harness.checkouts import use_as_checkout
from tests.unit.catalog.catalog_factories import write_run
from tests.unit.reports.factories import make_result, make_run
from tests.unit.reports.history_factories import (
    FIRST,
    A,
    B,
    append_nights,
    build_history_rows,
    make_drift,
    make_result_for_letter,
    make_unobserved,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow


def count_news(rows: Sequence[HistoryRow]) -> list[dict[str, int]]:
    """What each run of a history tells, counted; nothing where it is silent."""
    counts = [build_news("live", rows, row.run)["counts"] for row in rows]
    return [{name: number for name, number in count.items() if number} for count in counts]


def test_each_change_is_news_in_one_run() -> None:
    rows = build_history_rows(
        [
            [make_result(A)],
            [make_drift(A)],
            [make_drift(A)],
            [make_unobserved(A)],
            [make_drift(A, 409)],
            [make_result(A)],
            [make_result(A)],
        ]
    )
    assert count_news(rows) == [{}, {"new": 1}, {}, {"coverage_lost": 1}, {"changed": 1}, {"recovered": 1}, {}]


def test_an_accepted_drift_is_no_news() -> None:
    accepted = replace(make_drift(A), accepted_difference={"state": "accounted", "reason": "known"})
    assert count_news(build_history_rows([[accepted], [accepted], [make_drift(A)], [make_result(A)]])) == [
        {},
        {},
        {"new": 1},
        {"recovered": 1},
    ]


def test_lost_coverage_is_one_entry_per_provider() -> None:
    rows = build_history_rows(
        [
            [make_result(A), make_result(B), make_unobserved("pa/errors/general/d")],
            [make_unobserved(A), make_unobserved(B), make_unobserved("pc/errors/x/e")],
        ]
    )
    [lost] = build_news("live", rows, rows[-1].run)["coverage_lost"]
    assert lost == {"provider": "pa", "since": "2026-11-02", "number": 2, "records": [A, B]}
    assert build_news("live", rows, rows[-1].run)["text"] == ("2 records lost coverage; PA and PC were not observed")


def test_coverage_can_be_lost_again() -> None:
    rows = build_history_rows(
        [
            [result]
            for result in (make_result(A), make_unobserved(A), make_result(A), make_unobserved(A), make_result(A))
        ]
    )
    assert count_news(rows) == [{}, {"coverage_lost": 1}, {}, {"coverage_lost": 1}, {}]


def test_an_unprobed_record_is_lost_only_if_the_history_lists_it() -> None:
    rows = build_history_rows(
        [[make_result(A), make_result(B)], [make_result(A, Outcome.NOT_PROBED), make_result(B, Outcome.NOT_PROBED)]]
    )
    [lost] = build_news("live", [rows[0], replace(rows[1], coverage_lost=frozenset({B}))], "r01")["coverage_lost"]
    assert lost["records"] == [B]


def test_the_message_of_a_run() -> None:
    """What a webhook reads; of the records of a change ten are named."""
    lost = [f"pc/errors/general/{number:02}" for number in range(11)]
    drifting = [f"pa/errors/general/{number:02}" for number in range(11)]
    rows = build_history_rows(
        [[make_result(address) for address in lost], [*map(make_unobserved, lost), *map(make_drift, drifting)]]
    )
    message = build_news("live", rows, "r01")
    [new], [absent] = message.pop("new"), message.pop("coverage_lost")
    assert message == {
        "schema_version": 1,
        "run": "r01",
        "target": "live",
        "live": True,
        "night": "2026-11-02",
        "text": "1 new, 11 records lost coverage (PA status: documented 400, observed 422 in 11 records); "
        "PC was not observed",
        "counts": {"new": 1, "changed": 0, "recovered": 0, "coverage_lost": 11},
        "changed": [],
        "recovered": [],
        "not_observed": ["pc"],
    }
    assert (new["number"], new["records"]) == (11, drifting[:10])
    assert absent == {"provider": "pc", "since": "2026-11-02", "number": 11, "records": lost[:10]}


@given(st.lists(st.fixed_dictionaries(dict.fromkeys((A, B), st.sampled_from("cxyi"))), min_size=1, max_size=10))
def test_each_change_and_each_recovery_is_news_once(nights: list[dict[str, str]]) -> None:
    rows = build_history_rows([[make_result_for_letter(item, how) for item, how in night.items()] for night in nights])
    messages = [build_news("live", rows, row.run) for row in rows]
    periods = find_drift_periods(rows)
    changes = [change for message in messages for name in ("new", "changed") for change in message[name]]
    recoveries = [recovery for message in messages for recovery in message["recovered"]]
    assert sorted(change["id"] for change in changes) == sorted(period.id for period in periods)
    assert sorted(recovery["id"] for recovery in recoveries) == sorted(
        period.id for period in periods if period.ending == "recovered"
    )


def test_an_unknown_run_is_an_error() -> None:
    with pytest.raises(
        EvidenceError, match=r"the history does not remember run 'r9'; `catalog-probe report history append` adds"
    ):
        build_news("live", build_history_rows([[make_result(A)]]), "r9")


def test_it_is_small_and_one_sentence_tells_it() -> None:
    many = [
        make_drift(f"pa/errors/general/{number}", 422, location=f"/{number}" if number < 60 else "")
        for number in range(300)
    ]
    rows = build_history_rows([many])
    message = build_news("live", rows, rows[-1].run)
    assert len(json.dumps(message)) < 60_000
    assert len(message["new"]) == 40 < message["counts"]["new"]
    [single] = build_history_rows([[make_drift(A)]])
    assert (
        build_news("live", [single], single.run)["text"]
        == "1 new (PA status: documented 400, observed 422 in 1 record)"
    )
    [calm] = build_history_rows([[make_result(A)]])
    assert build_news("live", [calm], calm.run)["text"] == "nothing to tell"


def test_a_text_with_markup_is_replaced_by_its_code() -> None:
    mentions: list[str] = [
        "@here",
        "<!channel>",
        "see evil.example",
        "https://evil/x",
        "#1",
        "*bold*",
        "`code`",
        "x" * 90,
    ]
    for mention in mentions:
        [row] = build_history_rows([[make_drift(A, mention)]])
        assert build_news("live", [row], row.run)["text"] == "1 new (PA: status-differs in 1 record)", mention


def test_the_text_names_the_first_of_several_changes() -> None:
    [row] = build_history_rows([[make_drift(A, 422), make_drift(B, 409)]])
    sentence = build_news("live", [row], row.run)["text"]
    assert re.fullmatch(r"2 new \(the first: PA status: documented 400, observed (409|422) in 1 record\)", sentence)


def test_a_run_that_could_not_look_is_never_without_news() -> None:
    unseen = [make_result(A, Outcome.INCONCLUSIVE), make_result("pc/errors/general/x", Outcome.RESTRICTED)]
    first, again = build_history_rows([[*unseen, make_result("pb/errors/general/x")]] * 2)
    for row in (first, again):
        message = build_news("live", [first, again], row.run)
        assert message["not_observed"] == ["pa", "pc"]
        assert message["text"] == "PA and PC were not observed"
    [both] = build_history_rows(
        [[make_drift("pb/errors/general/y"), *unseen[:1], make_result("pc/errors/general/y", Outcome.NOT_PROBED)]]
    )
    assert build_news("live", [both], both.run)["text"] == (
        "1 new (PB status: documented 400, observed 422 in 1 record); PA was not observed"
    )


def test_the_command_prints_it_of_any_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_as_checkout(tmp_path, monkeypatch)
    append_nights(tmp_path / "reports" / "history", [[make_drift(A)], [make_result(A)]])
    assert main(["news"]) == 0
    last = json.loads(capsys.readouterr().out)
    assert (last["run"], last["night"], last["counts"]["recovered"]) == ("r1", str(FIRST + timedelta(days=1)), 1)
    folder = write_run(tmp_path / "reports" / "out" / "r1", make_run(run="r1"), [make_result(A)])
    append_to_history(tmp_path / "reports" / "history", make_run(target="mock"), [make_result(A)])
    assert main(["news", str(folder)]) == 0, "the run says whose history it is in"
    assert json.loads(capsys.readouterr().out) == last
    assert main(["news", "r0", "--target", "live"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["new"] == 1


def test_mistakes_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases: list[tuple[list[str], str]] = [
        (["news", "r7"], "no run 'r7'"),
        (
            ["news", "--target", "nowhere"],
            "reports/history/nowhere.jsonl: the history has no run; "
            "`catalog-probe nightly --target nowhere` makes the first one\n",
        ),
    ]
    for arguments, message in cases:
        use_as_checkout(tmp_path, monkeypatch)
        append_nights(tmp_path / "reports" / "history", [[make_drift(A)]])
        assert main(arguments) == 4
        error = capsys.readouterr().err
        assert message in error, arguments
        assert error.count("\n") == 1, arguments


def test_the_only_history_there_is_need_not_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_as_checkout(tmp_path, monkeypatch)
    append_to_history(tmp_path / "h", make_run(target="gateway"), [make_drift(A)])
    assert main(["news", "--history", "h"]) == 0
    assert json.loads(capsys.readouterr().out)["target"] == "gateway"
    append_to_history(tmp_path / "h", make_run(target="mock"), [make_drift(A)])
    assert main(["news", "--history", "h"]) == 4
    assert "h/live.jsonl: the history has no run" in capsys.readouterr().err


def test_a_run_under_another_revision_is_no_news_of_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_as_checkout(tmp_path, monkeypatch)
    append_nights(tmp_path / "h", [[make_result(A), make_result(B)], [make_drift(A), make_result(B)]])
    assert main(["news", "--history", "h"]) == 0
    before = capsys.readouterr().out
    invocation = Invocation(revision="pa:2026-10-21")
    other_revision = make_run(
        run="o1", target="live-2026-10-21", started_at="2026-11-02T05:00:00Z", today="2026-11-02", invocation=invocation
    )
    append_to_history(tmp_path / "h", other_revision, [make_unobserved(A), make_drift(B)])
    assert main(["news", "--history", "h"]) == 0
    assert capsys.readouterr().out == before
    with pytest.raises(EvidenceError, match="runs of different targets cannot be one: live-2026-10-21, live"):
        merge_runs([(make_run(), [make_result(A)]), (other_revision, [make_drift(A)])])


def test_a_cause_without_summary_is_described_by_its_differences() -> None:
    [row] = build_history_rows([[make_drift(A)]])
    wordless = replace(row, causes={cause: {"code": "c"} for cause in row.causes})
    [change] = build_news("live", [wordless], row.run)["new"]
    assert (change["code"], change["summary"]) == ("c", "answer/status 422")
