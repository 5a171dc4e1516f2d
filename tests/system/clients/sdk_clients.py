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
    from catalog_probe.mockserver.testing import MockProviders
    from tests.harness.client_faults import ClientFault

HELLO = [{"role": "user", "content": "Hello"}]
CHAT: Mapping[str, Any] = {"model": "mock-small", "messages": HELLO}
RESPONSE: Mapping[str, Any] = {"model": "mock-small", "input": "Hello"}

SMALLEST: Mapping[str, Mapping[str, Any]] = {
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
"""The smallest request of what is asked for most; a row says what is otherwise in it."""

ROUND = (
    {"type": "function_call", "id": "call_1", "name": "lookup", "arguments": {}},
    {"type": "function_result", "call_id": "call_1", "name": "lookup", "result": "nothing"},
)
LONG = {
    "{many words}": "word " * 6_000,
    "{34 MB}": "x" * 34_000_000,
    '"{33 rounds}"': json.dumps([{"type": "user_input", "content": [{"type": "text", "text": "Hello"}]}, *ROUND * 33]),
}
"""What is too long for a table."""

MADE_BY = {"anthropic": "Anthropic", "openai": "OpenAI"}
"""Package -> the class of its client."""

NOT_CLOSED = 1006
"""What stands for a close that never came (RFC 6455)."""

GOING_ON = ("response.created", "response.in_progress", "response.output_", "response.content_part.")
"""How the names of events begin that say no more than that a response is being made."""

PATIENCE_S = 5.0
"""Far longer than anything here takes: a socket that says nothing by then has hung."""


@dataclass(frozen=True)
class Ask:
    """One request of a row: a path and its method, or the name of a method of the SDK; and what it sends."""

    name: str
    path: str
    said: str

    @classmethod
    def of(cls, text: str, first: Any) -> Ask:
        """Read `METHOD PATH [SAID]` or `name.of_a_method [SAID]`; `{id}` stands for that of the first answer."""
        for name, value in {**LONG, "{id}": _id(first)}.items():
            text = text.replace(name, value)
        name, _, rest = text.partition(" ")
        path, said = "", rest
        if name.isupper():
            path, _, said = rest.partition(" ")
        return cls(name, path, said)

    def fields(self, provider: str) -> dict[str, Any]:
        """What is sent: the smallest there is, with what the row says otherwise; null leaves a field out."""
        smallest = SMALLEST.get(f"{provider} {self.name} {self.path}".strip(), {})
        merged = {**smallest, **json.loads(self.said or "{}")}
        return {name: value for name, value in merged.items() if value is not None}


def _id(answer: Any) -> str:
    if isinstance(answer, Mapping):
        return str(answer.get("id") or answer.get("name") or "")
    return str(getattr(answer, "id", "") or getattr(answer, "name", ""))


def met(row: ClientFault, mock: MockProviders) -> tuple[str, str]:
    """The class that the row's client raises, empty where it hands an event on, and the fault that it shows."""
    client = CLIENTS[row.client](row, mock)
    *before, last = row.asks.split(" -> ")
    with closing(client):
        answer: Any = None
        for text in before:
            answered = client.ask(Ask.of(text, answer))
            answer = answer or answered
        try:
            shown = client.ask(Ask.of(last, answer))
        except Exception as error:  # noqa: BLE001 - which one it is, is what the row tells
            return type(error).__name__, client.raised(error)
    return "", client.handed_on(shown)


class Client:
    """A client of a row."""

    def __init__(self, row: ClientFault, mock: MockProviders) -> None:
        self.row = row
        self.mock = mock
        self.open = ExitStack()
        self.sdk: Any = None

    @property
    def base(self) -> str:
        return self.mock.url(self.row.provider, causes=self.row.suffers)

    @property
    def key(self) -> str:
        return self.row.key.split(" ")[0]

    @property
    def beside(self) -> Mapping[str, str]:
        """The headers that a row has beside its key, `+` for each blank in them."""
        _, *headers = self.row.key.split(" ")
        return dict(header.replace("+", " ").split("=", 1) for header in headers)

    def ask(self, ask: Ask) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        self.open.close()

    def raised(self, error: Any) -> str:
        """A fault as the error shows it."""
        raise NotImplementedError

    def handed_on(self, answer: Any) -> str:
        """A fault as the last event of a stream shows it; any other answer shows none."""
        return f"no fault, but {answer!r}"[:200]


def called(client: Any, ask: Ask, provider: str) -> Any:
    """What a method of an SDK gives; a stream is heard to its end."""
    given = reduce(getattr, ask.name.split("."), client)(**ask.fields(provider))
    return list(given) if isinstance(given, Iterator) or hasattr(given, "__next__") else given


class OverHttp(Client):
    """An SDK that can ask for any path, and raises by status."""

    package = ""
    version = ""

    def __init__(self, row: ClientFault, mock: MockProviders) -> None:
        super().__init__(row, mock)
        make = getattr(module(self.package), MADE_BY[self.package])
        self.sdk = self.open.enter_context(make(base_url=self.base + self.version, api_key=self.key))

    def ask(self, ask: Ask) -> Any:
        if not ask.path:
            return called(self.sdk, ask, self.row.provider)
        headers, content = self.headers(), dict[str, Any]()
        if ask.said.startswith("raw "):
            headers["content-type"], _, text = ask.said.removeprefix("raw ").partition(" ")
            content = {"content": text.encode()}
        elif ask.name not in ("GET", "DELETE"):
            content = {"body": ask.fields(self.row.provider)}
        send = getattr(self.sdk, ask.name.lower())
        return send(self.url(ask), cast_to=object, options={"headers": headers}, **content)

    def url(self, ask: Ask) -> str:
        """Where a path is; one that begins with `//` names another host of the provider."""
        if not ask.path.startswith("//"):
            return self.base + ask.path
        host, _, path = ask.path[2:].partition("/")
        return self.mock.url(host, f"/{path}", causes=self.row.suffers)

    def headers(self) -> dict[str, Any]:
        """What is sent besides: no key, where the row says so, and what stands beside the key."""
        said: dict[str, Any] = dict(self.beside)
        if self.key == "none":
            said["Authorization"] = module(self.package).Omit()
        return said


class Anthropic(OverHttp):
    """PA's."""

    package = "anthropic"

    def headers(self) -> dict[str, Any]:
        """The compliance API is documented to take its key there alone (1:5.1); newer releases send a Bearer."""
        return {**super().headers(), "x-api-key": self.key}

    def raised(self, error: Any) -> str:
        where = "error" if error.status_code == 200 else str(error.status_code)
        return f"{where} {error.body['error']['type']}" if isinstance(error.body, Mapping) else where


class Openai(OverHttp):
    """PC's."""

    package = "openai"
    version = "/v1"

    def raised(self, error: Any) -> str:
        if not isinstance(error.body, Mapping):
            return str(error.status_code)
        return f"{error.status_code} {error.type or 'null'} {error.code or 'null'}"

    def handed_on(self, answer: Any) -> str:
        if not isinstance(answer, list):
            return super().handed_on(answer)
        last = answer[-1]
        code = last.response.error.code if last.type == "response.failed" else getattr(last, "code", None)
        return f"{last.type} {code or ''}".strip()


class CompatibleOpenai(Openai):
    """PC's at PB's compatibility layer: the envelope is in a list there, which it leaves as it is."""

    version = "/v1beta/openai"

    def raised(self, error: Any) -> str:
        if not isinstance(error.body, list):
            return str(error.status_code)
        (wrapped,) = error.body
        return f"{error.status_code} {wrapped['error']['status']}"


class OpenaiElsewhere(Openai):
    """PC's at a provider whose envelope it does not know: the answer itself is what its users look at."""

    def raised(self, error: Any) -> str:
        body: Any = None
        with suppress(ValueError):
            body = error.response.json()
        code = body.get("code") or body["error"]["code"] if isinstance(body, Mapping) else ""
        return f"{error.status_code} {code}".strip()


class OpenaiSocket(Openai):
    """PC's over a WebSocket: a request of a row is a message, or `{}` where it only listens."""

    def __init__(self, row: ClientFault, mock: MockProviders) -> None:
        super().__init__(row, mock)
        self.connection = self.open.enter_context(self.sdk.beta.responses.connect())

    def ask(self, ask: Ask) -> Any:
        if said := json.loads(ask.said):
            self.connection.send(said)
        event = self.connection.recv()
        while event.type.startswith(GOING_ON):
            event = self.connection.recv()
        return event.response if event.type == "response.completed" else event

    def handed_on(self, answer: Any) -> str:
        if answer.type == "error":
            return f"error {answer.error.type} {answer.error.code}"
        return str(answer.type)


class Genai(Client):
    """PB's."""

    def __init__(self, row: ClientFault, mock: MockProviders) -> None:
        super().__init__(row, mock)
        options = {"base_url": self.base, "headers": dict(self.beside)}
        self.sdk = module("google.genai").Client(api_key=self.key, http_options=options)

    def ask(self, ask: Ask) -> Any:
        return called(self.sdk, ask, self.row.provider)

    def raised(self, error: Any) -> str:
        body = error.body if hasattr(error, "body") else None
        if isinstance(body, Mapping):
            return f"{error.status_code} {body['error']['code']}"
        return f"{error.code} {error.status or ''}".strip()

    def handed_on(self, answer: Any) -> str:
        if not isinstance(answer, list):
            return super().handed_on(answer)
        return f"{answer[-1].event_type} {answer[-1].error.code}"


class LiveSocket(Client):
    """PB's live API: its own client dials by TLS alone, so this one is what a user of no SDK writes."""

    def __init__(self, row: ClientFault, mock: MockProviders) -> None:
        super().__init__(row, mock)
        where = self.base.replace("http:", "ws:") + "/ws/v1beta.GenerativeService.BidiGenerateContent"
        connect = module("websockets.sync.client").connect
        self.socket = self.open.enter_context(connect(f"{where}?key={self.key}"))

    def ask(self, ask: Ask) -> Any:
        said = json.loads(ask.said)
        for message in said if isinstance(said, list) else [said]:
            self.socket.send(json.dumps(message))
        heard: list[str] = []
        while True:
            try:
                heard += json.loads(self.socket.recv(PATIENCE_S))
            except module("websockets").ConnectionClosed:
                break
        code = self.socket.close_code
        return [*(name for name in heard if name == "goAway"), "cut" if code == NOT_CLOSED else "closed"]

    def handed_on(self, answer: Any) -> str:
        return " ".join(answer)


class Xai(Client):
    """PD's, over gRPC."""

    def __init__(self, row: ClientFault, mock: MockProviders) -> None:
        super().__init__(row, mock)
        told = (*mock.metadata, *((("x-mock-scenario", row.suffers),) if row.suffers else ()))
        make = module("xai_sdk").Client
        self.sdk = make(api_key=self.key, api_host=mock.grpc_host, metadata=told, use_insecure_channel=True)
        self.open.callback(self.sdk.close)

    def ask(self, ask: Ask) -> Any:
        if ask.name != "chat.sample":
            return called(self.sdk, ask, self.row.provider)
        said = module("xai_sdk.chat").user("Hello")
        return self.sdk.chat.create(**ask.fields(self.row.provider), messages=[said]).sample()

    def raised(self, error: Any) -> str:
        return f"grpc {error.code().value[0]}"


class GrpcStub(Xai):
    """PD's generated code without its SDK, which sends no call without a key."""

    def ask(self, ask: Ask) -> Any:
        channel = self.open.enter_context(module("grpc").insecure_channel(self.mock.grpc_host))
        stub = module("xai_sdk.models").models_pb2_grpc.ModelsStub(channel)
        empty = module("google.protobuf.empty_pb2").Empty()
        return stub.ListLanguageModels(empty, metadata=self.mock.metadata)


CLIENTS: Mapping[str, type[Client]] = {
    "anthropic": Anthropic,
    "google-genai": Genai,
    "websockets": LiveSocket,
    "openai": Openai,
    "openai websocket": OpenaiSocket,
    "openai compatible": CompatibleOpenai,
    "openai at pb": OpenaiElsewhere,
    "openai at pd": OpenaiElsewhere,
    "grpc stub": GrpcStub,
    "xai-sdk": Xai,
}
"""As a row names them."""


def is_there(client: str) -> bool:
    """Whether what a client needs is installed."""
    needed = {"google-genai": "google.genai", "grpc stub": "xai_sdk", "xai-sdk": "xai_sdk"}
    return is_installed(needed.get(client, client.partition(" ")[0]))
