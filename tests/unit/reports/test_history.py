"""The history: the line of a run, what the next run reads from it, and lines that cannot be read."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from catalog_probe.catalog.evidence import earlier_runs
from catalog_probe.catalog.evidence.earlier_runs import EarlierOutcome
from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.model import Outcome, Reason, Severity
from catalog_probe.reports.history import (
    MAX_DAMAGE_NOTES,
    MAX_SHOWN_RUNS,
    append_to_history,
    build_history_line,
    build_history_path,
    find_only_target,
    list_discovered,
    list_resolved_assumptions,
    load_history,
    load_shown_history,
)
from tests.unit.reports import sample
from tests.unit.reports.factories import make_finding, make_result, make_run

LIMITED = "pa/errors/general/rate_limit"
A, B = "pa/errors/general/a", "pa/errors/general/b"


def test_a_line_has_a_letter_per_outcome() -> None:
    line = build_history_line(
        make_run(), [make_result(B, Outcome.INCONCLUSIVE), make_result(A, Outcome.DRIFTED, findings=(make_finding(),))]
    )
    assert (line["addresses"], line["outcomes"]) == ([A, B], "di")
    [cause] = line["causes"]
    assert line["drifts"] == {A: {"since": "2026-11-21", "differs": ["answer/status 422"], "causes": [cause]}}
    assert line["causes"][cause] == {"code": "status-differs", "summary": "status: documented 400, observed 422"}


def test_an_appended_run_is_loaded(tmp_path: Path) -> None:
    described, results = make_run(), [make_result(A), make_result(B, Outcome.NOT_PROBED)]
    assert append_to_history(tmp_path, described, results)
    previous, lines_loaded = load_shown_history(tmp_path, "live")
    assert previous == described.run
    (row,) = earlier_runs.parse_history(make_run(history=lines_loaded))
    assert row.outcomes == {A: Outcome.CONFORMS, B: Outcome.NOT_PROBED}
    assert row.today == date(2026, 11, 21)


def test_addresses_are_written_only_if_they_changed(tmp_path: Path) -> None:
    for number in range(3):
        append_to_history(
            tmp_path, make_run(run=f"r{number}", started_at=f"2026-11-2{number}T00:00:00Z"), [make_result(A)]
        )
    append_to_history(tmp_path, make_run(run="r3", started_at="2026-11-23T00:00:00Z"), [make_result(A), make_result(B)])
    text = (tmp_path / "live.jsonl").read_text()
    assert text.count('"addresses"') == 2
    _, lines_loaded = load_shown_history(tmp_path, "live")
    assert sum("addresses" in line for line in lines_loaded) == 2
    assert [len(row.outcomes) for row in earlier_runs.parse_history(make_run(history=lines_loaded))] == [1, 1, 1, 2]


def test_statement_digests_are_written_only_if_they_changed(tmp_path: Path) -> None:
    for number, digest in enumerate(("old", "old", "new")):
        night = make_run(run=f"r{number}", started_at=f"2026-11-2{number}T00:00:00Z")
        append_to_history(tmp_path, night, [make_result(A, confirmation={"statements": digest}), make_result(B)])
    text = (tmp_path / "live.jsonl").read_text()
    assert text.count('"statement_digests":["old",""]') == 1
    assert text.count('"statement_digests":["new",""]') == 1
    _, lines_loaded = load_shown_history(tmp_path, "live")
    assert sum("statement_digests" in line for line in lines_loaded) == 2
    assert [row.statement_digests[A] for row in earlier_runs.parse_history(make_run(history=lines_loaded))] == [
        "old",
        "old",
        "new",
    ]


def test_a_drift_that_was_never_confirmed_keeps_the_day_of_its_first_observation() -> None:
    observations = {"answer/status": {"first": "2026-11-19"}, "answer/type": {"first": "2026-11-17"}}
    drifted = make_result(
        A,
        Outcome.DRIFTED,
        findings=(make_finding(),),
        confirmation={"statements": "x", "never_confirmed": observations},
    )
    assert build_history_line(make_run(), [drifted])["drifts"][A]["first"] == "2026-11-17"


def test_the_only_target_of_a_folder_is_the_default(tmp_path: Path) -> None:
    assert find_only_target(tmp_path) == ""
    append_to_history(tmp_path, make_run(target="live"), [make_result(A)])
    assert find_only_target(tmp_path) == "live"
    append_to_history(tmp_path, make_run(target="gateway"), [make_result(A)])
    assert find_only_target(tmp_path) == ""


def test_a_hundred_runs_of_the_whole_catalog_are_small(tmp_path: Path) -> None:
    """The first line spells out what all lines after it share, so that two lines show what a hundred take."""
    _, results = sample.make_full_run()
    for number in range(2):
        append_to_history(tmp_path, make_run(run=f"r{number}", started_at=f"2026-11-2{number}T00:00:00Z"), results)
    first, later = map(len, (tmp_path / "live.jsonl").read_bytes().splitlines(keepends=True))
    assert first + 99 * later < 300_000


def test_targets_have_histories_of_their_own(tmp_path: Path) -> None:
    append_to_history(tmp_path, make_run(target="live"), [make_result(A)])
    append_to_history(tmp_path, make_run(target="../evil/target", run="x"), [make_result(A)])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evil-target.jsonl", "live.jsonl"]
    assert load_shown_history(tmp_path, "mock") == (None, ())


def test_a_drift_keeps_the_day_it_began_beyond_the_rows_shown(tmp_path: Path) -> None:
    for day in range(1, 5):
        earlier = tuple(load_history(tmp_path, "live")[-1:])
        drifted = [make_result(A, Outcome.DRIFTED, findings=(make_finding(),))]
        described = make_run(
            run=f"r{day}", started_at=f"2026-11-0{day}T00:00:00Z", today=f"2026-11-0{day}", history=earlier
        )
        append_to_history(tmp_path, described, drifted)
    assert load_history(tmp_path, "live")[-1]["drifts"][A]["since"] == "2026-11-01"


def test_a_history_begins_in_a_folder_that_is_made_for_it(tmp_path: Path) -> None:
    assert append_to_history(tmp_path / "not" / "there", make_run(), [make_result(A)]) is True
    assert append_to_history(tmp_path / "not" / "there", make_run(), [make_result(A)]) is False


def test_a_line_is_on_the_disk_when_it_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is flushed late is lost with the machine, and its place is missing in every later strip."""
    held: list[int] = []
    monkeypatch.setattr("os.fsync", lambda file: held.append((tmp_path / "live.jsonl").stat().st_size))
    append_to_history(tmp_path, make_run(), [make_result(A)])
    assert held == [(tmp_path / "live.jsonl").stat().st_size]


