"""The feed of changes: one entry per change, in valid Atom."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence import earlier_runs
from catalog_probe.catalog.evidence.results import Invocation
from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.evidence.verdicts.merge import merge_runs
from catalog_probe.catalog.model import Aspect, Outcome
from catalog_probe.cli.report_commands import main
from catalog_probe.reports.history.drift_periods import DriftPeriod, PeriodEnding, find_drift_periods
from catalog_probe.reports.history.history_file import MAX_SHOWN_RUNS, append_to_history
from catalog_probe.reports.history.history_line import build_history_line
from catalog_probe.reports.news import feed
from tests.harness.checkouts import use_as_checkout
from tests.unit.reports.factories import make_finding, make_result, make_run
from tests.unit.reports.history_factories import (
    FIRST,
    A,
    B,
    C,
    append_nights,
    build_history_rows,
    make_drift,
    make_result_for_letter,
    make_unobserved,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow

ATOM = f"{{{feed.ATOM}}}"


def summarize(periods: Iterable[DriftPeriod]) -> list[tuple[str, int, int, str]]:
    """What differed, on which nights it was first and last seen, and how it ended."""
    return [
        (period.summary, (period.first - FIRST).days, (period.last - FIRST).days, str(period.ending or ""))
        for period in periods
    ]


def test_thirty_nights_have_an_entry_a_change_and_a_recovery_each() -> None:
    """A drifts, is blind, drifts on, recovers, drifts again; B and C turn to other answers; all else is calm."""
    nights = []
    for number in range(30):
        a = (
            make_unobserved(A)
            if number in (5, 6, 20)
            else make_drift(A)
            if number in {*range(4, 9), *range(18, 25)}
            else make_result(A)
        )
        b = make_drift(B, 422 if number < 14 else 409) if 10 <= number < 17 else make_result(B)
        c = make_drift(C, 404) if number >= 27 else make_result(C)
        nights.append([a, b, c])
    assert summarize(find_drift_periods(build_history_rows(nights))) == [
        ("status: documented 400, observed 422", 4, 8, "recovered"),
        ("status: documented 400, observed 422", 10, 13, "changed"),
        ("status: documented 400, observed 409", 14, 16, "recovered"),
        ("status: documented 400, observed 422", 18, 24, "recovered"),
        ("status: documented 400, observed 404", 27, 29, ""),
    ]


def test_a_cause_behind_many_records_is_one_change() -> None:
    [change] = find_drift_periods(
        build_history_rows(
            [[make_drift(A), make_result(B)], [make_drift(A), make_drift(B)], [make_result(A), make_drift(B)]]
        )
    )
    assert (change.first.day, change.last.day, change.ended) == (1, 3, None)
    parts = {record.address: (record.first.day, record.ending) for record in change.records.values()}
    assert parts == {A: (1, PeriodEnding.RECOVERED), B: (2, None)}


def test_a_change_ends_as_the_last_of_its_records_did() -> None:
    nights = [[make_drift(A), make_drift(B)], [make_result(A), make_drift(B)], [make_result(A), make_drift(B, 409)]]
    first, second = find_drift_periods(build_history_rows(nights))
    assert (first.ending, second.replaced_ids) == (PeriodEnding.CHANGED, {first.id})


def test_a_drift_that_was_never_confirmed_is_marked() -> None:
    never = replace(
        make_drift(A), confirmation={"statements": "x", "never_confirmed": {"answer/status": {"first": "2026-10-30"}}}
    )
    assert [
        period.never_confirmed
        for night in (never, make_drift(A))
        for period in find_drift_periods(build_history_rows([[night]]))
    ] == [
        True,
        False,
    ]


def test_a_period_names_the_one_that_it_replaced() -> None:
    was, now = find_drift_periods(build_history_rows([[make_drift(A)], [make_drift(A, 500)]]))
    assert (was.ending, now.replaced_ids) == (PeriodEnding.CHANGED, {was.id})


def test_one_of_two_differences_recovers_where_nothing_takes_its_place() -> None:
    absent = make_finding(
        "header-missing", aspect=Aspect.HEADER, location="retry-after", label="limited", message="absent"
    )
    both = make_result(A, Outcome.DRIFTED, findings=(make_finding(), absent))
    periods = find_drift_periods(build_history_rows([[both], [make_drift(A)]]))
    assert {(period.code, str(period.ending or "")) for period in periods} == {
        ("header-missing", "recovered"),
        ("status-differs", ""),
    }


NO_VERDICT = [Outcome.INCONCLUSIVE, Outcome.RESTRICTED, Outcome.NOT_PROBED, Outcome.FLAKY, Outcome.HARNESS_ERROR]


@given(
    st.lists(st.sampled_from(["c", "x", "y"]), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 12), st.sampled_from(NO_VERDICT)), max_size=6),
)
def test_nights_without_a_verdict_change_nothing(letters: list[str], between: list[tuple[int, Outcome]]) -> None:
    nights = [{"c": make_result(A), "x": make_drift(A), "y": make_drift(A, 500)}[letter] for letter in letters]
    expected = [
        (period.summary, period.ending)
        for period in find_drift_periods(build_history_rows([[night] for night in nights]))
    ]
    for position, outcome in between:
        nights.insert(position, make_result(A, outcome))
    assert [
        (period.summary, period.ending)
        for period in find_drift_periods(build_history_rows([[night] for night in nights]))
    ] == (expected)


def test_an_endpoint_that_is_not_drawn_neither_recovers_nor_changes() -> None:
    here, there = "pa/endpoints/messages/create", "pa/endpoints/messages/count"
    on_both = make_result(A, Outcome.DRIFTED, findings=(make_finding(endpoints=(here,)), missing_header(there)))
    not_there = make_result(A, Outcome.DRIFTED, findings=(make_finding(endpoints=(here,)),), not_drawn=(there,))
    neither = make_result(A, not_drawn=(here, there))
    open_periods = find_drift_periods(build_history_rows([[on_both], [not_there], [not_there], [neither]]))
    assert [period.ending for period in open_periods] == [None, None]
    ended_periods = find_drift_periods(
        build_history_rows([[on_both], [not_there], [not_there], [neither], [make_result(A)]])
    )
    assert [period.ending for period in ended_periods] == [PeriodEnding.RECOVERED, PeriodEnding.RECOVERED]


def missing_header(endpoint: str) -> Any:
    return make_finding(
        "header-missing", aspect=Aspect.HEADER, location="retry-after", message="absent", endpoints=(endpoint,)
    )


OUTCOMES = st.sampled_from(["c", "x", "y", "i"])


@given(st.lists(st.fixed_dictionaries(dict.fromkeys((A, B, C), OUTCOMES)), min_size=1, max_size=8), st.randoms())
def test_shards_give_the_same_periods_merged_or_not(nights: list[dict[str, str]], dice: random.Random) -> None:
    complete: list[dict[str, Any]] = []
    merged: list[dict[str, Any]] = []
    unmerged: list[dict[str, Any]] = []
    for number, night in enumerate(nights):
        results = [make_result_for_letter(item, how) for item, how in night.items()]
        day = FIRST + timedelta(days=number)

        def make_night(name: str, lines_before: list[dict[str, Any]], second: int = 0, day: date = day) -> Any:
            started = f"{day}T04:00:{second:02}Z"
            return make_run(
                run=name, started_at=started, today=day.isoformat(), history=tuple(lines_before[-MAX_SHOWN_RUNS:])
            )

        complete.append(build_history_line(make_night(f"r{number}", complete), results))
        shards = [(make_night(f"s{number}{shard}", merged, shard), [results[shard]]) for shard in range(3)]
        dice.shuffle(shards)
        merged.append(build_history_line(*merge_runs(shards)))
        unmerged += [
            build_history_line(make_night(f"s{number}{shard}", unmerged, shard), [results[shard]]) for shard in range(3)
        ]
    dice.shuffle(unmerged)
    periods = [
        find_drift_periods(earlier_runs.parse_history_lines(lines))
        for lines in (complete, merged, unmerged, [*complete, *unmerged])
    ]
    assert periods[0] == periods[1] == periods[2] == periods[3]


# --- the feed


def parse_entries(text: str) -> list[ElementTree.Element]:
    return ElementTree.fromstring(text).findall(f"{ATOM}entry")


def test_a_feed_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    use_as_checkout(tmp_path, monkeypatch)
    append_nights(tmp_path / "reports" / "history", [[make_drift(A), make_result(C)], [make_result(A), make_result(C)]])
    assert main(["feed"]) == 0
    [entry] = parse_entries(capsys.readouterr().out)
    assert "Recovered 2026-11-02" in (entry.findtext(f"{ATOM}content") or "")


def test_the_only_history_there_is_need_not_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_as_checkout(tmp_path, monkeypatch)
    append_to_history(Path("h"), make_run(target="gateway"), [make_drift(A)])
    assert main(["feed", "--history", "h"]) == 0
    assert ElementTree.fromstring(capsys.readouterr().out).findtext(f"{ATOM}title") == (
        "What changed on the wire: gateway"
    )
    append_to_history(Path("h"), make_run(target="mock"), [make_drift(A)])
    assert main(["feed", "--history", "h"]) == 4
    assert "h/live.jsonl: the history has no run" in capsys.readouterr().err


def test_a_run_under_another_revision_has_its_own_feed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It drifts in more and sees less: neither ends, begins or hides anything of what the usual one did."""
    use_as_checkout(tmp_path, monkeypatch)
    append_nights(tmp_path / "h", [[make_result(A), make_result(B)], [make_drift(A), make_result(B)]])
    assert main(["feed", "--history", "h"]) == main(["news", "--history", "h"]) == 0
    before = capsys.readouterr().out
    invocation = Invocation(revision="pa:2026-10-21")
    other_revision = make_run(
        run="o1", target="live-2026-10-21", started_at="2026-11-02T05:00:00Z", today="2026-11-02", invocation=invocation
    )
    append_to_history(tmp_path / "h", other_revision, [make_unobserved(A), make_drift(B)])
    assert main(["feed", "--history", "h"]) == main(["news", "--history", "h"]) == 0
    assert capsys.readouterr().out == before
    with pytest.raises(EvidenceError, match="runs of different targets cannot be one: live-2026-10-21, live"):
        merge_runs([(make_run(), [make_result(A)]), (other_revision, [make_drift(A)])])


