"""Records against facts, two readings of the same documents, both ways.

Each value of an error record is stated by a fact or marked as assumed, each stated value is in a record, and each row
has a record.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.files.schemas import envelope_id, schemas
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.reading.facts import Fact, load_fact_checks
from catalog_probe.catalog.reading.record_fields import retry_advice
from tests.contract.catalog.stated_values import FORMS, UNLESS_STATED, StatedFacts, StatedValue, stated_facts
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.facts import FactChecks

VALUE_ASPECTS = {"status": "http_status", "type": "type", "code": "code"}
"""Aspect of an assertion -> the field of an error record that it comes from."""

ASIDES: Mapping[str, frozenset[str]] = {
    # a chat that its user deleted is not 404; the activity of a deletion is beside the 404 of what it deleted
    "pa/errors/compliance_outcomes/user_deleted_chat_readable": frozenset({"2:7.2#chat_not_found"}),
    "pa/errors/compliance_outcomes/chat_deleted_activity": frozenset({"2:7.2#chat_not_found"}),
    "pa/errors/compliance_outcomes/file_deleted_activity": frozenset({"2:7.2#file_not_found"}),
    "pa/errors/compliance_outcomes/project_deleted_activity": frozenset({"2:7.2#project_not_found"}),
    # "429 is retryable, except the spend cap"
    "pa/errors/general/spend_cap": frozenset({"2:7.3#429 rate_limit_error"}),
    # the row's type is that of the event, which carries the error
    "pa/errors/stream/overloaded": frozenset({"1:6#stream error event"}),
    "pc/errors/websocket/connection_limit_reached": frozenset({"1:6#stream error event"}),
    "pc/errors/websocket/previous_response_not_found": frozenset({"1:6#stream error event"}),
    # the row's status is that of the 403, which may also arrive mid-stream
    "pc/errors/stream/cyber_policy": frozenset({"2:7.5#cyber_policy"}),
    # the row of the HTTP status that the mapping names says whether to retry; its type and code are those of HTTP
    "pd/errors/grpc/invalid_argument": frozenset({"2:7.6#400 invalid-argument"}),
    "pd/errors/grpc/unauthenticated": frozenset({"2:7.6#401 unauthenticated"}),
    "pd/errors/grpc/permission_denied": frozenset({"2:7.6#403 forbidden"}),
    "pd/errors/grpc/not_found": frozenset({"2:7.6#404 not-found"}),
    "pd/errors/grpc/resource_exhausted": frozenset({"2:7.6#429 too-many-requests"}),
    "pd/errors/grpc/internal": frozenset({"2:7.6#500 server fault"}),
}
"""Error record -> rows that it cites and whose values belong to another answer."""

ALSO_ABOUT: Mapping[str, str] = {
    "pa/errors/compliance/write_refused": "2:7.3#400 invalid_request_error",
    "pa/errors/stream/overloaded": "2:7.3#529 temporary overload",
    "pc/errors/not_found/call": "2:7.5#404 resource lookup",
    "pc/errors/not_found/coded_resource": "2:7.5#404 resource lookup",
    "pc/errors/not_found/fine_tune": "2:7.5#404 resource lookup",
    "pc/errors/not_found/safety_alert": "2:7.5#404 resource lookup",
    "pc/errors/websocket/response_already_completed": "2:7.5#type unless stated",
}
"""Error record -> a row that states something of it, though it does not cite the row."""

EXCEPTIONS = {
    ("pc/errors/stream/cyber_policy", "retryable"): False,  # the row of the 403 says it; that of the event does not
}
"""Error record and field -> a value that no row of the record states."""

ABOUT_THE_CATALOG = re.compile(r"2:9#catalog .*|2:7\.2#api_family|1:4#path templates")
"""Rows that no record cites, for they say what a catalog is."""

OF_NO_RECORD = {
    "pa-2.7.1-error_envelope-1",  # the envelope's own type
    "pb-2.7.4-400-invalid_argument-2",  # each record of the status has a more specific condition
}
"""Facts that state a value of all errors, and of no record."""

SECTIONS_WITH_RECORDS = re.compile(r"1:[346](\.\d)?|2:[789](\.\d)?")
"""Sections about endpoints, errors and limits; 1:1, 1:2 and 1:5 describe what these share."""

CATALOG = catalog()
ERRORS = CATALOG.select(kind="errors")
SUCCESS_STATUSES = {101, 200}


@cache
def checks(provider: str) -> FactChecks:
    return load_fact_checks(provider, CATALOG)


@cache
def facts_by_assertion(provider: str) -> Mapping[str, Sequence[Fact]]:
    """Id of an assertion -> the facts that name it."""
    facts: dict[str, list[Fact]] = {}
    for fact in checks(provider).facts:
        for assertion in checks(provider).assertions_for(fact):
            facts.setdefault(assertion.id, []).append(fact)
    return facts


def value_assertions(record: Record) -> list[Assertion]:
    """The assertions about status, type and code of a record's answers."""
    of_record = assertions(record, CATALOG.__getitem__)
    return [
        assertion for assertion in of_record if assertion.key.aspect in VALUE_ASPECTS and not assertion.key.location
    ]


