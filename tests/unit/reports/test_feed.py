"""The wire's changelog: an entry a change, whatever the nights bring, and feeds that readers accept."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.evidence import past
from catalog.evidence.merge import merge
from catalog.evidence.results import Asked
from catalog.evidence.results_file import EvidenceError
from catalog.model import Aspect, Outcome, Reason
from reports import feed, history
from reports.__main__ import main
from reports.episodes import Ending, Episode, episodes
from tests.harness.checkouts import as_checkout
from tests.unit.reports.making import finding, result, run

if TYPE_CHECKING:
    from catalog.evidence.past import Row
    from catalog.evidence.results import Result

A, B, C = "pa/errors/general/a", "pa/errors/general/b", "pc/errors/general/c"
FIRST = date(2026, 11, 1)
ATOM = f"{{{feed.ATOM}}}"


def drifted(address: str, seen: int | str = 422, **changes: Any) -> Result:
    told = finding(documented=400, observed=seen, message=f"status: documented 400, observed {seen}", **changes)
    return result(address, Outcome.DRIFTED, findings=(told,))


def blind(address: str) -> Result:
    return result(address, Outcome.INCONCLUSIVE, reason=Reason("read-timeout", "30 s"))


def replayed(nights: Iterable[Sequence[Result]]) -> list[Row]:
    """The rows that these nights leave, each knowing those before it."""
    lines: list[dict[str, Any]] = []
    for number, results in enumerate(nights):
        day = FIRST + timedelta(days=number)
        shown = tuple(lines[-history.SHOWN :])
        described = run(run=f"r{number:02}", started_at=f"{day}T04:00:00Z", today=day.isoformat(), history=shown)
        lines.append(history.row(described, results))
    return past.of_lines(lines)


def told(found: Iterable[Episode]) -> list[tuple[str, int, int, str]]:
    """What differed, on which nights it was first and last seen, and how it ended."""
    return [(each.told, (each.first - FIRST).days, (each.last - FIRST).days, str(each.how or "")) for each in found]


def test_thirty_nights_have_an_entry_a_change_and_a_recovery_each() -> None:
    """A drifts, is blind, drifts on, recovers, drifts again; B and C turn to other answers; all else is calm."""
    nights = []
    for number in range(30):
        a = blind(A) if number in (5, 6, 20) else drifted(A) if number in {*range(4, 9), *range(18, 25)} else result(A)
        b = drifted(B, 422 if number < 14 else 409) if 10 <= number < 17 else result(B)
        c = drifted(C, 404) if number >= 27 else result(C)
        nights.append([a, b, c])
    assert told(episodes(replayed(nights))) == [
        ("status: documented 400, observed 422", 4, 8, "recovered"),
        ("status: documented 400, observed 422", 10, 13, "changed"),
        ("status: documented 400, observed 409", 14, 16, "recovered"),
        ("status: documented 400, observed 422", 18, 24, "recovered"),
        ("status: documented 400, observed 404", 27, 29, ""),
    ]


def test_a_cause_behind_many_records_is_one_change() -> None:
    [change] = episodes(replayed([[drifted(A), result(B)], [drifted(A), drifted(B)], [result(A), drifted(B)]]))
    assert (change.nights, change.ended, change.runs) == (3, None, ("r00", "r02"))
    parts = {each.record: (each.first.day, each.last.day, each.how) for each in change.parts.values()}
    assert parts == {A: (1, 2, Ending.RECOVERED), B: (2, 3, None)}


def test_a_change_ends_as_the_last_of_its_records_did() -> None:
    nights = [[drifted(A), drifted(B)], [result(A), drifted(B)], [result(A), drifted(B, 409)]]
    first, second = episodes(replayed(nights))
    assert (first.how, second.instead) == (Ending.CHANGED, {first.id})


def test_what_no_night_had_seen_as_documented_is_told_so() -> None:
    never = replace(drifted(A), agreement={"states": "x", "never": {"answer/status": {"first": "2026-10-30"}}})
    assert [each.never_agreed for night in (never, drifted(A)) for each in episodes(replayed([[night]]))] == [
        True,
        False,
    ]


def test_a_change_is_told_whole_to_people_and_to_programs() -> None:
    never = replace(drifted(A), agreement={"states": "x", "never": {"answer/status": {"first": "2026-10-30"}}})
    [each, *_] = feed.feeds("live", replayed([[never], [never], [result(A)]]))
    [item] = json.loads(feed.json_feed(each))["items"]
    change = item["_change"]
    assert change == {
        "id": f"{change['cause']}/2026-11-01",
        "provider": "pa",
        "cause": change["cause"],
        "code": "status-differs",
        "told": "status: documented 400, observed 422",
        "first": "2026-11-01",
        "last": "2026-11-02",
        "nights": 2,
        "runs": ["r00", "r01"],
        "ended": "2026-11-03",
        "how": "recovered",
        "instead_of": [],
        "never_agreed": True,
        "accepted": False,
        "number": 1,
        "records": [
            {
                "record": A,
                "differs": ["answer/status 422"],
                "endpoints": [],
                "first": "2026-11-01",
                "last": "2026-11-02",
                "ended": "2026-11-03",
                "how": "recovered",
            }
        ],
    }
    assert item["content_text"].splitlines() == [
        "First seen 2026-11-01 (run r00).",
        "Last seen 2026-11-02 (run r01), on 2 nights.",
        "Recovered 2026-11-03: seen as documented again.",
        "No night before had seen it as documented: the document or our transcription may be wrong.",
        f"Cause {change['cause']}, code status-differs (python -m catalog explain status-differs).",
        f"- {A}: answer/status 422, 2026-11-01 to 2026-11-02, recovered 2026-11-03",
    ]
    assert item["tags"] == ["pa", "status-differs", "recovered", "never-agreed"]
    terms = [entry.get("term") for entry in ElementTree.fromstring(feed.atom(each)).iter(f"{ATOM}category")]
    assert terms == item["tags"]
    assert json.loads(feed.json_feed(each))["authors"] == [{"name": "catalog-probe"}]


def test_a_record_of_a_change_is_told_in_a_line() -> None:
    [each, *_] = feed.feeds("live", replayed([[drifted(A)]]))
    assert f"- `{A}`: `answer/status 422`, 2026-11-01 to 2026-11-01\n" in feed.markdown(each)


def test_what_took_the_place_of_another_names_it() -> None:
    was, now = episodes(replayed([[drifted(A)], [drifted(A, 500)]]))
    assert (was.how, now.instead) == (Ending.CHANGED, {was.id})


def test_one_of_two_differences_recovers_where_nothing_takes_its_place() -> None:
    absent = finding("header-missing", aspect=Aspect.HEADER, at="retry-after", label="limited", message="absent")
    both = result(A, Outcome.DRIFTED, findings=(finding(), absent))
    found = episodes(replayed([[both], [drifted(A)]]))
    assert {(each.code, str(each.how or "")) for each in found} == {
        ("header-missing", "recovered"),
        ("status-differs", ""),
    }


OTHERS = [Outcome.INCONCLUSIVE, Outcome.RESTRICTED, Outcome.NOT_PROBED, Outcome.FLAKY, Outcome.HARNESS_ERROR]


@given(
    st.lists(st.sampled_from(["c", "x", "y"]), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 12), st.sampled_from(OTHERS)), max_size=6),
)
def test_nights_without_a_verdict_change_nothing(seen: list[str], between: list[tuple[int, Outcome]]) -> None:
    nights = [{"c": result(A), "x": drifted(A), "y": drifted(A, 500)}[each] for each in seen]
    told_of_all = [(each.told, each.how, each.nights) for each in episodes(replayed([[each] for each in nights]))]
    for at, outcome in between:
        nights.insert(at, result(A, outcome))
    assert [(each.told, each.how, each.nights) for each in episodes(replayed([[each] for each in nights]))] == (
        told_of_all
    )


def test_an_endpoint_that_is_not_drawn_neither_recovers_nor_changes() -> None:
    here, there = "pa/endpoints/messages/create", "pa/endpoints/messages/count"
    on_both = result(A, Outcome.DRIFTED, findings=(finding(endpoints=(here,)), gone(there)))
    not_there = result(A, Outcome.DRIFTED, findings=(finding(endpoints=(here,)),), undrawn=(there,))
    neither = result(A, undrawn=(here, there))
    open_ones = episodes(replayed([[on_both], [not_there], [not_there], [neither]]))
    assert [each.how for each in open_ones] == [None, None]
    ended = episodes(replayed([[on_both], [not_there], [not_there], [neither], [result(A)]]))
    assert [each.how for each in ended] == [Ending.RECOVERED, Ending.RECOVERED]


def gone(endpoint: str) -> Any:
    return finding("header-missing", aspect=Aspect.HEADER, at="retry-after", message="absent", endpoints=(endpoint,))


OUTCOMES = st.sampled_from(["c", "x", "y", "i"])


@given(st.lists(st.fixed_dictionaries(dict.fromkeys((A, B, C), OUTCOMES)), min_size=1, max_size=8), st.randoms())
def test_shards_tell_the_same_merged_in_any_order_or_not_at_all(
    nights: list[dict[str, str]], dice: random.Random
) -> None:
    whole: list[dict[str, Any]] = []
    merged: list[dict[str, Any]] = []
    apart: list[dict[str, Any]] = []
    for number, night in enumerate(nights):
        results = [made(each, how) for each, how in night.items()]
        day = FIRST + timedelta(days=number)

        def at(name: str, own: list[dict[str, Any]], second: int = 0, day: date = day) -> Any:
            started = f"{day}T04:00:{second:02}Z"
            return run(run=name, started_at=started, today=day.isoformat(), history=tuple(own[-history.SHOWN :]))

        whole.append(history.row(at(f"r{number}", whole), results))
        shards = [(at(f"s{number}{each}", merged, each), [results[each]]) for each in range(3)]
        dice.shuffle(shards)
        merged.append(history.row(*merge(shards)))
        apart += [history.row(at(f"s{number}{each}", apart, each), [results[each]]) for each in range(3)]
    dice.shuffle(apart)
    found = [[_but_runs(each) for each in episodes(past.of_lines(lines))] for lines in (whole, merged, apart)]
    assert found[0] == found[1] == found[2]
    both = episodes(past.of_lines([*whole, *apart]))
    assert [each.id for each in both] == [each["id"] for each in found[0]], "told by shards and whole, it is one"


def made(address: str, how: str) -> Result:
    results = {"c": result(address), "x": drifted(address), "y": drifted(address, 500), "i": blind(address)}
    return results[how]


def _but_runs(change: Episode) -> dict[str, Any]:
    return {**feed.as_data(change), "runs": None}


# --- the files


def remember(folder: Path, nights: Iterable[Sequence[Result]]) -> None:
    for number, results in enumerate(nights):
        day = FIRST + timedelta(days=number)
        _, shown = history.shown(folder, "live")
        described = run(run=f"r{number}", started_at=f"{day}T04:00:00Z", today=day.isoformat(), history=shown)
        history.append(folder, described, results)


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*")}


def test_a_feed_of_all_and_one_of_each_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_checkout(tmp_path, monkeypatch)
    remember(tmp_path / "reports" / "history", [[drifted(A), result(C)], [result(A), result(C)]])
    assert main(["feed"]) == 0
    written = files(tmp_path / "reports" / "feed")
    assert sorted(written) == sorted(
        f"{folder}{name}" for folder in ("", "pa/", "pc/") for name in ("index.md", "feed.xml", "feed.json")
    )
    assert [len(json.loads(written[f"{each}feed.json"])["items"]) for each in ("", "pa/", "pc/")] == [1, 1, 0]
    assert "Recovered 2026-11-02" in written["index.md"].decode()


def test_the_only_history_there_is_need_not_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    as_checkout(tmp_path, monkeypatch)
    history.append(Path("h"), run(target="gateway"), [drifted(A)])
    assert main(["feed", "--folder", "h", "--out", "f"]) == 0
    assert json.loads((tmp_path / "f" / "feed.json").read_text())["title"].endswith(": gateway")
    history.append(Path("h"), run(target="mock"), [drifted(A)])
    assert main(["feed", "--folder", "h", "--out", "f"]) == 4
    assert "h/live.jsonl: no run is remembered" in capsys.readouterr().err


def test_a_run_under_another_revision_is_told_apart_from_the_usual_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It drifts in more and sees less: neither ends, begins or hides anything of what the usual one did."""
    as_checkout(tmp_path, monkeypatch)
    remember(tmp_path / "h", [[result(A), result(B)], [drifted(A), result(B)]])
    assert main(["feed", "--folder", "h", "--out", "f"]) == main(["news", "--folder", "h"]) == 0
    before, said = files(tmp_path / "f"), capsys.readouterr().out.splitlines()[1:]
    asked = Asked(revision="pa:2026-10-21")
    other = run(run="o1", target="live-2026-10-21", started_at="2026-11-02T05:00:00Z", today="2026-11-02", asked=asked)
    history.append(tmp_path / "h", other, [blind(A), drifted(B)])
    for command in (["feed", "--folder", "h", "--out", "f"], ["news", "--folder", "h"]):
        assert main(command) == 0
    assert files(tmp_path / "f") == before
    assert capsys.readouterr().out.splitlines()[1:] == said
    with pytest.raises(EvidenceError, match="runs of different targets cannot be one: live-2026-10-21, live"):
        merge([(run(), [result(A)]), (other, [drifted(A)])])


