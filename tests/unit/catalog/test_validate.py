"""Checks of a catalog: each finds its mistake, with location and remedy."""

from __future__ import annotations

import json
import shlex
import shutil
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from catalog_probe.catalog.check.fixing import fix_records
from catalog_probe.catalog.check.validate import check_catalog, first_problem, first_problem_of_run
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.store import RECORDS, Catalog, family_file
from catalog_probe.catalog.model import Address, Json, Record
from catalog_probe.catalog.model.errors import display_path
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.writeback.planner import Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.writing import format_record_file
from tests.unit.catalog.catalog_factories import (
    ENDPOINT_ADDRESS,
    ERROR_ADDRESS,
    LIMITS_ADDRESS,
    SECOND_ERROR_ADDRESS,
    make_record,
    make_sighting,
    make_small_catalog,
    write_catalog,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


A_KEY = "sk-ant-api03-" + "Qx7Rt5Vb8Nc1Zp4Ws6"
"""Has the form of a key, and is none."""


def write_changed_catalog(root: Path, address: str, **fields: object) -> Path:
    """A small catalog with one record changed."""
    content = make_small_catalog()
    at = Address.parse(address)
    content[str(family_file(root, at).relative_to(root))][at.slug].update(fields)
    return write_catalog(root, content)


def test_a_good_catalog_has_no_problems(tmp_path: Path) -> None:
    assert check_catalog(write_catalog(tmp_path), shipped=True) == []


def test_an_invalid_schema_of_a_provider_folder_is_a_problem(tmp_path: Path) -> None:
    home = provider_folders.ProviderFolder(tmp_path)
    shutil.copytree(provider_folders.SHIPPED.manifests, home.manifests)
    shutil.copytree(provider_folders.SHIPPED.schemas, home.schemas)
    file = home.schemas / "error.json"
    schema = json.loads(file.read_text())
    file.write_text(json.dumps({**schema, "type": "no type"}))
    (schema_problem,) = [
        str(problem) for problem in check_catalog(write_catalog(home.records)) if "JSON Schema" in problem.message
    ]
    assert schema["$id"] in schema_problem
    assert "$.type: is no JSON Schema 2020-12: " in schema_problem


def test_each_mistake_in_a_record_is_a_problem(tmp_path: Path) -> None:
    cases: list[tuple[str, dict[str, Any], str, str, str]] = [
        (ERROR_ADDRESS, {"provider": "PB"}, "$.provider", "is in the folder of pa", "move the record"),
        (ERROR_ADDRESS, {"provider": "PX"}, "$.provider", '"PX" is none of PA, PB, PC, PD', ""),
        (ERROR_ADDRESS, {"stauts": []}, "$", "'stauts' is no field here", "did you mean status?"),
        (ERROR_ADDRESS, {"name": 5}, "$.name", "is 5", "write a string"),
        (ERROR_ADDRESS, {"retryable": []}, "$.retryable", "is []", "write true or false or a string or null"),
        (ERROR_ADDRESS, {"name": ""}, "$.name", "is too short", "give at least 1"),
        (ERROR_ADDRESS, {"category": "ratelimit"}, "$.category", "is none of", "did you mean rate_limit?"),
        (ERROR_ADDRESS, {"status": ["DOCUMENTD"]}, "$.status[0]", "is none of", "did you mean DOCUMENTED?"),
        (ERROR_ADDRESS, {"status": []}, "$.status", "is too short", "give at least 1"),
        (ERROR_ADDRESS, {"status": ["BETA", "BETA"]}, "$.status", "repeats an item", "name each item once"),
        (
            ERROR_ADDRESS,
            {"observed": {"verified_at": "2026-13-01"}},
            "$.observed.verified_at",
            "is no date",
            "YYYY-MM-DD",
        ),
        (ERROR_ADDRESS, {"observed": {"verified_at": "9999-01-01"}}, "$.observed.verified_at", "is after today", "day"),
        (ERROR_ADDRESS, {"note": f"asked with {A_KEY}"}, "$.note", "looks like a credential", "revoke it"),
        (
            ERROR_ADDRESS,
            {"example": {"error": [{"api_key": "9f3a71c04b2e"}]}},
            "$.example.error.*.api_key",
            "looks",
            "",
        ),
        (ERROR_ADDRESS, {"live_messages": [f"No {A_KEY}."]}, "$.live_messages.*", "looks like a credential", ""),
        (ENDPOINT_ADDRESS, {"response": {"feilds": {}}}, "$.response", "is no field here", "fields?"),
        (ERROR_ADDRESS, {"http_status": "42 9"}, "$.http_status", "has the wrong form", ""),
        (ERROR_ADDRESS, {"source": "somewhere"}, "$.source", '"somewhere" is none of the allowed forms', ""),
        (ERROR_ADDRESS, {"http_status": 9}, "$.http_status", "9", ""),
        (ERROR_ADDRESS, {"endpoints": ["x"]}, "$.endpoints[0]", "is no address", "pa/endpoints/<family>/<slug>"),
        (
            ERROR_ADDRESS,
            {"endpoints": ["pa/endpoints/messages/create_mesage"]},
            "$.endpoints[0]",
            "no record has the address",
            f"did you mean {ENDPOINT_ADDRESS}?",
        ),
        (ERROR_ADDRESS, {"endpoints": [SECOND_ERROR_ADDRESS]}, "$.endpoints[0]", "is none of pa/endpoints", ""),
        (ERROR_ADDRESS, {"surface": "pap"}, "$.surface", "'pap' has no envelope schema", "did you mean pa"),
        (
            ENDPOINT_ADDRESS,
            {"streaming": {"protocol": "sse", "events": [], "terminal": None, "surface": "pa_straem"}},
            "$.streaming.surface",
            "'pa_straem' has no envelope schema",
            "did you mean pa_stream",
        ),
        (
            ERROR_ADDRESS,
            {"message_pattern": {"pattern": "(", "source": "2:7.3#429"}},
            "$.message_pattern",
            "does not compile",
            "correct the regular expression",
        ),
        (ERROR_ADDRESS, {"status": ["LIVE_VERIFIED", "UNVERIFIED"]}, "$.status", "exclude each other", "keep the one"),
        (ERROR_ADDRESS, {"status": ["LIVE_VERIFIED"]}, "$.status", "needs the date", "add the date"),
        (
            LIMITS_ADDRESS,
            {"status": ["LIVE_VERIFIED"], "retrieved_at": "2026-11-20"},
            "$.status",
            "needs the date",
            "add the date",
        ),
        (ERROR_ADDRESS, {"status": None}, "$.status", "is null", "write a list"),
        (ERROR_ADDRESS, {"pinned": True}, "$", "'pinned_reason' is missing", "add 'pinned_reason'"),
        (
            ENDPOINT_ADDRESS,
            {
                "auth": {
                    "header": "x-api-key",
                    "scheme": "api_key",
                    "roles": ["inference"],
                    "scopes": [],
                    "missing": None,
                    "wrong": "pa/errors/general/rate_limit_eror",
                }
            },
            "$.auth.wrong",
            "no record has the address",
            f"did you mean {ERROR_ADDRESS}?",
        ),
        (
            ENDPOINT_ADDRESS,
            {"request": {"rules": [{"label": "a", "rule": "b", "answer": "pa/errors/general/none"}]}},
            "$.request.rules[0].answer",
            "no record has the address",
            "",
        ),
        (
            ENDPOINT_ADDRESS,
            {"request": {"rules": [{"label": "a", "rule": "b", "answer": "success", "or": "pa/errors/general/none"}]}},
            "$.request.rules[0].or",
            "no record has the address",
            "",
        ),
        (ENDPOINT_ADDRESS, {"method": "FETCH"}, "$.method", "is none of GET, POST", ""),
        (
            ENDPOINT_ADDRESS,
            {"response": {"status": 200, "headers": {"a": {"rule": "present"}}, "fields": {}}},
            "$.response.headers.a",
            "'source' is missing",
            "add 'source'",
        ),
    ]
    for address, fields, path, message, mend in cases:
        problems = check_catalog(write_changed_catalog(tmp_path, address, **fields))

        lines = [str(problem) for problem in problems]
        problems = [
            problem
            for problem in problems
            if problem.json_path == path and message in problem.message and mend in problem.mend
        ]
        assert problems, lines
        assert all("\n" not in line and len(line) < 600 for line in lines), (address, fields)


def test_a_missing_field_is_a_problem(tmp_path: Path) -> None:
    content = make_small_catalog()
    del content["pa/errors/general.json"]["rate_limit_error"]["source"]
    [problem] = check_catalog(write_catalog(tmp_path, content))

    assert problem.address == ERROR_ADDRESS
    assert (problem.message, problem.mend) == ("'source' is missing", "add 'source'")


def test_a_file_not_in_canonical_form_is_a_problem_and_fixed(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    file = root / "pa" / "errors" / "general.json"
    content = make_small_catalog()["pa/errors/general.json"]
    file.write_text(json.dumps({slug: dict(reversed(data.items())) for slug, data in content.items()}))

    [problem] = check_catalog(root)
    assert problem.file == file
    assert problem.mend == f"run `catalog-probe check --catalog {shlex.quote(str(root))} --fix`"
    assert fix_records(root) == [f"{display_path(file)}: put in canonical form"]
    assert check_catalog(root) == []
    assert fix_records(root) == []


def test_problems_of_content_come_before_the_one_line_about_form(tmp_path: Path) -> None:
    content = make_small_catalog()
    del content["pa/rate_limits.json"]["messages"]["provider"]
    root = write_catalog(tmp_path, content)
    files = sorted(root.rglob("*.json"))
    for file in files:
        file.write_text(json.dumps(json.loads(file.read_text())))

    *faults, form = check_catalog(root)
    assert {problem.file for problem in faults} == {root / "pa" / "rate_limits.json"}
    assert form.file == files[0]
    assert form.message == f"is not in canonical form, and {len(files) - 1} more files are not"
    assert first_problem(root).startswith(str(faults[0]))


def test_selected_records_are_probed_in_another_form_and_not_with_faults(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    file = root / "pa" / "errors" / "general.json"
    file.write_text(json.dumps(json.loads(file.read_text())))
    catalog = Catalog.load(root)
    assert first_problem_of_run(catalog, map(str, catalog)) == ""
    assert [problem.is_form for problem in check_catalog(root)] == [True], "it is told still"

    records = json.loads(file.read_text())
    del records["rate_limit_error"]["source"]
    file.write_text(json.dumps(records))
    catalog = Catalog.load(root)
    assert first_problem_of_run(catalog, [ERROR_ADDRESS]).endswith("'source' is missing; add 'source'")
    assert first_problem_of_run(catalog, [SECOND_ERROR_ADDRESS]) == ""


def test_a_record_that_names_a_malformed_one_does_not_hide_its_problem(tmp_path: Path) -> None:
    content = make_small_catalog()
    auth = {"header": "x-api-key", "scheme": "api_key", "roles": ["inference"], "scopes": [], "wrong": None}
    content["pa/endpoints/messages.json"]["create_message"]["auth"] = {**auth, "missing": ERROR_ADDRESS}
    assert check_catalog(write_catalog(tmp_path, content)) == []

    content["pa/errors/general.json"]["rate_limit_error"]["response_headers"] = {"request-id": "always"}
    root = write_catalog(tmp_path, content)
    problems = check_catalog(root)
    assert {problem.address for problem in problems} == {ERROR_ADDRESS}
    assert first_problem_of_run(Catalog.load(root), [ENDPOINT_ADDRESS]).startswith(str(problems[0]))


ODD: tuple[Json, ...] = (
    *(None, True, -1, 10**30, 1.5, "", "words", "42 9", "429 or 503", "4xx\n", "answer/status\n", "x" * 5000),
    *("\0\x1b[31m", "\u202eabc", "\ud800", "\u0661\u0662", "pa/errors/a/b", [], [[]], [None], ["words"], {}, {"": ""}),
    *({"answer/status\n": "x"}, {"protocol": "sse", "events": [], "terminal": None, "close_code": []}),
)
"""Values that are put in the place of others: of another type, odd, long, or almost right."""


def list_places(value: Json, place: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """List the place of each value in a record: `("auth", "scopes", 0)`."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [inner for name, member in members for inner in ((*place, name), *list_places(member, (*place, name)))]


def mutate(data: Mapping[str, Json], draw: st.DataObject) -> dict[str, Json]:
    """Return a record with one value replaced, removed or doubled, or with its name changed."""
    mutated: dict[str, Json] = json.loads(json.dumps(data))
    parents: list[str | int]
    last: Any
    *parents, last = draw.draw(st.sampled_from(list_places(mutated)))
    parent: Any = mutated
    for name in parents:
        parent = parent[name]
    value: Any = parent.pop(last)
    change = draw.draw(st.sampled_from(["replace", "remove", "double", "rename"]))
    if change != "remove" and isinstance(last, int):
        parent.insert(last, draw.draw(st.sampled_from(ODD)) if change == "replace" else [value, value])
    elif change == "replace":
        parent[last] = draw.draw(st.sampled_from(ODD))
    elif change == "double":
        parent[last] = value * 2 if isinstance(value, str | list) else [value, value]
    elif change == "rename":
        parent[draw.draw(st.sampled_from(["\n", "", "*/*", "answer/status\n", "\ud800"]))] = value
    return mutated


SHIPPED_RECORDS = Catalog.load(RECORDS)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.sampled_from(SHIPPED_RECORDS.records), st.data())
def test_a_mutated_record_is_refused_in_a_line_or_accepted(record: Record, draw: st.DataObject) -> None:
    mutated = Record(record.address, mutate(record.data, draw))
    records = [mutated if other.address == record.address else other for other in SHIPPED_RECORDS.records]
    files = {other.address: SHIPPED_RECORDS.file_of(other.address) for other in records}
    named = json.dumps(record.data)
    neighbours = [str(other.address) for other in records if f'"{other.address}"' in named][:3]

    line = first_problem_of_run(Catalog(RECORDS, records, files), [*neighbours, str(record.address)])
    file = display_path(SHIPPED_RECORDS.file_of(record.address))
    assert line == "" or (line.startswith(f"{file}: {record.address}: $") and "\n" not in line)
    format_record_file({record.address.slug: mutated.data}, record.kind)


def test_a_missing_nullable_field_is_added_as_null(tmp_path: Path) -> None:
    content = make_small_catalog()
    record = content["pa/errors/general.json"]["rate_limit_error"]
    empty = [name for name, value in record.items() if value is None]
    assert empty
    content["pa/errors/general.json"]["rate_limit_error"] = {
        name: value for name, value in record.items() if name not in (*empty, "source")
    }
    root = write_catalog(tmp_path, content)
    assert {problem.message for problem in check_catalog(root)} == {
        f"{name!r} is missing" for name in (*empty, "source")
    }

    fixes = fix_records(root)
    assert f"{ERROR_ADDRESS}: {', '.join(sorted(empty, key=list(record).index))} became null" in fixes
    (problem,) = check_catalog(root)
    assert problem.message == "'source' is missing", "what has to be said is never made up"


def test_a_file_that_cannot_be_read_does_not_make_its_neighbours_wrong(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    (root / "pa" / "endpoints" / "messages.json").write_text("{")

    [problem] = check_catalog(root)
    assert "is not JSON" in problem.message


def test_evidence_from_a_mock_is_refused_in_shipped_records_only(tmp_path: Path) -> None:
    none: dict[str, Record] = {}
    record_assertions = assertions(make_record(), none.__getitem__)
    plan = plan_patch(
        make_record(),
        [make_sighting(live=False, target="mock")],
        UpdatePolicy(),
        make_sighting().day,
        record_assertions,
    )
    assert isinstance(plan, Patch)
    content = make_small_catalog()
    content["pa/errors/general.json"]["rate_limit_error"] = dict(plan.record.data)
    root = write_catalog(tmp_path, content)

    assert check_catalog(root, shipped=False) == []
    [problem] = check_catalog(root, shipped=True)
    assert "evidence from a mock (mock)" in problem.message


def test_discoveries_are_checked_too(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    (root / "pa" / "discovered.json").write_text('{\n  "header/x-new": {}\n}\n')

    assert {problem.message for problem in check_catalog(root)} >= {"'status' is missing", "'records' is missing"}