def test_a_finding_that_is_no_discovery_is_not_kept() -> None:
    assert list_discovered([make_result(A, findings=(make_finding("status-differs"),))]) == set()


def test_only_names_of_discoveries_are_kept() -> None:
    header = make_finding("undocumented-header", location="x-new", observed="volatile-1")
    code = make_finding("undocumented-code", location="type", observed="brand_new_error")
    assert list_discovered([make_result(A, findings=(header, code))]) == {
        "pa undocumented-header x-new",
        "pa undocumented-code type brand_new_error",
    }


def test_a_line_has_the_identity_of_its_run() -> None:
    line = build_history_line(make_run(live=False, target="mock"), [make_result(A)])
    identity = {name: line[name] for name in ("run", "target", "live", "started_at", "today")}
    described = make_run()
    assert identity == {
        "run": described.run,
        "target": "mock",
        "live": False,
        "started_at": described.started_at,
        "today": described.today,
    }


def test_a_drift_has_its_first_day_and_an_end_makes_a_new_one() -> None:
    drifted = [make_result(A, Outcome.DRIFTED, findings=(make_finding(),))]
    days = ([make_result(A)], drifted, [make_result(A, Outcome.INCONCLUSIVE)], drifted, [make_result(A)], drifted)
    lines: list[dict[str, Any]] = []
    for day, results in enumerate(days, 1):
        described = make_run(run=f"r{day}", today=f"2026-11-0{day}", history=tuple(lines))
        lines.append(build_history_line(described, results))
    assert [line["drifts"].get(A, {}).get("since") for line in lines] == [
        None,
        "2026-11-02",
        None,
        "2026-11-02",
        None,
        "2026-11-06",
    ]


