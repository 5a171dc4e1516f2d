"""The mock with `--as-published`: answers that contradict the documents as published ones do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from catalog_probe.mockserver.app import create_app
from catalog_probe.mockserver.as_published.contradictions import RequestHead, WholeAnswer
from catalog_probe.mockserver.as_published.serving import COMPRESSED_FROM, CONTRADICTIONS, HEADERS, PAGE_EVERY, Edge
from tests.unit.mockserver.mock_client import Client, PcClient, PdClient

POST = RequestHead("POST", "/v1/responses", {})


def in_the_field(provider: str) -> Any:
    return create_app(only=[provider], as_published=True)


def publish(provider: str, status: int, body: Any, request: RequestHead = POST) -> WholeAnswer:
    """A whole answer as published, before its edge."""
    answer = WholeAnswer(status, {"content-type": "application/json"}, json.dumps(body).encode())
    for contradiction in CONTRADICTIONS[provider]:
        answer = (contradiction.change and contradiction.change(request, answer)) or answer
    return answer


def make_refusal(code: str | None, **more: Any) -> dict[str, Any]:
    return {"error": {"message": "…", "type": "invalid_request_error", "param": None, "code": code, **more}}


@pytest.mark.parametrize(
    ("status", "body", "published"),
    [
        (429, make_refusal("credit_balance_exhausted"), (429, "insufficient_quota", "credit_balance_exhausted")),
        (
            429,
            make_refusal("rate_limit_exceeded", message="on tokens per minute"),
            (429, "tokens", "rate_limit_exceeded"),
        ),
        (429, make_refusal("rate_limit_exceeded", message="on requests"), (429, "requests", "rate_limit_exceeded")),
        (404, make_refusal("model_not_found"), (400, "invalid_request_error", "model_not_found")),
        (403, make_refusal("insufficient_permissions"), (401, "invalid_request_error", "insufficient_permissions")),
        (400, make_refusal("invalid_json"), (400, "invalid_request_error", None)),
        (429, make_refusal("billing_hard_limit_reached"), (400, "invalid_request_error", "billing_hard_limit_reached")),
        (
            403,
            make_refusal("unsupported_country_region_territory"),
            (403, "request_forbidden", "unsupported_country_region_territory"),
        ),
        (
            400,
            make_refusal("invalid_value", param="temperature", message="expected a value >= 0"),
            (400, "invalid_request_error", "decimal_below_min_value"),
        ),
        (401, make_refusal("invalid_api_key"), (401, "invalid_request_error", "invalid_api_key")),
    ],
)
def test_refusals_of_pc(status: int, body: Any, published: tuple[int, str, str | None]) -> None:
    answer = publish("pc", status, body)
    assert (answer.status, answer.error["type"], answer.error["code"]) == published


def test_an_unknown_model_is_400_on_responses_alone() -> None:
    pc = PcClient(in_the_field("pc"))
    assert pc.respond({"model": "nobody"}).status_code == 400
    assert pc.complete({"model": "nobody"}).status_code == 404


def test_a_413_is_an_edge_s() -> None:
    client = Client(in_the_field("pa"))
    answer = client.hello(headers={"content-length": str(33 * 1024 * 1024)})
    assert (answer.status_code, set(answer.json())) == (413, {"error"})
    assert "request-id" not in answer.headers


def test_low_credit_is_400_at_pa() -> None:
    answer = Client(in_the_field("pa")).hello(key="mock-pa-payment-problem")
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


def test_an_overload_may_be_sent_again_by_header() -> None:
    assert Client(in_the_field("pa")).hello(scenario="overloaded").headers["x-should-retry"] == "true"


def test_an_error_in_a_stream_has_details_at_pa_and_no_data_at_pb() -> None:
    pa = Client(in_the_field("pa")).hello({"stream": True}, scenario="overloaded_mid_stream")
    event = next(block for block in pa.text.split("\n\n") if block.startswith("event: error"))
    assert json.loads(event.partition("data: ")[2])["error"]["details"] is None
    path = "/pb/v1/models/mock-lite:streamGenerateContent?alt=sse"
    headers = {"x-pb-api-key": "mock-pb-inference", "x-mock-scenario": "internal_error_mid_stream"}
    request_body = {"contents": [{"parts": [{"text": "Hello"}]}]}
    pb = Client(in_the_field("pb")).send("POST", path, headers=headers, json=request_body)
    *_, last = pb.text.strip().split("\n\n")
    assert json.loads(last)["error"]["status"] == "INTERNAL"


@pytest.mark.parametrize("path", ["/v1/models/a:generateContent", "/v1/models/b:generateContent", "/v1/models/c"])
def test_details_of_a_429_of_pb_are_one_of_three(path: str) -> None:
    details = [
        {"@type": "type.googleapis.com/google.rpc.Help"},
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure"},
    ]
    body = {"error": {"code": 429, "message": "…", "status": "RESOURCE_EXHAUSTED", "details": details}}
    answer = publish("pb", 429, body, RequestHead("POST", path, {}))
    assert len(answer.error.get("details", ())) in (0, 1, 3)


def test_used_up_credit_is_403_at_pd_and_limits_are_in_headers() -> None:
    pd = PdClient(in_the_field("pd"))
    assert pd.complete(key="mock-pd-depleted").status_code == 403
    assert pd.complete().headers["x-ratelimit-limit-requests"]


def test_without_the_option_all_is_as_documented(pc: PcClient) -> None:
    answer = pc.respond({"model": "nobody"})
    assert (answer.status_code, answer.headers.get("server")) == (404, None)


def test_an_edge_compresses_and_adds_and_takes_nothing_away() -> None:
    pc = PcClient(create_app(only=["pc"], as_published=True))
    answer = pc.respond()
    assert answer.json()["output"][0]["content"][0]["text"] == "The mock heard: Hello"
    assert answer.headers["content-encoding"] == "gzip"
    assert "content-length" not in answer.headers
    assert HEADERS["pc"].items() <= answer.headers.items()
    plain = pc.respond(headers={"accept-encoding": "identity"})
    assert len(plain.content) > COMPRESSED_FROM
    assert "content-encoding" not in plain.headers


def test_a_stream_is_kept_alive_between_its_events() -> None:
    pc = PcClient(create_app(only=["pc"], as_published=True))
    events = pc.respond({"stream": True}).text.split("\n\n")
    assert events[1] == ": keep-alive"
    assert "response.completed" in events[-2]


def test_a_page_comes_now_and_then_and_never_twice_on_an_endpoint() -> None:
    edge = Edge("pa")
    pages = [edge.make_page(POST) for _ in range(PAGE_EVERY * 3)]
    assert [page.status for page in pages if page] == [502]
    assert pages[PAGE_EVERY - 1] is not None
    for request in (RequestHead("POST", "/v1/files", {}), RequestHead("GET", "/v1/models", {})):
        assert [bool(edge.make_page(request)) for _ in range(PAGE_EVERY)].count(True) == 1


def test_names_of_contradictions_are_unique_and_each_does_something() -> None:
    for table in CONTRADICTIONS.values():
        assert len({contradiction.name for contradiction in table}) == len(table)
        assert all(contradiction.change or contradiction.change_block for contradiction in table)
