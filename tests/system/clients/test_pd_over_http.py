"""A chat-completions client on PD's mock over HTTP; PD's own SDK speaks gRPC."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.sdk import Session, serving_provider

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

sdk = pytest.importorskip("openai", reason="no chat-completions client is installed (dependency group `clients`)")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

HELLO: dict[str, Any] = {"model": "mock-small", "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    with serving_provider("pd", tmp_path_factory.mktemp("mock")) as addresses:
        yield addresses


class PdHttpClients(Session):
    """Makes clients in a session of their own."""

    def client(self, key: str = "mock-pd-inference", retries: int = 0, **mock: str) -> Any:
        headers = self.headers(**mock)
        made = sdk.OpenAI(api_key=key, base_url=f"{self.base_url}/v1", default_headers=headers, max_retries=retries)
        return self.keep(made)


@pytest.fixture
def pd(mock: Mapping[str, str], request: pytest.FixtureRequest) -> Iterator[PdHttpClients]:
    with closing(PdHttpClients(mock, request.node.name)) as clients:
        yield clients


def test_it_lists_models(pd: PdHttpClients) -> None:
    assert "mock-small" in [model.id for model in pd.client().models.list()]


def test_it_generates(pd: PdHttpClients) -> None:
    completion = pd.client().chat.completions.create(**HELLO)
    type(completion).model_validate(completion.model_dump())
    assert completion.choices[0].message.content == "The mock heard: Hello"


def test_it_streams(pd: PdHttpClients) -> None:
    chunks = pd.client().chat.completions.create(**HELLO, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "The mock heard: Hello"


def test_it_makes_a_response_whole_and_streamed(pd: PdHttpClients) -> None:
    response = pd.client().responses.create(model="mock-multi-agent", input="Hello")
    assert response.output_text == "The mock heard: Hello"
    with pd.client().responses.stream(model="mock-small", input="Hello") as stream:
        assert [event.type for event in stream][-1] == "response.completed"
        assert stream.get_final_response().output_text == "The mock heard: Hello"


@pytest.mark.parametrize(
    ("key", "changes", "raised"),
    [
        ("nobody", {}, "BadRequestError"),
        ("mock-pd-inference", {"model": "no-such-model"}, "NotFoundError"),
        ("mock-pd-inference", {"messages": []}, "BadRequestError"),
        ("mock-pd-inference", {"messages": "hi"}, "UnprocessableEntityError"),
        ("mock-pd-blocked", {}, "PermissionDeniedError"),
        ("mock-pd-depleted", {}, "RateLimitError"),
    ],
)
def test_it_raises_what_the_status_means(pd: PdHttpClients, key: str, changes: dict[str, Any], raised: str) -> None:
    with pytest.raises(getattr(sdk, raised)):
        pd.client(key).chat.completions.create(**{**HELLO, **changes})


def test_it_retries_a_limit_without_being_told_how_long(pd: PdHttpClients) -> None:
    with pytest.raises(sdk.RateLimitError) as raised:
        pd.client("mock-pd-depleted", retries=1).chat.completions.create(**HELLO)
    assert "retry-after" not in raised.value.response.headers
    assert pd.requests() == 2


@pytest.mark.parametrize("scenario", ["internal_error", "service_unavailable"])
def test_it_retries_a_fault_that_passes(pd: PdHttpClients, scenario: str) -> None:
    assert pd.client(retries=1, scenario=f"{scenario};times=1").models.list().data
    assert pd.requests() == 2


@pytest.mark.parametrize(("scenario", "status"), [("internal_error", 500), ("service_unavailable", 503)])
def test_a_fault_that_stays_is_raised(pd: PdHttpClients, scenario: str, status: int) -> None:
    with pytest.raises(sdk.InternalServerError) as raised:
        pd.client(scenario=scenario).models.list()
    assert raised.value.status_code == status


def test_a_stream_that_breaks_is_noticed(pd: PdHttpClients) -> None:
    chunks = pd.client(scenario="connection_lost_mid_stream").chat.completions.create(**HELLO, stream=True)
    with pytest.raises(sdk.APIConnectionError):
        list(chunks)