def test_earlier_outcomes_of_a_record_are_sorted_by_run() -> None:
    drifted = make_result(A, Outcome.DRIFTED, findings=(make_finding(),))
    lines = (
        build_history_line(make_run(run="r1", today="2026-11-19"), [make_result(A)]),
        build_history_line(make_run(run="r2", today="2026-11-20"), [make_result(B)]),
        build_history_line(make_run(run="r3", today="2026-11-21"), [drifted, make_result(B)]),
    )
    assert earlier_runs.list_earlier_outcomes(A, earlier_runs.parse_history(make_run(history=lines))) == [
        EarlierOutcome(date(2026, 11, 19), Outcome.CONFORMS),
        EarlierOutcome(date(2026, 11, 21), Outcome.DRIFTED, lines[2]["drifts"][A]),
    ]


def test_fields_missing_from_an_earlier_version_are_empty() -> None:
    needed = {
        "run": "r",
        "started_at": "2026-11-20T00:00:00Z",
        "today": "2026-11-20",
        "address_set": "c",
        "outcomes": "c",
    }
    (row,) = earlier_runs.parse_history_lines([{**needed, "addresses": [A]}])
    assert row == earlier_runs.HistoryRow(
        "r", "2026-11-20T00:00:00Z", date(2026, 11, 20), {A: Outcome.CONFORMS}, {}, frozenset(), False
    )


def test_every_field_of_a_row_is_read() -> None:
    fields: dict[str, Any] = {
        "live": True,
        "drifts": {A: {}},
        "discovered": ["x"],
        "causes": {"c1": {}},
        "coverage_lost": [A],
    }
    (row,) = earlier_runs.parse_history_lines([{**build_history_line(make_run(), [make_result(A)]), **fields}])
    assert {name: getattr(row, name) for name in fields} == {**fields, "discovered": {"x"}, "coverage_lost": {A}}


def test_discoveries_are_remembered_for_the_next_run() -> None:
    new = make_finding("undocumented-code", location="code", observed="brand_new", aspect="code")
    assumed = make_finding(severity=Severity.SHOULD, documented=200, observed=201, assertion="success/status")
    line = build_history_line(make_run(), [make_result(A, findings=(new, assumed))])
    (row,) = earlier_runs.parse_history(make_run(history=(line,)))
    assert row.discovered == {
        "pa undocumented-code code brand_new",
        f"{A}#success/status: assumed 200, observed 201",
    }


def test_a_documented_assertion_is_no_resolved_assumption() -> None:
    assert list_resolved_assumptions([make_result(A, findings=(make_finding(),))]) == set()


def test_a_hostile_answer_does_not_swell_the_history() -> None:
    """Neither by how many names it invents nor by how long they are."""
    many = tuple(make_finding("undocumented-header", location=f"x-{number:04}") for number in range(501))
    long = make_finding("undocumented-header", location="y" * 1000)
    assumed = make_finding(severity=Severity.SHOULD, documented=1, observed=2, assertion="a/body:/" + "z" * 1000)
    assert len(build_history_line(make_run(), [make_result(A, findings=many)])["discovered"]) == 500
    assert [len(name) for name in list_discovered([make_result(A, findings=(long,))])] == [160]
    assert [len(name) for name in list_resolved_assumptions([make_result(A, findings=(assumed,))])] == [200]


