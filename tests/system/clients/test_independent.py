"""Third-party clients on the mock: answers, errors and number of attempts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.testing import MockProviders, mock_providers

pytest.importorskip("pydantic", reason="no client is installed (dependency groups `clients` and `independent`)")

from tests.system.clients.ai_sdk import AI_SDK
from tests.system.clients.client import ANSWER, Client, Endpoint, Forecast
from tests.system.clients.independent import CLIENTS
from tests.system.clients.llm_command import LLM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # those that clients give are their own
]

ALL = {**CLIENTS, **AI_SDK, **LLM}

CAUSE_OF_OVERLOAD = {
    "pa": "overloaded",
    "pb": "overloaded",
    "pc": "overloaded;retry_after=0",
    "pd": "service_unavailable",
}


@pytest.fixture(scope="module")
def mock() -> Iterator[MockProviders]:
    with mock_providers(any_key=False, any_model=False) as mock:
        yield mock


class ClientSession:
    """One client at the mock, in a session of its own."""

    def __init__(self, client: Client, mock: MockProviders) -> None:
        self.client = client
        self.mock = mock

    def at(self, *, key: str = "", model: str = "", causes: str = "") -> Endpoint:
        url = self.mock.url(self.client.provider, self.client.path, causes=causes)
        return Endpoint(url, key or f"mock-{self.client.provider}-inference", model or self.client.model)

    def raises(self, expected: str, ask: Callable[[], Any]) -> None:
        """Check that `ask` raises an error that matches each word: class names (as patterns) and a status."""
        with pytest.raises(Exception) as raised:
            ask()
        kinds = " ".join(kind.__name__ for kind in type(raised.value).__mro__)
        status = getattr(raised.value, "status_code", None) or getattr(raised.value, "code", None)
        description = f"{kinds} {status}"
        assert not [word for word in expected.split() if not re.search(word, description)], description

    @property
    def attempts(self) -> int:
        return len(self.mock.requests)


@pytest.fixture
def session(client: str, mock: MockProviders, request: pytest.FixtureRequest) -> ClientSession:
    client_under_test = ALL[client]
    if not client_under_test.is_installed:
        pytest.skip(f"{client_under_test.package} is not installed (`nox -s clients` does, where it can)")
    return ClientSession(client_under_test, mock.session(request.node.name))


for_every_client = pytest.mark.parametrize("client", ALL)


def require(what: Any) -> Any:
    if what is None:
        pytest.skip("it has no such call here")
    return what


@for_every_client
def test_chat(session: ClientSession) -> None:
    assert session.client.chat(session.at(), "Hello") == ANSWER
    assert session.attempts == 1


@for_every_client
def test_stream(session: ClientSession) -> None:
    assert require(session.client.stream)(session.at(), "Hello") == ANSWER


@for_every_client
def test_tools(session: ClientSession) -> None:
    assert require(session.client.tool)(session.at()) == "get_weather"


@for_every_client
def test_structured_output(session: ClientSession) -> None:
    forecast = require(session.client.structured)(session.at())
    assert Forecast.model_validate(forecast.model_dump())


@for_every_client
def test_bad_key(session: ClientSession) -> None:
    expected = require(session.client.bad_key or None)
    session.raises(expected, lambda: session.client.chat(session.at(key="mock-nobody"), "Hello"))
    assert session.attempts == 1


@for_every_client
def test_unknown_model(session: ClientSession) -> None:
    expected = require(session.client.unknown_model or None)
    session.raises(expected, lambda: session.client.chat(session.at(model="nobody"), "Hello"))
    assert session.attempts == 1


@for_every_client
def test_rate_limit_once(session: ClientSession) -> None:
    endpoint = session.at(causes="rate_limited;retry_after=0;times=1")
    if session.client.retries:
        assert session.client.chat(endpoint, "Hello") == ANSWER
        assert session.attempts == 2
    else:
        session.raises("429", lambda: session.client.chat(endpoint, "Hello"))
        assert session.attempts == 1


@for_every_client
def test_overloaded(session: ClientSession) -> None:
    kind, attempts = session.client.overloaded
    require(kind or None)
    endpoint = session.at(causes=CAUSE_OF_OVERLOAD[session.client.provider])
    session.raises(kind, lambda: session.client.chat(endpoint, "Hello"))
    assert session.attempts == attempts


@for_every_client
def test_failure_in_the_middle_of_a_stream(session: ClientSession) -> None:
    stream = require(session.client.stream)
    if not session.client.notices_a_broken_stream:
        pytest.skip("releases this old take an error in a stream for a piece without text")
    causes = {
        "pa": "internal_error_mid_stream",
        "pb": "internal_error_mid_stream",
        "pc": "internal_error;when=mid_stream",
    }
    endpoint = session.at(causes=causes.get(session.client.provider, "connection_lost_mid_stream"))
    session.raises(session.client.broken, lambda: stream(endpoint, "Hello"))


@for_every_client
def test_context_too_long(session: ClientSession) -> None:
    if session.client.provider in ("pb", "pd"):
        pytest.skip("an oversized context is a fault of the server there, or has no documented limit")
    model, words = ("mock-old", 6_000) if session.client.provider == "pc" else ("mock-small", 400_000)
    endpoint = session.at(model=model)
    session.raises(session.client.too_long, lambda: session.client.chat(endpoint, "word " * words))
    assert session.attempts == 1
