"""Every error record that can be armed: the mock answers with it, and `identify` names it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import grpc
import httpx
import pytest

import catalog_probe as library
from catalog_probe import CatalogRecord, Identity
from catalog_probe.mockserver.pd.generated import pd_pb2 as pb
from catalog_probe.testing import (
    BEFORE_A_REQUEST,
    BY_A_MESSAGE,
    CLIENT_ONLY,
    NO_ANSWER,
    NO_ERROR,
    NO_ROW,
    CannotArm,
    MockProviders,
    describe_armable,
    find_error,
    find_transport,
    list_causes,
    mock_providers,
)
from tests.unit.mockserver.socket_client import open_socket

NOTHING_TO_KNOW_IT_BY = frozenset(
    {
        "pb/errors/general/unknown_path",  # the status alone is that of any host
        "pc/errors/not_found/unknown_url",  # on a path that is known, which excludes it
        "pd/errors/authentication/management_no_credentials",  # no document promises anything of its body
    }
)

CONNECTION_FAILURES: Mapping[str, type[Exception]] = {
    "pc/errors/client/connection_closed": httpx.RemoteProtocolError,
    "pc/errors/client/read_timeout": httpx.ReadTimeout,
}

CANNOT: Mapping[str, str] = {
    **{
        f"pa/errors/compliance_outcomes/{name}": NO_ERROR
        for name in (
            "user_deleted_chat_listed",
            "user_deleted_chat_readable",
            "chat_deleted_activity",
            "file_deleted_activity",
            "project_deleted_activity",
        )
    },
    "pa/errors/general/unprocessable": CLIENT_ONLY,
    "pb/errors/finish_reasons/stop": NO_ERROR,
    "pc/errors/client/connection_refused": BEFORE_A_REQUEST,
    "pc/errors/client/connect_timeout": BEFORE_A_REQUEST,
    "pc/errors/client/tls_failure": BEFORE_A_REQUEST,
    "pc/errors/outcomes/streamed_content_filter": NO_ROW,
    "pc/errors/outcomes/streamed_max_messages": NO_ROW,
    "pc/errors/outcomes/streamed_max_output_tokens": NO_ROW,
    "pc/errors/websocket/response_already_completed": BY_A_MESSAGE,
    "pc/errors/websocket/steered": BY_A_MESSAGE,
    "pd/errors/outcomes/deferred_pending": NO_ERROR,
    "pd/errors/outcomes/violation_before_generation": NO_ANSWER,
    "pd/errors/outcomes/violation_still_charged": NO_ANSWER,
}

HEADERS = {"x-api-key": "anything", "x-goog-api-key": "anything", "anthropic-version": "2023-06-01"}
BEARER = {"authorization": "Bearer anything"}
TURN = [{"role": "user", "parts": [{"text": "Hello"}]}]
MESSAGES = [{"role": "user", "content": "Hello"}]
FUNCTION = {"name": "get_weather", "parameters": {"type": "object"}}
IMAGE_REASONS = ("image_safety", "image_prohibited_content", "image_recitation", "image_other", "no_image")
SERVER_TOOLS = [
    {"type": "web_search_20250305", "name": "web_search"},
    {"type": "web_fetch_20250910", "name": "web_fetch"},
    {"type": "code_execution_20250825", "name": "code_execution"},
]


@dataclass(frozen=True)
class Sent:
    """A request that a fault answers; `path` begins with the host's prefix."""

    method: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=lambda: HEADERS)


def message(**fields: Any) -> Sent:
    return Sent("POST", "pa/v1/messages", {"model": "any", "max_tokens": 16, "messages": MESSAGES, **fields})


def generation(model: str = "mock-lite", **fields: Any) -> Sent:
    return Sent("POST", f"pb/v1beta/models/{model}:generateContent", {"contents": TURN, **fields})


def interaction(model: str = "mock-lite", **fields: Any) -> Sent:
    return Sent("POST", "pb/v1beta/interactions", {"model": model, "input": "Hello", "stream": True, **fields})


