"""Identification of an answer by code, status and type; it never raises."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catalog_probe
from catalog_probe import Identity, May, identify
from catalog_probe.catalog.model import Address
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.recognition.answer_body import make_answer
from catalog_probe.catalog.recognition.identify import Recognizer

PC_LIMIT = {"message": "Slow.", "type": "rate_limit_error", "param": None, "code": "rate_limit_exceeded"}
PC_HEADERS = {"PC-Organization": "org-1", "Retry-After": "3"}
PA_BODY = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_1"}
RATE_LIMIT = "pc/errors/rate_limit/rate_limit_exceeded"


def pc(error: dict[str, Any], status: int = 429, headers: Any = PC_HEADERS, **more: Any) -> Identity:
    return identify("pc", status, headers, {"error": error, **more})


def test_a_body_is_read_in_every_form_that_people_have_it_in() -> None:
    bodies: list[Any] = [
        # parsed
        {"error": PC_LIMIT},
        # text
        json.dumps({"error": PC_LIMIT}),
        # bytes
        json.dumps({"error": PC_LIMIT}).encode(),
        # unwrapped by an SDK
        PC_LIMIT,
        # in the words of an exception
        f"Error code: 429 - { ({'error': PC_LIMIT})!r}",
    ]
    for body in bodies:
        assert identify("PC", 429, PC_HEADERS, body).records == (RATE_LIMIT,)


def test_a_documented_answer_with_headers_of_the_provider_is_one_record() -> None:
    identity = pc(PC_LIMIT)
    assert identity.record == RATE_LIMIT
    assert (identity.verdict, identity.candidates) == ("record", ())
    assert identity.retry.may is May.YES
    assert (identity.retry.wait_s, identity.retry.wait_from) == (3.0, "retry-after")


def test_the_providers_headers_are_known_by_their_stand_in_and_by_the_real_name() -> None:
    for name in ["pc-organization", "Other-Organization", "x-other-organization"]:
        assert pc(PC_LIMIT, headers={name: "org-1"}).record == RATE_LIMIT


def test_without_a_header_of_the_provider_a_record_is_only_a_candidate() -> None:
    cases: list[Any] = [{"date": "now"}, {"x-ratelimit-limit-requests": "1"}]
    for headers in cases:
        identity = pc(PC_LIMIT, headers=headers)
        assert identity.record is None, headers
        assert identity.candidates == (RATE_LIMIT,), headers


def test_without_any_headers_the_named_provider_is_trusted() -> None:
    cases: list[Any] = [None, {}]
    for headers in cases:
        assert pc(PC_LIMIT, headers=headers).record == RATE_LIMIT


def test_a_type_that_differs_from_the_record_of_the_code_is_a_reason() -> None:
    identity = pc({**PC_LIMIT, "type": "requests"})
    assert identity.record == RATE_LIMIT
    assert "type requests, documented rate_limit_error" in identity.reasons


def test_a_documented_code_with_another_status_is_still_its_record() -> None:
    error = {"message": "no", "type": "invalid_request_error", "param": "model", "code": "model_not_found"}
    identity = pc(error, 400)
    assert identity.records == ("pc/errors/not_found/model",)
    assert "status 400, documented 404" in identity.reasons


def test_a_code_of_a_documented_family_is_of_that_family() -> None:
    error = {"message": "low", "type": "invalid_request_error", "param": "t", "code": "decimal_below_min_value"}
    assert pc(error, 400).records == ("pc/errors/request/integer_below_min_value",)


def test_a_type_that_reads_like_the_code_of_a_record_is_not_its_code() -> None:
    """PA's type `not_found_error` is the code of six records of PC. A body without a code does not have it."""
    error = {"message": "no", "type": "not_found_error", "param": None, "code": None}
    assert "pc/errors/not_found/agent_session" not in pc(error, 404).records


def test_a_code_that_no_record_has_is_no_record() -> None:
    codes: list[str | None] = ["a_code_that_nobody_documents", None]
    for code in codes:
        error = {"message": "no", "type": "invalid_request_error", "param": None, "code": code}
        identity = pc(error, 400, {"pc-organization": "org-1"})
        assert identity.unknown, code
        assert identity.retry.may is May.UNKNOWN, code
        assert code is None or f"code {code} is in no record" in identity.reasons


def test_a_new_code_is_unknown_with_the_nearest_record() -> None:
    error = {"message": "Unknown field.", "type": "invalid_request_error", "param": "x", "code": "parameter_unknown"}
    identity = pc(error, 400)
    assert (identity.verdict, identity.record, identity.candidates) == ("unknown", None, ())
    assert "code parameter_unknown is in no record" in identity.reasons
    assert "pc/errors/request/unknown_parameter" in identity.nearest


