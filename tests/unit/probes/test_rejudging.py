"""What an edit of records would have said of a night that is kept; what the night did not keep is never fine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from catalog.model import Outcome, Reason, Record
from catalog.model.exchange import Cut
from catalog.reading.store import Catalog
from probes.__main__ import main
from probes.traffic.rejudging import Rejudged, rejudge
from reports.__main__ import main as reports_main
from tests.harness.checkouts import copied
from tests.harness.engines import catalog
from tests.unit.probes.test_traffic_judging import CREATE, HEADERS, OVERLOADED, UNKNOWN_MODEL, error, exchanged, traffic
from tests.unit.reports import sample
from tests.unit.reports.making import run

if TYPE_CHECKING:
    from catalog.evidence.results import Result

TYPE = {"type": "overload_error"}
"""An edit of which the published answer shows that it is wrong."""

PLAIN = {"rule": "present", "source": "2:8.2#x"}


@cache
def night() -> Result:
    """A probe of ours that was answered as documented."""
    answered = exchanged(529, error("overloaded_error", "Overloaded"))
    seen = traffic(answered).result(OVERLOADED)
    attempts = tuple(
        replace(each, exchanges=tuple(replace(one, endpoint=CREATE) for one in each.exchanges))
        for each in seen.attempts
    )
    return replace(seen, elicited="request", attempts=attempts)


def blind_night() -> Result:
    return replace(
        night(), outcome=Outcome.INCONCLUSIVE, reason=Reason("read-timeout"), attempts=(), looks=(), findings=()
    )


def with_edit(address: str, change: Mapping[str, Any]) -> Catalog:
    record = catalog()[address]
    edited = Record(record.address, {**record.data, **change})
    return Catalog(catalog().root, [edited if each.address == record.address else each for each in catalog().records])


def header(name: str) -> dict[str, Any]:
    return {"response_headers": {**catalog()[OVERLOADED].data["response_headers"], name: PLAIN}}


def one(found: Iterable[Rejudged]) -> Rejudged:
    [only] = found
    return only


def test_where_nothing_is_edited_there_is_nothing_to_say() -> None:
    assert rejudge([night()], catalog()) == []
    assert rejudge([night()], with_edit(OVERLOADED, {"note": "read twice"})) == []


def test_a_wrong_edit_would_have_drifted() -> None:
    found = one(rejudge([night()], with_edit(OVERLOADED, TYPE)))
    assert (found.said.outcome, found.after.outcome) == (Outcome.CONFORMS, Outcome.DRIFTED)
    assert [each.assertion for each in found.new_drifts] == ["answer/type"]
    assert not found.gone_drifts


def test_an_edit_that_mends_a_record_takes_its_drift_away() -> None:
    probed = replace(night(), probed=with_edit(OVERLOADED, TYPE)[OVERLOADED].data)
    found = one(rejudge([probed], catalog()))
    assert [each.assertion for each in found.gone_drifts] == ["answer/type"]
    assert not found.new_drifts


def test_an_assertion_that_the_night_shows_is_looked_at_and_one_that_it_lacks_is_drift() -> None:
    there = one(rejudge([night()], with_edit(OVERLOADED, header("content-type"))))
    assert (there.after.outcome, there.new_drifts, there.unseen) == (Outcome.CONFORMS, (), ())
    absent = one(rejudge([night()], with_edit(OVERLOADED, header("x-new"))))
    assert [each.at for each in absent.new_drifts] == ["x-new"]


def test_what_was_cut_is_unseen_and_neither_drift_nor_fine() -> None:
    whole = night()
    cut = _cut(whole)
    edit = with_edit(OVERLOADED, {"fields": {"/error/region": {"type": "string"}}})
    key = "answer/body:/error/region"
    assert [each.assertion for each in one(rejudge([whole], edit)).new_drifts] == [key]
    found = one(rejudge([cut], edit))
    assert not found.new_drifts
    assert found.unseen == (key,)
    assert all(key.partition("/")[2] not in look.as_stated for look in found.after.looks)


def _cut(result: Result) -> Result:
    """The same night, whose body was too large to be kept: of it only what the record of then points at."""
    [attempt] = result.attempts
    [exchange] = attempt.exchanges
    assert exchange.response is not None
    body = exchange.response.body
    at = {"/type": "error", "/error/type": body["error"]["type"], "/error/message": body["error"]["message"]}
    at |= {"/request_id": body["request_id"]}
    response = replace(exchange.response, body='{"type":"err', cut=Cut(99_999, "0" * 64, at))
    return replace(result, attempts=(replace(attempt, exchanges=(replace(exchange, response=response),)),))


def test_a_header_is_unseen_where_not_all_of_them_were_kept() -> None:
    result = night()
    [attempt] = result.attempts
    [exchange] = attempt.exchanges
    assert exchange.response is not None
    response = replace(exchange.response, headers={**exchange.response.headers, "…": "40 more"})
    many = replace(result, attempts=(replace(attempt, exchanges=(replace(exchange, response=response),)),))
    found = one(rejudge([many], with_edit(OVERLOADED, header("x-new"))))
    assert (found.new_drifts, found.unseen) == ((), ("answer/header:x-new",))


def test_a_night_that_could_not_look_shows_nothing() -> None:
    found = one(rejudge([blind_night()], with_edit(OVERLOADED, TYPE)))
    assert not found.looked_at
    assert "answer/type" in found.unseen


def test_an_edit_of_an_error_is_judged_where_an_endpoint_s_own_rule_names_it() -> None:
    answered = exchanged(404, error("not_found_error", "model: x"))
    own = [traffic(answered).result(address) for address in (UNKNOWN_MODEL, CREATE)]
    found = rejudge(own, with_edit(UNKNOWN_MODEL, {"type": "missing_error"}))
    assert [each.record for each in found] == [UNKNOWN_MODEL]


# --- the command


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """A copy of the shipped records, with the wrong edit."""
    folder = tmp_path / "edited"
    copied(catalog().root, folder)
    file = folder / "pa" / "errors" / "general.json"
    data = json.loads(file.read_text())
    data["overloaded"].update(TYPE)
    file.write_text(json.dumps(data))
    return folder


def test_nights_are_told_in_their_order(tmp_path: Path, edited: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [
        str(sample.write(tmp_path / name, run(run=name, today=day, selected=None), [night()]))
        for name, day in (("r2", "2026-11-21"), ("r1", "2026-11-20"))
    ]
    assert reports_main(["rejudge", *runs, "--catalog", str(edited)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2026-11-20 r1: 1 edited record"
    assert lines[1:3] == [
        f"  {OVERLOADED}: said conforms, would say drifted",
        "  would differ: answer: type: documented overload_error, observed overloaded_error",
    ]
    assert lines[3] == "2026-11-21 r2: 1 edited record"
    assert lines[-1].startswith("2 nights, 2 verdicts: 2 would drift, 0 would drift no more")


@pytest.mark.parametrize(("against", "status"), [(False, 1), (True, 0)])
def test_only_what_differs_from_other_records_counts(
    tmp_path: Path, edited: Path, against: bool, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(sample.write(tmp_path / "r1", run(run="r1"), [night()]))
    options = ["--against", str(edited)] if against else []
    assert main(["rejudge", folder, "--catalog", str(edited), *options]) == status
    assert ("none of their records was edited since" in capsys.readouterr().out) is against


def test_nights_that_show_nothing_of_an_edit_are_blind(
    tmp_path: Path, edited: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(sample.write(tmp_path / "r1", run(run="r1"), [blind_night()]))
    assert main(["rejudge", folder, "--catalog", str(edited)]) == 10
    assert "inconclusive (read-timeout); no exchange shows anything of it" in capsys.readouterr().out


def test_records_that_are_removed_or_renamed_are_named(
    tmp_path: Path, edited: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = edited / "pa" / "errors" / "general.json"
    data = json.loads(file.read_text())
    data["another_name"] = data.pop("overloaded")
    file.write_text(json.dumps(data))
    other = traffic(exchanged(404, error("not_found_error", "model: x"))).result(UNKNOWN_MODEL)
    folder = str(sample.write(tmp_path / "r1", run(run="r1", selected=None), [night(), other]))
    main(["rejudge", folder, "--catalog", str(edited)])
    said = capsys.readouterr().out
    assert f"not among these records any more, removed or under another address: {OVERLOADED}\n" in said


def test_records_of_somebody_else_are_no_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "others" / "pb" / "errors").mkdir(parents=True)
    shutil.copy(catalog().root / "pb" / "errors" / "quota.json", tmp_path / "others" / "pb" / "errors")
    folder = str(sample.write(tmp_path / "r1", run(run="r1", selected=None), [night()]))
    assert main(["rejudge", folder, "--catalog", str(tmp_path / "others")]) == 4
    assert "1 record of 1 night, and none is among these records; name with --catalog" in capsys.readouterr().err


def test_a_run_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rejudge", "nowhere"]) == 4
    assert capsys.readouterr().err.count("\n") == 1


def test_the_canary_of_a_recording_is_told_nowhere(
    tmp_path: Path, edited: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(sample.write(tmp_path / "r1", run(run="r1"), [night()]))
    main(["rejudge", folder, "--catalog", str(edited)])
    told = capsys.readouterr().out
    assert "canary" not in told
    assert HEADERS["pa-organization-id"] not in told
