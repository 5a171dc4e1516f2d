"""What write-back keeps of an answer, read where the judge reads it, and which field of a record holds it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import date, timedelta

from catalog_probe.catalog.envelopes import load_envelope
from catalog_probe.catalog.evidence.results import RECORDED
from catalog_probe.catalog.model import (
    Attempt,
    Event,
    Exchange,
    Finding,
    GrpcStatus,
    Json,
    Outcome,
    Record,
    Request,
    Response,
)
from catalog_probe.catalog.observed import LastSeen
from catalog_probe.catalog.reading.expectations import Expected
from catalog_probe.catalog.writeback import record_evidence
from catalog_probe.catalog.writeback.planner import Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.record_evidence import Sighting, add_evidence, expire_evidence
from tests.harness.engines import catalog
from tests.unit.catalog.catalog_factories import (
    ENDPOINT_ADDRESS,
    ERROR_ADDRESS,
    LIMITS_ADDRESS,
    make_drift,
    make_record,
    make_sighting,
)
from tests.unit.reports.factories import make_finding, make_result

ERROR, ENDPOINT = "pa/errors/general/rate_limit_error", "pa/endpoints/messages/create_message"


def make_header_drift(location: str, observed: Json = "a", documented: Json = "b") -> Finding:
    return replace(
        make_finding("header-differs"), label="answer", location=location, observed=observed, documented=documented
    )


def describe_drifts(*locations: str) -> list[str]:
    return [f"answer {location} a instead of b (header-differs)" for location in sorted(locations)]


def test_five_differences_are_described_and_the_others_have_a_digest() -> None:
    few = [f"h{number}" for number in range(5)]
    assert record_evidence.describe_differences(tuple(map(make_header_drift, reversed(few)))) == tuple(
        describe_drifts(*few)
    )
    many = [*few, "h5", "h6"]
    digest = hashlib.sha256("\n".join(describe_drifts("h5", "h6")).encode()).hexdigest()[:6]
    assert record_evidence.describe_differences(tuple(map(make_header_drift, many))) == (
        *describe_drifts(*few),
        f"and 2 more ({digest})",
    )
    assert record_evidence.describe_differences(()) == ()


def test_a_difference_is_described_once_and_truncated() -> None:
    assert record_evidence.describe_differences((make_header_drift("h"), make_header_drift("h"))) == tuple(
        describe_drifts("h")
    )
    (description,) = record_evidence.describe_differences((make_header_drift("h", documented="b" * 80),))
    assert description == f"answer h a instead of {'b' * 80} (header-differs)"
    (description,) = record_evidence.describe_differences((make_header_drift("h", documented="b" * 81),))
    assert description == f"answer h a instead of {'b' * 79}… (header-differs)"
    (description,) = record_evidence.describe_differences(
        (make_header_drift("h", documented={"b": [1, "é"], "a": None}),)
    )
    assert description == 'answer h a instead of {"a": null, "b": [1, "é"]} (header-differs)'


def test_a_difference_without_location_names_the_aspect() -> None:
    (description,) = record_evidence.describe_differences(
        (replace(make_header_drift("", 500, 404), code="status-differs"),)
    )
    assert description == f"answer {make_finding().aspect} 500 instead of 404 (status-differs)"


def test_an_example_is_the_short_masked_body_of_an_answer() -> None:
    expected = Expected("answer", ERROR, load_envelope("pa"), 404)
    body = {"type": "error", "error": {"type": "not_found_error", "message": "no model mock-4f2a9c81d07e"}, "n": 1}
    masked = {**body, "error": {"type": "not_found_error", "message": "no model {id}"}}
    assert record_evidence.extract_example(expected, Response(404, {}, body, "json")) == masked
    too_long = {"error": {"message": "x " * record_evidence.MAX_EXAMPLE, "details": ["y" * 300] * 5}}
    assert record_evidence.extract_example(expected, Response(404, {}, too_long, "json")) is None
    assert record_evidence.extract_example(expected, Response(404, {}, "<html>", "text")) is None


def test_a_shape_is_names_and_types() -> None:
    one, other = {"a": 1, "b": [{"c": "x"}, {"c": "y"}]}, {"a": 2, "b": [{"c": ""}]}
    assert record_evidence.shape_of(one) == record_evidence.shape_of(other)
    changed: list[Json] = [{**one, "a": "1"}, {**one, "d": None}, {"a": 1}, {**one, "b": [{"c": "x"}, {}]}, [one], None]
    for value in changed:
        assert record_evidence.shape_of(value) != record_evidence.shape_of(one), value


def make_exchange(label: str, status: int = 200, headers: dict[str, str] | None = None) -> Exchange:
    return Exchange(label, Request("POST", "https://x/v1/messages"), Response(status, headers or {}, {}, "json"))


def make_attempts(*exchanges: tuple[Exchange, ...]) -> list[Attempt]:
    return [Attempt("2026-11-21T04:05:00Z", 1.0, attempt_exchanges) for attempt_exchanges in exchanges]


def test_the_judged_exchange_is_in_the_last_attempt_that_has_one() -> None:
    cases: list[tuple[str, list[tuple[Exchange, ...]], str | None]] = [
        (ERROR, [(make_exchange("control"), make_exchange("answer", 429))], "answer"),
        (ENDPOINT, [(make_exchange("missing_credential", 401), make_exchange("success"))], "success"),
        (ENDPOINT, [(make_exchange("missing_credential", 401),)], None),
        (ERROR, [(make_exchange("answer", 429),), (make_exchange("control"),)], "answer"),
        (ERROR, [(replace(make_exchange("answer"), response=None),)], None),
        (ERROR, [], None),
    ]
    for address, exchanges_by_attempt, label in cases:
        judged = record_evidence.find_judged_exchange(
            make_result(address, attempts=make_attempts(*exchanges_by_attempt))
        )
        assert (judged.label if judged else None) == label, (address, exchanges_by_attempt)


def test_the_later_of_two_attempts_is_judged() -> None:
    later = record_evidence.find_judged_exchange(
        make_result(ERROR, attempts=make_attempts((make_exchange("answer", 429),), (make_exchange("answer", 500),)))
    )
    assert later is not None
    assert later.response is not None
    assert later.response.status == 500


def test_limits_of_the_key_come_from_the_last_successes_without_counters() -> None:
    limit_headers = {
        "x-limit-requests": "50",
        "x-limit-remaining": "49",
        "x-limit-reset": "1s",
        "x-limit-used": "1",
        "date": "x",
    }
    first = (
        make_exchange("answer", 200, {**limit_headers, "x-limit-gone": "5"}),
        make_exchange("tokens", 200, {"x-limit-tokens": "9"}),
    )
    last = {"x-limit-requests": "60", "x-limit-remaining": "59", "x-limit-reset": "1s", "x-limit-used": "1"}
    second = (make_exchange("answer", 200, last), make_exchange("control", 200, {"x-limit-a": "1"}))
    refused = (make_exchange("limited", 429, {"x-limit-b": "1"}), make_exchange("edge", 400, {"x-limit-c": "1"}))
    result = make_result("pa/rate_limits/limits/general", attempts=make_attempts(first, second, refused))
    limits = record_evidence.collect_limits(replace(result, probed_record={}))
    assert limits == {"account_specific": True, "headers": {"x-limit-requests": "60", "x-limit-tokens": "9"}}


def test_the_tier_is_the_row_with_all_limits_of_the_key() -> None:
    tables = {"messages": {"tiers": {"start": {"rpm": 50}, "build": {"rpm": 1000}}}}
    limits = {"headers": {"x-limit-requests": {"rule": "present", "metric": "rpm"}}, "documented": tables}
    success = make_exchange("answer", 200, {"x-limit-requests": "50"})
    result = replace(
        make_result("pa/rate_limits/limits/general", attempts=make_attempts((success,))), probed_record=limits
    )
    assert record_evidence.collect_limits(result) == {
        "account_specific": True,
        "headers": {"x-limit-requests": "50"},
        "tiers": ["messages: start"],
    }


def test_unobserved_limits_are_kept_with_their_reason() -> None:
    not_observed = replace(make_finding("not-observed"), label="limited", observed="cost-not-allowed")
    result = replace(
        make_result("pa/rate_limits/limits/general", findings=(not_observed, make_header_drift("h"))),
        probed_record={},
        attempts=(),
    )
    assert record_evidence.collect_limits(result) == {
        "account_specific": True,
        "not_observed": {"limited": "cost-not-allowed"},
    }


def test_endpoint_and_message_are_kept_without_volatile_text() -> None:
    file_exchange = replace(
        make_exchange("answer"), request=Request("GET", "https://x/v1/files/file_011CZkZ8X4mJ2eX9?limit=1")
    )
    assert record_evidence.describe_endpoint(file_exchange).startswith("GET /v1/files/")
    assert "011CZkZ8X4mJ2eX9" not in record_evidence.describe_endpoint(file_exchange)
    expected = Expected("answer", ERROR, load_envelope("pa"), 429)
    for text, message in (("Slow down.", "Slow down."), (" ", None), ("", None)):
        body = {"type": "error", "error": {"type": "x", "message": text}}
        assert record_evidence.extract_message(expected, Response(429, {}, body, "json")) == message
    assert record_evidence.extract_message(expected, Response(429, {}, {}, "json")) is None
    expected_with_param = Expected("answer", "pc/errors/request/invalid_value", load_envelope("pc"), 400)
    assert (
        record_evidence.extract_param(
            expected_with_param, Response(400, {}, {"error": {"message": "no", "param": "input"}}, "json")
        )
        == "input"
    )
    assert (
        record_evidence.extract_param(
            expected_with_param, Response(400, {}, {"error": {"message": "no", "param": None}}, "json")
        )
        is None
    )


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


def messages(record: Record) -> list[str]:
    return list(record.data.get("live_messages", ()))


def make_stream(status: int = 200, *events: Event) -> Response:
    return Response(status, {"request-id": "req_1"}, events=events)


def test_the_message_of_a_body_is_found_in_the_array_around_it() -> None:
    bodies: list[Json] = [
        # bare
        COMPAT_ERROR,
        # in-an-array
        [COMPAT_ERROR],
    ]
    for body in bodies:
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


WHERE = {ENDPOINT_ADDRESS: "verification", ERROR_ADDRESS: "observed", LIMITS_ADDRESS: "observed_for_this_key"}


def add_conforming_evidence(before: Record, *differences: str, **extra: object) -> Record:
    return Record(before.address, add_evidence(before, make_sighting(Outcome.CONFORMS), differences, extra))


def test_a_new_look_leaves_nothing_of_an_expiry_and_of_an_older_look() -> None:
    for address in WHERE:
        once = add_conforming_evidence(make_record(address), "a difference", headers={"x": "1"})
        expired = Record(once.address, expire_evidence(once, "expired: last seen long ago"))
        assert "expired" in str(expired.data[WHERE[address]])
        assert "a difference" in str(once.data[WHERE[address]])
        again = add_conforming_evidence(expired)
        assert again.data == add_conforming_evidence(make_record(address)).data
        assert not {"expired", "reason", "headers"} & again.data[WHERE[address]].keys()


def test_fields_written_by_hand_in_the_limits_stay() -> None:
    by_hand = make_record(LIMITS_ADDRESS, observed_for_this_key={"tier": "start", "result": "drifted", "reason": "old"})
    block = add_conforming_evidence(by_hand).data["observed_for_this_key"]
    assert block["tier"] == "start"
    assert block["result"] == "conforms"
    assert "reason" not in block


def test_a_sighting_is_older_than_evidence_of_a_later_day() -> None:
    look: Sighting = make_sighting(Outcome.CONFORMS, "2026-11-10")
    cases: list[tuple[str | None, bool]] = [
        ("2026-11-01", False),
        ("2026-11-20", True),
        ("2026-11-10", False),
        (None, False),
    ]
    for day, older in cases:
        last = LastSeen(date.fromisoformat(day), None) if day else None
        assert look.is_older_than(last) is older, day


def test_a_look_is_not_older_than_itself() -> None:
    look = make_sighting(Outcome.CONFORMS, "2026-11-10", hour=6)
    assert not look.is_older_than(LastSeen(look.day, look.at))
    assert look.is_older_than(LastSeen(look.day, look.at + timedelta(milliseconds=1)))


def test_a_recording_has_the_date_of_its_recording() -> None:
    judged = make_sighting(Outcome.CONFORMS, "2026-11-20")
    recorded = replace(judged.result, trigger=RECORDED, observed_at="2026-11-12T23:59:59Z")
    assert replace(judged, result=recorded).day == date(2026, 11, 12)
    assert judged.day == date(2026, 11, 20)


def test_expired_evidence_has_no_differences() -> None:
    for address in WHERE:
        once = add_conforming_evidence(make_record(address), "a difference")
        assert "seen" not in expire_evidence(once, "expired")[WHERE[address]]
