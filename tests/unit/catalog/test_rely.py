"""`can-i-rely`: the dependencies of a rely.toml, judged by the evidence of records."""

from __future__ import annotations

import json
import re
import shutil
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import Record
from catalog_probe.catalog.model.record import EVIDENCE_VERSION
from catalog_probe.catalog.observed.cells import statements_digest
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.rely.evaluation import DependencyResult, DependencyStatus, combine, evaluate_dependencies
from catalog_probe.catalog.rely.rely_file import MAX_AGE_DAYS, Dependency, RelyFile, read_rely_file
from catalog_probe.catalog.text.wildcard import matches_wildcard
from catalog_probe.catalog.writeback.planner import UpdatePolicy
from catalog_probe.cli.main import main
from catalog_probe.probes.planning.rotation import ROUND_DAYS
from tests.harness.engines import catalog as shipped

TODAY = date(2026, 11, 30)
RATE_LIMIT, OVERLOADED = "pa/errors/general/rate_limit", "pa/errors/general/overloaded"
CREATE, COUNT = "pa/endpoints/messages/create_message", "pa/endpoints/messages/count_tokens"
BATCH = "pa/endpoints/batches/create_batch"
STATUS, RETRY = "answer/status", "answer/header:retry-after"
RETRIES = Dependency((RATE_LIMIT,), (STATUS, RETRY))
FRESH = {"on": "2026-11-20"}
DIFFERING = {"on": "2026-11-20", "mismatched": {STATUS: "503"}}
OLD = {"on": "2026-01-01"}


def add_evidence(address: str, **lines: dict[str, Any]) -> Record:
    """A shipped record with evidence: a line an endpoint, `create` and `count` for short."""
    record = shipped()[address]
    record_assertions = assertions(record, shipped().__getitem__)
    endpoints = {"create": CREATE, "count": COUNT}
    block = {
        "schema_version": EVIDENCE_VERSION,
        "statements": statements_digest(record_assertions),
        "endpoints": {endpoints[name]: line for name, line in lines.items()},
    }
    return Record(record.address, {**record.data, "evidence": block})


def evaluate(dependency: Dependency, *records: Record, max_age_days: int = MAX_AGE_DAYS) -> DependencyResult:
    changed = {record.address: record for record in records}
    catalog = Catalog(Path(), [changed.get(record.address, record) for record in shipped().records])
    [result] = evaluate_dependencies(RelyFile((dependency,), max_age_days), catalog, TODAY)
    return result


def test_a_matched_dependency_holds() -> None:
    result = evaluate(RETRIES, add_evidence(RATE_LIMIT, create=FRESH))
    assert (result.answer, result.records, result.assertions) == (DependencyStatus.YES, 1, 2)


def test_a_mismatched_dependency_does_not_hold() -> None:
    result = evaluate(
        RETRIES, add_evidence(RATE_LIMIT, create=FRESH, count={"on": "2026-11-21", "mismatched": {RETRY: "absent"}})
    )
    assert result.answer is DependencyStatus.NO
    [differing] = result.differing
    assert (differing.assertion.id, differing.endpoint, differing.mismatch) == (
        f"{RATE_LIMIT}#{RETRY}",
        COUNT,
        "absent",
    )
    assert differing.on == date(2026, 11, 21)


def test_a_difference_in_another_assertion_or_on_another_endpoint_does_not_count() -> None:
    other_assertion = add_evidence(
        RATE_LIMIT, create={"on": "2026-11-20", "mismatched": {"answer/header:request-id": "absent"}}
    )
    assert evaluate(RETRIES, other_assertion).answer is DependencyStatus.YES
    on_another = add_evidence(RATE_LIMIT, create=FRESH, count={"on": "2026-11-20", "mismatched": {RETRY: "absent"}})
    assert evaluate(Dependency((RATE_LIMIT,), (RETRY,), (CREATE,)), on_another).answer is DependencyStatus.YES


