"""Official SDKs as their users call them, and the fault that each one shows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from tests.system.clients.client import is_installed, module

if TYPE_CHECKING:
    from catalog_probe.testing import MockProviders
    from tests.harness.client_faults import ClientFault

HELLO = [{"role": "user", "content": "Hello"}]
CHAT: Mapping[str, Any] = {"model": "mock-small", "messages": HELLO}
RESPONSE: Mapping[str, Any] = {"model": "mock-small", "input": "Hello"}

SMALLEST_REQUESTS: Mapping[str, Mapping[str, Any]] = {
    "pa POST /v1/messages": {**CHAT, "max_tokens": 16},
    "pa messages.create": {**CHAT, "max_tokens": 16},
    "pa POST /v1/messages/count_tokens": CHAT,
    "pb models.generate_content": {"model": "mock-lite", "contents": "Hello"},
    "pb interactions.create": {"model": "mock-lite", "input": "Hello"},
    "pb chat.completions.create": {**CHAT, "model": "mock-lite"},
    "pc POST /v1/responses": RESPONSE,
    "pc responses.create": RESPONSE,
    "pc POST /v1/chat/completions": CHAT,
    "pc POST /v1/images/generations": {"model": "mock-image", "prompt": "a dot"},
    "pd POST /v1/chat/completions": CHAT,
    "pd chat.sample": {"model": "mock-small"},
}
"""The smallest valid request of each common operation; a row overrides single fields."""

TOOL_ROUND = (
    {"type": "function_call", "id": "call_1", "name": "lookup", "arguments": {}},
    {"type": "function_result", "call_id": "call_1", "name": "lookup", "result": "nothing"},
)
LONG_TEXTS = {
    "{many words}": "word " * 6_000,
    "{34 MB}": "x" * 34_000_000,
    '"{33 rounds}"': json.dumps(
        [{"type": "user_input", "content": [{"type": "text", "text": "Hello"}]}, *TOOL_ROUND * 33]
    ),
}
"""Placeholders for payloads that are too long for a table."""

CLIENT_CLASSES = {"anthropic": "Anthropic", "openai": "OpenAI"}
"""Package -> the class of its client."""

ABNORMAL_CLOSE = 1006
"""The close code for a connection that ended without a close frame (RFC 6455)."""

PROGRESS_EVENTS = ("response.created", "response.in_progress", "response.output_", "response.content_part.")
"""Prefixes of events that only report progress."""

PATIENCE_S = 5.0
"""Seconds; far longer than any answer takes here, so a socket that is silent by then has hung."""


@dataclass(frozen=True)
class SdkRequest:
    """One request of a row: method and path, or an SDK method, and its payload."""

    name: str
    path: str
    payload: str

    @classmethod
    def parse(cls, text: str, first: Any) -> SdkRequest:
        """Parse `METHOD PATH [PAYLOAD]` or `name.of_a_method [PAYLOAD]`; `{id}` is the id of the first answer."""
        for name, value in {**LONG_TEXTS, "{id}": read_id(first)}.items():
            text = text.replace(name, value)
        name, _, rest = text.partition(" ")
        path, payload = "", rest
        if name.isupper():
            path, _, payload = rest.partition(" ")
        return cls(name, path, payload)

    def build_arguments(self, provider: str) -> dict[str, Any]:
        """Merge the row's payload into the smallest request; null leaves a field out."""
        smallest = SMALLEST_REQUESTS.get(f"{provider} {self.name} {self.path}".strip(), {})
        merged = {**smallest, **json.loads(self.payload or "{}")}
        return {name: value for name, value in merged.items() if value is not None}


def read_id(answer: Any) -> str:
    if isinstance(answer, Mapping):
        return str(answer.get("id") or answer.get("name") or "")
    return str(getattr(answer, "id", "") or getattr(answer, "name", ""))


def meet_fault(row: ClientFault, mock: MockProviders) -> tuple[str, str]:
    """Return the class of the raised error (empty if the client returns an event), and the fault that it shows."""
    client = CLIENTS[row.client](row, mock)
    *before, last = row.asks.split(" -> ")
    with closing(client):
        answer: Any = None
        for text in before:
            answered = client.send(SdkRequest.parse(text, answer))
            answer = answer or answered
        try:
            shown = client.send(SdkRequest.parse(last, answer))
        except Exception as error:  # noqa: BLE001 - which one it is, is what the row tells
            return type(error).__name__, client.describe_error(error)
    return "", client.describe_answer(shown)


