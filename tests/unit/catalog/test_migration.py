"""What an earlier version wrote is understood as it is, and migrated it says the same in today's words.

The samples were written by the code of 45d9842: two nights on three records, their ledger and their history.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog.__main__ import main
from catalog.evidence import changes, past
from catalog.evidence.changes import Change
from catalog.evidence.results_file import read_run
from catalog.model import Finding, LedgerState, Outcome, Tag
from catalog.model.assertion import Assertion, Basis, Key
from catalog.reading.store import RECORDS, Catalog
from catalog.writeback import ledger
from catalog.writeback.ledger import Entry
from catalog.writeback.migration import covered
from catalog.writeback.planner import Policy
from catalog.writeback.update import update
from catalog.writeback.writing import write_contents
from reports import build, history
from tests.harness.checkouts import as_checkout, copied

if TYPE_CHECKING:
    from catalog.evidence.results import Result, Run
    from catalog.model.json_value import Json

SAMPLES = Path(__file__).parent / "samples"
LIMITED, GONE = "pa/errors/general/rate_limit", "pa/errors/compliance/chat_not_found"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a copy of the samples, in which the test runs."""
    shutil.copytree(SAMPLES, tmp_path / "kept")
    as_checkout(tmp_path / "kept", monkeypatch)
    return tmp_path / "kept"