def test_an_unobserved_dependency_is_unknown() -> None:
    assert evaluate(RETRIES).answer is DependencyStatus.UNKNOWN
    partly = evaluate(
        RETRIES, add_evidence(RATE_LIMIT, create={"on": "2026-11-20", "not_observed": {RETRY: "2026-09-01"}})
    )
    assert partly.answer is DependencyStatus.UNKNOWN
    [not_observed] = partly.not_observed
    assert (not_observed.assertion.id, not_observed.endpoint, not_observed.on) == (
        f"{RATE_LIMIT}#{RETRY}",
        "",
        date(2026, 9, 1),
    )


def test_an_observation_of_a_mock_is_no_evidence() -> None:
    record = add_evidence(RATE_LIMIT, create=FRESH)
    note = "conforms, seen on {} in run r at 2026-11-20T00:00:00Z"
    for target, answer in (
        ("live", DependencyStatus.YES),
        ("mock", DependencyStatus.UNKNOWN),
        ("gateway:proxy", DependencyStatus.UNKNOWN),
    ):
        block = {"verified_at": "2026-11-20", "note": note.format(target)}
        own = Record(record.address, {**record.data, "observed": block})
        assert evaluate(RETRIES, own).answer is answer, target


def test_an_observation_counts_for_so_many_days() -> None:
    last = TODAY - timedelta(days=MAX_AGE_DAYS)
    assert evaluate(RETRIES, add_evidence(RATE_LIMIT, create={"on": last.isoformat()})).answer is DependencyStatus.YES
    older = (last - timedelta(days=1)).isoformat()
    assert evaluate(RETRIES, add_evidence(RATE_LIMIT, create={"on": older})).answer is DependencyStatus.UNKNOWN
    assert (
        evaluate(RETRIES, add_evidence(RATE_LIMIT, create={"on": older}), max_age_days=60).answer
        is DependencyStatus.YES
    )


def test_where_endpoints_are_named_it_has_to_hold_on_each() -> None:
    both = Dependency((RATE_LIMIT,), (RETRY,), ("pa/endpoints/messages/*",))
    result = evaluate(both, add_evidence(RATE_LIMIT, create=FRESH))
    assert result.answer is DependencyStatus.UNKNOWN
    assert [(cell.endpoint, cell.on) for cell in result.not_observed] == [(COUNT, None)]
    assert evaluate(both, add_evidence(RATE_LIMIT, create=FRESH, count=FRESH)).answer is DependencyStatus.YES
    differing = evaluate(both, add_evidence(RATE_LIMIT, count={"on": "2026-11-20", "mismatched": {RETRY: "absent"}}))
    assert [cell.endpoint for cell in differing.differing] == [COUNT]
    assert [cell.endpoint for cell in differing.not_observed] == [CREATE]


def test_one_matched_endpoint_is_enough() -> None:
    never = {"on": "2026-11-20", "not_observed": {RETRY: None}}
    assert evaluate(RETRIES, add_evidence(RATE_LIMIT, create=never, count=FRESH)).answer is DependencyStatus.YES
    assert evaluate(RETRIES, add_evidence(RATE_LIMIT, create=never)).answer is DependencyStatus.UNKNOWN


def test_the_default_age_covers_a_rotation_and_a_renewal() -> None:
    assert ROUND_DAYS + UpdatePolicy().refresh_after == MAX_AGE_DAYS


def test_evidence_for_other_statements_says_nothing() -> None:
    record = add_evidence(RATE_LIMIT, create=FRESH)
    edited = Record(record.address, {**record.data, "http_status": 430})
    assert evaluate(RETRIES, edited).answer is DependencyStatus.UNKNOWN


def test_a_star_matches_documented_and_a_written_key_also_assumed_assertions() -> None:
    record_assertions = assertions(shipped()[CREATE], shipped().__getitem__)
    assumed = next(
        str(assertion.key) for assertion in record_assertions if assertion.assumed and assertion.key.label == "success"
    )
    every = evaluate(Dependency((CREATE,), ("success/*",)))
    assert every.not_observed
    assert assumed not in {str(cell.assertion.key) for cell in every.not_observed}
    differing = add_evidence(CREATE, create={"on": "2026-11-20", "mismatched": {assumed: "x"}})
    assert evaluate(Dependency((CREATE,), (assumed,)), differing).answer is DependencyStatus.NO


