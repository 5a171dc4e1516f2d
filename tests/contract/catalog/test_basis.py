"""The tags and sources of records agree with their assertions, both ways."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import Record, Tag
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.reading.assertions import assertions
from tests.contract.catalog.stated_values import stated_facts
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Iterator

CATALOG = catalog()


def basis_problems(record: Record) -> Iterator[str]:
    """Yield contradictions between a record's tags or sources and its assertions."""
    of_record = assertions(record, CATALOG.__getitem__)
    documented = [assertion for assertion in of_record if assertion.basis is Basis.DOCUMENTED and assertion.source]
    quotes_a_row = bool(documented) or not of_record  # what asserts nothing of an answer quotes its row all the same
    if (Tag.DOCUMENTED in record.tags) is not quotes_a_row:
        yield f"{len(documented)} of its assertions rest on a row, and its tags are {sorted(record.tags)}"
    if len(record.tags & {Tag.LIVE_VERIFIED, Tag.UNVERIFIED}) != 1:
        yield f"its tags are {sorted(record.tags)}"
    rows = stated_facts(record.provider).by_row.keys()
    for assertion in of_record:
        if assertion.basis is Basis.DOCUMENTED and not set(assertion.source.split("; ")) <= rows:
            yield f"{assertion.key} is neither assumed nor on a row: {assertion.source!r}"
        if assertion.alternatives and assertion.alternatives[0] != assertion.documented:
            yield f"{assertion.key} states {assertion.documented!r} and chooses first {assertion.alternatives[0]!r}"


def test_the_tags_follow_from_the_assertions() -> None:
    for provider in providers():
        assert [
            (str(record.address), problem) for record in CATALOG.select(provider) for problem in basis_problems(record)
        ] == []


MAX_ROWS = 4
"""Rows that one assertion may cite: a reader who looks them up must find the statement."""


@pytest.mark.parametrize("provider", providers())
def test_an_assertion_cites_few_rows(provider: str) -> None:
    cited = {
        assertion.id: assertion.source.split("; ")
        for record in CATALOG.select(provider)
        for assertion in assertions(record, CATALOG.__getitem__)
    }
    assert {key: len(rows) for key, rows in cited.items() if len(rows) > MAX_ROWS} == {}


@pytest.mark.parametrize(
    "assertion_id",
    [
        "pa/errors/server_tools/web_search_unavailable#answer/status",
        "pa/endpoints/limits/scope#exhausted/relation:at_most:header:pa-ratelimit-requests-remaining",
        "pb/errors/quota/tokens_per_day#answer/relation:version_of:/error/details/*/violations/*/quotaDimensions/model",
        "pb/rate_limits/limits/general#priority_within/relation:differs:/usageMetadata/serviceTier",
        "pc/errors/websocket/connection_limit_reached#answer/event:error",
        "pc/endpoints/responses/get_response#success/relation:equals:/id",
        "pd/endpoints/api_key/get_api_key#success/relation:equals:/team_blocked",
    ],
)
def test_what_no_row_says_is_assumed(assertion_id: str) -> None:
    """A status that no row names, an inferred bound, a value that repeats another one, the name of an event."""
    record = CATALOG[assertion_id.partition("#")[0]]
    [assertion] = [assertion for assertion in assertions(record, CATALOG.__getitem__) if assertion.id == assertion_id]
    assert (assertion.basis, assertion.source) == (Basis.ASSUMED, "")


def change_record(record: Record, **fields: Any) -> Record:
    return replace(record, data={**record.data, **fields})


def test_a_wrong_tag_or_source_is_caught() -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("pb/errors/general/overloaded", {"status": ["DOCUMENTED", "LIVE_VERIFIED", "UNVERIFIED"]}),
        ("pb/errors/general/overloaded", {"status": ["UNVERIFIED"], "assumed": {"answer/status": "Not shown."}}),
        ("pb/errors/general/missing_token", {"status": ["DOCUMENTED"]}),
        ("pb/endpoints/generation/stream_generate_content_v1", {"status": ["DOCUMENTED", "UNVERIFIED"]}),
        ("pd/errors/outcomes/violation_still_charged", {"status": []}),
        ("pb/errors/general/overloaded", {"source": "2:7.4#no such row"}),
        (
            "pb/errors/general/invalid_api_key",
            {"alternatives": {"answer/status": {"values": [403, 400], "source": "1:5.2#invalid plain API key"}}},
        ),
    ]
    for address, fields in cases:
        assert list(basis_problems(change_record(CATALOG[address], **fields)))