def test_a_record_of_a_class_of_statuses_may_be_the_nearest() -> None:
    """PA documents the refusal of a change to an administered group as `4xx`."""
    message = "This change of a group of administered members is refused."
    body = {"type": "error", "error": {"type": "teapot_error", "message": message}, "request_id": "req_1"}
    assert identify("pa", 418, None, body).nearest[0] == "pa/errors/compliance/write_refused"
    assert "pa/errors/compliance/write_refused" not in identify("pa", 618, None, body).nearest


def test_an_undocumented_status_is_a_reason() -> None:
    identity = identify("pc", 418, None, {"error": {**PC_LIMIT, "code": None}})
    assert "status 418 is in no record" in identity.reasons
    assert "status 429 is in no record" not in identify("pc", 429, None, "<html>").reasons


PA_LIMIT = {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow."}, "request_id": "req_1"}


def test_an_error_of_the_compliance_api_needs_its_path() -> None:
    paths: list[str | None] = [None, "/v1/messages", "https://api.example/v1/messages?beta=true", "/v1/nowhere"]
    for path in paths:
        identity = identify("pa", 429, {"request-id": "req_1"}, PA_LIMIT, path=path)
        assert identity.records, path
        assert not any("/compliance/" in address for address in identity.records), path


def test_the_path_orders_records_with_the_same_answer_and_proves_none() -> None:
    path = "https://api.example/prefix/v1/compliance/activities?limit=1"
    identity = identify("pa", 429, {"request-id": "req_1"}, PA_LIMIT, method="GET", path=path)
    assert (identity.record, identity.candidates) == (None, ("pa/errors/compliance/compliance_rate_limit_exceeded",))
    assert "it does not say that it is this record and no other" in identity.reasons


def test_the_method_orders_records_with_the_same_path() -> None:
    body = {"type": "error", "error": {"type": "permission_error", "message": "No."}, "request_id": "req_1"}
    path = "/v1/compliance/apps/chats/chat_1"
    deleted = identify("pa", 403, None, body, method="delete", path=path)
    assert deleted.candidates == ("pa/errors/compliance/insufficient_scope_delete",)
    read = identify("pa", 403, None, body, method="GET", path=f"{path}/messages")
    assert read.candidates == ("pa/errors/compliance/insufficient_scope_user_data",)


def test_a_code_counts_more_than_the_path() -> None:
    error = {"message": "no", "type": "invalid_request_error", "param": "model", "code": "model_not_found"}
    identity = identify("pc", 404, None, {"error": error}, method="GET", path="/v1/agents")
    assert identity.record == "pc/errors/not_found/model"


PAUSE = {"x-ratelimit-remaining": {"rule": "equals", "value": "0"}}
"""What a limit states that is used up; the other states when to come back."""


def test_a_documented_header_value_distinguishes_two_records() -> None:
    cases: list[tuple[dict[str, str], str]] = [
        ({"x-ratelimit-remaining": "0"}, "primary"),
        ({"x-ratelimit-remaining": "4990", "retry-after": "60"}, "secondary"),
    ]
    for headers, slug in cases:
        original = catalog_probe.load()["pa/errors/general/internal_error"].record
        header_rules = {"primary": PAUSE, "secondary": {"retry-after": {"rule": "present"}}}
        records = [
            replace(
                original,
                address=Address.parse(f"pa/errors/made/{name}"),
                data={**original.data, "http_status": 429, "type": "limited", "response_headers": rules},
            )
            for name, rules in header_rules.items()
        ]
        body = {"type": "error", "error": {"type": "limited", "message": "Slow."}, "request_id": "req_1"}
        answer = make_answer(429, {"request-id": "req_1", **headers}, body)
        assert Recognizer.from_records("pa", records).identify(answer).records == (f"pa/errors/made/{slug}",), headers


def test_an_error_is_no_documented_success_and_a_success_no_documented_error() -> None:
    cases: list[tuple[int | str, int, bool]] = [
        (200, 404, False),
        ("200/503", 404, True),
        ("200/503", 201, True),
        (400, 201, False),
        ("5xx", 201, False),
    ]
    for documented, status, is_candidate in cases:
        original = catalog_probe.load()["pc/errors/rate_limit/rate_limit_exceeded"].record
        record = replace(original, data={**original.data, "http_status": documented})
        recognizer = Recognizer.from_records("pc", [record])
        assert (
            bool(recognizer.identify(make_answer(status, PC_HEADERS, {"error": PC_LIMIT})).records) is is_candidate
        ), (documented, status)


def test_wording_alone_makes_only_a_candidate() -> None:
    identity = identify("pd", None, None, {"error": "Your team has used all available credits."})
    assert (identity.record, identity.candidates) == (None, ("pd/errors/rate_limit/credit_depleted",))


def test_an_answer_at_an_undocumented_path_is_still_identified() -> None:
    identity = identify("pa", 529, None, PA_BODY, method="GET", path="/v1/compliance/activities")
    assert "pa/errors/general/overloaded" in identity.records


def test_a_header_that_must_be_absent_rules_a_record_out() -> None:
    body = json.loads(json.dumps(PA_LIMIT))
    body["error"]["details"] = {"error_code": "enforced_spend_limit_reached"}
    cap = "pa/errors/general/spend_cap"
    assert identify("pa", 429, {"request-id": "req_1"}, body).record == cap
    retried = identify("pa", 429, {"request-id": "req_1", "retry-after": "3", "x-should-retry": "true"}, PA_LIMIT)
    assert cap not in retried.records


def test_status_and_headers_alone_give_a_group_and_advice() -> None:
    cases: list[tuple[str, int, Any, Any, str, May]] = [
        ("pa", 503, None, "<html>Unavailable</html>", "overload", May.YES),
        ("pa", 500, None, b"", "server error", May.YES),
        ("pa", 520, {"server": "edge"}, "<html>x</html>", "server error", May.YES),
        ("pc", 501, None, "", "server error", May.UNKNOWN),
        ("pb", 429, {"Retry-After": "12"}, "", "rate limit", May.YES),
        ("pb", 429, None, "", "rate limit", May.CONDITIONAL),
        ("pa", 403, {"server": "edge"}, "<!DOCTYPE html><title>Blocked</title>", "", May.UNKNOWN),
        ("pa", 418, {"x-should-retry": "true"}, {}, "", May.YES),
        ("pa", 418, {"x-should-retry": "false"}, {}, "", May.NO),
        ("pa", 418, {"retry-after": "12"}, {}, "", May.YES),
        ("pc", 402, None, {"detail": "pay"}, "", May.UNKNOWN),
    ]
    for provider, status, headers, body, group, may in cases:
        identity = identify(provider, status, headers, body)
        assert (identity.record, identity.candidates, identity.group) == (None, (), group), (provider, status, headers)
        assert identity.retry.may is may, (provider, status, headers)
        assert identity.retry.wait_s == (12.0 if headers and "12" in headers.values() else None), (
            provider,
            status,
            headers,
        )


def test_a_gateway_page_is_recognized() -> None:
    identity = identify("pa", 403, {"server": "edge"}, "<html><title>Attention required</title></html>")
    assert identity.unknown
    assert any("a gateway in front of the provider" in reason for reason in identity.reasons)


def test_many_matching_records_are_one_group() -> None:
    body = {"error": {"code": 429, "message": "Resource has been exhausted.", "status": "RESOURCE_EXHAUSTED"}}
    identity = identify("pb", 429, None, body)
    assert (identity.verdict, identity.group, identity.candidates) == ("group", "rate limit", ())
    assert len(identity.records) > 5


def test_the_same_body_from_another_host_is_no_record() -> None:
    header_sets: list[dict[str, str]] = [
        {"apim-request-id": "1"},
        {"X-MS-Region": "here"},
        {"x-litellm-version": "1"},
        {"x-groq-region": "x"},
    ]
    for headers in header_sets:
        identity = pc(PC_LIMIT, headers=headers)
        assert identity.records == (), headers
        assert (identity.verdict, identity.nearest) == ("group", (RATE_LIMIT,)), headers
        assert "it only looks like pc/errors/rate_limit/rate_limit_exceeded" in identity.reasons, headers


def test_an_answer_that_came_through_another_host_is_a_candidate() -> None:
    identity = pc(PC_LIMIT, headers={**PC_HEADERS, "x-litellm-version": "1"})
    assert identity.record is None
    assert identity.candidates == (RATE_LIMIT,)


def test_an_incomplete_envelope_needs_a_header_of_the_provider() -> None:
    for lacking in ["param", "message"]:
        error = {name: value for name, value in PC_LIMIT.items() if name != lacking}
        assert not pc(error, headers={"date": "now"}).records, lacking
        assert pc(error).records == (RATE_LIMIT,), lacking


def test_records_with_the_same_answer_are_all_candidates() -> None:
    body = {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
    identity = identify("pa", 401, {"request-id": "req_1"}, {**body, "request_id": "req_1"})
    assert identity.record is None
    slugs = {candidate.rpartition("/")[2] for candidate in identity.candidates}
    assert slugs == {"key_malformed", "key_revoked", "key_expired", "bad_request_signing"}
    assert identity.group == "authentication"
    assert identity.retry.may is May.NO


def test_an_error_event_is_found_in_the_text_of_a_stream() -> None:
    text = f'event: message_start\ndata: {{"type": "message_start"}}\n\nevent: error\ndata: {json.dumps(PA_BODY)}\n\n'
    assert identify("pa", 200, None, text).records[0] == "pa/errors/stream/overloaded"
    assert identify("pa", 529, None, PA_BODY).records == ("pa/errors/general/overloaded",)


def test_a_surface_limits_the_candidates() -> None:
    assert identify("pd", None, grpc=14).records == ("pd/errors/grpc/unavailable",)
    assert not identify("pd", None, grpc=14, surface="http")
    with pytest.raises(CatalogError, match="no surface is called 'carrier pigeon'"):
        identify("pd", 429, surface="carrier pigeon")


def test_a_close_is_identified_by_its_code() -> None:
    identity = identify("pb", None, close=(1008, "session lifetime exceeded"))
    assert identity.records
    assert all(address.startswith("pb/errors/live/") for address in identity.records)


def test_an_empty_body_is_identified_if_documented() -> None:
    assert identify("pd", 405, None, b"").records == ("pd/errors/request/method_not_allowed",)


def test_an_unknown_provider_is_an_error() -> None:
    with pytest.raises(CatalogError, match="no provider is called 'pe'"):
        identify("pe", 429)


def test_find_takes_words_and_values() -> None:
    records = catalog_probe.find(provider="pc", status=429, text="prepaid balance")
    assert [record.address for record in records] == ["pc/errors/rate_limit/credit_balance_exhausted"]
    assert records[0].retry.may is May.NO
    assert not catalog_probe.find(provider="pc", status=429, code="model_not_found")


NAMES = st.sampled_from(["error", "type", "code", "message", "status", "details", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=10,
)


@settings(deadline=None)
@given(
    provider=st.sampled_from(["pa", "pb", "pc", "pd"]),
    status=st.none() | st.integers(100, 599),
    headers=st.none() | st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=3),
    body=JSON | st.binary(max_size=40) | st.text(max_size=60),
    close=st.none() | st.tuples(st.none() | st.integers(1000, 4999), st.text(max_size=9)),
    grpc=st.none() | st.integers(0, 16),
)
def test_any_answer_is_a_set_of_known_records_or_none(
    provider: str, status: int | None, headers: Any, body: Any, close: Any, grpc: int | None
) -> None:
    identity = identify(provider, status, headers, body, close=close, grpc=grpc)
    assert identity.reasons
    assert all(address in catalog_probe.load() for address in identity.records)
    assert identity.record is None or not identity.candidates
    assert {identity.record, *identity.candidates} <= {None, *identity.records}
    assert identity.records or identity.retry.may is not May.NO or "x-should-retry" in identity.retry.condition


STREAM_CODES = [
    record.code for record in catalog_probe.find(provider="pc", kind="errors") if "/stream/" in record.address
]


@pytest.mark.parametrize("surface", [None, "sse"])
def test_a_code_of_a_stream_is_known_in_each_event_that_carries_it(surface: str | None) -> None:
    assert len(STREAM_CODES) > 18
    for code in STREAM_CODES:
        error = {"code": code, "message": "No.", "param": None}
        events: list[dict[str, Any]] = [
            {"type": "error", **error, "sequence_number": 3},
            {"type": "error", "error": {"type": "invalid_request_error", **error}, "sequence_number": 3},
            {"type": "response.failed", "response": {"error": {"code": code, "message": "No."}}},
        ]
        for event in events:
            identity = identify("pc", 200, None, event, surface=surface)
            assert identity.record == f"pc/errors/stream/{code}", event


def test_an_event_also_carries_errors_that_are_documented_as_responses() -> None:
    error = {"type": "service_unavailable_error", "code": "server_is_overloaded", "message": "Full.", "param": None}
    event = {"type": "error", "error": error, "sequence_number": 2}
    for surface in (None, "sse", "websocket"):
        identity = identify("pc", 200, None, event, surface=surface)
        assert (identity.record, identity.retry.may) == ("pc/errors/server/server_is_overloaded", May.YES), surface
    limit = {"type": "error", "error": {"type": "rate_limit_error", "message": "Over your account's rate limit."}}
    identity = identify("pa", 200, None, limit, method="POST", path="/v1/messages")
    assert identity.record == "pa/errors/general/rate_limit"


def pb_body(message: str, status: str = "INVALID_ARGUMENT", code: int = 400) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status}}


