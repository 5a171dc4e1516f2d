"""Records and inventory are two readings of the same documents: here they are held against each other, both ways."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.files.schemas import envelope_id, schemas
from catalog_probe.catalog.model import Record
from tests.contract.catalog.inventory_rows import PROVIDERS, Row, citable, rows
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

COVERED_KINDS = ("endpoint", "error", "outcome", "header", "limit", "version", "state")
"""Rows of these kinds each need a record. The other kinds may be cited, and must then be cited rightly."""

SCOPE: Mapping[str, Mapping[str, str]] = {
    "pa": {
        "1:3": r"",
        "1:4": r"",
        "1:4.1": r"",
        "1:5.1": r"",
        "1:6": r"",
        "2:7.1": r"",
        "2:7.2": r"",
        "2:7.3": r"",
        "2:8.1": r"",
        "2:8.2": r"",
        "2:9": r"",
    },
    "pb": {
        "1:3": r"",
        "1:4": r"",
        "1:4.2": r"",
        "1:5.2": r"",
        "1:6": r"",
        "2:7.1": r"",
        "2:7.4": r"",
        "2:8.1": r"",
        "2:8.3": r"",
        "2:9": r"",
    },
    "pc": {
        "1:3": r"",
        "1:4": r"",
        "1:4.3": r"",
        "1:5.3": r"",
        "1:6": r"",
        "2:7.1": r"",
        "2:7.5": r"",
        "2:8.1": r"",
        "2:8.4": r"",
        "2:9": r"",
    },
    "pd": {
        "1:3": r"",
        "1:4": r"",
        "1:4.4": r"",
        "1:5.4": r"",
        "2:7.1": r"",
        "2:7.6": r"",
        "2:8.1": r"",
        "2:8.5": r"",
        "2:9": r"",
    },
}
"""Provider -> section -> the rows in it that wait for a later issue (searched in the label; empty: none)."""

INTERACTIONS_STATUS = {
    "400": ("invalid_request", "failed_precondition", "parameter_unknown"),
    "401": ("authentication",),
    "403": ("permission_denied",),
    "404": ("not_found", "model_not_found"),
    "405": ("snake_case HTTP status",),
    "409": ("already_exists", "aborted"),
    "416": ("out_of_range",),
    "429": ("rate_limit_exceeded", "quota_exceeded", "too_many_requests"),
    "499": ("cancelled",),
    "500": ("api_error",),
    "501": ("unimplemented",),
    "503": ("service_unavailable",),
    "504": ("deadline_exceeded",),
}
"""PB's interactions set a status (2:7.1) that the rows of their codes leave out: that of the same meaning in 2:7.4."""

GRPC_STATUSES = (
    "3 INVALID_ARGUMENT",
    "4 DEADLINE_EXCEEDED",
    "5 NOT_FOUND",
    "7 PERMISSION_DENIED",
    "8 RESOURCE_EXHAUSTED",
    "13 INTERNAL",
    "14 UNAVAILABLE",
    "16 UNAUTHENTICATED",
)
"""The statuses of PD's gRPC rows."""

READ_OTHERWISE = {
    ("1:3#chat user-deleted", "status"): "200",  # a state has no status; a chat in it is read like any other
    ("1:6#stream error event", "type"): "overloaded_error",  # the row's is that of the event; it names this one inside
    ("1:6#compliance activities polled", "status"): "200",  # they are polled, and a poll that shows one succeeded
    ("2:7.3#400 other unlisted 4xx", "status"): "4xx",  # the row stands under 400 and speaks of the statuses not listed
    **{
        (f"2:7.4#interactions {code}", "status"): status
        for status, codes in INTERACTIONS_STATUS.items()
        for code in codes
    },
    ("1:6#Interactions SSE error event", "type"): "",  # the type of the event that carries the error
    ("2:7.1#interactions stream error event", "type"): "",
    ("1:6#cyber_policy error", "retryable"): "no",  # the event's row says nothing of it; 2:7.5#cyber_policy does
    ("2:7.4#interactions snake_case HTTP status", "code"): "method_not_allowed",  # the row is a rule; this is one of it
    **{
        # gRPC has no HTTP status of its own: the row's is what the canonical status maps to
        (f"2:7.6#gRPC {status}", "status"): ""
        for status in GRPC_STATUSES
    },
}
"""Cells that a record reads otherwise than they stand there, and what it says instead."""

ASIDES = {
    "pa/errors/compliance_outcomes/user_deleted_chat_readable": {"2:7.2#chat_not_found"},  # one deleted so is not 404
    "pa/errors/compliance_outcomes/chat_deleted_activity": {"2:7.2#chat_not_found"},  # reconcile with chat activities
    "pa/errors/compliance_outcomes/file_deleted_activity": {"2:7.2#file_not_found"},
    "pa/errors/compliance_outcomes/project_deleted_activity": {"2:7.2#project_not_found"},
    "pc/errors/stream/cyber_policy": {"2:7.5#cyber_policy"},  # of the 403, which may arrive mid-stream; not retryable
    "pc/errors/websocket/connection_limit_reached": {"1:6#stream error event"},  # the event that carries it
    "pc/errors/websocket/previous_response_not_found": {"1:6#stream error event"},
}
"""Record -> rows that it cites for what they say of it, and not for the answer that they are about."""

