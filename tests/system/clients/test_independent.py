"""Third-party clients on the mock: answers, errors and number of attempts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.mockserver.testing import MockProviders, mock_providers

pytest.importorskip("pydantic", reason="no client is installed (dependency groups `clients` and `independent`)")

from tests.system.clients.ai_sdk import AI_SDK
from tests.system.clients.client import ANSWER, Client, Forecast, Where
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
def running() -> Iterator[MockProviders]:
    with mock_providers(any_key=False, any_model=False) as mock:
        yield mock


class Asking:
    """One client at the mock, in a session of its own."""

    def __init__(self, client: Client, mock: MockProviders) -> None:
        self.client = client
        self.mock = mock

    def at(self, *, key: str = "", model: str = "", causes: str = "") -> Where:
        url = self.mock.url(self.client.provider, self.client.path, causes=causes)
        return Where(url, key or f"mock-{self.client.provider}-inference", model or self.client.model)

    def raises(self, expected: str, ask: Callable[[], Any]) -> None:
        """It raises what fits all of these: names of classes, patterns where releases differ, and a status."""
        with pytest.raises(Exception) as raised:
            ask()
        kinds = " ".join(kind.__name__ for kind in type(raised.value).__mro__)
        status = getattr(raised.value, "status_code", None) or getattr(raised.value, "code", None)
        told = f"{kinds} {status}"
        assert not [word for word in expected.split() if not re.search(word, told)], told

    @property
    def attempts(self) -> int:
        return sum(self.mock.requests().values())


@pytest.fixture
def asking(client: str, running: MockProviders, request: pytest.FixtureRequest) -> Asking:
    found = ALL[client]
    if not found.installed:
        pytest.skip(f"{found.package} is not installed (`nox -s clients` does, where it can)")
    return Asking(found, running.session(request.node.name))


every_client = pytest.mark.parametrize("client", ALL)


def _has(what: Any) -> Any:
    if what is None:
        pytest.skip("it has no such call here")
    return what


@every_client
def test_chat(asking: Asking) -> None:
    assert asking.client.chat(asking.at(), "Hello") == ANSWER
    assert asking.attempts == 1


@every_client
def test_stream(asking: Asking) -> None:
    assert _has(asking.client.stream)(asking.at(), "Hello") == ANSWER


@every_client
def test_tools(asking: Asking) -> None:
    assert _has(asking.client.tool)(asking.at()) == "get_weather"


@every_client
def test_structured_output(asking: Asking) -> None:
    made = _has(asking.client.structured)(asking.at())
    assert Forecast.model_validate(made.model_dump())


@every_client
def test_bad_key(asking: Asking) -> None:
    expected = _has(asking.client.bad_key or None)
    asking.raises(expected, lambda: asking.client.chat(asking.at(key="mock-nobody"), "Hello"))
    assert asking.attempts == 1


@every_client
def test_unknown_model(asking: Asking) -> None:
    expected = _has(asking.client.unknown_model or None)
    asking.raises(expected, lambda: asking.client.chat(asking.at(model="nobody"), "Hello"))
    assert asking.attempts == 1


@every_client
def test_rate_limit_once(asking: Asking) -> None:
    where = asking.at(causes="rate_limited;retry_after=0;times=1")
    if asking.client.retries:
        assert asking.client.chat(where, "Hello") == ANSWER
        assert asking.attempts == 2
    else:
        asking.raises("429", lambda: asking.client.chat(where, "Hello"))
        assert asking.attempts == 1


@every_client
def test_overloaded(asking: Asking) -> None:
    kind, attempts = asking.client.overloaded
    _has(kind or None)
    where = asking.at(causes=CAUSE_OF_OVERLOAD[asking.client.provider])
    asking.raises(kind, lambda: asking.client.chat(where, "Hello"))
    assert asking.attempts == attempts


@every_client
def test_failure_in_the_middle_of_a_stream(asking: Asking) -> None:
    stream = _has(asking.client.stream)
    if not asking.client.notices_a_broken_stream:
        pytest.skip("releases this old take an error in a stream for a piece without text")
    causes = {
        "pa": "internal_error_mid_stream",
        "pb": "internal_error_mid_stream",
        "pc": "internal_error;when=mid_stream",
    }
    where = asking.at(causes=causes.get(asking.client.provider, "connection_lost_mid_stream"))
    asking.raises(asking.client.broken, lambda: stream(where, "Hello"))


@every_client
def test_context_too_long(asking: Asking) -> None:
    if asking.client.provider in ("pb", "pd"):
        pytest.skip("an oversized context is a fault of the server there, or has no documented limit")
    model, words = ("mock-old", 6_000) if asking.client.provider == "pc" else ("mock-small", 400_000)
    where = asking.at(model=model)
    asking.raises(asking.client.too_long, lambda: asking.client.chat(where, "word " * words))
    assert asking.attempts == 1