def test_the_same_history_gives_the_same_bytes_and_a_blind_night_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    as_checkout(tmp_path, monkeypatch)
    remember(tmp_path / "h", [[drifted(A), result(B)], [drifted(A), blind(B)]])
    assert main(["feed", "--folder", "h", "--out", "f"]) == 0
    before = files(tmp_path / "f")
    assert main(["feed", "--folder", "h", "--out", "f"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "f/index.md: 6 files, 0 of them new or changed"
    night = run(run="later", started_at="2026-11-09T04:00:00Z", today="2026-11-09")
    history.append(tmp_path / "h", night, [blind(A), blind(B)])
    assert main(["feed", "--folder", "h", "--out", "f"]) == 0
    assert files(tmp_path / "f") == before


def test_both_feeds_hold_what_their_formats_demand() -> None:
    rows = replayed([[drifted(A)], [result(A)], [drifted(A), drifted(C, 404)]])
    for each in feed.feeds("live", rows):
        root = ElementTree.fromstring(feed.atom(each))
        assert root.tag == f"{ATOM}feed"
        entries = root.findall(f"{ATOM}entry")
        for element in (root, *entries):  # RFC 4287, 4.1.1 and 4.1.2
            assert all(element.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated"))
        assert root.findtext(f"{ATOM}author/{ATOM}name")
        assert all(entry.findtext(f"{ATOM}content") for entry in entries), "or each would need a link"
        data = json.loads(feed.json_feed(each))
        assert data["version"] == "https://jsonfeed.org/version/1.1"
        assert data["title"]
        ids = [item["id"] for item in data["items"]]
        assert ids == [entry.findtext(f"{ATOM}id") for entry in entries]
        assert len(set(ids)) == len(ids) == len(each.entries)
        assert all(item["content_text"] and item["date_published"].endswith("Z") for item in data["items"])
    assert [len(each.entries) for each in feed.feeds("live", rows)] == [3, 2, 1]


def test_ids_outlive_the_nights_after_them() -> None:
    nights = [[drifted(A)], [drifted(A)], [result(A)], [drifted(A, 409)]]
    ids = [{item.id for item in episodes(replayed(nights[:number]))} for number in range(1, 5)]
    assert ids[0] == ids[1] == ids[2] < ids[3]


def test_text_from_outside_is_shown_and_means_nothing() -> None:
    evil = "\u202e<script>`](x) @all\x00\x07 \ud800 &amp; ]]>"
    night = result(A, Outcome.DRIFTED, findings=(finding(observed=evil, message=f"type: observed {evil}"),))
    [whole, _] = feed.feeds("li\u202eve`", replayed([[night]]))
    text = feed.markdown(whole)
    told_of = ElementTree.fromstring(feed.atom(whole)).findtext(f"{ATOM}entry/{ATOM}title")
    assert told_of is not None
    assert "<script>" in told_of, "it is text there"
    assert "<script>" not in feed.atom(whole)
    for view in (text, feed.atom(whole), feed.json_feed(whole)):
        assert "\u202e" not in view
        assert "⟨U+202E⟩" in view
        assert "\x07" not in view
    heading = next(each for each in text.splitlines() if each.startswith("## "))
    assert heading.endswith("``"), "all of it stands in a code span whose fence is longer than any run in it"


def test_where_no_run_is_remembered_there_is_no_feed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    as_checkout(tmp_path, monkeypatch)
    assert main(["feed", "--target", "nowhere"]) == 4
    assert capsys.readouterr().err == (
        "reports: reports/history/nowhere.jsonl: no run is remembered; "
        "`python -m reports history append latest` adds the last run\n"
    )
