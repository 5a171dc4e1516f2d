"""Which record an answer is: by its code, its status or its type; never by looks alone, and never an exception."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catalog
from catalog import Identity, May, identify
from catalog.model.errors import CatalogError

PC_LIMIT = {"message": "Slow.", "type": "rate_limit_error", "param": None, "code": "rate_limit_exceeded"}
PC_HEADERS = {"PC-Organization": "org-1", "Retry-After": "3"}
PA_BODY = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_1"}
RATE_LIMIT = "pc/errors/rate_limit/rate_limit_exceeded"


def pc(error: dict[str, Any], status: int = 429, headers: Any = PC_HEADERS, **more: Any) -> Identity:
    return identify("pc", status, headers, {"error": error, **more})


@pytest.mark.parametrize(
    "body",
    [
        {"error": PC_LIMIT},
        json.dumps({"error": PC_LIMIT}),
        json.dumps({"error": PC_LIMIT}).encode(),
        PC_LIMIT,
        f"Error code: 429 - { ({'error': PC_LIMIT})!r}",
    ],
    ids=["parsed", "text", "bytes", "unwrapped by an SDK", "in the words of an exception"],
)
def test_a_body_is_read_in_every_form_that_people_have_it_in(body: Any) -> None:
    assert identify("PC", 429, PC_HEADERS, body).records == (RATE_LIMIT,)


def test_what_is_as_documented_and_from_the_provider_is_certain() -> None:
    found = pc(PC_LIMIT)
    assert found.certain
    assert found.retry.may is May.YES
    assert (found.retry.wait_s, found.retry.wait_from) == (3.0, "retry-after")


@pytest.mark.parametrize("name", ["pc-organization", "Other-Organization", "x-other-organization"])
def test_the_providers_headers_are_known_by_their_stand_in_and_by_the_real_name(name: str) -> None:
    assert pc(PC_LIMIT, headers={name: "org-1"}).certain


@pytest.mark.parametrize("headers", [None, {}, {"date": "now"}, {"x-ratelimit-limit-requests": "1"}])
def test_without_a_header_of_the_provider_nothing_that_others_imitate_is_certain(headers: Any) -> None:
    found = pc(PC_LIMIT, headers=headers)
    assert found.records == (RATE_LIMIT,)
    assert not found.certain


def test_another_type_beside_a_documented_code_is_told_and_makes_it_uncertain() -> None:
    found = pc({**PC_LIMIT, "type": "requests"})
    assert found.records == (RATE_LIMIT,)
    assert not found.certain
    assert "type requests, documented rate_limit_error" in found.reasons


def test_another_status_beside_a_documented_code_is_still_that_error() -> None:
    error = {"message": "no", "type": "invalid_request_error", "param": "model", "code": "model_not_found"}
    found = pc(error, 400)
    assert found.records == ("pc/errors/not_found/model",)
    assert "status 400, documented 404" in found.reasons


def test_a_code_of_a_documented_family_is_of_that_family() -> None:
    error = {"message": "low", "type": "invalid_request_error", "param": "t", "code": "decimal_below_min_value"}
    assert pc(error, 400).records == ("pc/errors/request/integer_below_min_value",)


@pytest.mark.parametrize("code", ["a_code_that_nobody_documents", None])
def test_a_code_that_no_record_has_is_no_record(code: str | None) -> None:
    error = {"message": "no", "type": "invalid_request_error", "param": None, "code": code}
    assert not pc(error, 400)


@pytest.mark.parametrize(
    "headers", [{"apim-request-id": "1"}, {"X-MS-Region": "here"}, {"x-litellm-version": "1"}, {"x-groq-region": "x"}]
)
def test_another_host_with_the_same_body_is_named_no_record(headers: dict[str, str]) -> None:
    found = pc(PC_LIMIT, headers=headers)
    assert not found
    assert "it only looks like pc/errors/rate_limit/rate_limit_exceeded" in found.reasons


def test_an_answer_that_came_through_another_host_is_named_and_not_certain() -> None:
    found = pc(PC_LIMIT, headers={**PC_HEADERS, "x-litellm-version": "1"})
    assert found.records == (RATE_LIMIT,)
    assert not found.certain


@pytest.mark.parametrize("lacking", ["param", "message"])
def test_an_envelope_that_lacks_a_member_is_of_another_host_unless_a_header_says_otherwise(lacking: str) -> None:
    error = {name: value for name, value in PC_LIMIT.items() if name != lacking}
    assert not pc(error, headers={"date": "now"})
    assert pc(error).records == (RATE_LIMIT,)


def test_the_set_that_an_answer_cannot_tell_apart_is_named_with_the_likeliest_first() -> None:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens: Field required"}}
    found = identify("pa", 400, {"request-id": "req_1"}, {**body, "request_id": "req_1"})
    assert found.records[0] == "pa/errors/invalid_request/missing_max_tokens"
    assert "pa/errors/invalid_request/empty_messages" in found.records
    assert found.retry.may is May.NO


def test_an_error_event_is_found_in_the_text_of_a_stream() -> None:
    text = f'event: message_start\ndata: {{"type": "message_start"}}\n\nevent: error\ndata: {json.dumps(PA_BODY)}\n\n'
    assert identify("pa", 200, None, text).records[0] == "pa/errors/stream/overloaded"
    assert identify("pa", 529, None, PA_BODY).records == ("pa/errors/general/overloaded",)


def test_a_surface_narrows_what_is_compared() -> None:
    assert identify("pd", None, grpc=14).records == ("pd/errors/grpc/unavailable",)
    assert not identify("pd", None, grpc=14, surface="http")
    with pytest.raises(CatalogError, match="no surface is called 'carrier pigeon'"):
        identify("pd", 429, surface="carrier pigeon")


def test_a_close_is_known_by_its_code() -> None:
    found = identify("pb", None, close=(1008, "session lifetime exceeded"))
    assert found.records
    assert all(address.startswith("pb/errors/live/") for address in found.records)


def test_an_empty_body_is_known_where_one_is_documented() -> None:
    assert identify("pd", 405, None, b"").records == ("pd/errors/request/method_not_allowed",)


def test_a_provider_that_nobody_knows_is_said_in_one_line() -> None:
    with pytest.raises(CatalogError, match="no provider is called 'pe'"):
        identify("pe", 429)


def test_find_takes_words_and_values() -> None:
    found = catalog.find(provider="pc", status=429, text="prepaid balance")
    assert [each.address for each in found] == ["pc/errors/rate_limit/credit_balance_exhausted"]
    assert found[0].retry.may is May.NO
    assert not catalog.find(provider="pc", status=429, code="model_not_found")


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
def test_whatever_answers_is_a_set_of_records_or_none(
    provider: str, status: int | None, headers: Any, body: Any, close: Any, grpc: int | None
) -> None:
    found = identify(provider, status, headers, body, close=close, grpc=grpc)
    assert found.reasons
    assert all(address in catalog.load() for address in found.records)
    assert found.records or not found.certain
