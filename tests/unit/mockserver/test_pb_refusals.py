"""PB's refusals and their envelopes (1:5.2, 2:7.1, 2:7.4)."""

from __future__ import annotations

import pytest

from catalog_probe.mockserver.app import create_app
from tests.unit.mockserver.pb_client import PbClient, read_code, read_status


@pytest.mark.parametrize(
    ("key", "refusal"),
    [
        (None, (401, "UNAUTHENTICATED")),
        ("unknown", (400, "INVALID_ARGUMENT")),
        ("mock-pb-restricted", (403, "PERMISSION_DENIED")),
        ("mock-pb-leaked", (403, "PERMISSION_DENIED")),
        ("mock-pb-blocked", (403, "PERMISSION_DENIED")),
        ("mock-pb-api-not-enabled", (403, "PERMISSION_DENIED")),
        ("auth_tokens/unknown", (401, "UNAUTHENTICATED")),
    ],
)
def test_a_key_that_cannot_be_used(pb: PbClient, key: str | None, refusal: tuple[int, str]) -> None:
    assert read_status(pb.ask("GET", "/v1beta/models", key=key)) == refusal


@pytest.mark.parametrize(
    ("authorization", "refusal"),
    [
        ("Bearer mock-pb-oauth", None),
        ("Bearer mock-pb-oauth-expired", (401, "UNAUTHENTICATED")),
        ("Bearer unknown", (401, "UNAUTHENTICATED")),
        ("Bearer mock-pb-inference", (401, "UNAUTHENTICATED")),
        ("Token auth_tokens/unknown", (401, "UNAUTHENTICATED")),
    ],
)
def test_a_token_in_authorization(pb: PbClient, authorization: str, refusal: tuple[int, str] | None) -> None:
    response = pb.ask("GET", "/v1beta/models", key=None, headers={"authorization": authorization})
    assert (None if response.status_code == 200 else read_status(response)) == refusal


def test_the_key_may_stand_in_the_query(pb: PbClient) -> None:
    assert pb.ask("GET", "/v1beta/models?key=mock-pb-inference", key=None).status_code == 200


@pytest.mark.parametrize(
    ("key", "model", "refusal"),
    [
        ("mock-pb-billing-off", "mock-lite", None),
        ("mock-pb-billing-off", "mock-premium", (400, "FAILED_PRECONDITION")),
        ("mock-pb-region", "mock-lite", (400, "FAILED_PRECONDITION")),
        ("mock-pb-free", "mock-lite", None),
        ("mock-pb-free", "mock-premium", (429, "RESOURCE_EXHAUSTED")),
        ("mock-pb-inference", "mock-premium", None),
    ],
)
def test_a_paid_model_needs_a_paid_key(pb: PbClient, key: str, model: str, refusal: tuple[int, str] | None) -> None:
    response = pb.generate(model, key=key)
    assert (None if response.status_code == 200 else read_status(response)) == refusal


@pytest.mark.parametrize(
    ("scenario", "refusal", "code"),
    [
        ("internal_error", (500, "INTERNAL"), "api_error"),
        ("overloaded", (503, "UNAVAILABLE"), "service_unavailable"),
        ("deadline_exceeded", (504, "DEADLINE_EXCEEDED"), "deadline_exceeded"),
        ("concurrency_conflict", (409, "ABORTED"), "aborted"),
        ("work_cancelled", (499, "CANCELLED"), "cancelled"),
    ],
)
def test_a_scenario_has_the_envelope_of_its_surface(
    pb: PbClient, scenario: str, refusal: tuple[int, str], code: str
) -> None:
    assert read_status(pb.generate(scenario=scenario)) == refusal
    assert read_code(pb.interact(scenario=scenario)) == (refusal[0], code)
    (wrapped,) = pb.chat(scenario=scenario).json()
    assert wrapped["error"]["status"] == refusal[1]


