"""A results file larger than memory should hold is read as any other; attempts are looked up when they are wanted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from catalog.evidence import results_file
from catalog.evidence.later import Later, Took, took
from catalog.evidence.results_file import read_run
from catalog.model import Attempt, Exchange, Reason, Request, Response
from reports import build
from tests.unit.reports import sample

if TYPE_CHECKING:
    import pytest

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
