"""The query language for records."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Address, Record
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.search import (
    RECORD_FIELDS,
    RUN_FIELDS,
    SearchEntry,
    find_unmatched_term,
    parse_query,
    record_facets,
)
from tests.unit.reports.factories import make_record_data

TODAY = date(2026, 11, 21)
LIMITED = "pa/errors/general/rate_limit_error"
REQUESTS = {"pa/endpoints/messages/invalid_request": "POST /v1/messages"}


def is_found(text: str, address: str = LIMITED, **fields: Any) -> bool:
    record = Record(Address.parse(address), make_record_data(address, **fields))
    return SearchEntry.from_record(record, TODAY, REQUESTS).matches(parse_query(text))


def test_it_finds() -> None:
    texts: list[str] = [
        "",
        "status:429",
        "status:4*",
        "status:404,429",
        "STATUS:429 provider:pa kind:errors family:general",
        "type:rate_limit_error",
        "header:x-should-retry",
        "tag:live_verified",
        "rate limit",
        '"rate limit of the organization"',
        "message:organization",
        "-provider:pb",
        "-status:400 -overloaded",
        "seen:5d",
        "seen:<7d",
        "seen:>1d",
        "endpoint:*/messages/*",
        LIMITED,
        "/v1/messages",
        "path:/v1/mess",
        'path:"post /v1/messages"',
        "https://pa.example/v1/messages",
        "provider:anthropic",
        "Anthropic",
        "retry:yes",
    ]
    for text in texts:
        assert is_found(text)


def test_it_does_not_find() -> None:
    texts: list[str] = [
        "status:400",
        "status:5*",
        "provider:pb",
        "rate nothing",
        "-status:429",
        "seen:never",
        "seen:<5d",
        "header:retry-after",
        '"limit rate"',
        "/v1/models",
        "provider:openai",
        "retry:no",
    ]
    for text in texts:
        assert not is_found(text)


def test_a_group_of_statuses_is_found_by_each() -> None:
    assert is_found("status:502", http_status="502/503")
    assert is_found("status:503", http_status="502/503")
    assert is_found("status:4xx", http_status="4xx")


def test_records_never_observed_are_found() -> None:
    assert is_found("seen:never", observed=None, status=["DOCUMENTED"])


def test_fields_of_a_run_are_refused_without_a_run(subtests: pytest.Subtests) -> None:
    for field in RUN_FIELDS:
        with subtests.test(field), pytest.raises(CatalogError, match=f"{field}: exists only in a run"):
            parse_query(f"{field}:x")


def test_an_unknown_field_is_an_error() -> None:
    with pytest.raises(CatalogError, match="no field is called 'stauts'; did you mean status"):
        parse_query("stauts:429")


def test_an_impossible_value_is_an_error(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("status:abc", "status:abc names nothing; write 429, 4xx or 4*"),
        ("-status:42", "status:42 names nothing; write"),
        ("status:429,4O4", "status:4o4 names nothing; write"),
        ("kind:error", "kind:error names nothing; did you mean errors"),
        ("tag:verified", "tag:verified names nothing; did you mean "),
        ("tag:stable*", "tag:stable* names nothing; they are documented, live_verified, "),
        ("seen:soon", "seen:soon names nothing; write <7d, >30d, 0d, today or never"),
        (f"seen:{'9' * 5000}", "seen:999"),
    ]
    for text, message in cases:
        with subtests.test(text), pytest.raises(CatalogError, match=f"^{re.escape(message)}"):
            parse_query(text)


def test_a_query_without_result_names_the_part_that_matches_nothing() -> None:
    cases: list[tuple[str, Any]] = [
        ("rate_limit_eror", ("rate_limit_eror", "did you mean rate_limit_error?")),
        ("rate type:overloaded", ("type:overloaded", "")),
        ("header:x-should-rety", ("header:x-should-rety", "did you mean x-should-retry?")),
        ("status:429 seen:<1d -rate", None),
        ("429->400", ("429→400", "a change exists only in a run: look for it in the search of a report")),
        ("provider:antropic", ("provider:antropic", "did you mean anthropic?")),
    ]
    for text, parts in cases:
        assert find_unmatched_term(text, [Record(Address.parse(LIMITED), make_record_data(LIMITED))]) == parts


@given(st.text())
def test_any_query_is_read_or_refused(text: str) -> None:
    try:
        terms = parse_query(text)
    except CatalogError:
        return
    assert all(term.values and term.field in {"", *RECORD_FIELDS} for term in terms)


def test_the_order_of_facets_does_not_depend_on_the_hash_seed() -> None:
    tags = ["UNVERIFIED", "BETA", "LEGACY", "LIVE_DISCOVERED", "DOCUMENTED", "ACCOUNT_RESTRICTED"]
    record = Record(Address.parse(LIMITED), make_record_data(LIMITED, status=tags))
    tag_facets = [facet.removeprefix("tag:") for facet in record_facets(record, {}) if facet.startswith("tag:")]
    assert tag_facets == sorted(tag.lower() for tag in tags)


def test_a_record_is_found_by_each_of_its_facets() -> None:
    record = Record(Address.parse(LIMITED), make_record_data(LIMITED))
    spoken = SearchEntry.from_record(record, TODAY, REQUESTS)
    for facet in record_facets(record, REQUESTS):
        field, _, value = facet.partition(":")
        assert spoken.matches(parse_query(f'{field}:"{value}"')), facet
