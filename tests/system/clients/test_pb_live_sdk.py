"""PB's official live client on the mock, over TLS with a test authority."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.mockserver.app import create_app
from tests.harness import certificates
from tests.harness.serving import serving

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

sdk = pytest.importorskip("google.genai", reason="the official SDK of PB is not installed (dependency group `clients`)")
errors = pytest.importorskip("google.genai.errors", reason="the official SDK of PB is not installed")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*experimental.*"),
    pytest.mark.filterwarnings("ignore:.*ephemeral token.*"),
    pytest.mark.filterwarnings("ignore:.*token creation.*"),
]

MODEL = "mock-live"
TEXT_ONLY = {"response_modalities": ["TEXT"]}


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A mock behind TLS that reads the key where the SDK sends it; the SDK trusts its authority."""
    made = certificates.make_certificates(tmp_path_factory.mktemp("certificates"))
    headers = sdk.Client(api_key="unused")._api_client._http_options.headers
    key_header = next(name for name, value in headers.items() if value == "unused")
    app = create_app(only=["pb"], settings={"pb": {"key_header": key_header}})
    with serving(app, made) as base, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(made.authority))
        yield f"{base}/pb"


@pytest.fixture
def client(base_url: str, request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Makes clients in a session of the test's own."""

    def make(key: str = "mock-pb-inference", version: str = "v1beta", **mock_headers: str) -> Any:
        headers = {"x-mock-session": request.node.name, **{f"x-mock-{k}": v for k, v in mock_headers.items()}}
        return sdk.Client(api_key=key, http_options={"base_url": base_url, "api_version": version, "headers": headers})

    return make


def talk_to(client: Any, talk: Callable[[Any], Awaitable[Any]], **config: Any) -> Any:
    """Open a live session and return what `talk` returns."""

    async def run() -> Any:
        async with client.aio.live.connect(model=MODEL, config={**TEXT_ONLY, **config}) as session:
            return await talk(session)

    return asyncio.run(run())


async def say_hello(session: Any) -> str:
    content = {"role": "user", "parts": [{"text": "hello"}]}
    await session.send_client_content(turns=content, turn_complete=True)
    return "".join([message.text or "" async for message in session.receive()])


def test_a_turn(client: Callable[..., Any]) -> None:
    assert talk_to(client(), say_hello) == "The mock heard: hello"


def test_realtime_text(client: Callable[..., Any]) -> None:
    async def say(session: Any) -> str:
        await session.send_realtime_input(text="hello")
        return "".join([message.text or "" async for message in session.receive()])

    assert talk_to(client(), say) == "The mock heard: hello"


def test_a_session_is_resumed_with_its_handle(client: Callable[..., Any]) -> None:
    async def handle_of(session: Any) -> str:
        await session.send_client_content(turns={"role": "user", "parts": [{"text": "hi"}]}, turn_complete=True)
        updates = [message.session_resumption_update async for message in session.receive()]
        return str(next(update.new_handle for update in updates if update and update.resumable))

    handle = talk_to(client(), handle_of, session_resumption={})
    assert talk_to(client(clock="+1h"), say_hello, session_resumption={"handle": handle}) == "The mock heard: hello"
    with pytest.raises(errors.APIError) as refused:
        talk_to(client(clock="+3h"), say_hello, session_resumption={"handle": handle})
    assert refused.value.code == 1007


def test_go_away_is_heard_before_the_close(client: Callable[..., Any]) -> None:
    async def listen(session: Any) -> Any:
        message = await anext(session.receive())
        with pytest.raises(errors.APIError) as closed:
            await anext(session.receive())
        return message.go_away, closed.value.code

    went, code = talk_to(client(scenario="connection_age;age=10m"), listen)
    assert (went.time_left, code) == ("0.000s", 1001)


def test_an_ephemeral_token_opens_a_session(client: Callable[..., Any]) -> None:
    expires = datetime.now(UTC) + timedelta(minutes=5)
    maker = client()
    token = maker.auth_tokens.create(config={"uses": 1, "expire_time": expires})
    with_token = client(token.name, version="v1alpha")
    assert talk_to(with_token, say_hello) == "The mock heard: hello"
    with pytest.raises(errors.APIError) as refused:
        talk_to(with_token, say_hello)
    assert refused.value.code == 1008


@pytest.mark.parametrize("key", ["no-such-key", "auth_tokens/no-such-token"])
def test_a_bad_credential(client: Callable[..., Any], key: str) -> None:
    with pytest.raises(errors.APIError) as refused:
        talk_to(client(key), say_hello)
    assert refused.value.code in (1007, 1008)


def test_an_unknown_model(client: Callable[..., Any]) -> None:
    async def run() -> None:
        async with client().aio.live.connect(model="no-such-model", config=TEXT_ONLY):
            pass

    with pytest.raises(errors.APIError) as refused:
        asyncio.run(run())
    assert (refused.value.code, "no-such-model" in str(refused.value)) == (1008, True)


def test_a_row_in_the_address_reaches_the_socket(base_url: str) -> None:
    address = f"{base_url}@address~2-7.4-live-close-invalid-ephemeral-token~times=1"
    client = sdk.Client(api_key="mock-pb-inference", http_options={"base_url": address, "api_version": "v1beta"})
    with pytest.raises(errors.APIError) as refused:
        talk_to(client, say_hello)
    assert refused.value.code == 1008
    assert talk_to(client, say_hello) == "The mock heard: hello"