def response(**fields: Any) -> Sent:
    return Sent("POST", "pc/v1/responses", {"model": "any", "input": "Hello", **fields}, BEARER)


BY_SURFACE: Mapping[str, Sent] = {
    "pa": message(),
    "pa_message": message(tools=SERVER_TOOLS),
    "pa_stream": message(stream=True),
    "pb": generation(),
    "pb_interactions": interaction(stream=False),
    "pb_compat": Sent("GET", "pb/v1beta/openai/models", None, BEARER),
    "pb_generation": generation(),
    "pb_interactions_stream": interaction(),
    "pc": response(),
    "pc_oauth": Sent("POST", "pc-auth/oauth/token", {}, {}),
    "pc_response": response(),
    "pc_chat": Sent("POST", "pc/v1/chat/completions", {"model": "any", "messages": MESSAGES}, BEARER),
    "pc_response_failed": response(stream=True),
    "pc_stream": response(stream=True),
}
CHAT = Sent("POST", "pd/v1/chat/completions", {"model": "any", "messages": MESSAGES}, BEARER)
IMAGE = Sent("POST", "pc/v1/images/generations", {"model": "mock-image", "prompt": "A cat"}, BEARER)
MANAGEMENT = Sent(
    "GET", "pd-management/auth/management-keys/validation", None, {"authorization": "Bearer mock-pd-management"}
)
COMPLIANCE_KEY = {**HEADERS, "x-api-key": "mock-pa-compliance"}

# How a scenario's request differs from the usual one of its surface.
SPECIAL: Mapping[str, Sent] = {
    "pa/errors/general/acceleration_limit": message(),
    "pa/errors/compliance/transient_upstream": Sent("GET", "pa/v1/compliance/activities", None, COMPLIANCE_KEY),
    "pb/errors/finish_reasons/malformed_function_call": generation(tools=[{"functionDeclarations": [FUNCTION]}]),
    "pb/errors/interactions_generation/malformed_function_call": interaction(tools=[{"type": "function", **FUNCTION}]),
    "pb/errors/interactions_generation/malformed_tool_call": interaction(tools=[{"type": "google_search"}]),
    "pb/errors/block_reasons/image_safety": generation("mock-image"),
    "pc/errors/images/moderation_blocked": IMAGE,
    "pc/errors/images/content_policy_violation": IMAGE,
    "pc/errors/request/unprocessable": response(),
    "pc/errors/permission/mutual_tls_host": BY_SURFACE["pc_oauth"],
    "pd/errors/authentication/management_invalid_bearer": MANAGEMENT,
    "pd/errors/authentication/management_no_credentials": MANAGEMENT,
    **{f"pb/errors/finish_reasons/{name}": generation("mock-image") for name in IMAGE_REASONS},
    **{f"pb/errors/interactions_blocked/{name}": interaction("mock-image") for name in IMAGE_REASONS},
}


def choose_request(record: CatalogRecord) -> Sent:
    """Return a request that the fault of a record can answer.

    Its own endpoint, if the fault is a row of the mock's: the row is told before the body is read.
    """
    special = SPECIAL.get(record.address)
    if special is not None:
        return special
    usual = BY_SURFACE.get(str(record.record.surface), CHAT if record.provider == "pd" else BY_SURFACE[record.provider])
    if find_transport(record) != "at an endpoint" or not record.endpoints or record.statuses == (200,):
        return usual
    endpoint = library.load()[record.endpoints[0]].record.data
    path = re.sub(r"\{[^}]*\}", "x", str(endpoint["path"])).replace("*", "models")
    host = "pc-auth" if "/oauth/" in path else record.provider
    if f"{host}{path}" == usual.path:
        return usual
    if "/openai/" in path:
        return BY_SURFACE["pb_compat"]
    headers = COMPLIANCE_KEY if "/compliance/" in path else usual.headers
    return Sent(str(endpoint["method"]), f"{host}{path}", None, headers)


