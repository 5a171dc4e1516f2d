"""A gRPC record of PD and its HTTP counterpart agree with the mapping of 2:7.6."""

from __future__ import annotations

import re

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.reading.assertions import assertions
from tests.contract.catalog.stated_values import stated_facts
from tests.harness.engines import catalog

JUDGE_MAPPING = manifest("pd").grpc
CATALOG = catalog()
ERRORS = CATALOG.select(provider="pd", kind="errors")
GRPC_RECORDS = {record.data["stream"]["grpc_status"]: record for record in ERRORS if record.surface == "pd_grpc"}
HTTP_RECORDS = {
    status: [record for record in ERRORS if record.data["http_status"] == status] for status in JUDGE_MAPPING.values()
}
MAPPING = {
    int(mapping[1]): int(mapping[2])
    for fact in stated_facts("pd").facts
    if (mapping := re.fullmatch(r"gRPC (\d+) [A-Z_]+ maps to (\d+)", fact.statement))
}
"""gRPC status -> HTTP status (2:7.6)."""

ONLY_IN_MAPPING = {503, 504}
"""Statuses that the HTTP table has no row for: over HTTP they are known from the mapping alone."""


def test_the_mapping_of_the_judge_is_that_of_the_documents() -> None:
    assert {0: 200, **MAPPING} == JUDGE_MAPPING


def test_every_mapped_status_has_its_record() -> None:
    assert GRPC_RECORDS.keys() == MAPPING.keys()


def test_a_grpc_record_has_a_twin_over_http() -> None:
    for status, http in sorted(MAPPING.items()):
        assert HTTP_RECORDS[http], status
        assert f"HTTP {http}" in GRPC_RECORDS[status].data["message_semantics"]


def test_a_twin_without_a_row_over_http_states_its_status_alone() -> None:
    """The mapping says which status comes, and nothing of the body or its headers."""
    for status, http in sorted(MAPPING.items()):
        mapped_records = [
            record
            for record in HTTP_RECORDS[http]
            if all(source.startswith("2:7.6#gRPC ") for source in record.sources)
        ]
        assert bool(mapped_records) is (http in ONLY_IN_MAPPING), status
        for record in mapped_records:
            assert record.sources == GRPC_RECORDS[status].sources
            assert {assertion.key.local_key for assertion in assertions(record, CATALOG.__getitem__)} == {"status"}, (
                status
            )


def test_twins_are_of_one_category() -> None:
    for status, http in sorted(MAPPING.items()):
        categories = {record.data["category"] for record in HTTP_RECORDS[http]}
        assert GRPC_RECORDS[status].data["category"] in categories


def test_twins_do_not_contradict_each_other_on_retrying() -> None:
    for status, http in sorted(MAPPING.items()):
        retry_values = {record.data["retryable"] for record in (*HTTP_RECORDS[http], GRPC_RECORDS[status])} - {None}
        assert len(retry_values) <= 1, status