def test_a_history_has_a_name_that_any_file_system_takes() -> None:
    cases: list[tuple[str, str]] = [
        ("live", "live"),
        ("a b/c", "a-b-c"),
        ("--x..", "x"),
        ("...", "target"),
        ("A_1.2-3", "A_1.2-3"),
    ]
    for name, file in cases:
        assert build_history_path(Path("h"), name) == Path("h") / f"{file}.jsonl"


def test_an_invalid_row_of_a_run_is_an_error(subtests: pytest.Subtests) -> None:
    changed_fields: list[dict[str, str]] = [{"outcomes": "?"}, {"outcomes": "cc"}, {"today": "soon"}]
    for changed in changed_fields:
        with subtests.test(repr(changed)):
            line = {**build_history_line(make_run(), [make_result(A)]), **changed}
            with pytest.raises(EvidenceError, match=r"run .*: history: not a history row .*remove it there"):
                earlier_runs.parse_history(make_run(history=(line,)))


def test_the_default_is_all_that_ever_was(tmp_path: Path) -> None:
    for number in range(31):
        described = make_run(run=f"r{number:02}", started_at=f"2026-10-{number + 1:02}T00:00:00Z")
        append_to_history(tmp_path, described, [make_result(A)])
    previous, lines = load_shown_history(tmp_path, "live")
    assert (previous, len(lines), lines[0]["run"]) == ("r30", MAX_SHOWN_RUNS, "r02")
    assert ["addresses" in line for line in lines] == [True] + [False] * 28


def test_every_outcome_comes_back_from_its_letter() -> None:
    results = [make_result(f"{A}{number}", outcome) for number, outcome in enumerate(Outcome)]
    (row,) = earlier_runs.parse_history(make_run(history=(build_history_line(make_run(), results),)))
    assert row.outcomes == {result.record: result.outcome for result in results}
    assert "".join(outcome.letter for outcome in Outcome) == "cdfrinh"


def test_the_summary_of_a_cause_is_written_once_per_file(tmp_path: Path) -> None:
    for number in range(3):
        drifted = make_result(A, Outcome.DRIFTED, findings=(make_finding(),))
        append_to_history(tmp_path, make_run(run=f"r{number}", started_at=f"2026-11-2{number}T00:00:00Z"), [drifted])
    assert ["causes" in line for line in load_history(tmp_path, "live")] == [True, False, False]


def test_an_empty_key_loses_coverage_and_an_unset_key_does_not() -> None:
    lines_before = (build_history_line(make_run(run="r1", today="2026-11-20"), [make_result(A), make_result(B)]),)
    empty = make_result(A, Outcome.NOT_PROBED, reason=Reason("credential-empty", "PA_API_KEY is set and empty"))
    missing = make_result(B, Outcome.NOT_PROBED, reason=Reason("credential-missing", "set PA_API_KEY"))
    line = build_history_line(make_run(history=lines_before), [empty, missing])
    assert (line["outcomes"], line["coverage_lost"]) == ("nn", [A])


def test_a_line_of_the_same_records_is_of_the_address_set_that_earlier_versions_named() -> None:
    """As in the samples of version 45d9842: its addresses are not spelt out again."""
    addresses = ["pa/errors/compliance/chat_not_found", LIMITED, "pb/errors/general/internal_error"]
    assert build_history_line(make_run(), list(map(make_result, addresses)))["address_set"] == "cb8e40f7c01d"


def test_an_endpoint_that_was_not_drawn_keeps_its_drift() -> None:
    here, there = "pa/endpoints/messages/a", "pa/endpoints/messages/b"
    lines: list[dict[str, Any]] = []
    for drawn in ((here, there), (here,), (here,), (here, there)):
        drift = make_result(A, Outcome.DRIFTED, findings=(make_finding(endpoints=(here, *drawn[1:])),))
        drift = replace(drift, not_drawn=tuple({here, there} - set(drawn)))
        lines.append(build_history_line(make_run(history=tuple(lines), run=f"r{len(lines)}"), [drift]))
    assert [line["drifts"][A].get("not_drawn") for line in lines] == [None, [there], [there], None]