def test_a_path_chooses_no_record_whose_words_the_message_lacks() -> None:
    path = "/v1beta/openai/chat/completions"
    identity = identify("pb", 400, None, [pb_body('Unknown field "reasoning" in the request.')], path=path)
    assert identity.record is None
    assert not any("/compatibility/" in address for address in identity.candidates), identity.candidates
    closed = [pb_body("This model is no longer available to new users.", "NOT_FOUND", 404)]
    assert identify("pb", 404, None, closed).record == "pb/errors/general/model_closed_to_new_users"
    identity = identify("pb", 404, None, closed, path=path)
    assert (identity.record, identity.candidates) == (None, ("pb/errors/general/model_closed_to_new_users",))


def test_a_close_is_known_by_the_words_of_its_reason() -> None:
    cases: list[tuple[int, str, str, May]] = [
        (1008, "API key expired. Please renew the API key.", "pb/errors/general/invalid_api_key", May.NO),
        (1008, "models/m-1 is not found for API version v1beta.", "pb/errors/general/model_not_found", May.NO),
        (1011, "Internal error encountered.", "pb/errors/general/internal_error", May.YES),
        (1011, "The service is currently unavailable.", "pb/errors/general/overloaded", May.YES),
    ]
    for code, reason, record, may in cases:
        identity = identify("pb", None, close=(code, reason))
        assert record in (identity.record, *identity.candidates), reason
        assert identity.retry.may is may, reason
    assert identify("pb", None, close=(1011, "")).verdict == "group"