RETRYABLE = {
    "": None,
    "no": False,
    "yes": True,
    "transient": True,
    **{word: word for word in ("conditional", "n/a", "poll")},
}
"""The first word of a row's `retryable` -> what the record says."""

CATALOG = catalog()
ROWS = {provider: {row.citation: row for row in rows(provider)} for provider in PROVIDERS}

CITABLE = {provider: citable(provider) for provider in PROVIDERS}

each_provider = pytest.mark.parametrize("provider", PROVIDERS)


def cited_rows(record: Record) -> list[str]:
    """The rows among a record's sources; the others are pages."""
    return [source for source in record.sources if re.match(r"\d:", source)]


def speaks_of_an_answer(record: Record, known: Mapping[str, Row]) -> bool:
    """Whether a row that it cites has cells for an answer; that of a limit says how much, not what comes beyond it."""
    return any(known[each].kind in ("error", "outcome", "state") for each in cited_rows(record) if each in known)


def endpoint_rows(record: Record, known: Mapping[str, Row]) -> list[str]:
    """The rows of endpoints among those that it cites."""
    return [each for each in cited_rows(record) if each in known and known[each].kind == "endpoint"]


ENDPOINTS = CATALOG.select(kind="endpoints")
SHOWN = [record for record in ENDPOINTS if endpoint_rows(record, ROWS[record.provider])]
NOT_SHOWN = [record for record in ENDPOINTS if record not in SHOWN]

ANSWERED = [record for record in CATALOG.select(kind="errors") if speaks_of_an_answer(record, ROWS[record.provider])]
OF_A_LIMIT = [record for record in CATALOG.select(kind="errors") if record not in ANSWERED]


def differences(record: Record, known: Mapping[str, Row]) -> list[str]:
    """Where a record says something else than the rows that its source names; a fact of no row there has no cells."""
    found = []
    own = _own_row(record, known)
    for citation in cited_rows(record):
        if citation not in CITABLE[record.provider]:
            found.append(f"{citation} is no row")
        elif citation not in known or citation in ASIDES.get(str(record.address), ()):
            continue
        elif record.kind == "endpoints":
            found += _endpoint_differs(record, known[citation])
        elif record.kind == "errors":
            found += _error_differs(record, known[citation], exactly=citation == own)
    return found


def _own_row(record: Record, known: Mapping[str, Row]) -> str:
    """The row that the record is about: the first error or outcome it cites, else the first of all (a state)."""
    cited = [each for each in cited_rows(record) if each not in ASIDES.get(str(record.address), ())]
    return next((each for each in cited if each in known and known[each].kind in ("error", "outcome")), cited[0])


def cited_anywhere(record: Record) -> Iterator[str]:
    """Every row that a record cites: as its source, in a rule or a pattern, or through the envelope of its surface."""
    yield from cited_rows(record)
    yield from _nested_sources(
        {name: value for name, value in record.data.items() if name not in ("source", "sources")}
    )
    yield from schemas()[envelope_id(record.surface)]["x-source"] if record.surface else ()


