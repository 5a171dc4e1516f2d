"""All transports of a provider give the same documented error: HTTP, streams, WebSockets, gRPC."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
import pytest
from websockets.exceptions import InvalidStatus

from catalog_probe.mockserver.app import create_app
from catalog_probe.mockserver.pd.generated import pd_pb2 as pb
from catalog_probe.mockserver.pd.provider import listen
from tests.harness import patient
from tests.harness.serving import serving
from tests.unit.mockserver.socket_client import open_socket

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

GRPC_STATUS = {"internal_error": 13, "service_unavailable": 14, "took_too_long": 4, "rate_limited": 8}
"""The gRPC status of each cause: 2:7.6, "gRPC mapping"."""
HTTP_STATUS = {13: 500, 14: 503, 4: 504, 8: 429}

LIVE = "/pb/ws/pb.v1beta.GenerativeService.BidiGenerateContent"
GENERATE = {"contents": [{"parts": [{"text": "Hello"}]}]}


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with serving(create_app()) as address:
        yield address


def post(base: str, path: str, body: Any, scenario: str, **headers: str) -> httpx.Response:
    mock_headers = {"x-mock-scenario": scenario, "x-mock-session": f"{path} {scenario}"}
    return patient.post(base + path, json=body, headers={**headers, **mock_headers})


@pytest.mark.parametrize(
    "cause", ["rate_limited", "overloaded", "internal_error", "prompt_rejected", "cyber_safeguard"]
)
def test_pc_fails_with_the_same_error_over_http_stream_and_socket(base: str, cause: str) -> None:
    bearer = {"authorization": "Bearer mock-pc-inference"}
    body = {"model": "mock-small", "input": "Hello"}
    response = post(base, "/pc/v1/responses", body, cause, **bearer)
    streamed = post(base, "/pc/v1/responses", {**body, "stream": True}, cause, **bearer)
    with open_socket(base, "/pc/v1/responses", x_mock_scenario=cause, **bearer) as socket:
        socket.say({"type": "response.create", **body})
        event = socket.hear()
    assert response.status_code == streamed.status_code == event["status"] >= 400
    assert response.json() == streamed.json() == {"error": event["error"]}


@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("quota", {}),
        ("credit", {}),
        ("usage", {}),
        ("organization-spend", {}),
        ("hard-limit", {}),
        ("inference", {"model": "nobody"}),
        ("inference", {"model": "mock-old", "input": "word " * 6_000}),
        ("inference", {"max_output_tokens": 0}),
        ("inference", {"previous_response_id": "resp_nobody"}),
    ],
)
def test_pc_refuses_a_request_with_the_same_error_over_http_and_socket(
    base: str, key: str, changes: dict[str, Any]
) -> None:
    bearer = {"authorization": f"Bearer mock-pc-{key}"}
    body = {"model": "mock-small", "input": "Hello", **changes}
    response = patient.post(f"{base}/pc/v1/responses", json=body, headers=bearer)
    streamed = patient.post(f"{base}/pc/v1/responses", json={**body, "stream": True}, headers=bearer)
    with open_socket(base, "/pc/v1/responses", **bearer) as socket:
        socket.say({"type": "response.create", **body})
        event = socket.hear()
    assert response.status_code == streamed.status_code == event["status"] >= 400
    assert response.json() == streamed.json() == {"error": event["error"]}


@pytest.mark.parametrize("cause", ["rate_limited", "overloaded", "internal_error", "deadline_exceeded"])
def test_pb_fails_with_the_same_error_over_http_stream_and_socket(base: str, cause: str) -> None:
    key = {"x-pb-api-key": "mock-pb-inference"}
    model = "/pb/v1beta/models/mock-lite"
    error = post(base, f"{model}:generateContent", GENERATE, cause, **key).json()["error"]
    streamed = post(base, f"{model}:streamGenerateContent?alt=sse", GENERATE, cause, **key).json()["error"]
    with open_socket(base, LIVE, x_mock_scenario=cause, x_pb_api_key="mock-pb-inference") as socket:
        socket.say({"setup": {"model": "models/mock-live"}})
        _, code, reason = socket.hear_close()
    assert error == streamed
    assert code == 1011
    assert reason[:40] == error["message"][:40]


@pytest.mark.parametrize("cause", GRPC_STATUS)
def test_pd_fails_with_the_same_error_over_http_and_grpc(base: str, cause: str) -> None:
    bearer = {"authorization": "Bearer mock-pd-inference"}
    chat = {"model": "mock-small", "messages": [{"role": "user", "content": "Hello"}]}
    response = post(base, "/pd/v1/chat/completions", chat, cause, **bearer)
    streamed = post(base, "/pd/v1/chat/completions", {**chat, "stream": True}, cause, **bearer)
    with asyncio.Runner() as loop:
        status, message = loop.run(call_over_grpc(cause))
    assert response.status_code == streamed.status_code == HTTP_STATUS[GRPC_STATUS[cause]]
    error = response.json()["error"] if "json" in response.headers["content-type"] else response.text
    assert (status, message) == (GRPC_STATUS[cause], error)


async def call_over_grpc(cause: str) -> tuple[int, str]:
    """The status and the message of a call that suffers a cause."""
    world = create_app(only=["pd"]).world
    host = (await listen(world, "127.0.0.1"))["grpc_host"]
    text = pb.Message(role=pb.ROLE_USER, content=[pb.Content(text="Hello")])
    request = pb.GetCompletionsRequest(model="mock-small", messages=[text])
    metadata = (("authorization", "Bearer mock-pd-inference"), ("x-mock-scenario", cause))
    try:
        async with grpc.aio.insecure_channel(host) as channel:
            call: Any = channel.unary_unary(
                "/pd_api.Chat/GetCompletion",
                lambda message: message.SerializeToString(),
                pb.GetChatCompletionResponse.FromString,
            )
            await call(request, metadata=metadata, timeout=10)
    except grpc.aio.AioRpcError as refused:
        return int(refused.code().value[0]), str(refused.details())
    finally:
        await world.close()
    raise AssertionError("the call was not refused")


@pytest.mark.parametrize("cause", ["overloaded_mid_stream", "internal_error_mid_stream"])
def test_pa_fails_with_the_same_error_in_and_before_a_stream(base: str, cause: str) -> None:
    key = {"x-api-key": "mock-pa-inference", "pa-version": "2023-06-01"}
    body = {"model": "mock-small", "max_tokens": 50, "messages": [{"role": "user", "content": "Hello"}]}
    answer = post(base, "/pa/v1/messages", body, cause.removesuffix("_mid_stream"), **key).json()
    streamed = post(base, "/pa/v1/messages", {**body, "stream": True}, cause, **key).text
    event = streamed.strip().split("\n\n")[-1].split("\n")
    assert event[0] == "event: error"
    assert json.loads(event[1].removeprefix("data: "))["error"] == answer["error"]


def test_a_socket_that_a_provider_does_not_have_is_an_unknown_path_of_it(base: str) -> None:
    with pytest.raises(InvalidStatus) as raised, open_socket(base, "/pa/v1/realtime"):
        pass
    assert raised.value.response.status_code == 404
    assert json.loads(raised.value.response.body)["error"]["type"] == "not_found_error"


@pytest.mark.parametrize("is_in_header", [True, False])
def test_an_armed_error_closes_a_live_connection(base: str, is_in_header: bool) -> None:
    row, session = "2:7.4#live close invalid ephemeral token", f"live {is_in_header}"
    headers: dict[str, str | None] = {"x_pb_api_key": "mock-pb-inference", "x_mock_session": session}
    if is_in_header:
        headers["x_mock_scenario"] = row
    else:
        patient.post(f"{base}/__mock__/next?session={session}", content=row)
    with open_socket(base, LIVE, **headers) as socket:
        socket.say({"setup": {"model": "models/mock-live"}})
        assert socket.hear_close() == ([], 1008, "The ephemeral token is invalid or expired.")
