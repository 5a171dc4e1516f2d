"""A results file larger than memory should hold is read as any other; attempts are looked up when they are wanted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog.evidence import results_file
from catalog.evidence.deferred import Later, Took, Written, in_writing, took
from catalog.evidence.results import json_of
from catalog.evidence.results_file import ResultsWriter, read_run
from catalog.model import Attempt, Exchange, Reason, Request, Response
from catalog.model.exchange import Event
from reports import build
from tests.unit.reports import sample
from tests.unit.reports.making import answer, exchange, result, run

if TYPE_CHECKING:
    import pytest

    from catalog.model import Json

VIEWS = ("report.html", "summary.md", "junit.xml")


def written(folder: Path) -> Path:
    sample.write(folder, *sample.some())
    return folder / "results.jsonl"


def test_what_is_read_later_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path)
    at_once = read_run(path)
    monkeypatch.setattr(results_file, "IN_MEMORY", 0)
    later = read_run(path)
    assert {type(each.attempts) for each in later[1]} == {Later}
    assert later == at_once
    assert [each.to_json() for each in later[1]] == [each.to_json() for each in at_once[1]]
    first = next(each for each in later[1] if len(each.attempts))
    assert first.attempts[0] == first.attempts[:1][0] == next(iter(first.attempts))


def test_how_long_they_took_is_known_without_reading_them_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path)
    at_once = read_run(path)[1]
    monkeypatch.setattr(results_file, "IN_MEMORY", 0)
    later = read_run(path)[1]
    path.unlink()
    assert [took(each.attempts) for each in later] == [took(each.attempts) for each in at_once]
    assert sum(took(each.attempts).elapsed_ms for each in later) > 0
    assert any(took(each.attempts).answered_ms for each in later)


def test_only_what_was_answered_took_time_to_answer() -> None:
    request, answer, lost = Request("GET", "/"), Response(200), Reason("read-timeout")
    answered = Exchange("answer", request, answer, elapsed_ms=7.0)
    failed = Exchange("answer", request, None, lost, elapsed_ms=9.0)
    attempts = (Attempt("", 20.0, (answered, failed)), Attempt("", 5.0, (failed,)))
    assert took(attempts) == Took(25.0, (7.0,))
    in_writing = json.loads(json_of(attempts))
    assert Took.as_written(in_writing) == took(attempts)
    del in_writing[0]["exchanges"][0]["elapsed_ms"]
    assert Took.as_written(in_writing) == Took(25.0, (0.0,))


def test_attempts_are_no_other_sequence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path)
    monkeypatch.setattr(results_file, "IN_MEMORY", 0)
    one: object = next(each.attempts for each in read_run(path)[1] if len(each.attempts))
    assert isinstance(one, Later)
    assert one == tuple(one)
    for other in ((), [*one, *one], len(one)):
        assert one != other


def test_views_are_the_same_byte_for_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path)
    build.build(tmp_path)
    at_once = [(tmp_path / name).read_bytes() for name in VIEWS]
    monkeypatch.setattr(results_file, "IN_MEMORY", 0)
    build.build(tmp_path)
    assert [(tmp_path / name).read_bytes() for name in VIEWS] == at_once
    build.build_merged([tmp_path], tmp_path / "merged")
    merged = read_run(tmp_path / "merged" / "results.jsonl")[1]
    assert merged == sorted(read_run(tmp_path / "results.jsonl")[1], key=lambda each: each.record)


def line_of(folder: Path, data: Mapping[str, Json]) -> bytes:
    file = folder / "line.jsonl"
    with ResultsWriter(file, run()) as writer:
        writer.append(data)
    return file.read_bytes().splitlines()[1]


def test_attempts_in_writing_are_the_same_and_make_the_same_line(tmp_path: Path) -> None:
    odd = answer(500, "api_error", "é \ud83d")
    events = (Event("delta", {"text": "\ud83d", "list": (1, 2)}, 3.5), Event("sent", None, sent=True))
    headers = MappingProxyType({"content-type": "text/event-stream"})
    streamed = exchange(response=replace(odd, events=events, headers=headers))
    attempts = (Attempt("2026-11-21T04:05:00Z", 40.0, (exchange(response=odd), streamed)),)
    of_sample = [each for each in sample.some()[1] if each.attempts]
    assert of_sample
    for each in (result("pa/errors/general/api_error", attempts=attempts), *of_sample):
        put = replace(each, attempts=Written(each.attempts))
        assert len(put.attempts) == len(each.attempts)
        assert [attempt.at for attempt in put.attempts] == [attempt.at for attempt in each.attempts]
        assert (
            line_of(tmp_path, in_writing(put)) == line_of(tmp_path, each.to_json()) == line_of(tmp_path, put.to_json())
        )
        assert line_of(tmp_path, in_writing(each)) == line_of(tmp_path, each.to_json())


def test_a_result_in_writing_is_the_result(tmp_path: Path) -> None:
    for each in read_run(written(tmp_path))[1]:
        assert replace(each, attempts=Written(each.attempts)) == each
        assert Written(each.attempts) != (*each.attempts, None)