def test_a_message_alone_is_known_by_its_words() -> None:
    cases: list[tuple[str, int | None, str, str | None]] = [
        ("pd", 400, "Incorrect API key provided: x", "pd/errors/invalid_argument/incorrect_api_key"),
        ("pd", 429, '"Too many tokens for this model."', "pd/errors/rate_limit/model_token_limit"),
        ("pc", 429, "You exceeded your current quota.", "pc/errors/rate_limit/insufficient_quota"),
        ("pc", 400, "This never happened before.", None),
    ]
    for provider, status, text, record in cases:
        assert identify(provider, status, None, text).record == record, text


def test_a_page_is_named_as_what_it_is() -> None:
    page = "<!DOCTYPE html><html><title>502 Bad Gateway</title><body>{overloaded}</body></html>"
    for provider in ("pa", "pb", "pc", "pd"):
        identity = identify(provider, 502, None, page)
        assert identity.record is None
        assert "its body is an HTML page: a gateway in front of the provider answers so" in identity.reasons, provider
        assert identity.retry.may is May.YES


def test_a_grpc_status_has_the_advice_of_its_http_row() -> None:
    cases = {3: May.NO, 16: May.NO, 7: May.NO, 5: May.NO, 8: May.YES, 13: May.YES, 14: May.CONDITIONAL}
    assert {status: identify("pd", None, grpc=status).retry.may for status in cases} == cases


def test_a_stated_delay_outranks_an_unknown_quota() -> None:
    words = "You exceeded your current quota, please check your plan and billing details."
    retry = identify("pb", 429, None, pb_body(f"{words} Please retry in 7.5s.", "RESOURCE_EXHAUSTED", 429)).retry
    assert (retry.may, retry.wait_s, retry.wait_from) == (May.YES, 7.5, "message")
    assert (retry.until, retry.until_source, retry.recover) == ("seconds", "the answer", ("wait",))
    assert identify("pb", 429, None, pb_body(words, "RESOURCE_EXHAUSTED", 429)).retry.may is May.CONDITIONAL


def test_a_429_in_words_of_no_record_is_not_simply_sent_again() -> None:
    error = {"type": "rate_limit_error", "message": "Extra usage is required for long context requests."}
    body = {"type": "error", "error": error, "request_id": "req_1"}
    assert identify("pa", 429, {"request-id": "req_1"}, body).retry.may is May.CONDITIONAL
    assert identify("pa", 429, {"request-id": "req_1", "retry-after": "9"}, body).retry.may is May.YES
