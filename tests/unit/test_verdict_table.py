"""The verdict table and the replay of recorded requests: differences, explanations, samples and volatile values."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verdicts.compare import (
    Difference,
    Explanation,
    compare_case,
    explain_differences,
    matches,
    read_explanations,
)
from tests.verdicts.replay import (
    AHEAD,
    Exchange,
    Request,
    Values,
    compare_answers,
    list_values,
    pair_ids,
    replace_ids,
    stop_clock,
)
from tests.verdicts.table import (
    REST,
    TableError,
    Verdict,
    Verdicts,
    add_case,
    draw_sample,
    fold_case,
    in_part,
    read_table,
    sort_table,
)

if TYPE_CHECKING:
    from pathlib import Path

CONFORMS = Verdict("conforms")
DRIFTED = Verdict("drifted", "", ("status status-differs 404", "type type-differs x"))
CLEAN = {"pa/a": CONFORMS, "pa/b": CONFORMS, "pa/c": CONFORMS}
NAMES = [f"mutant:pa/{number}" for number in range(300)]


def compare(rows: Verdicts, observed: Verdicts, selected: list[str] | None = None) -> list[tuple[str, str]]:
    differences = compare_case("m", rows, selected or list(observed), observed, CLEAN)
    return [(difference.record, difference.what) for difference in differences]


def test_only_differences_from_the_clean_run_have_rows() -> None:
    assert fold_case({**CLEAN, "pa/b": DRIFTED}, CLEAN) == {"pa/b": DRIFTED, REST: Verdict("2")}


@given(st.dictionaries(st.sampled_from(["pa/a", "pa/b", "pa/c"]), st.sampled_from([CONFORMS, DRIFTED])))
def test_equal_verdicts_are_no_difference(observed: dict[str, Verdict]) -> None:
    assert list(compare_case("m", fold_case(observed, CLEAN), observed, observed, CLEAN)) == []


def test_each_changed_field_is_a_difference() -> None:
    rows = fold_case({**CLEAN, "pa/b": DRIFTED}, CLEAN)
    observed = {"pa/a": CONFORMS, "pa/b": Verdict("flaky", "volatile", DRIFTED.causes[:1]), "pa/c": DRIFTED}
    assert compare(rows, observed) == [
        ("pa/b", "outcome: drifted -> flaky"),
        ("pa/b", "reason: none -> volatile"),
        ("pa/b", "lost: type type-differs x"),
        ("pa/c", "outcome: conforms -> drifted"),
        ("pa/c", "new: status status-differs 404"),
        ("pa/c", "new: type type-differs x"),
    ]


def test_missing_record_is_reported_as_gone() -> None:
    assert compare(fold_case(CLEAN, CLEAN), {"pa/a": CONFORMS, "pa/b": CONFORMS}, selected=list(CLEAN)) == [
        ("pa/c", "record: gone")
    ]


def test_other_selection_of_records_is_refused() -> None:
    with pytest.raises(TableError, match="2 records without a row, 3 when"):
        compare(fold_case(CLEAN, CLEAN), {"pa/a": CONFORMS, "pa/b": CONFORMS})


def make_explanation(case: str = "*", record: str = "*", what: str = "*") -> Explanation:
    return Explanation(2, case, record, what, "why")


DIFFERENCE = Difference("mutant:pa/1", "pa/a", "lost: header:x[0] header-missing absent")


def test_explanation_covers_matching_differences() -> None:
    cases: list[tuple[Explanation, bool]] = [
        (make_explanation(), True),
        (make_explanation("mutant:pa/*", "pa/*", "lost: *"), True),
        (make_explanation(what="lost: header:x[0] *"), True),
        (make_explanation("mutant:pb/*"), False),
        (make_explanation(record="pa"), False),
        (make_explanation(what="new: *"), False),
    ]
    for line, covers in cases:
        comparison = explain_differences([DIFFERENCE], [line], ["mutant:pa/1"], ["mutant:pa/1", "mutant:pa/2"])
        assert comparison.explained == ([DIFFERENCE] if covers else []), line
        assert comparison.unexplained == ([] if covers else [DIFFERENCE]), line


def test_explanation_is_stale_if_all_its_cases_were_run() -> None:
    cases: list[tuple[str, bool]] = [
        ("mutant:pa/1", True),
        ("mutant:pa/*", False),
        ("mutant:pa/2", False),
        ("mutant:pd/*", True),
        ("replay", False),
    ]
    for pattern, stale in cases:
        line = make_explanation(pattern)
        comparison = explain_differences([], [line], ["mutant:pa/1"], ["mutant:pa/1", "mutant:pa/2"])
        assert comparison.stale == ([line] if stale else []), pattern


@given(st.text(), st.text())
def test_only_a_star_is_special_in_a_pattern(before: str, after: str) -> None:
    text = (before + after).replace("*", "")
    assert matches(text, text)
    assert matches(f"{before}*{after}", f"{before}{after}".replace("*", ""))
    assert not matches(text, f"{text}x")


def test_table_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    add_case("b", {"pa/b": DRIFTED, REST: Verdict("2")}, path)
    add_case("a", {"pa/a": Verdict("inconclusive", "transport"), REST: Verdict("0")}, path)
    sort_table(path)
    assert [line.partition("\t")[0] for line in path.read_text("utf-8").splitlines()] == ["case", "a", "a", "b", "b"]
    assert read_table(path)["b"] == {"pa/b": DRIFTED, REST: Verdict("2")}
    assert read_table(path)["a"]["pa/a"] == Verdict("inconclusive", "transport")


def test_malformed_line_is_named(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("case\n", "table.tsv:1: the columns are not"),
        ("case\trecord\toutcome\treason\tcauses\na\tb\n", "table.tsv:2: 2 cells"),
        ("case\trecord\toutcome\treason\tcauses\na\tb\tc\t\t\na\tb\td\t\t\n", "table.tsv:3: a b is listed twice"),
        ("case\trecord\toutcome\treason\tcauses\na\tb\tc\t\t\n", "table.tsv: a has no row"),
    ]
    for text, message in cases:
        with subtests.test(text):
            path = tmp_path / "table.tsv"
            path.write_text(text, "utf-8")
            with pytest.raises(TableError, match=message):
                read_table(path)


def test_explanation_without_a_reason_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "explained.tsv"
    path.write_text("case\trecord\tdifference\twhy\nm\tpa/a\tlost: *\t \n", "utf-8")
    with pytest.raises(TableError, match=r"explained.tsv:2: m pa/a lost: .* says no reason"):
        read_explanations(path)


def test_committed_explanations_are_readable() -> None:
    assert all(line.why for line in read_explanations())


def test_sample_depends_only_on_its_seed() -> None:
    sample = draw_sample(NAMES, 30, seed=1)
    assert sample == draw_sample(reversed(NAMES), 30, seed=1)
    assert len(sample) == 30
    assert sample != draw_sample(NAMES, 30, seed=2)


def test_new_case_replaces_at_most_one_of_the_sample() -> None:
    before, after = set(draw_sample(NAMES, 30, seed=1)), set(draw_sample([*NAMES, "mutant:pa/new"], 30, seed=1))
    assert len(before - after) <= 1


def test_parts_share_all_cases() -> None:
    parts = [[name for name in NAMES if in_part(name, part, 3)] for part in (1, 2, 3)]
    assert sorted(name for part in parts for name in part) == sorted(NAMES)
    assert all(parts)


JSON = ("content-type", "application/json")
REQUEST = Request("GET", "/pa/v1/files/file_recorded?limit=1", (("x-mock-session", "run/pa/errors/x/1"),), b"")


def compare_replays(old: Values, again: Values, new: Values) -> list[Difference]:
    return list(compare_answers([Exchange(REQUEST, {})], [old], [again], [new]))


def test_answer_values_are_listed_by_location() -> None:
    body = b'{"a": {"b": [1, "x", {}]}, "c": null}'
    assert list_values(200, [JSON, ("X-A", "1"), ("x-a", "2")], body) == {
        "status": "200",
        "header content-type": "application/json",
        "header x-a": "1, 2",
        "body /a/b/0": "1",
        "body /a/b/1": "x",
        "body /a/b/2": "{}",
        "body /c": "null",
    }


def test_text_json_lines_and_compressed_bodies_are_listed() -> None:
    assert list_values(400, [], b"no JSON")["body "] == "no JSON"
    assert list_values(200, [], b'{"a": 1}\n{"a": 2}\n')["body 1 /a"] == "2"
    assert list_values(200, [("content-encoding", "gzip")], gzip.compress(b'{"a": 1}'))["body /a"] == "1"


def test_events_are_listed_separately() -> None:
    stream = b'event: ping\ndata: {"type": "ping"}\n\n: comment\n\ndata: [DONE]\n\n'
    values = list_values(200, [("content-type", "text/event-stream; charset=utf-8")], stream)
    assert values["event 0 event "] == "ping"
    assert values["event 0 data /type"] == "ping"
    assert values["event 2 data "] == "[DONE]"


def test_difference_names_record_request_and_location() -> None:
    (difference,) = compare_replays({"status": "200"}, {"status": "200"}, {"status": "201"})
    assert (difference.case, difference.record) == ("replay", "pa/errors/x")
    assert difference.what == 'GET /pa/v1/files/file_recorded status: "200" -> "201"'


def test_volatile_value_may_differ_but_not_be_absent() -> None:
    old, again = {"header date": "1", "status": "200"}, {"header date": "2", "status": "200"}
    assert compare_replays(old, again, {"header date": "3", "status": "200"}) == []
    (difference,) = compare_replays(old, again, {"status": "200"})
    assert difference.what.endswith('header date: "1" -> absent')


def test_location_of_only_one_old_replay_is_not_compared() -> None:
    assert compare_replays({"body /a": "1"}, {}, {}) == []
    assert compare_replays({}, {"body /a": "1"}, {"body /a": "2"}) == []


def test_new_value_is_a_difference() -> None:
    (difference,) = compare_replays({}, {}, {"header x-new": "1"})
    assert difference.what.endswith('header x-new: absent -> "1"')


def test_ids_of_earlier_answers_are_replaced() -> None:
    ids = pair_ids({"body /id": "file_recorded", "status": "200"}, {"body /id": "file_now", "status": "404"})
    assert ids == {"file_recorded": "file_now"}
    headers = [("content-length", "22"), ("x-file", "file_recorded"), ("x-file", "another")]
    request = replace_ids(Request("POST", "/files/file_recorded", headers, b'{"id":"file_recorded"}'), ids)
    assert request.path == "/files/file_now"
    assert request.body == b'{"id":"file_now"}'
    assert request.headers == [("content-length", "17"), ("x-file", "file_now"), ("x-file", "another")]


def test_clock_is_stopped_and_keeps_the_requested_offset() -> None:
    clocks = {clock: Request("GET", "/", (("x-mock-clock", clock),), b"") for clock in ("+25h", "still", "still+1m")}
    assert stop_clock(REQUEST, "").header("x-mock-clock") == "still"
    assert stop_clock(REQUEST, AHEAD).header("x-mock-clock") == "still+1d1h1m1s"
    headers = [stop_clock(request, AHEAD).header("x-mock-clock") for request in clocks.values()]
    assert headers == ["still+25h1d1h1m1s", "still+1d1h1m1s", "still+1m1d1h1m1s"]
