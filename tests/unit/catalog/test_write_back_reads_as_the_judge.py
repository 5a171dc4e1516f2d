"""What write-back keeps of an answer is read where the judge reads it: the same status, body and message."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Event, Exchange, GrpcStatus, Json, Outcome, Record, Request, Response
from catalog_probe.catalog.writeback.planner import Patch, UpdatePolicy, plan_patch
from tests.harness.engines import catalog
from tests.unit.catalog.catalog_factories import make_drift, make_sighting

if TYPE_CHECKING:
    from catalog_probe.catalog.writeback.sightings import Sighting

CATALOG = catalog()

OVERLOADED = CATALOG["pa/errors/stream/overloaded"]
COMPAT = next(record for record in CATALOG.records if record.kind == "errors" and record.surface == "pb_compat")
GRPC = CATALOG["pd/errors/grpc/resource_exhausted"]
RATE_LIMITS = CATALOG["pa/rate_limits/limits/general"]

PA_ERROR: Json = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded for now."}}
COMPAT_ERROR: Json = {"error": {"code": 400, "message": "Bad thing.", "status": "INVALID_ARGUMENT"}}


def exchange(response: Response, label: str = "answer") -> Exchange:
    return Exchange(label, Request("POST", "https://provider.example/v1/messages"), response)


def looked_at(record: Record, response: Response, outcome: Outcome, label: str = "answer") -> Sighting:
    findings = (make_drift(),) if outcome is Outcome.DRIFTED else ()
    seen = exchange(response, label)
    return make_sighting(outcome, address=str(record.address), exchange=seen, findings=findings, probed_record=record)


def written(record: Record, response: Response, outcome: Outcome = Outcome.CONFORMS) -> Record:
    """The record after one look at it."""
    made = plan_patch(record, [looked_at(record, response, outcome)], UpdatePolicy(), date(2026, 11, 21))
    assert isinstance(made, Patch)
    return made.record


def marks(record: Record) -> dict[str, Json]:
    """What the record says was seen of each of its headers."""
    rules = record.data["response_headers" if record.kind == "errors" else "headers"]
    return {name: rule["seen"] for name, rule in rules.items() if "seen" in rule}


def messages(record: Record) -> list[str]:
    return list(record.data.get("live_messages", ()))


def streamed(status: int = 200, *events: Event) -> Response:
    return Response(status, {"request-id": "req_1"}, events=events)


def test_a_stream_that_begins_as_documented_says_what_headers_it_has() -> None:
    after = written(OVERLOADED, streamed(200, Event("error", PA_ERROR)))
    assert marks(after)["request-id"] == "present"


@pytest.mark.parametrize("outcome", [Outcome.DRIFTED, Outcome.CONFORMS])
def test_a_refusal_says_nothing_of_the_headers_of_a_stream(outcome: Outcome) -> None:
    refused = Response(403, {"request-id": "req_1"}, PA_ERROR, "json")
    assert marks(written(OVERLOADED, refused, outcome)) == {}


def test_a_refusal_says_nothing_of_the_headers_that_an_ordinary_answer_has() -> None:
    refused = Response(403, {"pa-ratelimit-requests-limit": "50"}, PA_ERROR, "json")
    assert marks(written(RATE_LIMITS, refused, Outcome.DRIFTED)) == {}
    ordinary = replace(refused, status=200)
    assert marks(written(RATE_LIMITS, ordinary, Outcome.DRIFTED))["pa-ratelimit-requests-limit"] == "present"


@pytest.mark.parametrize("body", [COMPAT_ERROR, [COMPAT_ERROR]], ids=["bare", "in-an-array"])
def test_the_message_of_a_body_is_found_in_the_array_around_it(body: Json) -> None:
    assert messages(written(COMPAT, Response(400, {}, body, "json"))) == ["Bad thing."]


def test_the_message_of_a_stream_is_that_of_the_documented_event() -> None:
    other = {**PA_ERROR, "error": {"type": "other", "message": "Something else."}}
    response = streamed(200, Event("notice", other), Event("error", PA_ERROR), Event("error", other, sent=True))
    assert messages(written(OVERLOADED, response)) == ["Overloaded for now."]


def test_the_message_of_a_grpc_answer_stands_in_its_status() -> None:
    answer = Response(grpc=GrpcStatus(8, "Too many requests for the model."))
    assert messages(written(GRPC, answer)) == ["Too many requests for the model."]


def test_the_headers_of_another_grpc_status_say_nothing() -> None:
    rules = {"x-request-id": {"rule": "present", "source": "2:7.6#gRPC 8 RESOURCE_EXHAUSTED"}}
    record = Record(GRPC.address, {**GRPC.data, "response_headers": rules})
    refused = Response(headers={"x-request-id": "1"}, grpc=GrpcStatus(7, "No."))
    assert marks(written(record, refused, Outcome.DRIFTED)) == {}
    assert marks(written(record, replace(refused, grpc=GrpcStatus(8)), Outcome.DRIFTED)) == {"x-request-id": "present"}


@pytest.mark.parametrize(("headers", "mark"), [({"x-limit-1": "9"}, "9"), ({}, "absent")])
def test_a_header_whose_name_is_a_pattern_is_marked_with_the_value_found(headers: dict[str, str], mark: str) -> None:
    rules = {"x-limit-*": {"rule": "equals", "value": "8", "source": "2:8.2#retry-after"}}
    record = Record(RATE_LIMITS.address, {**RATE_LIMITS.data, "headers": rules})
    assert marks(written(record, Response(200, headers), Outcome.DRIFTED)) == {"x-limit-*": mark}