def test_a_blind_night_changes_no_byte() -> None:
    nights = [[make_drift(A), make_result(B)], [make_drift(A), make_unobserved(B)]]
    assert feed.render("live", build_history_rows([*nights, [make_unobserved(A), make_unobserved(B)]])) == feed.render(
        "live", build_history_rows(nights)
    )


HERE, THERE = "pa/endpoints/messages/create", "pa/endpoints/messages/count"


def replay_five_nights() -> list[HistoryRow]:
    """One calm; two of PA's drift and one of them recovers; the other turns to another answer beside one of PC's."""
    never = {"statements": "x", "never_confirmed": {"answer/status": {"first": "2026-10-30"}}}
    accepted = {"state": "accounted", "reason": "known"}
    return build_history_rows(
        [
            [make_result(A), make_result(B), make_result(C)],
            [make_drift(A, endpoints=(HERE, THERE)), make_drift(B), make_result(C)],
            [make_drift(A, endpoints=(HERE, THERE)), make_result(B), make_result(C)],
            [
                make_drift(A, 409),
                make_result(B),
                replace(make_drift(C, 404), confirmation=never, accepted_difference=accepted),
            ],
            [make_drift(A, 409), make_result(B), make_result(C)],
        ]
    )


def test_the_feed_is_atom() -> None:
    text = feed.render("live", replay_five_nights())
    root = ElementTree.fromstring(text)
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n  <id>')
    assert [root.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated", f"author/{ATOM}name")] == [
        "urn:uuid:418a2f8e-c6b1-56e4-9e37-ba5b25309cf5",
        "What changed on the wire: live",
        "2026-11-05T00:00:00Z",
        "catalog-probe",
    ], "an id that a reader knows stays"
    assert len({entry.findtext(f"{ATOM}id") for entry in parse_entries(text)}) == 3
    assert [
        [entry.findtext(f"{ATOM}{name}") for name in ("title", "published", "updated")] for entry in parse_entries(text)
    ] == [
        ["PC: status: documented 400, observed 404", "2026-11-04T00:00:00Z", "2026-11-05T00:00:00Z"],
        ["PA: status: documented 400, observed 409", "2026-11-04T00:00:00Z", "2026-11-04T00:00:00Z"],
        ["PA: status: documented 400, observed 422", "2026-11-02T00:00:00Z", "2026-11-04T00:00:00Z"],
    ]
    assert [[category.get("term") for category in entry.iter(f"{ATOM}category")] for entry in parse_entries(text)] == [
        ["pc", "status-differs", "recovered"],
        ["pa", "status-differs", "open"],
        ["pa", "status-differs", "changed"],
    ]
    contents = [entry.find(f"{ATOM}content") for entry in parse_entries(text)]
    assert [
        (content.get("type"), (content.text or "").splitlines()) for content in contents if content is not None
    ] == [
        (
            "text",
            [
                "First seen 2026-11-04.",
                "Recovered 2026-11-05: seen as documented again.",
                "No live run has ever confirmed it: the document or our transcription may be wrong.",
                "Accepted.",
                "Cause pc-da072cf7, code status-differs (catalog-probe catalog explain status-differs).",
                f"- {C}: answer/status 404, recovered 2026-11-05",
            ],
        ),
        (
            "text",
            [
                "First seen 2026-11-04.",
                "Last seen 2026-11-05.",
                "In place of pa-fc60f8a3/2026-11-02.",
                "Cause pa-093aff54, code status-differs (catalog-probe catalog explain status-differs).",
                f"- {A}: answer/status 409",
            ],
        ),
        (
            "text",
            [
                "First seen 2026-11-02.",
                "Last seen 2026-11-03.",
                "Changed 2026-11-04: something else differs in its place.",
                "Cause pa-fc60f8a3, code status-differs (catalog-probe catalog explain status-differs).",
                f"- {A}: answer/status 422, changed 2026-11-04",
                f"- {B}: answer/status 422, recovered 2026-11-03",
            ],
        ),
    ]


