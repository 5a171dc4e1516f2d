"""Write-back reads status, body and message of an answer where the judge reads them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from catalog_probe.catalog.model import Event, Exchange, GrpcStatus, Json, Outcome, Record, Request, Response
from catalog_probe.catalog.writeback.planner import Patch, UpdatePolicy, plan_patch
from tests.harness.engines import catalog
from tests.unit.catalog.catalog_factories import make_drift, make_sighting

CATALOG = catalog()

OVERLOADED = CATALOG["pa/errors/stream/overloaded"]
COMPAT = next(record for record in CATALOG.records if record.kind == "errors" and record.surface == "pb_compat")
GRPC = CATALOG["pd/errors/grpc/resource_exhausted"]
RATE_LIMITS = CATALOG["pa/rate_limits/limits/general"]

PA_ERROR: Json = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded for now."}}
COMPAT_ERROR: Json = {"error": {"code": 400, "message": "Bad thing.", "status": "INVALID_ARGUMENT"}}


def write_back(record: Record, response: Response, outcome: Outcome = Outcome.CONFORMS) -> Record:
    """Write one answer back, and return the record."""
    sighting = make_sighting(
        outcome,
        address=str(record.address),
        exchange=Exchange("answer", Request("POST", "https://provider.example/v1/messages"), response),
        findings=(make_drift(),) if outcome is Outcome.DRIFTED else (),
        probed_record=record,
    )
    plan = plan_patch(record, [sighting], UpdatePolicy(), date(2026, 11, 21))
    assert isinstance(plan, Patch)
    return plan.record


def marks(record: Record) -> dict[str, Json]:
    """What the record says was seen of each of its headers."""
    rules = record.data["response_headers" if record.kind == "errors" else "headers"]
    return {name: rule["seen"] for name, rule in rules.items() if "seen" in rule}


def messages(record: Record) -> list[str]:
    return list(record.data.get("live_messages", ()))


def make_stream(status: int = 200, *events: Event) -> Response:
    return Response(status, {"request-id": "req_1"}, events=events)


def test_a_stream_that_begins_as_documented_says_what_headers_it_has() -> None:
    after = write_back(OVERLOADED, make_stream(200, Event("error", PA_ERROR)))
    assert marks(after)["request-id"] == "present"


@pytest.mark.parametrize("outcome", [Outcome.DRIFTED, Outcome.CONFORMS])
def test_a_refusal_says_nothing_of_the_headers_of_a_stream(outcome: Outcome) -> None:
    refused = Response(403, {"request-id": "req_1"}, PA_ERROR, "json")
    assert marks(write_back(OVERLOADED, refused, outcome)) == {}


def test_a_refusal_says_nothing_of_the_headers_that_an_ordinary_answer_has() -> None:
    refused = Response(403, {"pa-ratelimit-requests-limit": "50"}, PA_ERROR, "json")
    assert marks(write_back(RATE_LIMITS, refused, Outcome.DRIFTED)) == {}
    ordinary = replace(refused, status=200)
    assert marks(write_back(RATE_LIMITS, ordinary, Outcome.DRIFTED))["pa-ratelimit-requests-limit"] == "present"


@pytest.mark.parametrize("body", [COMPAT_ERROR, [COMPAT_ERROR]], ids=["bare", "in-an-array"])
def test_the_message_of_a_body_is_found_in_the_array_around_it(body: Json) -> None:
    assert messages(write_back(COMPAT, Response(400, {}, body, "json"))) == ["Bad thing."]


def test_the_message_of_a_stream_is_that_of_the_documented_event() -> None:
    other_error = {**PA_ERROR, "error": {"type": "other", "message": "Something else."}}
    response = make_stream(
        200, Event("notice", other_error), Event("error", PA_ERROR), Event("error", other_error, sent=True)
    )
    assert messages(write_back(OVERLOADED, response)) == ["Overloaded for now."]


def test_the_message_of_a_grpc_answer_stands_in_its_status() -> None:
    answer = Response(grpc=GrpcStatus(8, "Too many requests for the model."))
    assert messages(write_back(GRPC, answer)) == ["Too many requests for the model."]


def test_the_headers_of_another_grpc_status_say_nothing() -> None:
    rules = {"x-request-id": {"rule": "present", "source": "2:7.6#gRPC 8 RESOURCE_EXHAUSTED"}}
    record = Record(GRPC.address, {**GRPC.data, "response_headers": rules})
    refused = Response(headers={"x-request-id": "1"}, grpc=GrpcStatus(7, "No."))
    assert marks(write_back(record, refused, Outcome.DRIFTED)) == {}
    assert marks(write_back(record, replace(refused, grpc=GrpcStatus(8)), Outcome.DRIFTED)) == {
        "x-request-id": "present"
    }


@pytest.mark.parametrize(("headers", "mark"), [({"x-limit-1": "9"}, "9"), ({}, "absent")])
def test_a_header_whose_name_is_a_pattern_is_marked_with_the_value_found(headers: dict[str, str], mark: str) -> None:
    rules = {"x-limit-*": {"rule": "equals", "value": "8", "source": "2:8.2#retry-after"}}
    record = Record(RATE_LIMITS.address, {**RATE_LIMITS.data, "headers": rules})
    assert marks(write_back(record, Response(200, headers), Outcome.DRIFTED)) == {"x-limit-*": mark}