class SdkClient:
    """A client that sends the requests of a row, and describes the fault that it got."""

    def __init__(self, row: ClientFault, mock: MockProviders) -> None:
        self.row = row
        self.mock = mock
        self.resources = ExitStack()
        self.sdk: Any = None

    @property
    def base(self) -> str:
        return self.mock.url(self.row.provider, causes=self.row.suffers)

    @property
    def key(self) -> str:
        return self.row.key.split(" ")[0]

    @property
    def extra_headers(self) -> Mapping[str, str]:
        """The headers after the key in a row; `+` stands for a blank."""
        _, *headers = self.row.key.split(" ")
        return dict(header.replace("+", " ").split("=", 1) for header in headers)

    def send(self, request: SdkRequest) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        self.resources.close()

    def describe_error(self, error: Any) -> str:
        """Describe the fault as the raised error shows it."""
        raise NotImplementedError

    def describe_answer(self, answer: Any) -> str:
        """Describe the fault as the last event of a stream shows it; other answers show none."""
        return f"no fault, but {answer!r}"[:200]


def call_method(client: Any, request: SdkRequest, provider: str) -> Any:
    """Call an SDK method and return its result; a stream is read to its end."""
    result = reduce(getattr, request.name.split("."), client)(**request.build_arguments(provider))
    return list(result) if isinstance(result, Iterator) or hasattr(result, "__next__") else result


class HttpClient(SdkClient):
    """An SDK that can request any path and raises an error class per status."""

    package = ""
    version = ""

    def __init__(self, row: ClientFault, mock: MockProviders) -> None:
        super().__init__(row, mock)
        make = getattr(module(self.package), CLIENT_CLASSES[self.package])
        self.sdk = self.resources.enter_context(make(base_url=self.base + self.version, api_key=self.key))

    def send(self, request: SdkRequest) -> Any:
        if not request.path:
            return call_method(self.sdk, request, self.row.provider)
        headers, content = self.headers(), dict[str, Any]()
        if request.payload.startswith("raw "):
            headers["content-type"], _, text = request.payload.removeprefix("raw ").partition(" ")
            content = {"content": text.encode()}
        elif request.name not in ("GET", "DELETE"):
            content = {"body": request.build_arguments(self.row.provider)}
        send = getattr(self.sdk, request.name.lower())
        return send(self.url(request), cast_to=object, options={"headers": headers}, **content)

    def url(self, request: SdkRequest) -> str:
        """Return the URL of a path; one that begins with `//` names another host of the provider."""
        if not request.path.startswith("//"):
            return self.base + request.path
        host, _, path = request.path[2:].partition("/")
        return self.mock.url(host, f"/{path}", causes=self.row.suffers)

    def headers(self) -> dict[str, Any]:
        """Return the extra headers of the row; the key `none` removes the authorization header."""
        payload: dict[str, Any] = dict(self.extra_headers)
        if self.key == "none":
            payload["Authorization"] = module(self.package).Omit()
        return payload


class Anthropic(HttpClient):
    """PA's SDK."""

    package = "anthropic"

    def headers(self) -> dict[str, Any]:
        """The compliance API is documented to take its key there alone (1:5.1); newer releases send a Bearer."""
        return {**super().headers(), "x-api-key": self.key}

    def describe_error(self, error: Any) -> str:
        where = "error" if error.status_code == 200 else str(error.status_code)
        return f"{where} {error.body['error']['type']}" if isinstance(error.body, Mapping) else where


class Openai(HttpClient):
    """PC's SDK."""

    package = "openai"
    version = "/v1"

    def describe_error(self, error: Any) -> str:
        if not isinstance(error.body, Mapping):
            return str(error.status_code)
        return f"{error.status_code} {error.type or 'null'} {error.code or 'null'}"

    def describe_answer(self, answer: Any) -> str:
        if not isinstance(answer, list):
            return super().describe_answer(answer)
        last = answer[-1]
        code = last.response.error.code if last.type == "response.failed" else getattr(last, "code", None)
        return f"{last.type} {code or ''}".strip()


class CompatibleOpenai(Openai):
    """PC's SDK at PB's compatibility layer, whose envelope is inside a list."""

    version = "/v1beta/openai"

    def describe_error(self, error: Any) -> str:
        if not isinstance(error.body, list):
            return str(error.status_code)
        (wrapped,) = error.body
        return f"{error.status_code} {wrapped['error']['status']}"


class OpenaiAtOtherProvider(Openai):
    """PC's SDK at a provider whose envelope it cannot parse, so users read the raw answer."""

    def describe_error(self, error: Any) -> str:
        body: Any = None
        with suppress(ValueError):
            body = error.response.json()
        code = body.get("code") or body["error"]["code"] if isinstance(body, Mapping) else ""
        return f"{error.status_code} {code}".strip()