def migrate(*args: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["migrate", "--ledger", "divergences.json", "--history", "history", *args]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


def texts(folder: Path) -> dict[str, str]:
    files = [each for each in sorted(folder.rglob("*")) if each.is_file() and ".cache" not in each.parts]
    return {str(each.relative_to(folder)): each.read_text(encoding="utf-8") for each in files}


def test_a_ledger_and_a_history_are_migrated_once(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = texts(kept)
    told = "2 accepted divergences {0} say which assertions they cover, 4 remembered drifts {0} say how they differ\n"
    assert migrate("night1", "night2", "--dry-run", capsys=capsys) == told.format("would")
    assert texts(kept) == before

    assert migrate("night1", "night2", capsys=capsys) == told.format("now")
    assert {entry.address: entry.assertions for entry in ledger.load(Path("divergences.json"))} == {
        GONE: ("answer/type",),
        LIMITED: ("answer/status", "answer/header:retry-after"),
    }
    assert [line["drifts"] for line in history.load(Path("history"), "live")] == [
        {
            GONE: {"since": "2026-11-18", "codes": ["type-differs type"], "differs": ["answer/type not_found"]},
            LIMITED: {
                "since": "2026-11-18",
                "codes": ["header-missing retry-after"],
                "differs": ["answer/header:retry-after absent"],
            },
        }
    ] * 2

    after = texts(kept)
    assert migrate("night1", "night2", capsys=capsys) == "nothing to migrate\n"
    assert texts(kept) == after


def test_a_night_without_results_keeps_its_codes_and_can_be_named_later(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = migrate("night1", capsys=capsys)
    assert one.endswith(
        ", 2 remembered drifts now say how they differ; 2 keep only codes: name the runs that saw them\n"
    )
    assert migrate("night2", capsys=capsys) == "2 remembered drifts now say how they differ\n"


def test_what_a_migration_does_not_speak_of_stays_to_the_letter(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def without_differs(line: str) -> Json:
        row = json.loads(line)
        return {**row, "drifts": {at: {**each, "differs": None} for at, each in row["drifts"].items()}}

    before = (kept / "history" / "live.jsonl").read_text(encoding="utf-8").splitlines()
    results = texts(kept / "night1") | texts(kept / "night2")
    migrate("night1", "night2", capsys=capsys)
    after = (kept / "history" / "live.jsonl").read_text(encoding="utf-8").splitlines()
    assert list(map(without_differs, after)) == list(map(without_differs, before))
    assert texts(kept / "night1") | texts(kept / "night2") == results


def test_what_cannot_be_migrated_stays_beside_what_can(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entries = json.loads((kept / "divergences.json").read_text(encoding="utf-8"))
    unknown = {**entries[0], "address": "pa/errors/compliance/nobody_knows"}
    (kept / "divergences.json").write_text(json.dumps([*entries, unknown]), encoding="utf-8")
    file = kept / "history" / "live.jsonl"
    first, second = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    first["drifts"][GONE]["differs"] = ["answer/type by hand"]
    del second["run"]
    file.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n", encoding="utf-8")

    assert migrate("night1", "night2", capsys=capsys) == (
        "2 accepted divergences now say which assertions they cover, 1 remembered drift now say how they differ; "
        "2 keep only codes: name the runs that saw them\n"
    )
    assert {entry.address: bool(entry.assertions) for entry in ledger.load(Path("divergences.json"))} == {
        GONE: True,
        LIMITED: True,
        unknown["address"]: False,
    }
    kept_now = json.loads(file.read_text(encoding="utf-8").splitlines()[0])["drifts"]
    assert kept_now[GONE]["differs"] == ["answer/type by hand"]
    assert kept_now[LIMITED]["differs"] == ["answer/header:retry-after absent"]


def test_without_a_ledger_the_history_alone_is_migrated(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (kept / "divergences.json").unlink()
    assert migrate("night1", "night2", capsys=capsys) == "4 remembered drifts now say how they differ\n"
    assert not (kept / "divergences.json").exists()


def test_a_history_stays_in_ascii_as_it_was_written(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = kept / "history" / "live.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace('"seen":["', '"seen":["\\u00e9 '), encoding="utf-8")
    migrate("night1", "night2", capsys=capsys)
    assert '"differs"' in file.read_text(encoding="ascii")
    assert '"seen":["\\u00e9 ' in file.read_text(encoding="ascii")


@pytest.mark.parametrize(
    ("name", "text"),
    [("divergences.json", '[{"address": 1}]'), ("history/live.jsonl", "[1]\n")],
    ids=["ledger", "history"],
)
def test_what_cannot_be_read_is_left_alone(
    kept: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    (kept / "divergences.json").unlink()
    (kept / name).write_text(text, encoding="utf-8")
    before = texts(kept)
    assert main(["migrate", "--ledger", "divergences.json", "--history", "history", "night1"]) == 4
    assert name in capsys.readouterr().err
    assert texts(kept) == before


def tonight() -> tuple[Run, list[Result]]:
    """The night after the samples, on which everything is as it was; today's findings name their assertions."""

    def today(finding: Finding) -> Finding:
        within = "header:retry-after" if finding.at == "retry-after" else str(finding.aspect)
        return replace(finding, assertion=f"answer/{within}")

    run, results = read_run(Path("night2/results.jsonl"))
    previous, rows = history.shown(Path("history"), "live")
    now = replace(run, run="tonight", today="2026-11-20", previous_run=previous, history=rows)
    return now, [replace(each, findings=tuple(map(today, each.findings))) for each in results]


@pytest.mark.parametrize("migrated", [False, True])
def test_nothing_is_new_the_night_after(migrated: bool, capsys: pytest.CaptureFixture[str]) -> None:
    if migrated:
        migrate("night1", "night2", capsys=capsys)
    run, results = tonight()
    rows = past.rows(run)
    found = {each.record: changes.change(each, past.before(each.record, rows)) for each in results}
    assert (found[LIMITED], found[GONE]) == (Change.ONGOING, Change.ONGOING)

    entries = ledger.load(Path("divergences.json"))
    for each in results:
        if each.outcome is Outcome.DRIFTED:
            entry = ledger.entry_for(entries, each.record, "live")
            standing = ledger.judge_against_ledger(entry, each.outcome, each.findings, date(2026, 11, 20))
            assert standing is not None
            assert standing.state == LedgerState.ACCOUNTED
            keys = [drift.assertion for drift in each.drifts]
            assert entry is not None
            assert ({*keys} <= {*entry.assertions}) is migrated


def test_a_drift_in_another_way_is_told_as_different_once_migrated(capsys: pytest.CaptureFixture[str]) -> None:
    migrate("night1", "night2", capsys=capsys)
    run, results = tonight()
    other = next(each for each in results if each.record == GONE)
    drift = replace(other.drifts[0], observed="gone_error")
    rows = past.before(GONE, past.rows(run))
    assert changes.change(replace(other, findings=(drift,)), rows) is Change.DIFFERENT


def test_results_of_an_earlier_version_make_a_report(kept: Path) -> None:
    build.build(kept / "night2")
    assert GONE in (kept / "night2" / "report.html").read_text(encoding="utf-8")
    assert "rate_limit" in (kept / "night2" / "summary.md").read_text(encoding="utf-8")


def test_results_of_an_earlier_version_update_the_records_that_they_speak_of(kept: Path) -> None:
    """Records that state the same, though they hold a retired field no longer; those that were edited since stay."""
    run, results = read_run(kept / "night2" / "results.jsonl")
    probed = next(each for each in results if each.record == GONE).probed_record
    root = kept / "records"
    copied(RECORDS, root)
    now = Catalog.load(root)
    file = now.file_of(GONE)
    family = {each.address.slug: dict(each.data) for each in now.records if now.file_of(each.address) == file}
    stated = {name: value for name, value in probed.data.items() if name != "indistinguishable_from"}
    write_contents(root, {file: {**family, probed.address.slug: stated}})

    update([(run, results)], into=root, policy=Policy(), today=date(2026, 11, 20))

    after = Catalog.load(root)
    assert Tag.UNVERIFIED in after[GONE].tags
    assert after[GONE].data["evidence"]["seen"][GONE]["differs"] == {"answer/type": "not_found"}
    changed = [each for each in after.records if each.data != now[each.address].data]
    assert [str(each.address) for each in changed] == [GONE]


MADE = {
    key: Assertion(LIMITED, Key.parse(key), documented, Basis.DOCUMENTED)
    for key, documented in {
        "answer/status": 429,
        "answer/status:/error/code": 429,
        "answer/grpc": 8,
        "answer/code": "a",
        "other/header:retry-after": "integer",
        "answer/header:x-ratelimit-*": "integer",
        "answer/body": "pa",
        "answer/body:/error/details": "absent",
        "answer/relation:equals:other": "the same body",
        "answer/event:done": "done",
        "answer/order": ["a", "b"],
        "answer/order:last": "done",
        "answer/close:code": 1008,
        "answer/state": "read-timeout",
    }.items()
}


@pytest.mark.parametrize(
    "aspect, keys",
    [
        ("status", ["answer/status", "answer/grpc"]),
        ("code", ["answer/status:/error/code", "answer/code"]),
        ("header:retry-after", ["other/header:retry-after"]),
        ("header:x-ratelimit-limit-tokens", ["answer/header:x-ratelimit-*"]),
        ("header", ["other/header:retry-after", "answer/header:x-ratelimit-*"]),
        ("body", ["answer/body", "answer/body:/error/details", "answer/relation:equals:other"]),
        ("body:/error/details", ["answer/body:/error/details"]),
        ("body:$.error", ["answer/body"]),
        ("body:other", ["answer/relation:equals:other"]),
        ("event", ["answer/event:done", "answer/order", "answer/order:last"]),
        ("event:done", ["answer/event:done", "answer/order:last"]),
        ("close", ["answer/close:code"]),
        ("state", ["answer/state"]),
        ("message", []),
    ],
)
def test_an_accepted_aspect_covers_the_assertions_that_were_told_by_it(aspect: str, keys: list[str]) -> None:
    entry = Entry(LIMITED, "live", (aspect,), "known", "2026-11-18", "2027-02-18")
    assert list(covered(entry, MADE.values())) == keys