def test_the_latest_two_hundred_changes_are_in_it() -> None:
    feed_entries = parse_entries(
        feed.render("live", build_history_rows([[make_drift(A, 1000 + number)] for number in range(201)]))
    )
    assert len(feed_entries) == 200
    assert [feed_entries[position].findtext(f"{ATOM}title") for position in (0, -1)] == [
        "PA: status: documented 400, observed 1200",
        "PA: status: documented 400, observed 1001",
    ]


@pytest.mark.parametrize(
    ("records", "rest_line"), [(50, []), (51, ["- and 1 more record"]), (52, ["- and 2 more records"])]
)
def test_fifty_records_of_a_change_are_named(records: int, rest_line: list[str]) -> None:
    names = [f"pa/errors/general/{number:02}" for number in range(records)]
    [entry] = parse_entries(feed.render("live", build_history_rows([[make_drift(name) for name in names]])))
    listed = [line for line in (entry.findtext(f"{ATOM}content") or "").splitlines() if line.startswith("- ")]
    assert listed == [*(f"- {name}: answer/status 422" for name in names[:50]), *rest_line]


def test_a_calm_history_is_dated_by_its_first_night() -> None:
    root = ElementTree.fromstring(feed.render("live", build_history_rows([[make_result(A)], [make_result(B)]])[::-1]))
    assert root.findtext(f"{ATOM}updated") == f"{FIRST}T00:00:00Z"