def ask_http(mock: MockProviders, record: CatalogRecord) -> Identity:
    """Send the request, and identify the answer."""
    sent = choose_request(record)
    prefix, slash, path = sent.path.partition("/")
    answer = httpx.request(
        sent.method, mock.url(prefix, slash + path), json=sent.body, headers=dict(sent.headers), timeout=20
    )
    provider = record.provider
    body: Any = answer.text
    if "json" in answer.headers.get("content-type", ""):
        body = answer.json()
    return library.identify(
        provider, answer.status_code, dict(answer.headers), body, method=sent.method, path=f"/{path}"
    )


def ask_event(mock: MockProviders, record: CatalogRecord) -> Identity:
    """Stream the answer, and identify the first event that `identify` knows."""
    sent = choose_request(record)
    prefix, slash, path = sent.path.partition("/")
    with httpx.stream(
        sent.method, mock.url(prefix, slash + path), json=sent.body, headers=dict(sent.headers), timeout=20
    ) as answer:
        lines = [line for line in answer.iter_lines() if line.startswith("data: {")]
    events = [json.loads(line.removeprefix("data: ")) for line in lines]
    last = [event for event in events if "error" in json.dumps(event)]
    assert answer.status_code == 200
    identities = [library.identify(record.provider, None, None, event) for event in last]
    return next((identity for identity in identities if record.address in identity.records), identities[-1])


def ask_socket(mock: MockProviders, record: CatalogRecord) -> Identity:
    """Open a socket, say the smallest thing, and identify what ends it."""
    provider = record.provider
    if provider == "pc":
        with open_socket(mock.url("pc", ""), "/v1/responses", **BEARER) as socket:
            if "limit" not in record.address:
                socket.say({"type": "response.create", "model": "any", "input": "Hello"})
            return library.identify("pc", None, None, socket.hear(), surface="websocket")
    path = "/ws/v1beta.GenerativeService.BidiGenerateContent"
    with open_socket(mock.url("pb", ""), path, x_goog_api_key="anything") as socket:
        socket.say({"setup": {"model": "models/mock-live", "generationConfig": {"responseModalities": ["TEXT"]}}})
        turn = {"clientContent": {"turns": TURN, "turnComplete": True}}
        if "reset" in record.address:
            socket.say(turn)
        heard, code, reason = socket.hear_close()
    if "connection_time" in record.address:
        assert any("goAway" in one for one in heard)
    return library.identify("pb", None, None, None, close=(code, reason))


def ask_grpc(mock: MockProviders, record: CatalogRecord) -> Identity:
    """Call a method, and identify its status."""
    with grpc.insecure_channel(mock.grpc_host) as channel:
        rpc: Any = channel.unary_unary(
            "/xai_api.Chat/GetCompletion",
            lambda request: request.SerializeToString(),
            pb.GetChatCompletionResponse.FromString,
        )
        request = pb.GetCompletionsRequest(
            model="any", messages=[pb.Message(role=pb.ROLE_USER, content=[pb.Content(text="Hello")])]
        )
        with pytest.raises(grpc.RpcError) as raised:
            rpc(request, metadata=(*mock.metadata, ("authorization", "Bearer anything")), timeout=10)
    code: Any = raised.value.code()
    return library.identify("pd", None, None, None, grpc=code.value[0])


ASK: Mapping[str, Callable[[MockProviders, CatalogRecord], Identity]] = {
    "at an endpoint": ask_http,
    "in a stream": ask_event,
    "on a socket": ask_socket,
    "in gRPC": ask_grpc,
}


@pytest.fixture(scope="module")
def mock() -> Iterator[MockProviders]:
    with mock_providers() as mock:
        yield mock


def list_armable(provider: str) -> list[CatalogRecord]:
    """List the error records of a provider that a mock can be armed with."""
    records = library.find(provider=provider, kind="errors")
    return [record for record in records if record.address not in CANNOT]