def test_a_star_matches_assumed_assertions_if_none_is_documented() -> None:
    stream = "pb/endpoints/generation/stream_generate_content_v1beta"
    record_assertions = assertions(shipped()[stream], shipped().__getitem__)
    assert all(assertion.assumed for assertion in record_assertions if assertion.key.label == "success")
    assert evaluate(Dependency((stream,), ("success/*",))).not_observed


def test_an_out_of_reach_dependency_is_unknown_until_observed() -> None:
    overloaded = Dependency((OVERLOADED,), ("answer/*",))
    assert evaluate(overloaded).answer is DependencyStatus.UNKNOWN
    assert evaluate(overloaded, add_evidence(OVERLOADED, create=FRESH)).answer is DependencyStatus.YES


@pytest.mark.parametrize(
    ("keys", "endpoints", "records"),
    [
        ((STATUS,), (), [OVERLOADED, RATE_LIMIT]),
        ((RETRY,), (), [RATE_LIMIT]),
        (("*/status",), (), [CREATE, OVERLOADED, RATE_LIMIT]),
        (("*/status",), (CREATE,), [CREATE, OVERLOADED, RATE_LIMIT]),
        (("*/status",), (BATCH,), [OVERLOADED, RATE_LIMIT]),
        ((RETRY,), (BATCH,), [RATE_LIMIT]),
    ],
)
def test_a_record_that_states_nothing_of_it_or_occurs_on_no_such_endpoint_is_left_out(
    keys: tuple[str, ...], endpoints: tuple[str, ...], records: list[str]
) -> None:
    result = evaluate(Dependency((RATE_LIMIT, OVERLOADED, CREATE), keys, endpoints))
    assert sorted({cell.assertion.address for cell in result.not_observed}) == records


@given(st.lists(st.sampled_from(DependencyStatus), min_size=1))
def test_one_no_is_no_and_a_yes_needs_all(answers: list[DependencyStatus]) -> None:
    expected = (
        DependencyStatus.NO
        if DependencyStatus.NO in answers
        else DependencyStatus.UNKNOWN
        if DependencyStatus.UNKNOWN in answers
        else DependencyStatus.YES
    )
    assert combine(answers) is expected


# --- patterns


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (RATE_LIMIT, RATE_LIMIT, True),
        ("pa/*", RATE_LIMIT, True),
        ("*/rate_limit", RATE_LIMIT, True),
        ("pa/errors/*/rate*", RATE_LIMIT, True),
        ("pa/errors/*/rat", RATE_LIMIT, False),
        ("pb/*", RATE_LIMIT, False),
        ("answer/body:/data/*/id", "answer/body:/data/*/id", True),
        ("answer/body:/data/*", "answer/body:/data/*/id", True),
        ("a.c", "abc", False),
    ],
)
def test_a_star_matches_anything(pattern: str, text: str, expected: bool) -> None:
    assert matches_wildcard(pattern, text) is expected


@given(st.text(max_size=20))
def test_a_text_fits_itself_and_a_star_every_one(text: str) -> None:
    assert matches_wildcard(text, text)
    assert matches_wildcard("*", text)


# --- the file and the command