def test_ids_outlive_the_nights_after_them() -> None:
    nights = [[make_drift(A)], [make_drift(A)], [make_result(A)], [make_drift(A, 409)]]
    ids = [{item.id for item in find_drift_periods(build_history_rows(nights[:number]))} for number in range(1, 5)]
    assert ids[0] == ids[1] == ids[2] < ids[3]


def test_text_from_outside_is_shown_and_means_nothing() -> None:
    evil = "\u202e<script>`](x) @all\x00\x07 \ud800 &amp; ]]>"
    night = make_result(A, Outcome.DRIFTED, findings=(make_finding(observed=evil, message=f"type: observed {evil}"),))
    text = feed.render("li\u202eve`", build_history_rows([[night]]))
    [entry] = parse_entries(text)
    assert "<script>" in (entry.findtext(f"{ATOM}title") or ""), "it is text there"
    assert "<script>" not in text
    assert "\u202e" not in text
    assert "\x07" not in text
    assert "⟨U+202E⟩" in text
    text.encode()


def test_where_no_run_is_remembered_there_is_no_feed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_as_checkout(tmp_path, monkeypatch)
    assert main(["feed", "--target", "nowhere"]) == 4
    assert capsys.readouterr().err == (
        "catalog-probe: reports/history/nowhere.jsonl: the history has no run; "
        "`catalog-probe report history append latest` adds the last run\n"
    )
