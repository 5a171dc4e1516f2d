"""Each transport of a provider gives the same documented fault for the same cause: HTTP, streams, WebSockets, gRPC."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
import pytest

from catalog_probe.mockserver.app import create_app
from catalog_probe.mockserver.pd.grpc.generated import pd_pb2 as pb
from catalog_probe.mockserver.pd.provider import listen
from tests.harness import patient
from tests.harness.serving import serving
from tests.unit.mockserver.socket_client import opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

PD_KINDS = {"internal_error": 13, "service_unavailable": 14, "took_too_long": 4, "rate_limited": 8}
"""The gRPC status of each cause: 2:7.6, "gRPC mapping"."""
HTTP_OF = {13: 500, 14: 503, 4: 504, 8: 429}

LIVE = "/pb/ws/pb.v1beta.GenerativeService.BidiGenerateContent"
GENERATE = {"contents": [{"parts": [{"text": "Hello"}]}]}


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with serving(create_app()) as address:
        yield address


def post(base: str, path: str, body: Any, scenario: str, **headers: str) -> httpx.Response:
    said = {"x-mock-scenario": scenario, "x-mock-session": f"{path} {scenario}"}
    return patient.post(base + path, json=body, headers={**headers, **said})


@pytest.mark.parametrize(
    "cause", ["rate_limited", "overloaded", "internal_error", "prompt_rejected", "cyber_safeguard"]
)
def test_pc_over_http_as_a_stream_and_over_its_socket(base: str, cause: str) -> None:
    bearer = {"authorization": "Bearer mock-pc-inference"}
    asked = {"model": "mock-small", "input": "Hello"}
    whole = post(base, "/pc/v1/responses", asked, cause, **bearer)
    streamed = post(base, "/pc/v1/responses", {**asked, "stream": True}, cause, **bearer)
    with opened(base, "/pc/v1/responses", x_mock_scenario=cause, **bearer) as socket:
        socket.say({"type": "response.create", **asked})
        told = socket.hear()
    assert whole.status_code == streamed.status_code == told["status"] >= 400
    assert whole.json() == streamed.json() == {"error": told["error"]}


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
def test_pc_refuses_a_key_and_a_body_alike_over_http_and_over_its_socket(
    base: str, key: str, changes: dict[str, Any]
) -> None:
    bearer = {"authorization": f"Bearer mock-pc-{key}"}
    asked = {"model": "mock-small", "input": "Hello", **changes}
    whole = patient.post(f"{base}/pc/v1/responses", json=asked, headers=bearer)
    streamed = patient.post(f"{base}/pc/v1/responses", json={**asked, "stream": True}, headers=bearer)
    with opened(base, "/pc/v1/responses", **bearer) as socket:
        socket.say({"type": "response.create", **asked})
        told = socket.hear()
    assert whole.status_code == streamed.status_code == told["status"] >= 400
    assert whole.json() == streamed.json() == {"error": told["error"]}


@pytest.mark.parametrize("cause", ["rate_limited", "overloaded", "internal_error", "deadline_exceeded"])
def test_pb_over_http_as_a_stream_and_over_its_socket(base: str, cause: str) -> None:
    key = {"x-pb-api-key": "mock-pb-inference"}
    model = "/pb/v1beta/models/mock-lite"
    whole = post(base, f"{model}:generateContent", GENERATE, cause, **key).json()["error"]
    streamed = post(base, f"{model}:streamGenerateContent?alt=sse", GENERATE, cause, **key).json()["error"]
    with opened(base, LIVE, x_mock_scenario=cause, x_pb_api_key="mock-pb-inference") as socket:
        socket.say({"setup": {"model": "models/mock-live"}})
        _, code, reason = socket.closing()
    assert whole == streamed
    assert code == 1011
    assert reason[:40] == whole["message"][:40]


@pytest.mark.parametrize("cause", PD_KINDS)
def test_pd_over_http_and_over_grpc(base: str, cause: str) -> None:
    bearer = {"authorization": "Bearer mock-pd-inference"}
    chat = {"model": "mock-small", "messages": [{"role": "user", "content": "Hello"}]}
    whole = post(base, "/pd/v1/chat/completions", chat, cause, **bearer)
    streamed = post(base, "/pd/v1/chat/completions", {**chat, "stream": True}, cause, **bearer)
    with asyncio.Runner() as loop:
        status, message = loop.run(over_grpc(cause))
    assert whole.status_code == streamed.status_code == HTTP_OF[PD_KINDS[cause]]
    told = whole.json()["error"] if "json" in whole.headers["content-type"] else whole.text
    assert (status, message) == (PD_KINDS[cause], told)


async def over_grpc(cause: str) -> tuple[int, str]:
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
def test_pa_fails_in_a_stream_as_it_fails_before(base: str, cause: str) -> None:
    key = {"x-api-key": "mock-pa-inference", "pa-version": "2023-06-01"}
    body = {"model": "mock-small", "max_tokens": 50, "messages": [{"role": "user", "content": "Hello"}]}
    whole = post(base, "/pa/v1/messages", body, cause.removesuffix("_mid_stream"), **key).json()
    streamed = post(base, "/pa/v1/messages", {**body, "stream": True}, cause, **key).text
    event = streamed.strip().split("\n\n")[-1].split("\n")
    assert event[0] == "event: error"
    assert json.loads(event[1].removeprefix("data: "))["error"] == whole["error"]