class OpenaiSocket(Openai):
    """PC's SDK over a WebSocket: each request is a message, or `{}` to only listen."""

    def __init__(self, row: ClientFault, mock: MockProviders) -> None:
        super().__init__(row, mock)
        self.connection = self.resources.enter_context(self.sdk.beta.responses.connect())

    def send(self, request: SdkRequest) -> Any:
        if payload := json.loads(request.payload):
            self.connection.send(payload)
        event = self.connection.recv()
        while event.type.startswith(PROGRESS_EVENTS):
            event = self.connection.recv()
        return event.response if event.type == "response.completed" else event

    def describe_answer(self, answer: Any) -> str:
        if answer.type == "error":
            return f"error {answer.error.type} {answer.error.code}"
        return str(answer.type)


class Genai(SdkClient):
    """PB's SDK."""

    def __init__(self, row: ClientFault, mock: MockProviders) -> None:
        super().__init__(row, mock)
        options = {"base_url": self.base, "headers": dict(self.extra_headers)}
        self.sdk = module("google.genai").Client(api_key=self.key, http_options=options)

    def send(self, request: SdkRequest) -> Any:
        return call_method(self.sdk, request, self.row.provider)

    def describe_error(self, error: Any) -> str:
        body = error.body if hasattr(error, "body") else None
        if isinstance(body, Mapping):
            return f"{error.status_code} {body['error']['code']}"
        return f"{error.code} {error.status or ''}".strip()

    def describe_answer(self, answer: Any) -> str:
        if not isinstance(answer, list):
            return super().describe_answer(answer)
        return f"{answer[-1].event_type} {answer[-1].error.code}"


class LiveSocket(SdkClient):
    """PB's live API without its SDK, which only connects over TLS."""

    def __init__(self, row: ClientFault, mock: MockProviders) -> None:
        super().__init__(row, mock)
        where = self.base.replace("http:", "ws:") + "/ws/v1beta.GenerativeService.BidiGenerateContent"
        connect = module("websockets.sync.client").connect
        self.socket = self.resources.enter_context(connect(f"{where}?key={self.key}"))

    def send(self, request: SdkRequest) -> Any:
        payload = json.loads(request.payload)
        for message in payload if isinstance(payload, list) else [payload]:
            self.socket.send(json.dumps(message))
        messages: list[str] = []
        while True:
            try:
                messages += json.loads(self.socket.recv(PATIENCE_S))
            except module("websockets").ConnectionClosed:
                break
        code = self.socket.close_code
        return [*(name for name in messages if name == "goAway"), "cut" if code == ABNORMAL_CLOSE else "closed"]

    def describe_answer(self, answer: Any) -> str:
        return " ".join(answer)


class Xai(SdkClient):
    """PD's SDK, over gRPC."""

    def __init__(self, row: ClientFault, mock: MockProviders) -> None:
        super().__init__(row, mock)
        metadata = (*mock.metadata, *((("x-mock-scenario", row.suffers),) if row.suffers else ()))
        make = module("xai_sdk").Client
        self.sdk = make(api_key=self.key, api_host=mock.grpc_host, metadata=metadata, use_insecure_channel=True)
        self.resources.callback(self.sdk.close)

    def send(self, request: SdkRequest) -> Any:
        if request.name != "chat.sample":
            return call_method(self.sdk, request, self.row.provider)
        payload = module("xai_sdk.chat").user("Hello")
        return self.sdk.chat.create(**request.build_arguments(self.row.provider), messages=[payload]).sample()

    def describe_error(self, error: Any) -> str:
        return f"grpc {error.code().value[0]}"


class GrpcStub(Xai):
    """PD's generated stubs, because its SDK refuses to call without a key."""

    def send(self, request: SdkRequest) -> Any:
        channel = self.resources.enter_context(module("grpc").insecure_channel(self.mock.grpc_host))
        stub = module("xai_sdk.models").models_pb2_grpc.ModelsStub(channel)
        empty = module("google.protobuf.empty_pb2").Empty()
        return stub.ListLanguageModels(empty, metadata=self.mock.metadata)


CLIENTS: Mapping[str, type[SdkClient]] = {
    "anthropic": Anthropic,
    "google-genai": Genai,
    "websockets": LiveSocket,
    "openai": Openai,
    "openai websocket": OpenaiSocket,
    "openai compatible": CompatibleOpenai,
    "openai at pb": OpenaiAtOtherProvider,
    "openai at pd": OpenaiAtOtherProvider,
    "grpc stub": GrpcStub,
    "xai-sdk": Xai,
}
"""Name in a row -> class."""


def is_client_installed(client: str) -> bool:
    """Whether the packages of a client are installed."""
    needed = {"google-genai": "google.genai", "grpc stub": "xai_sdk", "xai-sdk": "xai_sdk"}
    return is_installed(needed.get(client, client.partition(" ")[0]))