def rely_toml(folder: Path, text: str = f'[[rely]]\non = ["{RATE_LIMIT}"]\nassertions = ["{STATUS}"]\n') -> str:
    path = folder / "rely.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_missing_fields_of_the_file_have_defaults(tmp_path: Path) -> None:
    path = Path(rely_toml(tmp_path, '[[rely]]\non = ["pa/*"]\n'))
    assert read_rely_file(path) == RelyFile((Dependency(("pa/*",), ("*/*",), (), ""),), 35, path)
    rely_toml(tmp_path, 'max_age_days = 5\n[[rely]]\non = ["a", "b"]\nendpoints = ["e"]\nwhy = "w"\n')
    assert read_rely_file(path) == RelyFile((Dependency(("a", "b"), ("*/*",), ("e",), "w"),), 5, path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "rely.toml: 'rely' is missing"),
        ("rely = []", "rely.toml:rely: "),
        ("[[rely]]", "rely.toml:rely[0]: 'on' is missing"),
        ('[[rely]]\non = "pa/*"', "rely.toml:rely[0].on: "),
        ('[[rely]]\non = ["pa/*"]\nassertion = ["x"]', "did you mean assertions?"),
        ('max_age_days = 0\n[[rely]]\non = ["pa/*"]', "rely.toml:max_age_days: "),
        ('[[rely]]\non = ["pa/errors/general/rate_limits"]', f"did you mean {RATE_LIMIT}"),
        (
            f'[[rely]]\non = ["{RATE_LIMIT}"]\nassertions = ["answer/header:retry-afer"]',
            "assertion of these records; did",
        ),
        (f'[[rely]]\non = ["{RATE_LIMIT}"]\nendpoints = ["pb/*"]', "rely[0].endpoints: 'pb/*' names no endpoint"),
        ('[[rely]]\non = ["zz"]', "rely[0].on: 'zz' names no record; `catalog-probe catalog show` lists them\n"),
        ("[[rely", "broken TOML"),
    ],
)
def test_a_mistake_in_the_file_is_one_line_with_its_location(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["can-i-rely", rely_toml(tmp_path, text)]) == 4
    output = capsys.readouterr().err
    assert message in output
    assert output.count("\n") == 1


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["can-i-rely", "nowhere.toml"]) == 4
    assert "nowhere.toml: cannot be read (No such file or directory); name a rely.toml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "status", "lines_expected"),
    [
        (FRESH, 0, ["yes", f"  yes: {RATE_LIMIT}, 1 assertion of 1 record"]),
        (
            DIFFERING,
            1,
            [
                "no",
                f"  no: {RATE_LIMIT}, 1 assertion of 1 record",
                f"    {RATE_LIMIT}#{STATUS} on {CREATE}: stated 429, observed 503 on 2026-11-20",
            ],
        ),
        (
            OLD,
            10,
            [
                "unknown",
                f"  unknown: {RATE_LIMIT}, 1 assertion of 1 record",
                f"    {RATE_LIMIT}#{STATUS}: last seen on 2026-01-01",
            ],
        ),
    ],
)
def test_the_exit_status_is_the_answer(
    line: dict[str, Any], status: int, lines_expected: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = tmp_path / "records"
    shutil.copytree(shipped().root / "pa", records / "pa")
    file = records / "pa" / "errors" / "general.json"
    data = json.loads(file.read_text())
    data["rate_limit"] = dict(add_evidence(RATE_LIMIT, create=line).data)
    file.write_text(json.dumps(data))
    arguments = ["--catalog", str(records), "--today", TODAY.isoformat()]
    assert main(["can-i-rely", rely_toml(tmp_path), *arguments]) == status
    assert capsys.readouterr().out.splitlines() == lines_expected


def test_of_many_reasons_a_few_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["can-i-rely", rely_toml(tmp_path, '[[rely]]\non = ["pa/*"]\nwhy = "all of it"\n')]) == 10
    output = capsys.readouterr().out.splitlines()
    assert len(output) == 8
    assert "(all of it)" in output[1]
    assert re.fullmatch(r"    and \d+ more", output[-1])


def test_help_names_records_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("show", "can-i-rely", "accept", "find"):
        main([command, "--help"])
    addresses = set(re.findall(r"p[abcd]/(?:errors|endpoints)/[a-z_]+/[a-z0-9_]+", capsys.readouterr().out))
    assert addresses
    assert addresses <= {str(address) for address in shipped()}


@pytest.mark.parametrize("arguments", [["--today", "0001-01-01"], ["--today", "9999-12-31"]])
def test_no_day_is_too_far(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f'max_age_days = {"9" * 30}\n[[rely]]\non = ["{RATE_LIMIT}"]\n'
    assert main(["can-i-rely", rely_toml(tmp_path, text), *arguments]) == 10
    assert capsys.readouterr().err == ""