def test_a_drift_on_undrawn_endpoints_keeps_its_entry() -> None:
    there = "pa/endpoints/messages/b"
    drifted = make_result(A, Outcome.DRIFTED, findings=(make_finding(endpoints=(there,)),))
    first = build_history_line(make_run(run="r1"), [drifted])
    confirmation = {"statements": "x", "never_confirmed": {"answer/type": {"first": "2026-11-17"}}}
    fine = replace(make_result(A, confirmation=confirmation), not_drawn=(there,))
    entry = build_history_line(make_run(run="r2", history=(first,)), [fine])["drifts"][A]
    before = first["drifts"][A]
    assert (entry["since"], entry["causes"]) == (before["since"], before["causes"])
    assert "first" not in entry


def test_a_drift_that_is_accounted_for_is_remembered_as_accepted() -> None:
    drifted = make_result(A, Outcome.DRIFTED, findings=(make_finding(),))
    accepted = replace(drifted, accepted_difference={"state": "accounted"})
    assert build_history_line(make_run(), [accepted])["drifts"][A]["accepted"] is True
    assert "accepted" not in build_history_line(make_run(), [drifted])["drifts"][A]


DRIFT = {"since": "2026-11-01", "differs": ["answer/status 422"], "causes": ["pa-00000000"]}


def test_a_line_that_a_kill_cut_short_does_not_swallow_the_next(tmp_path: Path) -> None:
    append_to_history(tmp_path, make_run(run="r1"), [make_result(A)])
    path = tmp_path / "live.jsonl"
    path.write_bytes(path.read_bytes() + b'{"run":"r2","tar')
    assert [line["run"] for line in load_history(tmp_path, "live")] == ["r1"]
    append_to_history(tmp_path, make_run(run="r3", started_at="2026-11-22T00:00:00Z"), [make_result(A)])
    assert [line["run"] for line in load_history(tmp_path, "live")] == ["r1", "r3"]
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    append_to_history(tmp_path, make_run(run="r4", started_at="2026-11-23T00:00:00Z"), [make_result(A)])
    assert [line["run"] for line in load_history(tmp_path, "live")] == ["r1", "r3", "r4"], "one without an end is whole"


def test_lines_are_sorted_by_run(tmp_path: Path) -> None:
    for name, started in (("b", "2026-11-22"), ("a", "2026-11-22"), ("c", "2026-11-21")):
        append_to_history(tmp_path, make_run(run=name, started_at=f"{started}T00:00:00Z"), [make_result(A)])
    assert [line["run"] for line in load_history(tmp_path, "live")] == ["c", "a", "b"]
    assert all(line["addresses"] == [A] for line in load_history(tmp_path, "live"))


def test_lines_whose_addresses_only_a_damaged_line_spelt_out_are_read_again_after_the_next_run(tmp_path: Path) -> None:
    for name in ("r1", "r2"):
        append_to_history(tmp_path, make_run(run=name), [make_result(A)])
    path = tmp_path / "live.jsonl"
    path.write_text("{}\n" + path.read_text().splitlines(keepends=True)[1])
    damaged: list[str] = []
    assert load_history(tmp_path, "live", damage_notes=damaged) == []
    assert [re.sub(r"\A.*live\.jsonl:", "", line) for line in damaged] == [
        "1: not a history line that can be read (no address_set); it is skipped",
        "2: not a history line that can be read (no other line spells out its addresses); it is skipped",
    ]
    append_to_history(tmp_path, make_run(run="r3"), [make_result(A)])
    assert [line["run"] for line in load_history(tmp_path, "live")] == ["r2", "r3"]