def cited_rows(record: Record) -> list[str]:
    """The rows among a record's sources; the others are pages."""
    return [source for source in record.sources if re.match(r"\d:", source)]


def rows_cited_anywhere(record: Record) -> Iterator[str]:
    """Every row that a record cites: as its source, in a rule or a pattern, or through the envelope of its surface."""
    yield from cited_rows(record)
    yield from _nested_sources({name: value for name, value in record.data.items() if name != "source"})
    yield from schemas()[envelope_id(record.surface)]["x-source"] if record.surface else ()


def _nested_sources(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            if name in ("source", "action_source") and isinstance(member, str):
                yield from member.split("; ")
            elif name == "sources_of":
                yield from (row for rows in member.values() for row in rows.split("; "))
            else:
                yield from _nested_sources(member)
    elif isinstance(value, list):
        for item in value:
            yield from _nested_sources(item)


def values_by_closeness(record: Record, facts: StatedFacts) -> Iterator[list[StatedValue]]:
    """Yield the values that facts state of an error record: its own rows first, defaults last."""
    address = str(record.address)
    rows = [row for row in cited_rows(record) if row not in ASIDES.get(address, ())]
    if address in ALSO_ABOUT:
        rows.append(ALSO_ABOUT[address])
    own = [value for row in rows for value in facts.values_by_row[row]]
    yield [value for value in own if value.subject != UNLESS_STATED]
    if not has_status_of_stream(record) or record.surface == "pd_grpc":
        # "402 is not retryable" holds for every row of its section that gives 402
        subjects = {str(record.data[field]) for field in VALUE_ASPECTS.values() if record.data[field] is not None}
        if record.surface == "pd_grpc":
            subjects.add(str(manifest(record.provider).grpc[record.data["stream"]["grpc_status"]]))
        sections = {row.partition("#")[0] for row in rows}
        yield [value for section in sections for value in facts.values_by_section[section] if value.subject in subjects]
        naming_facts = facts_by_assertion(record.provider)
        naming_rows = {
            fact.citation for assertion in value_assertions(record) for fact in naming_facts.get(assertion.id, ())
        }
        yield [value for row in sorted(naming_rows) for value in facts.values_by_row[row]]
    yield [value for value in own if value.subject == UNLESS_STATED]


def has_status_of_stream(record: Record) -> bool:
    """Whether the error arrives in a stream: after 200, 101 or over gRPC, whatever status its row names."""
    return record.data.get("stream") is not None


def closest_values(record: Record, field: str, facts: StatedFacts) -> list[StatedValue]:
    """Return what the closest facts to an error record state of one of its fields."""
    levels = ([value for value in level if value.field == field] for level in values_by_closeness(record, facts))
    return next(filter(None, levels), [])


def recorded_values(record: Record, field: str) -> set[Any]:
    """The values of a field; a status may be several, as `502/503`."""
    value = record.data[field]
    if field == "http_status" and value is not None:
        return set(str(value).split("/"))
    return {value}


def is_assumed(record: Record, field: str) -> bool:
    return any(
        VALUE_ASPECTS[assertion.key.aspect] == field and assertion.basis is not Basis.DOCUMENTED
        for assertion in value_assertions(record)
    )


def differences(record: Record, facts: StatedFacts) -> list[str]:
    """List the differences between a record and the facts, one line each."""
    if record.kind == "endpoints":
        return [*_unknown_rows(record, facts), *_endpoint_differences(record)]
    if record.kind == "errors":
        return [*_unknown_rows(record, facts), *_error_differences(record, facts)]
    return list(_unknown_rows(record, facts))


def _unknown_rows(record: Record, facts: StatedFacts) -> Iterator[str]:
    yield from (f"{row} is no row" for row in dict.fromkeys(rows_cited_anywhere(record)) if row not in facts.by_row)


def _error_differences(record: Record, facts: StatedFacts) -> Iterator[str]:
    for field in FORMS:
        if field == "http_status" and has_status_of_stream(record):
            continue
        if (str(record.address), field) in EXCEPTIONS:
            continue
        stated_values = closest_values(record, field, facts)
        recorded = recorded_values(record, field)
        if recorded != ({stated.value for stated in stated_values} or {None}) and not is_assumed(record, field):
            ids = ", ".join(stated.fact.id for stated in stated_values) or "no fact"
            yield f"{field} is {record.data[field]!r}, and {ids} states {[stated.value for stated in stated_values]}"


def _endpoint_differences(record: Record) -> Iterator[str]:
    own_rows = [row for row in cited_rows(record) if row.startswith("1:4.")]
    labels_with_path = [row.partition("#")[2] for row in own_rows if " /" in row]
    method = "any" if record.data["method"] == "*" else record.data["method"]
    path = record.data["path"]
    if labels_with_path and f"{method} {path}" not in labels_with_path:
        yield f"{method} {path} is none of {labels_with_path}"
    if not own_rows and not {"ask/path", "success/status"} <= record.data["assumed"].keys():
        yield "no row shows its path, and path and status are not marked as assumed"
    if not own_rows and any(row.endswith(f" {path}") for row in stated_facts(record.provider).by_row):
        yield f"a row shows {path}, and it cites none"


def unstated_values(record: Record) -> Iterator[str]:
    """Documented statuses, types and codes that no fact states, and those of which a fact states another value."""
    facts = stated_facts(record.provider)
    naming_facts = facts_by_assertion(record.provider)
    of_record = assertions(record, CATALOG.__getitem__)
    stream_labels = {assertion.key.label for assertion in of_record if assertion.key.aspect in {"event", "close"}}
    for assertion in value_assertions(record):
        documented = assertion.documented
        if assertion.basis is not Basis.DOCUMENTED or documented is None:
            continue
        field = VALUE_ASPECTS[assertion.key.aspect]
        values = {value.value for value in _values_stated_by(naming_facts.get(assertion.id, ()), field)}
        if record.kind == "errors" and values and str(documented) not in values:
            yield f"{assertion.key} is {documented!r}, and the facts that name it state {sorted(map(str, values))}"
        # the protocol of a stream implies its status
        if assertion.key.label in stream_labels and documented in SUCCESS_STATUSES:
            continue
        rows = assertion.source.split("; ")
        of_rows = {value.value for row in rows for value in facts.values_by_row[row]}
        in_words = any(re.search(rf"\b{re.escape(str(documented))}\b", facts.words_of_row(row)) for row in rows)
        if not in_words and str(documented) not in of_rows:
            yield f"{assertion.key} is {documented!r}, which none of {rows} states"


def _values_stated_by(facts: Iterable[Fact], field: str) -> Iterator[StatedValue]:
    ids = {fact.id for fact in facts}
    for fact in facts:
        values = stated_facts(fact.id.partition("-")[0]).values_by_row[fact.citation]
        yield from (value for value in values if value.field == field and value.fact.id in ids)


def test_a_record_agrees_with_its_facts() -> None:
    for provider in providers():
        records = CATALOG.select(provider)
        assert [str(record.address) for record in records if not cited_rows(record)] == [], provider
        problems = {str(record.address): differences(record, stated_facts(provider)) for record in records}
        assert {address: lines for address, lines in problems.items() if lines} == {}, provider


def test_each_documented_value_is_stated_by_a_fact() -> None:
    for provider in providers():
        problems = {str(record.address): list(unstated_values(record)) for record in CATALOG.select(provider)}
        assert {address: lines for address, lines in problems.items() if lines} == {}, provider


def used_values(provider: str, facts: StatedFacts) -> set[tuple[str, str]]:
    """Id of the fact and field, for all stated values that an error record is compared with."""
    records = CATALOG.select(provider, "errors")
    stated = (value for record in records for field in FORMS for value in closest_values(record, field, facts))
    return {(value.fact.id, value.field) for value in stated}


def test_each_stated_value_is_in_a_record() -> None:
    for provider in providers():
        facts = stated_facts(provider)
        used = used_values(provider, facts)
        stated = [value for row, values in facts.values_by_row.items() if row.startswith("2:7.") for value in values]
        assert stated, provider
        assert {value.fact.id for value in stated if (value.fact.id, value.field) not in used} <= OF_NO_RECORD, provider


def test_each_row_has_a_record() -> None:
    """A record cites it, an assertion names one of its facts, or a record is compared with a value that it states."""
    for provider in providers():
        facts = stated_facts(provider)
        cited = {row for record in CATALOG.select(provider) for row in rows_cited_anywhere(record)}
        named = {fact.citation for fact in checks(provider).facts if checks(provider).assertions_for(fact)}
        compared_ids = {fact_id for fact_id, _ in used_values(provider, facts)}
        compared = {fact.citation for fact in facts.facts if fact.id in compared_ids}
        rows = [row for row in facts.by_row if SECTIONS_WITH_RECORDS.fullmatch(row.partition("#")[0])]
        assert rows, provider
        assert [
            row for row in rows if row not in cited | named | compared and not ABOUT_THE_CATALOG.fullmatch(row)
        ] == [], provider


def missing_clauses(record: Record) -> list[str]:
    """List the clauses of a documented action that its row does not have: `Poll.` -> `poll` in `On 202: poll`."""
    advice = retry_advice(record)
    words = " ".join(map(stated_facts(record.provider).words_of_row, advice.action_source.split("; ")))
    row = re.sub(r"\bthe ", "", words).casefold()
    clauses = re.split(r"[,;.] ?| and | or ", re.sub(r"\bthe ", "", f"{advice.action} ").casefold())
    return [clause for clause in map(str.strip, clauses) if clause not in row]


def test_a_documented_action_occurs_in_its_row() -> None:
    documented = [record for record in ERRORS if "action_source" in record.data]
    assert documented
    problems = {str(record.address): missing_clauses(record) for record in documented}
    assert {address: clauses for address, clauses in problems.items() if clauses} == {}
    changed = change_record(documented[0], recommended_action="Use another key.")
    assert missing_clauses(changed) == ["use another key"]


@pytest.mark.parametrize("slug", ["api_key_deleted", "remote_session_deleted", "remote_session_out_of_scope"])
def test_a_row_that_gives_an_action_is_not_overruled(slug: str) -> None:
    record = CATALOG[f"pa/errors/compliance/{slug}"]
    assert record.data["action_source"] == cited_rows(record)[0]


def addresses_not_caught(records: Iterable[Record]) -> list[str]:
    return [str(record.address) for record in records if not differences(record, stated_facts(record.provider))]


def change_record(record: Record, **fields: Any) -> Record:
    return replace(record, data={**record.data, **fields})


def test_a_wrong_value_in_any_record_is_caught() -> None:
    cases: list[tuple[str, Any]] = [
        ("http_status", 418),
        ("type", "teapot_error"),
        ("code", "teapot"),
        ("retryable", "sometimes"),
    ]
    for field, value in cases:
        records = [
            record
            for record in ERRORS
            if not (field == "http_status" and has_status_of_stream(record))
            and (str(record.address), field) not in EXCEPTIONS
            and not (field in VALUE_ASPECTS.values() and is_assumed(record, field))
        ]
        assert addresses_not_caught(change_record(record, **{field: value}) for record in records) == []


@pytest.mark.parametrize("field", ["type", "code", "retryable"])
def test_a_stated_value_that_a_record_leaves_out_is_caught(field: str) -> None:
    records = [
        record
        for record in ERRORS
        if record.data[field] is not None
        and (str(record.address), field) not in EXCEPTIONS
        and not (field in VALUE_ASPECTS.values() and is_assumed(record, field))
    ]
    assert records
    assert addresses_not_caught(change_record(record, **{field: None}) for record in records) == []


def test_a_wrong_statement_is_caught() -> None:
    cases: list[tuple[str, str, str]] = [
        ("pa/errors/general/payment_problem", "A payment problem gives 402", "A payment problem gives 403"),
        ("pa/errors/general/payment_problem", "402 has type billing_error", "402 has type permission_error"),
        ("pa/errors/general/payment_problem", "402 is not retryable", "402 is retryable"),
        ("pa/errors/compliance/chat_not_found", "chat_not_found has code chat_not_found", "chat_not_found has no code"),
        ("pb/errors/general/aborted", "A concurrency conflict gives status ABORTED", "It gives status CANCELLED"),
        ("pc/errors/request/invalid_json", "invalid_json has HTTP status 400", "invalid_json has HTTP status 422"),
        ("pd/errors/permission/key_blocked", "403 has type forbidden", "403 has type blocked"),
        ("pd/errors/grpc/not_found", "gRPC 5 NOT_FOUND maps to 404", "gRPC 6 NOT_FOUND maps to 404"),
    ]
    for address, right, wrong in cases:
        record = CATALOG[address]
        facts = stated_facts(record.provider).facts
        assert right in {fact.statement for fact in facts}, (address, right)
        spoiled = [replace(fact, statement=wrong) if fact.statement == right else fact for fact in facts]
        assert differences(record, StatedFacts(spoiled)), (address, right)


def test_a_record_that_no_row_states_is_caught() -> None:
    cases: list[tuple[str, Mapping[str, Any]]] = [
        ("pb/errors/general/invalid_api_key", {"http_status": 403}),  # its other row leaves 403 as well
        ("pa/endpoints/models/list_models", {"path": "/v1/modules"}),
        ("pa/endpoints/messages/create_message", {"method": "PUT"}),
        ("pa/errors/general/payment_problem", {"source": "2:7.3#no such row"}),
    ]
    for address, fields in cases:
        assert addresses_not_caught([change_record(CATALOG[address], **fields)]) == []


def test_a_documented_value_that_no_fact_states_is_caught() -> None:
    cases: list[tuple[str, Mapping[str, Any]]] = [
        ("pa/errors/general/payment_problem", {"http_status": 403}),
        ("pb/errors/general/overloaded", {"http_status": 500}),
        ("pb/errors/general/overloaded", {"type": "INTERNAL"}),
        ("pc/errors/request/invalid_json", {"code": "invalid_type"}),
        ("pd/errors/authentication/no_credentials", {"code": "not-found"}),
        ("pb/errors/general/overloaded", {"source": "2:7.4#504 DEADLINE_EXCEEDED"}),
        ("pc/errors/request/invalid_json", {"source": "2:7.5#invalid_json"}),
        ("pd/errors/not_found/model_missing", {"source": "2:7.6#404 model missing"}),
        (
            "pd/rate_limits/limits/general",
            {"assumed": {"answer/status": "Not shown.", "generation/status": "Not shown."}},
        ),
    ]
    for address, fields in cases:
        assert list(unstated_values(change_record(CATALOG[address], **fields)))


RPC_STATUS_OF_INTERACTIONS_CODE = {
    "invalid_request": "INVALID_ARGUMENT",
    "failed_precondition": "FAILED_PRECONDITION",
    "parameter_unknown": "INVALID_ARGUMENT",
    "authentication": "UNAUTHENTICATED",
    "permission_denied": "PERMISSION_DENIED",
    "not_found": "NOT_FOUND",
    "model_not_found": "NOT_FOUND",
    "already_exists": "ALREADY_EXISTS",
    "aborted": "ABORTED",
    "out_of_range": "OUT_OF_RANGE",
    "rate_limit_exceeded": "RESOURCE_EXHAUSTED",
    "quota_exceeded": "RESOURCE_EXHAUSTED",
    "too_many_requests": "RESOURCE_EXHAUSTED",
    "cancelled": "CANCELLED",
    "api_error": "INTERNAL",
    "unimplemented": "UNIMPLEMENTED",
    "service_unavailable": "UNAVAILABLE",
    "deadline_exceeded": "DEADLINE_EXCEEDED",
}
"""Interactions set a status (2:7.1) that 2:7.4 does not name for their codes: assumed is that of the same meaning."""


def test_a_code_of_interactions_has_the_status_of_its_meaning() -> None:
    for code, rpc_status in RPC_STATUS_OF_INTERACTIONS_CODE.items():
        statuses = {
            value.value
            for row, values in stated_facts("pb").values_by_row.items()
            for value in values
            if re.fullmatch(rf"2:7\.4#\d+ {rpc_status}", row) and value.field == "http_status"
        }
        assert statuses == {str(CATALOG[f"pb/errors/interactions/{code}"].data["http_status"])}


def test_a_code_of_interactions_may_be_a_snake_case_http_status() -> None:
    record = CATALOG["pb/errors/interactions/snake_case_http_status"].data
    assert record["code"] == HTTPStatus(record["http_status"]).name.lower()


def test_each_exception_is_still_needed() -> None:
    for address, rows in ASIDES.items():
        assert rows <= set(cited_rows(CATALOG[address]))
    for address, row in ALSO_ABOUT.items():
        assert row not in cited_rows(CATALOG[address])
    for (address, field), value in EXCEPTIONS.items():
        record = CATALOG[address]
        assert record.data[field] == value
        assert value not in {stated.value for stated in closest_values(record, field, stated_facts(record.provider))}
    ids = {fact.id for provider in providers() for fact in stated_facts(provider).facts}
    assert ids >= OF_NO_RECORD
