"""results.jsonl after a kill, by its schema, and changed by others: read, or refused in one line."""

from __future__ import annotations

import json
import os
import shutil
from copy import copy
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from catalog_probe.catalog.evidence import results_file
from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.results_file import (
    RESULTS_FILE,
    EvidenceError,
    ResultsWriter,
    read_run,
    report_unusable_evidence,
)
from catalog_probe.catalog.evidence.retention import trim_attempt
from catalog_probe.catalog.files.file_formats import read_object
from catalog_probe.catalog.files.store import RECORDS, family_file
from catalog_probe.catalog.model import Attempt, Json, Outcome, Reason
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.writeback.update import read_evidence, update_records
from catalog_probe.reports import build
from tests.unit.reports import sample
from tests.unit.reports.factories import make_answer, make_exchange, make_finding, make_result, make_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Run
    from tests.harness.engines import CleanResults

RUN = make_run()
RESULTS_OF_A_RUN = (
    make_result("pa/errors/general/overloaded"),
    make_result(
        "pa/errors/general/api_error",
        attempts=[
            Attempt("2026-11-21T04:05:00Z", 40.0, (make_exchange(response=make_answer(500, "api_error", "é \ud83d")),))
        ],
    ),
    make_result("pd/errors/rate_limit/key_cap", Outcome.DRIFTED, findings=[make_finding("header-missing")]),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "results.jsonl"
    with ResultsWriter(path, RUN) as writer:
        for result in RESULTS_OF_A_RUN:
            writer.append(result.to_json())
    return path


def test_written_results_are_read_back(path: Path) -> None:
    assert read_run(path) == (RUN, [Result.from_json(result.to_json()) for result in RESULTS_OF_A_RUN])


def test_a_reason_is_read_back_with_its_advice_and_cause_and_an_older_one_without(tmp_path: Path) -> None:
    older = Reason("lane-stopped", "control-failed: GET x was answered 401; look at PA_API_KEY")
    reasons = [older, replace(older, advice="look at PA_API_KEY", cause="control-failed")]
    for reason in reasons:
        result = make_result("pa/errors/general/overloaded", Outcome.INCONCLUSIVE, reason=reason)
        assert ("advice" in result.to_json()["reason"]) is (reason is not older)
        with ResultsWriter(tmp_path / "results.jsonl", RUN) as writer:
            writer.append(result.to_json())
        assert [result.reason for result in read_run(tmp_path / "results.jsonl")[1]] == [reason]


def test_a_writer_replaces_the_file_and_makes_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / RESULTS_FILE
    for results in (RESULTS_OF_A_RUN, RESULTS_OF_A_RUN[:1]):
        with ResultsWriter(path, RUN) as writer:
            for result in results:
                writer.append(result.to_json())
        assert len(read_run(path)[1]) == len(results)
    assert path.name == "results.jsonl"
    assert not path.stat().st_mode & 0o111
    first, *result_lines = path.read_text(encoding="utf-8").splitlines()
    assert first == json.dumps(RUN.to_json(), ensure_ascii=False, separators=(",", ":"))
    assert len(result_lines) == 1


def test_a_file_is_closed_once_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed, close = list[int](), os.close

    def record_close(descriptor: int) -> None:
        closed.append(descriptor)
        close(descriptor)

    monkeypatch.setattr(os, "close", record_close)
    with ResultsWriter(tmp_path / RESULTS_FILE, RUN):
        assert closed == []
    assert len(closed) == 1


def test_only_the_lines_of_another_process_are_held_to_the_schema(path: Path) -> None:
    path.write_text(path.read_text().replace('"lane":""', '"lane":7'))
    with pytest.raises(EvidenceError, match="/lane: should be of type string"):
        read_run(path)
    lanes: list[object] = [result.lane for result in read_run(path, is_ours=True)[1]]
    assert 7 in lanes


def test_every_complete_line_of_a_cut_file_is_read(path: Path) -> None:
    """Cut at each end of a line, and within the lines; `test_json` cuts at every byte."""
    raw = path.read_bytes()
    (_, all_results), lines = read_run(path), raw.splitlines(keepends=True)
    ends = [sum(map(len, lines[:count])) for count in range(1, len(lines) + 1)]
    sizes = {0, *range(1, len(raw), 151), *(end + offset for end in ends for offset in (-2, -1, 0, 1))}
    for size in sorted(sizes & {*range(len(raw) + 1)}, reverse=True):
        os.truncate(path, size)
        # A line that lost only its line break has lost nothing.
        complete = sum(size >= end - 1 for end in ends)
        if complete == 0:
            with pytest.raises(EvidenceError, match="the first line should describe the run"):
                read_run(path)
        else:
            assert read_run(path) == (RUN, all_results[: complete - 1]), size


def test_a_report_is_built_from_a_cut_file(path: Path) -> None:
    for lost in [1, 40]:
        path.write_bytes(path.read_bytes()[:-lost])
        build.build(path.parent)
        page = (path.parent / "report.html").read_text(encoding="utf-8")
        assert str(RESULTS_OF_A_RUN[0].record) in page, lost


def test_an_unreadable_file_is_an_error_of_one_line(path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"No such file or directory; name a run's folder or its results\.jsonl$"):
        read_run(path.with_name("none"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join((*lines[:2], b"{\n", *lines[2:])))
    with pytest.raises(EvidenceError, match=rf"{path.name}:3: "):
        read_run(path)


def test_a_link_in_place_of_results_is_not_followed(path: Path) -> None:
    link, before = path.with_name("other.jsonl"), path.read_bytes()
    link.symlink_to(path)
    with pytest.raises(EvidenceError, match="it is a link, and a link is not followed"):
        read_run(link)
    with pytest.raises(OSError, match="it is a link"):
        ResultsWriter(link, RUN)
    assert path.read_bytes() == before


SCHEMA = "urn:catalog:results"


@cache
def make_validator(kind: str) -> Draft202012Validator:
    """Make a validator of the published schema with nothing of our own."""
    resource = DRAFT202012.create_resource(read_object(results_file.RESULTS_SCHEMA))
    registry: Registry[Any] = Registry().with_resource(SCHEMA, resource)
    return Draft202012Validator({"$ref": f"{SCHEMA}#/$defs/{kind}"}, registry=registry)


def format_lines(run: Run, results: Iterable[Result]) -> Iterator[tuple[str, Json]]:
    """Format each line of a file, with its kind."""
    yield results_file.RUN_LINE, json.loads(json.dumps(run.to_json()))
    for result in results:
        yield results_file.RESULT_LINE, json.loads(json.dumps(result.to_json()))


def make_trimmed_result() -> Result:
    """Make a result of which retention trimmed the body."""
    response = replace(make_answer(400, "invalid_request_error", "no"), body="x" * 100_000)
    attempt = Attempt("2026-11-21T04:05:00Z", 1.0, (make_exchange(response=response),))
    return replace(sample.make_smaller_run()[1][0], attempts=(trim_attempt(attempt, []),))


def test_every_line_of_a_large_sample_follows_the_schema() -> None:
    run, results = sample.make_smaller_run()
    run = replace(run, selected=tuple(result.record for result in results))
    for kind, line in format_lines(run, [*results, make_trimmed_result()]):
        assert results_file.describe_line_error(line, kind) == ""
        make_validator(kind).validate(line)


def test_every_line_of_a_run_on_the_mock_follows_the_schema(clean: CleanResults) -> None:
    for kind, line in format_lines(sample.make_smaller_run()[0], [*clean("pd").values()]):
        assert results_file.describe_line_error(line, kind) == ""
        make_validator(kind).validate(line)


Location = tuple[str | int, ...]


def walk_locations(value: Json, location: Location = ()) -> Iterator[Location]:
    """Yield the path of each value within a line."""
    yield location
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from walk_locations(member, (*location, name))


def make_small_run() -> tuple[Run, list[Result]]:
    """Make a run of five results that have both attempts and findings."""
    run, results = sample.make_smaller_run()
    return run, [result for result in results if result.attempts and result.findings][:5]


@cache
def make_lines() -> list[tuple[str, Json]]:
    """Make the lines of a small file, each with its kind."""
    return list(format_lines(*make_small_run()))


def list_locations() -> list[tuple[int, Location]]:
    """List each location of the file: the index of its line, and the path in it."""
    return [(number, location) for number, (_, line) in enumerate(make_lines()) for location in walk_locations(line)]


ODD_VALUES: tuple[Json, ...] = (
    *(None, "words", "", {}, [], {"a": 1}, ["words"], [{}]),
    *(3, -1, True, float("nan"), 1e308, 10**30),
)


def change_line(number: int, location: Location, value: Json, *, remove: bool) -> Json:
    """Return a line of the file with the value at one location replaced or removed."""
    line = make_lines()[number][1]
    if not location:
        return value
    changed = parent = copy(line)
    for name in location[:-1]:  # a deep copy per example is too slow: all but the path to the change is shared
        parent[name] = copy(parent[name])
        parent = parent[name]
    if remove:
        del parent[location[-1]]
    else:
        parent[location[-1]] = value
    return changed


def format_file(number: int, changed_line: Json) -> str:
    """Format the file with one line replaced."""
    lines = [line for _, line in make_lines()]
    lines[number] = changed_line
    return "".join(f"{json.dumps(line)}\n" for line in lines)


CHANGES = st.builds(
    lambda at, value, remove: (at[0], change_line(at[0], at[1], value, remove=remove)),
    st.deferred(lambda: st.sampled_from(list_locations())),
    st.sampled_from(ODD_VALUES),
    st.booleans(),
)


def test_a_number_may_be_at_its_bounds() -> None:
    cases: list[tuple[float, str]] = [(0, ""), (-0.5, "no less than 0"), (1e12, ""), (1.1e12, "no more than 1e+12")]
    for elapsed_ms, wrong in cases:
        kind, line = make_lines()[1]
        changed = {**line, "attempts": [{**attempt, "elapsed_ms": elapsed_ms} for attempt in line["attempts"]]}
        complaint = results_file.describe_line_error(changed, kind)
        assert wrong in complaint, elapsed_ms
        assert bool(wrong) == bool(complaint), elapsed_ms


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder for a run, with the record files that its results name."""
    folder = tmp_path_factory.mktemp("changed")
    for result in make_small_run()[1]:
        family = family_file(RECORDS, result.address)
        copied = folder / "records" / family.relative_to(RECORDS)
        if family.exists():  # some records of the sample are made up
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(family, copied)
    assert len(list(folder.rglob("*.json"))) > 1
    return folder


@given(change=CHANGES)
def test_a_changed_file_is_written_back_or_refused_in_one_line(folder: Path, change: tuple[int, Json]) -> None:
    (folder / "results.jsonl").write_text(format_file(*change), encoding="utf-8")
    message = ""
    try:
        update_records(read_evidence([folder]), into=folder / "records", dry_run=True)
    except (EvidenceError, CatalogError) as error:
        message = str(error)
    assert "\n" not in message


def test_a_line_of_the_wrong_shape_is_described() -> None:
    cases: list[tuple[int, Location, Json, str]] = [
        (0, (), [], "should be of type object"),
        (0, ("today",), "soon", "/today: should match"),
        (0, ("today",), "2026-02-30", "/today: should be a day of the calendar"),
        (0, ("today",), "2026-11-21\n", "/today: should be a day of the calendar"),
        (1, ("record",), "pa", "/record: should match"),
        (1, ("record",), 5, "/record: should be of type string"),
        (2, ("outcome",), "fine", "/outcome: should be one of conforms"),
        (1, ("attempts", 0, "elapsed_ms"), -1, "/attempts/0/elapsed_ms: should be no less than 0"),
        (1, ("attempts", 0, "exchanges", 0, "request"), None, "/attempts/0/exchanges/0/request: should be of type"),
        (1, ("newer",), 1, "/newer: no version knows this"),
    ]
    for number, location, value, message in cases:
        changed = change_line(number, location, value, remove=False)
        assert results_file.describe_line_error(changed, make_lines()[number][0]).startswith(message), (location, value)
    for missing in (("record",), ("findings", 0, "code")):
        message = f"/{'/'.join(map(str, missing))}: is missing"
        assert (
            results_file.describe_line_error(change_line(1, missing, None, remove=True), results_file.RESULT_LINE)
            == message
        )


def test_a_refusal_names_the_line_and_what_it_should_be(tmp_path: Path, subtests: pytest.Subtests) -> None:
    path = tmp_path / "results.jsonl"
    other_version = "has schema version {}, and this catalog-probe reads version 1; read it with the catalog-probe that"
    cases: list[tuple[int, Location, Json, str]] = [
        (0, (), [], "results.jsonl:1: the first line should describe the run: should be of type object"),
        (2, (), "words", "results.jsonl:3: not a result: should be of type object"),
        (0, ("schema_version",), None, "/schema_version: is missing; probe again to make one"),
        (0, ("schema_version",), 0, other_version.format(0)),
        (0, ("schema_version",), 2, other_version.format(2)),
    ]
    for number, location, value, message in cases:
        path.write_text(format_file(number, change_line(number, location, value, remove=value is None)))
        with subtests.test(message):
            with pytest.raises(EvidenceError) as error:
                read_run(path)
            assert message in str(error.value)
            assert len(str(error.value).splitlines()) == 1


def test_an_unforeseen_error_of_reading_is_reported(tmp_path: Path) -> None:
    message = r"results\.jsonl: it holds what cannot be told \(KeyError: 'x'\); if no line"
    with pytest.raises(EvidenceError, match=message), report_unusable_evidence(tmp_path / "results.jsonl"):
        raise KeyError("x")
    with pytest.raises(OSError, match="full"), report_unusable_evidence():
        raise OSError("full")
