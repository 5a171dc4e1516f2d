"""A results file that somebody changed is told in one line, wherever it was changed; and its schema is the truth."""

from __future__ import annotations

import json
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

from catalog_probe.catalog.evidence import results_schema
from catalog_probe.catalog.evidence.results_file import EvidenceError, read_run, report_unusable_evidence
from catalog_probe.catalog.evidence.retention import trim_attempt
from catalog_probe.catalog.files.store import RECORDS, family_file
from catalog_probe.catalog.files.strict_json import read_object
from catalog_probe.catalog.model import Attempt, Json
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.writeback.update import read_evidence, update_records
from catalog_probe.reports import build
from tests.unit.reports import sample
from tests.unit.reports.factories import make_answer, make_exchange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result, Run
    from tests.harness.engines import CleanResults

SCHEMA = "urn:catalog:results"


@cache
def validator(kind: str) -> Draft202012Validator:
    """The published schema as anybody else would read it."""
    resource = DRAFT202012.create_resource(read_object(results_schema.SCHEMA))
    registry: Registry[Any] = Registry().with_resource(SCHEMA, resource)
    return Draft202012Validator({"$ref": f"{SCHEMA}#/$defs/{kind}"}, registry=registry)


def lines(described: Run, results: Iterable[Result]) -> Iterator[tuple[str, Json]]:
    """Each line with its kind, as it stands in the file."""
    yield results_schema.RUN, json.loads(json.dumps(described.to_json()))
    for each in results:
        yield results_schema.RESULT, json.loads(json.dumps(each.to_json()))


def large() -> Result:
    """A result of which not all was kept."""
    response = replace(make_answer(400, "invalid_request_error", "no"), body="x" * 100_000)
    attempt = Attempt("2026-11-21T04:05:00Z", 1.0, (make_exchange(response=response),))
    return replace(sample.make_smaller_run()[1][0], attempts=(trim_attempt(attempt, []),))


def test_every_line_of_a_large_sample_follows_the_schema() -> None:
    described, results = sample.make_smaller_run()
    selected = replace(described, selected=tuple(each.record for each in results))
    for kind, line in lines(selected, [*results, large()]):
        assert results_schema.describe_error(line, kind) == ""
        validator(kind).validate(line)


def test_every_line_of_a_run_on_the_mock_follows_the_schema(clean: CleanResults) -> None:
    for kind, line in lines(sample.make_smaller_run()[0], [*clean("pa").values(), *clean("pb").values()]):
        assert results_schema.describe_error(line, kind) == ""
        validator(kind).validate(line)


Place = tuple[str | int, ...]


def places(value: Json, at: Place = ()) -> Iterator[Place]:
    """The path of each value within a line."""
    yield at
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from places(member, (*at, name))


def some_special() -> tuple[Run, list[Result]]:
    """The sample with the first of its results that have most to be changed."""
    described, results = sample.make_smaller_run()
    return described, [each for each in results if each.attempts and each.findings][:5]


@cache
def file() -> list[tuple[str, Json]]:
    """The lines of a small file."""
    return list(lines(*some_special()))


def all_places() -> list[tuple[int, Place]]:
    """Each place of the file: the number of its line, and where in it."""
    return [(number, place) for number, (_, line) in enumerate(file()) for place in places(line)]


ODD: tuple[Json, ...] = (None, "words", "", {}, [], {"a": 1}, ["words"], [{}], 3, -1, True, float("nan"), 1e308, 10**30)


def changed(number: int, place: Place, odd: Json, *, gone: bool) -> Json:
    """One of the file's lines with one value something else, or gone."""
    line = file()[number][1]
    if not place:
        return odd
    made = within = copy(line)
    for name in place[:-1]:  # what the change lies in is copied, all else shared
        within[name] = copy(within[name])
        within = within[name]
    if gone:
        del within[place[-1]]
    else:
        within[place[-1]] = odd
    return made


def text_with(number: int, line: Json) -> str:
    """The file with one line in place of its own."""
    made = [line if at == number else own for at, (_, own) in enumerate(file())]
    return "".join(f"{json.dumps(each)}\n" for each in made)


changes = st.builds(
    lambda at, odd, gone: (at[0], changed(at[0], at[1], odd, gone=gone)),
    st.deferred(lambda: st.sampled_from(all_places())),
    st.sampled_from(ODD),
    st.booleans(),
)