def test_a_line_is_ascii_and_no_wider_than_it_need_be(tmp_path: Path) -> None:
    append_to_history(
        tmp_path,
        make_run(versions={"x": "y"}),
        [make_result(A, findings=(make_finding("undocumented-header", location="é"),))],
    )
    raw = (tmp_path / "live.jsonl").read_bytes()
    assert raw.isascii()
    assert raw.endswith(b"}\n")
    assert b", " not in raw.replace(b"[", b"").split(b'"discovered"')[0]
    assert json.loads(raw)["discovered"] == ["pa undocumented-header é"]


def test_a_damaged_line_is_named_kept_and_skipped(tmp_path: Path) -> None:
    """Its neighbours are read, and a run is added: else one line would blind every night after it."""
    cases: list[tuple[Any, str]] = [
        ('{"run": "r", "address_set": "c", "started_at": "s"}', "no outcomes"),
        *(
            (field, f"no {field}")
            for field in ("schema_version", "run", "target", "started_at", "today", "address_set", "outcomes")
        ),
        ("[1]", "no address_set"),
        ("not json", "broken JSON"),
        (b"\xff\xfe", "it is not UTF-8"),
        ({"outcomes": 7}, "/outcomes: should be of type string"),
        ({"outcomes": "cc"}, "2 outcomes of 1 addresses"),
        ({"outcomes": "z"}, "an outcome that this version does not know"),
        ({"today": "2026-02-30"}, "/today: should be a day of the calendar"),
        ({"drifts": {A: {**DRIFT, "on": 3}}}, f"/drifts/{A}/on: should be of type array"),
        ({"drifts": {A: {"since": "2026-11-01"}}}, f"/drifts/{A}/differs: is missing"),
        ({"drifts": {A: {**DRIFT, "codes": []}}}, f"/drifts/{A}/codes: "),
        ({"schema_version": 2}, "/schema_version: should be no more than 1"),
    ]
    for damage, problem in cases:
        path = tmp_path / "live.jsonl"
        path.unlink(missing_ok=True)
        for name, started in (("r1", "2026-11-19"), ("r2", "2026-11-20")):
            append_to_history(tmp_path, make_run(run=name, started_at=f"{started}T00:00:00Z"), [make_result(A)])
        first, second = path.read_bytes().splitlines(keepends=True)
        sound = load_history(tmp_path, "live")[0]
        if isinstance(damage, dict):
            damage = json.dumps({**sound, "run": "bad", **damage})
        elif damage in sound:
            damage = json.dumps({name: sound[name] for name in sound if name != damage})
        raw = (damage if isinstance(damage, bytes) else damage.encode()) + b"\n"
        path.write_bytes(first + raw + second)
        damaged: list[str] = []
        assert append_to_history(tmp_path, make_run(run="r3"), [make_result(A)], damaged), damage
        [damaged_line] = damaged
        assert "live.jsonl:2: " in damaged_line, damage
        assert problem in damaged_line, damage
        assert "it is skipped" in damaged_line, damage
        assert [line["run"] for line in load_history(tmp_path, "live")] == ["r1", "r2", "r3"], damage
        assert path.read_bytes().startswith(first + raw + second), damage


def test_of_many_damaged_lines_some_are_named_and_all_are_counted(tmp_path: Path) -> None:
    (tmp_path / "live.jsonl").write_text("{}\n" * 4000)
    damaged: list[str] = []
    assert load_shown_history(tmp_path, "live", damage_notes=damaged) == (None, ())
    assert damaged[MAX_DAMAGE_NOTES:] == ["3990 more damaged lines of the history are skipped"]


def test_an_unreadable_history_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "live.jsonl").mkdir()
    with pytest.raises(EvidenceError, match=r"live\.jsonl: cannot be read \(Is a directory\); check the path"):
        load_history(tmp_path, "live")


def test_a_link_in_place_of_a_history_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("")
    (tmp_path / "live.jsonl").symlink_to(elsewhere)
    with pytest.raises(EvidenceError, match="it is a link, and a link is not followed"):
        append_to_history(tmp_path, make_run(), [make_result(A)])
    assert elsewhere.read_text() == ""
