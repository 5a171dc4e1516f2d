"""What write-back keeps of an answer: stable parts only, in bounded length."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.model import Attempt, Exchange, Finding, Json, Request, Response
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.catalog.reading.headers import HeaderRule
from catalog_probe.catalog.writeback import answer_evidence
from tests.unit.reports.factories import make_finding, make_result

ERROR, ENDPOINT = "pa/errors/general/rate_limit_error", "pa/endpoints/messages/create_message"


def make_drift(location: str, observed: Json = "a", documented: Json = "b") -> Finding:
    return replace(
        make_finding("header-differs"), label="answer", location=location, observed=observed, documented=documented
    )


def describe_drifts(*locations: str) -> list[str]:
    return [f"answer {location} a instead of b (header-differs)" for location in sorted(locations)]


def test_five_differences_are_described_and_the_others_have_a_digest() -> None:
    few = [f"h{number}" for number in range(5)]
    assert answer_evidence.describe_differences(tuple(map(make_drift, reversed(few)))) == tuple(describe_drifts(*few))
    many = [*few, "h5", "h6"]
    digest = hashlib.sha256("\n".join(describe_drifts("h5", "h6")).encode()).hexdigest()[:6]
    assert answer_evidence.describe_differences(tuple(map(make_drift, many))) == (
        *describe_drifts(*few),
        f"and 2 more ({digest})",
    )
    assert answer_evidence.describe_differences(()) == ()


def test_a_difference_is_described_once_and_truncated() -> None:
    assert answer_evidence.describe_differences((make_drift("h"), make_drift("h"))) == tuple(describe_drifts("h"))
    (description,) = answer_evidence.describe_differences((make_drift("h", documented="b" * 80),))
    assert description == f"answer h a instead of {'b' * 80} (header-differs)"
    (description,) = answer_evidence.describe_differences((make_drift("h", documented="b" * 81),))
    assert description == f"answer h a instead of {'b' * 79}… (header-differs)"
    (description,) = answer_evidence.describe_differences((make_drift("h", documented={"b": [1, "é"], "a": None}),))
    assert description == 'answer h a instead of {"a": null, "b": [1, "é"]} (header-differs)'


def test_a_difference_without_location_names_the_aspect() -> None:
    (description,) = answer_evidence.describe_differences((replace(make_drift("", 500, 404), code="status-differs"),))
    assert description == f"answer {make_finding().aspect} 500 instead of 404 (status-differs)"


def test_a_header_value_is_kept_only_if_documented() -> None:
    rules = (
        HeaderRule("x-should-retry", "equals", value="true"),
        HeaderRule("request-id", "present"),
        HeaderRule("retry-after", "format", format="seconds"),
    )
    expected = Expected("answer", ERROR, envelope("pa"), 429, headers=rules)
    response = Response(429, {"X-Should-Retry": "false", "Request-Id": "req_1"}, {}, "json")
    assert answer_evidence.collect_header_marks(expected, response) == {
        "x-should-retry": "false",
        "request-id": "present",
        "retry-after": "absent",
    }


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
        judged = answer_evidence.find_judged_exchange(
            make_result(address, attempts=make_attempts(*exchanges_by_attempt))
        )
        assert (judged.label if judged else None) == label, address


def test_the_later_of_two_attempts_is_judged() -> None:
    later = answer_evidence.find_judged_exchange(
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
    limits = answer_evidence.collect_limits(replace(result, probed_record={}))
    assert limits == {"account_specific": True, "headers": {"x-limit-requests": "60", "x-limit-tokens": "9"}}


def test_the_tier_is_the_row_with_all_limits_of_the_key() -> None:
    tables = {"messages": {"tiers": {"start": {"rpm": 50}, "build": {"rpm": 1000}}}}
    limits = {"headers": {"x-limit-requests": {"rule": "present", "metric": "rpm"}}, "documented": tables}
    success = make_exchange("answer", 200, {"x-limit-requests": "50"})
    result = replace(
        make_result("pa/rate_limits/limits/general", attempts=make_attempts((success,))), probed_record=limits
    )
    assert answer_evidence.collect_limits(result) == {
        "account_specific": True,
        "headers": {"x-limit-requests": "50"},
        "tiers": ["messages: start"],
    }


def test_unobserved_limits_are_kept_with_their_reason() -> None:
    not_observed = replace(make_finding("not-observed"), label="limited", observed="cost-not-allowed")
    result = replace(
        make_result("pa/rate_limits/limits/general", findings=(not_observed, make_drift("h"))),
        probed_record={},
        attempts=(),
    )
    assert answer_evidence.collect_limits(result) == {
        "account_specific": True,
        "not_observed": {"limited": "cost-not-allowed"},
    }


def test_endpoint_and_message_are_kept_without_volatile_text() -> None:
    file_exchange = replace(
        make_exchange("answer"), request=Request("GET", "https://x/v1/files/file_011CZkZ8X4mJ2eX9?limit=1")
    )
    assert answer_evidence.describe_endpoint(file_exchange).startswith("GET /v1/files/")
    assert "011CZkZ8X4mJ2eX9" not in answer_evidence.describe_endpoint(file_exchange)
    expected = Expected("answer", ERROR, envelope("pa"), 429)
    for text, message in (("Slow down.", "Slow down."), (" ", None), ("", None)):
        body = {"type": "error", "error": {"type": "x", "message": text}}
        assert answer_evidence.extract_message(expected, Response(429, {}, body, "json")) == message
    assert answer_evidence.extract_message(expected, Response(429, {}, {}, "json")) is None
    expected_with_param = Expected("answer", "pc/errors/request/invalid_value", envelope("pc"), 400)
    assert (
        answer_evidence.extract_param(
            expected_with_param, Response(400, {}, {"error": {"message": "no", "param": "input"}}, "json")
        )
        == "input"
    )
    assert (
        answer_evidence.extract_param(
            expected_with_param, Response(400, {}, {"error": {"message": "no", "param": None}}, "json")
        )
        is None
    )
