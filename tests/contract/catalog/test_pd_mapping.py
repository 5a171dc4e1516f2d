"""The mapping of 2:7.6 as a cross-check: a gRPC record and its twins over HTTP say the same of the same condition."""

from __future__ import annotations

import re

import pytest

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.reading.assertions import assertions
from tests.contract.catalog.stated_values import stated_facts
from tests.harness.engines import catalog

AS_HTTP = manifest("pd").grpc
CATALOG = catalog()
ERRORS = CATALOG.select(provider="pd", kind="errors")
OVER_GRPC = {record.data["stream"]["grpc_status"]: record for record in ERRORS if record.surface == "pd_grpc"}
OVER_HTTP = {
    status: [record for record in ERRORS if record.data["http_status"] == status] for status in AS_HTTP.values()
}
MAPPING = {
    int(mapping[1]): int(mapping[2])
    for fact in stated_facts("pd").facts
    if (mapping := re.fullmatch(r"gRPC (\d+) [A-Z_]+ maps to (\d+)", fact.statement))
}
"""gRPC status -> HTTP status (2:7.6)."""

BY_THE_MAPPING = {503, 504}
"""Statuses that the HTTP table has no row for: over HTTP they are known from the mapping alone."""

each = pytest.mark.parametrize(("status", "http"), sorted(MAPPING.items()))


def test_the_mapping_of_the_judge_is_that_of_the_documents() -> None:
    assert {0: 200, **MAPPING} == AS_HTTP


def test_every_mapped_status_has_its_record() -> None:
    assert OVER_GRPC.keys() == MAPPING.keys()


@each
def test_a_grpc_record_has_a_twin_over_http(status: int, http: int) -> None:
    assert OVER_HTTP[http]
    assert f"HTTP {http}" in OVER_GRPC[status].data["message_semantics"]


@each
def test_a_twin_without_a_row_over_http_states_its_status_alone(status: int, http: int) -> None:
    """The mapping says which status comes, and nothing of the body or its headers."""
    known = [record for record in OVER_HTTP[http] if all(source.startswith("2:7.6#gRPC ") for source in record.sources)]
    assert bool(known) is (http in BY_THE_MAPPING)
    for record in known:
        assert record.sources == OVER_GRPC[status].sources
        assert {assertion.key.local_key for assertion in assertions(record, CATALOG.__getitem__)} == {"status"}


@each
def test_twins_are_of_one_category(status: int, http: int) -> None:
    categories = {record.data["category"] for record in OVER_HTTP[http]}
    assert OVER_GRPC[status].data["category"] in categories


@each
def test_twins_do_not_contradict_each_other_on_retrying(status: int, http: int) -> None:
    said = {record.data["retryable"] for record in (*OVER_HTTP[http], OVER_GRPC[status])} - {None}
    assert len(said) <= 1
