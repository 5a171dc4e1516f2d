"""What of an answer a record may keep: what stays the same from night to night, and no more than a person reads."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.model import Attempt, Exchange, Finding, Json, Request, Response
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.catalog.reading.headers import HeaderRule
from catalog_probe.catalog.writeback import answer_evidence
from tests.unit.reports.factories import make_finding, make_result

ERROR, ENDPOINT = "pa/errors/general/rate_limit_error", "pa/endpoints/messages/create_message"


def drift(at: str, observed: Json = "a", documented: Json = "b") -> Finding:
    return replace(
        make_finding("header-differs"), label="answer", location=at, observed=observed, documented=documented
    )


def words(*ats: str) -> list[str]:
    return [f"answer {at} a instead of b (header-differs)" for at in sorted(ats)]


def test_five_differences_are_told_in_words_and_the_others_by_a_digest() -> None:
    few = [f"h{number}" for number in range(5)]
    assert answer_evidence.describe_differences(tuple(map(drift, reversed(few)))) == tuple(words(*few))
    many = [*few, "h5", "h6"]
    digest = hashlib.sha256("\n".join(words("h5", "h6")).encode()).hexdigest()[:6]
    assert answer_evidence.describe_differences(tuple(map(drift, many))) == (*words(*few), f"and 2 more ({digest})")
    assert answer_evidence.describe_differences(()) == ()


def test_a_difference_is_told_once_and_in_no_more_than_a_beginning() -> None:
    assert answer_evidence.describe_differences((drift("h"), drift("h"))) == tuple(words("h"))
    (description,) = answer_evidence.describe_differences((drift("h", documented="b" * 80),))
    assert description == f"answer h a instead of {'b' * 80} (header-differs)"
    (description,) = answer_evidence.describe_differences((drift("h", documented="b" * 81),))
    assert description == f"answer h a instead of {'b' * 79}… (header-differs)"
    (description,) = answer_evidence.describe_differences((drift("h", documented={"b": [1, "é"], "a": None}),))
    assert description == 'answer h a instead of {"a": null, "b": [1, "é"]} (header-differs)'


def test_a_difference_at_no_place_names_the_aspect() -> None:
    (description,) = answer_evidence.describe_differences((replace(drift("", 500, 404), code="status-differs"),))
    assert description == f"answer {make_finding().aspect} 500 instead of 404 (status-differs)"


def test_of_a_header_the_value_is_kept_only_where_the_documents_state_it() -> None:
    rules = (
        HeaderRule("x-should-retry", "equals", value="true"),
        HeaderRule("request-id", "present"),
        HeaderRule("retry-after", "format", format="seconds"),
    )
    expected = Expected("answer", ERROR, envelope("pa"), 429, headers=rules)
    came = Response(429, {"X-Should-Retry": "false", "Request-Id": "req_1"}, {}, "json")
    assert answer_evidence.collect_header_marks(expected, came) == {
        "x-should-retry": "false",
        "request-id": "present",
        "retry-after": "absent",
    }


def exchange(label: str, status: int = 200, headers: dict[str, str] | None = None) -> Exchange:
    return Exchange(label, Request("POST", "https://x/v1/messages"), Response(status, headers or {}, {}, "json"))


def attempts(*exchanges: tuple[Exchange, ...]) -> list[Attempt]:
    return [Attempt("2026-11-21T04:05:00Z", 1.0, each) for each in exchanges]


@pytest.mark.parametrize(
    ("address", "made", "label"),
    [
        (ERROR, [(exchange("control"), exchange("answer", 429))], "answer"),
        (ENDPOINT, [(exchange("missing_credential", 401), exchange("success"))], "success"),
        (ENDPOINT, [(exchange("missing_credential", 401),)], None),
        (ERROR, [(exchange("answer", 429),), (exchange("control"),)], "answer"),
        (ERROR, [(replace(exchange("answer"), response=None),)], None),
        (ERROR, [], None),
    ],
)
def test_what_a_record_is_about_is_in_the_last_attempt_that_shows_it(
    address: str, made: list[tuple[Exchange, ...]], label: str | None
) -> None:
    judged = answer_evidence.find_judged_exchange(make_result(address, attempts=attempts(*made)))
    assert (judged.label if judged else None) == label


def test_of_two_attempts_the_later_one_is_what_a_record_is_about() -> None:
    later = answer_evidence.find_judged_exchange(
        make_result(ERROR, attempts=attempts((exchange("answer", 429),), (exchange("answer", 500),)))
    )
    assert later is not None
    assert later.response is not None
    assert later.response.status == 500


def test_the_limits_of_this_key_are_what_successes_told_last_without_what_moves() -> None:
    told = {
        "x-limit-requests": "50",
        "x-limit-remaining": "49",
        "x-limit-reset": "1s",
        "x-limit-used": "1",
        "date": "x",
    }
    first = (exchange("answer", 200, {**told, "x-limit-gone": "5"}), exchange("tokens", 200, {"x-limit-tokens": "9"}))
    last = {"x-limit-requests": "60", "x-limit-remaining": "59", "x-limit-reset": "1s", "x-limit-used": "1"}
    second = (exchange("answer", 200, last), exchange("control", 200, {"x-limit-a": "1"}))
    refused = (exchange("limited", 429, {"x-limit-b": "1"}), exchange("edge", 400, {"x-limit-c": "1"}))
    seen = make_result("pa/rate_limits/limits/general", attempts=attempts(first, second, refused))
    limits = answer_evidence.collect_limits(replace(seen, probed_record={}))
    assert limits == {"account_specific": True, "headers": {"x-limit-requests": "60", "x-limit-tokens": "9"}}


def test_the_tier_of_this_key_is_the_row_that_has_all_its_limits() -> None:
    tables = {"messages": {"tiers": {"start": {"rpm": 50}, "build": {"rpm": 1000}}}}
    limits = {"headers": {"x-limit-requests": {"rule": "present", "metric": "rpm"}}, "documented": tables}
    told = exchange("answer", 200, {"x-limit-requests": "50"})
    seen = replace(make_result("pa/rate_limits/limits/general", attempts=attempts((told,))), probed_record=limits)
    assert answer_evidence.collect_limits(seen) == {
        "account_specific": True,
        "headers": {"x-limit-requests": "50"},
        "tiers": ["messages: start"],
    }


def test_what_was_not_looked_at_of_the_limits_is_told_with_its_reason() -> None:
    left = replace(make_finding("not-observed"), label="limited", observed="cost-not-allowed")
    seen = replace(
        make_result("pa/rate_limits/limits/general", findings=(left, drift("h"))), probed_record={}, attempts=()
    )
    assert answer_evidence.collect_limits(seen) == {
        "account_specific": True,
        "not_observed": {"limited": "cost-not-allowed"},
    }


def test_an_endpoint_and_a_message_are_kept_without_what_changes_nightly() -> None:
    asked = replace(exchange("answer"), request=Request("GET", "https://x/v1/files/file_011CZkZ8X4mJ2eX9?limit=1"))
    assert answer_evidence.describe_endpoint(asked).startswith("GET /v1/files/")
    assert "011CZkZ8X4mJ2eX9" not in answer_evidence.describe_endpoint(asked)
    expected = Expected("answer", ERROR, envelope("pa"), 429)
    for text, kept in (("Slow down.", "Slow down."), (" ", None), ("", None)):
        body = {"type": "error", "error": {"type": "x", "message": text}}
        assert answer_evidence.extract_message(expected, Response(429, {}, body, "json")) == kept
    assert answer_evidence.extract_message(expected, Response(429, {}, {}, "json")) is None
    named = Expected("answer", "pc/errors/request/invalid_value", envelope("pc"), 400)
    assert (
        answer_evidence.extract_param(named, Response(400, {}, {"error": {"message": "no", "param": "input"}}, "json"))
        == "input"
    )
    assert (
        answer_evidence.extract_param(named, Response(400, {}, {"error": {"message": "no", "param": None}}, "json"))
        is None
    )