def _nested_sources(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            if name == "source" and isinstance(each, str):
                yield from each.split("; ")
            else:
                yield from _nested_sources(each)
    elif isinstance(value, list):
        for each in value:
            yield from _nested_sources(each)


def _error_differs(record: Record, row: Row, *, exactly: bool) -> Iterator[str]:
    """What the record's own row leaves empty, the record must leave open too."""
    if row.kind not in ("error", "outcome", "state"):
        return
    data = record.data
    said = {"status": data["http_status"], "type": data["type"], "code": data["code"]}
    for column, value in said.items():
        in_stream = data.get("stream", {}).get("protocol", "grpc") != "grpc"  # a stream's status is 200
        over_http = row.row.startswith("gRPC ") and value is not None  # what the canonical status maps to, sent itself
        otherwise = {} if column == "status" and (in_stream or over_http) else READ_OTHERWISE
        cell = otherwise.get((row.citation, column), getattr(row, column))
        if (cell or exactly) and str(value or "") != cell:
            yield f"{row.citation}: {column} {value!r} is not {cell!r}"
    retryable = READ_OTHERWISE.get((row.citation, "retryable"), row.retryable)
    word = re.match(r"[a-z/]*", retryable)
    expected = RETRYABLE[word[0] if word else ""]
    if (retryable or exactly) and data["retryable"] != expected:
        yield f"{row.citation}: retryable {data['retryable']!r} is not {retryable!r}"


def _endpoint_differs(record: Record, row: Row) -> Iterator[str]:
    if row.kind != "endpoint":
        return
    data = record.data
    method = "any" if data["method"] == "*" else data["method"]
    if " /" in row.row and row.row != f"{method} {data['path']}":
        yield f"{row.citation}: is not {method} {data['path']}"
    if row.status and str(data["response"]["status"]) != row.status:
        yield f"{row.citation}: status {data['response']['status']} is not {row.status}"


def addresses(records: Iterable[Record]) -> list[str]:
    return [str(record.address) for record in records]


@each_provider
def test_a_record_says_what_its_rows_say(provider: str) -> None:
    records = CATALOG.select(provider)
    assert addresses(record for record in records if not cited_rows(record)) == []
    found = {str(record.address): differences(record, ROWS[provider]) for record in records}
    assert {address: told for address, told in found.items() if told} == {}


@each_provider
def test_everything_cited_is_a_row(provider: str) -> None:
    """An envelope belongs to one provider, or to nobody and cites nothing."""
    cited = {(each, str(record.address)) for record in CATALOG.select(provider) for each in cited_anywhere(record)}
    assert sorted((row, address) for row, address in cited if row not in CITABLE[provider]) == []


@each_provider
def test_every_row_is_among_the_facts(provider: str) -> None:
    """Two transcriptions of the same documents: what one cites by a label, the other knows by the same."""
    assert set(ROWS[provider]) <= CITABLE[provider].keys()


@pytest.mark.parametrize("provider", SCOPE)
def test_every_row_in_scope_has_a_record(provider: str) -> None:
    cited = {citation for record in CATALOG.select(provider) for citation in cited_anywhere(record)}
    wanted = [
        row.citation
        for row in ROWS[provider].values()
        if row.kind in COVERED_KINDS and row.section in SCOPE[provider] and not _later(provider, row)
    ]
    assert wanted
    assert [citation for citation in wanted if citation not in cited] == []


@pytest.mark.parametrize("provider", SCOPE)
def test_a_row_that_waits_has_no_record_yet(provider: str) -> None:
    """Else the scope is too narrow, and nobody would notice that a row was forgotten."""
    cited = {citation for record in CATALOG.select(provider) for citation in cited_anywhere(record)}
    waiting = [row for row in ROWS[provider].values() if row.section in SCOPE[provider] and _later(provider, row)]
    assert [row.citation for row in waiting if row.kind in COVERED_KINDS and row.citation in cited] == []


def test_a_provider_with_records_is_in_scope() -> None:
    assert {record.provider for record in CATALOG.records} == set(SCOPE)


def _later(provider: str, row: Row) -> bool:
    pattern = SCOPE[provider][row.section]
    return bool(pattern) and re.search(pattern, row.row) is not None


@pytest.mark.parametrize(
    ("field", "value"), [("http_status", 418), ("type", "teapot_error"), ("code", "teapot"), ("retryable", "sometimes")]
)
def test_a_record_that_says_otherwise_is_caught(field: str, value: Any) -> None:
    spoiled = [Record(record.address, {**record.data, field: value}) for record in ANSWERED]
    assert addresses(record for record in spoiled if not differences(record, ROWS[record.provider])) == []


def test_a_row_that_says_otherwise_is_caught() -> None:
    def spoiled(record: Record) -> Mapping[str, Row]:
        known = ROWS[record.provider]
        first = endpoint_rows(record, known)[0]
        return {**known, first: replace(known[first], row="TRACE /nowhere")}

    assert addresses(record for record in SHOWN if not differences(record, spoiled(record))) == []


def test_an_endpoint_that_no_row_shows_has_its_path_and_status_assumed() -> None:
    """A sentence of 1:1 says that there is such an operation; nothing shows where."""
    shown = {provider: {row.row.partition(" ")[2] for row in known.values()} for provider, known in ROWS.items()}
    told = [
        record
        for record in NOT_SHOWN
        if not {"ask/path", "success/status"} <= record.data["assumed"].keys()
        or record.data["path"] in shown[record.provider]
    ]
    assert NOT_SHOWN
    assert addresses(told) == []


def test_what_comes_beyond_a_limit_that_no_row_answers_is_assumed() -> None:
    told = [each for each in OF_A_LIMIT if not {"answer/status", "answer/type"} <= each.data["assumed"].keys()]
    assert OF_A_LIMIT
    assert addresses(told) == []


def test_a_source_that_is_no_row_is_caught() -> None:
    record = CATALOG.select("pa", "errors")[0]
    assert differences(Record(record.address, {**record.data, "source": "2:7.3#no such row"}), ROWS["pa"])


def test_every_exception_is_still_one() -> None:
    for (citation, column), value in READ_OTHERWISE.items():
        row = next(known[citation] for known in ROWS.values() if citation in known)
        assert getattr(row, column) != value


def test_every_aside_is_still_cited() -> None:
    for address, asides in ASIDES.items():
        assert asides <= set(cited_rows(CATALOG[address]))