@pytest.mark.parametrize(
    ("elapsed_ms", "wrong"), [(0, ""), (-0.5, "no less than 0"), (1e12, ""), (1.1e12, "no more than 1e+12")]
)
def test_a_number_may_be_at_its_bounds(elapsed_ms: float, wrong: str) -> None:
    kind, whole = file()[1]
    line = {**whole, "attempts": [{**each, "elapsed_ms": elapsed_ms} for each in whole["attempts"]]}
    assert wrong in results_schema.describe_error(line, kind)
    assert bool(wrong) == bool(results_schema.describe_error(line, kind))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's folder, and the families of its records, which each example reads."""
    made = tmp_path_factory.mktemp("changed")
    for each in some_special()[1]:
        family = family_file(RECORDS, each.address)
        to = made / "records" / family.relative_to(RECORDS)
        if family.exists():  # some of the sample's are made up
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(family, to)
    assert len(list(made.rglob("*.json"))) > 1
    return made


@given(change=changes)
def test_a_changed_file_never_ends_a_command_otherwise_than_in_one_line(folder: Path, change: tuple[int, Json]) -> None:
    (folder / "results.jsonl").write_text(text_with(*change), encoding="utf-8")
    for command in (
        lambda: build.build(folder),
        lambda: update_records(read_evidence([folder]), into=folder / "records", dry_run=True),
    ):
        said = ""
        try:
            command()
        except (EvidenceError, CatalogError) as error:
            said = str(error)
        assert "\n" not in said


@pytest.mark.parametrize(
    ("number", "place", "odd", "said"),
    [
        (0, (), [], "results.jsonl:1: the first line should describe the run: should be of type object"),
        (0, ("today",), "soon", "results.jsonl:1: the first line should describe the run: /today: should match"),
        (0, ("today",), "2026-02-30", "/today: should be a day of the calendar"),
        (1, (), "words", "results.jsonl:2: not a result: should be of type object"),
        (1, ("record",), "pa", "results.jsonl:2: not a result: /record: should match"),
        (1, ("record",), 5, "results.jsonl:2: not a result: /record: should be of type string"),
        (0, ("today",), "2026-11-21\n", "/today: should be a day of the calendar"),
        (2, ("outcome",), "fine", "results.jsonl:3: not a result: /outcome: should be one of conforms"),
        (1, ("attempts", 0, "elapsed_ms"), -1, "/attempts/0/elapsed_ms: should be no less than 0"),
        (1, ("attempts", 0, "exchanges", 0, "request"), None, "/attempts/0/exchanges/0/request: should be of type"),
        (1, ("newer",), 1, "/newer: no version knows this"),
    ],
)
def test_a_line_of_the_wrong_shape_is_named(tmp_path: Path, number: int, place: Place, odd: Json, said: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(text_with(number, changed(number, place, odd, gone=False)))
    with pytest.raises(EvidenceError) as error:
        read_run(path)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("place", "said"), [(("record",), "/record: is missing"), (("findings", 0, "code"), "/findings/0/code: is missing")]
)
def test_what_is_missing_is_named(place: Place, said: str) -> None:
    assert results_schema.describe_error(changed(1, place, None, gone=True), results_schema.RESULT) == said


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (None, r"/schema_version: is missing; probe again to make one"),
        (0, r"has schema version 0, and this catalog-probe reads version 1; read it with the catalog-probe that wrote"),
        (2, r"has schema version 2, and this catalog-probe reads version 1; read it with the catalog-probe that wrote"),
    ],
)
def test_a_file_of_another_version_is_refused_in_one_line(tmp_path: Path, version: int | None, message: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(text_with(0, changed(0, ("schema_version",), version, gone=version is None)))
    with pytest.raises(EvidenceError, match=message) as error:
        read_run(path)
    assert len(str(error.value).splitlines()) == 1


def test_what_no_shape_foresees_is_told_too(tmp_path: Path) -> None:
    said = r"results\.jsonl: it holds what cannot be told \(KeyError: 'x'\); if no line"
    with pytest.raises(EvidenceError, match=said), report_unusable_evidence(tmp_path / "results.jsonl"):
        raise KeyError("x")
    with pytest.raises(OSError, match="full"), report_unusable_evidence():
        raise OSError("full")