@pytest.mark.parametrize("content", [b"{", b"[]", b'"text"', b"NaN", b'{"contents": 1e999}', b"\xff"])
def test_a_body_that_cannot_be_read(pb: PbClient, content: bytes) -> None:
    response = pb.ask("POST", "/v1/models/mock-lite:generateContent", content=content)
    assert read_status(response) == (400, "INVALID_ARGUMENT")


def test_an_unknown_path_and_a_wrong_method(pb: PbClient) -> None:
    assert read_status(pb.ask("GET", "/v1/none")) == (404, "NOT_FOUND")
    assert read_status(pb.ask("GET", "/v1/auth_tokens")) == (404, "NOT_FOUND")
    assert read_status(pb.ask("DELETE", "/v1/models")) == (404, "NOT_FOUND")
    assert read_code(pb.ask("PUT", "/v1/interactions")) == (405, "method_not_allowed")


def test_the_compatibility_layer_wants_a_bearer(pb: PbClient) -> None:
    body = {"model": "mock-lite", "messages": [{"role": "user", "content": "Hello"}]}
    refused = {}
    for name, headers in {
        "none": {},
        "key header": {"x-pb-api-key": "mock-pb-inference"},
        "basic": {"authorization": "Basic bW9jaw=="},
        "unknown": {"authorization": "Bearer unknown"},
    }.items():
        response = pb.send("POST", "/pb/v1beta/openai/chat/completions", json=body, headers=headers)
        (wrapped,) = response.json()
        refused[name] = (response.status_code, wrapped["error"]["status"])
    assert refused == {
        "none": (400, "INVALID_ARGUMENT"),
        "key header": (404, "NOT_FOUND"),
        "basic": (404, "NOT_FOUND"),
        "unknown": (400, "INVALID_ARGUMENT"),
    }


def test_the_compatibility_layer_ignores_unknown_fields(pb: PbClient) -> None:
    answer = pb.chat({"no_such_parameter": {"deep": 1}}).json()
    assert answer["choices"][0]["message"]["content"] == "The mock heard: Hello"
    assert pb.chat({"max_tokens": 1}).json()["choices"][0]["finish_reason"] == "length"
    assert pb.chat(scenario="output_stopped").json()["choices"][0]["finish_reason"] == "content_filter"
    assert pb.chat(bearer="mock-pb-oauth").status_code == 200


def test_a_chat_completion_has_the_time_of_the_mock_clock(pb: PbClient) -> None:
    created, later = (pb.chat(clock=clock).json()["created"] for clock in (None, "+24h"))
    assert later - created >= 24 * 3600


def test_a_chat_stream_ends_with_done_unless_it_fails(pb: PbClient) -> None:
    assert pb.chat({"stream": True}).text.endswith("data: [DONE]\n\n")
    failed = pb.chat({"stream": True}, scenario="internal_error_mid_stream").text
    assert '"INTERNAL"' in failed
    assert "[DONE]" not in failed


def test_names_of_stores_and_documents_are_unique(pb: PbClient) -> None:
    store = {"name": "one"}
    assert pb.ask("POST", "/v1beta/fileSearchStores", json=store).status_code == 200
    assert read_status(pb.ask("POST", "/v1beta/fileSearchStores", json=store)) == (409, "ALREADY_EXISTS")
    document = ("POST", "/v1beta/fileSearchStores/one/documents")
    assert pb.ask(*document, json={"name": "a"}).status_code == 200
    assert read_status(pb.ask(*document, json={"name": "a"})) == (409, "ALREADY_EXISTS")
    assert pb.ask("DELETE", "/v1beta/fileSearchStores/one").status_code == 200
    assert read_status(pb.ask(*document, json={"name": "a"})) == (404, "NOT_FOUND")


def test_the_names_of_headers_come_from_the_prefixes(pb: PbClient) -> None:
    pb.app = create_app(only=["pb"], settings={"pb": {"header_prefix": "x-real-", "key_header": "x-real-key"}})
    response = pb.generate(key=None, headers={"x-real-key": "mock-pb-inference"})
    assert response.headers["x-real-service-tier"] == "standard"