@pytest.mark.parametrize("provider", ["pa", "pb", "pc", "pd"])
def test_each_armed_record_fires_and_is_named(provider: str, mock: MockProviders) -> None:
    missed, waiting = [], []
    for record in list_armable(provider):
        if record.address in CONNECTION_FAILURES:
            continue
        session = mock.session(record.address)
        session.next(record.address)
        identity = ASK[find_transport(record)](session, record)
        waiting += session.waiting
        if record.address not in identity.records:
            missed.append(record.address)
    assert waiting == []
    assert set(missed) == {address for address in NOTHING_TO_KNOW_IT_BY if address.startswith(provider)}


@pytest.mark.parametrize(("address", "error"), CONNECTION_FAILURES.items())
def test_a_failure_of_the_connection_is_one(address: str, error: type[Exception], mock: MockProviders) -> None:
    session = mock.session(address)
    session.next(address)
    with pytest.raises(error):
        httpx.get(session.url("pc", "/v1/models"), headers=BEARER, timeout=0.5)
    assert session.waiting == []


def test_each_record_that_cannot_be_armed_says_why(mock: MockProviders, subtests: pytest.Subtests) -> None:
    for address, reason in CANNOT.items():
        with subtests.test(address=address):
            with pytest.raises(CannotArm) as raised:
                mock.next(address)
            assert str(raised.value) == f"{address} cannot be armed: {reason}"


def test_the_count_is_printed(mock: MockProviders) -> None:
    lines = describe_armable(mock).splitlines()
    assert lines[:5] == [
        "380 of 398 error records can be armed:",
        "   323 at an endpoint",
        "    39 in a stream",
        "    10 on a socket",
        "     8 in gRPC",
    ]
    assert {line.strip() for line in lines if "/errors/" in line} == CANNOT.keys()


def test_each_row_of_the_mock_is_some_record(mock: MockProviders) -> None:
    armed = {error.name for error in list_causes(mock.base)[1]}
    used = {
        find_error(record, list_causes(mock.base)[1]).name
        for record in library.find(kind="errors")
        if record.address not in CANNOT
    }
    assert armed - used == set()


def test_an_http_error_arrives_over_every_transport_of_its_provider(mock: MockProviders) -> None:
    """A row of an endpoint's error is also an event of a stream, a message on a socket, and a status in gRPC."""
    session = mock.session("transports")
    session.next("pa/errors/general/internal_error, pa/errors/general/payment_problem")
    session.next("pa/errors/general/permission_error", at="stream")
    session.next("pc/errors/rate_limit/insufficient_quota")
    session.next("pd/errors/rate_limit/credit_depleted")
    for status in (500, 402):
        sent = message()
        answer = httpx.post(session.url("pa", "/v1/messages"), json=sent.body, headers=dict(sent.headers))
        assert answer.status_code == status
    streamed = ask_event(session, library.load()["pa/errors/stream/overloaded"])
    assert "pa/errors/general/permission_error" in streamed.records
    with open_socket(session.url("pc"), "/v1/responses", **BEARER) as socket:
        socket.say({"type": "response.create", "model": "any", "input": "Hello"})
        assert socket.hear()["error"]["code"] == "insufficient_quota"
    exhausted = ask_grpc(session, library.load()["pd/errors/grpc/resource_exhausted"])
    assert exhausted.records == ("pd/errors/grpc/resource_exhausted",)
    session.check_fired()
    arrived = [(request.request, request.attempt) for request in session.requests]
    assert arrived == [
        ("POST /pa/v1/messages", 1),
        ("POST /pa/v1/messages", 2),
        ("POST /pa/v1/messages", 1),  # the streamed one has another body
        ("WS /pc/v1/responses", 1),
        ("WS /pc/v1/responses message", 1),
        ("GRPC /Chat/GetCompletion", 1),
    ]
    assert session.requests[4].body == {"type": "response.create", "model": "any", "input": "Hello"}
    assert session.requests[5].body["messages"][0]["content"] == [{"text": "Hello"}]
    assert session.requests[5].headers["authorization"] == "[redacted]"
