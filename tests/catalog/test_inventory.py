"""Records and inventory are two readings of the same documents: here they are held against each other, both ways."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from inventory_rows import PROVIDERS, Row, rows

from catalog.model import Record
from catalog.schema import envelope_id, schemas
from catalog.store import Catalog

COVERED_KINDS = ("endpoint", "error", "outcome", "header")
"""Rows of these kinds each need a record. The other kinds may be cited, and must then be cited rightly."""

SCOPE: Mapping[str, Mapping[str, str]] = {
    "pa": {
        "1:4": r"",
        "1:4.1": r"compliance|admin|/v1/organizations/",
        "1:5.1": r"",
        "1:6": r"compliance",
        "2:7.1": r"",
        "2:7.3": r"",
    },
    "pd": {
        "1:3": r"",
        "1:4": r"",
        "1:4.4": r"gRPC",
        "1:5.4": r"",
        "2:7.1": r"",
        "2:7.6": r"gRPC",
    },
}
"""Provider -> section -> the rows in it that wait for a later issue (searched in the label; empty: none)."""

READ_OTHERWISE = {
    ("2:7.3#400 other unlisted 4xx", "status"): "4xx",  # the row stands under 400 and speaks of the statuses not listed
}
"""Cells that a record reads otherwise than they stand there, and what it says instead."""

RETRYABLE = {
    "": None,
    "no": False,
    "yes": True,
    "transient": True,
    **{word: word for word in ("conditional", "n/a", "poll")},
}
"""The first word of a row's `retryable` -> what the record says."""

CATALOG = Catalog.load()
ROWS = {provider: {row.citation: row for row in rows(provider)} for provider in PROVIDERS}

each_record = pytest.mark.parametrize("record", CATALOG.records, ids=lambda record: str(record.address))
each_error = pytest.mark.parametrize("record", CATALOG.select(kind="errors"), ids=lambda record: str(record.address))


def differences(record: Record, known: Mapping[str, Row]) -> list[str]:
    """Where a record says something else than the rows that its source names."""
    found = []
    for number, citation in enumerate(cited_rows(record)):
        if citation not in known:
            found.append(f"{citation} is no row")
        elif record.kind == "endpoints":
            found += _endpoint_differs(record, known[citation])
        else:
            found += _error_differs(record, known[citation], exactly=number == 0)
    return found


def cited_rows(record: Record) -> list[str]:
    """The rows among a record's sources; the others are pages."""
    return [source for source in record.sources if re.match(r"\d:", source)]


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
    """The first row of a source is the record's own: what it leaves empty, the record must leave open too."""
    if row.kind not in ("error", "outcome"):
        return
    data = record.data
    said = {"status": data["http_status"], "type": data["type"], "code": data["code"]}
    for column, value in said.items():
        cell = READ_OTHERWISE.get((row.citation, column), getattr(row, column))
        if (cell or exactly) and str(value or "") != cell:
            yield f"{row.citation}: {column} {value!r} is not {cell!r}"
    word = re.match(r"[a-z/]*", row.retryable)
    expected = RETRYABLE[word[0] if word else ""]
    if (row.retryable or exactly) and data["retryable"] != expected:
        yield f"{row.citation}: retryable {data['retryable']!r} is not {row.retryable!r}"


def _endpoint_differs(record: Record, row: Row) -> Iterator[str]:
    if row.kind != "endpoint":
        return
    data = record.data
    if " /" in row.row and row.row != f"{data['method']} {data['path']}":
        yield f"{row.citation}: is not {data['method']} {data['path']}"
    if row.status and str(data["response"]["status"]) != row.status:
        yield f"{row.citation}: status {data['response']['status']} is not {row.status}"


@each_record
def test_a_record_says_what_its_rows_say(record: Record) -> None:
    assert cited_rows(record)
    assert differences(record, ROWS[record.provider]) == []


@each_record
def test_everything_cited_is_a_row(record: Record) -> None:
    """An envelope belongs to one provider, or to nobody and cites nothing."""
    assert set(cited_anywhere(record)) <= set(ROWS[record.provider])


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


@each_error
@pytest.mark.parametrize(
    ("field", "value"), [("http_status", 418), ("type", "teapot_error"), ("code", "teapot"), ("retryable", "sometimes")]
)
def test_a_record_that_says_otherwise_is_caught(record: Record, field: str, value: Any) -> None:
    spoiled = Record(record.address, {**record.data, field: value})
    assert differences(spoiled, ROWS[record.provider])


@pytest.mark.parametrize("record", CATALOG.select(kind="endpoints"), ids=lambda record: str(record.address))
def test_a_row_that_says_otherwise_is_caught(record: Record) -> None:
    known = dict(ROWS[record.provider])
    first = cited_rows(record)[0]
    known[first] = replace(known[first], row="TRACE /nowhere")
    assert differences(record, known)


def test_a_source_that_is_no_row_is_caught() -> None:
    record = CATALOG.select("pa", "errors")[0]
    assert differences(Record(record.address, {**record.data, "source": "2:7.3#no such row"}), ROWS["pa"])


def test_every_exception_is_still_one() -> None:
    for (citation, column), value in READ_OTHERWISE.items():
        row = next(known[citation] for known in ROWS.values() if citation in known)
        assert getattr(row, column) != value
