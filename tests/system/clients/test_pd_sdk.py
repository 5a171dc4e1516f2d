"""PD's official SDK on the mock, over gRPC, works and raises as it would live."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.sdk import Session, serving_provider

sdk = pytest.importorskip("xai_sdk", reason="the official SDK of PD is not installed (dependency group `clients`)")

import grpc  # noqa: E402
import pydantic  # noqa: E402
from xai_sdk.chat import tool, user  # noqa: E402
from xai_sdk.proto import chat_pb2  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """A mock that serves the package which the SDK calls."""
    package = chat_pb2.DESCRIPTOR.package
    with serving_provider("pd", tmp_path_factory.mktemp("mock"), grpc_package=package) as addresses:
        yield addresses


class PdClients(Session):
    """Makes SDK clients in a session of their own."""

    def client(self, key: str = "mock-pd-inference", timeout: float | None = None, **mock: str) -> Any:
        host, metadata = self.addresses["grpc_host"], tuple(self.headers(**mock).items())
        made = sdk.Client(api_key=key, api_host=host, metadata=metadata, timeout=timeout, use_insecure_channel=True)
        return self.keep(made)


@pytest.fixture
def pd(mock: Mapping[str, str], request: pytest.FixtureRequest) -> Iterator[PdClients]:
    """The SDK in a session named after the test."""
    with closing(PdClients(mock, request.node.name)) as clients:
        yield clients


def say_hello(client: Any, model: str = "mock-small", **options: Any) -> Any:
    return client.chat.create(model=model, messages=[user("Hello")], **options)


def refusal(act: Any) -> grpc.StatusCode:
    with pytest.raises(grpc.RpcError) as raised:
        act()
    return raised.value.code()


def test_it_shows_the_key(pd: PdClients) -> None:
    shown = pd.client("mock-pd-disabled").auth.get_api_key_info()
    assert (shown.disabled, shown.api_key_blocked, shown.team_blocked) == (True, False, False)
    assert list(shown.acls) == ["api-key:endpoint:*", "api-key:model:*"]


def test_it_lists_and_gets_models(pd: PdClients) -> None:
    models = pd.client().models
    assert "mock-small" in [model.name for model in models.list_language_models()]
    assert models.get_language_model("mock-large").name == "mock-large"


def test_it_tokenizes(pd: PdClients) -> None:
    tokens = pd.client().tokenize.tokenize_text("Hello mock", "mock-small")
    assert "".join(token.string_token for token in tokens) == "Hello mock"


def test_it_generates(pd: PdClients) -> None:
    response = say_hello(pd.client()).sample()
    assert response.content == "The mock heard: Hello"
    assert response.finish_reason == "REASON_STOP"
    assert response.usage.total_tokens == response.usage.prompt_tokens + response.usage.completion_tokens


def test_it_says_that_the_output_was_cut(pd: PdClients) -> None:
    assert say_hello(pd.client(), max_tokens=1).sample().finish_reason == "REASON_MAX_LEN"


def test_it_streams(pd: PdClients) -> None:
    pairs = list(say_hello(pd.client()).stream())
    response = pairs[-1][0]
    assert "".join(chunk.content for _, chunk in pairs) == response.content == "The mock heard: Hello"
    assert response.usage.total_tokens > 0


def test_a_deferred_completion_is_fetched_once(pd: PdClients) -> None:
    began = pd.client().chat
    stub = began._stub
    request_id = stub.StartDeferredCompletion(say_hello(pd.client()).proto).request_id
    asked = sdk.proto.deferred_pb2.GetDeferredRequest(request_id=request_id)
    assert stub.GetDeferredCompletion(asked).status == sdk.proto.deferred_pb2.PENDING
    later = pd.client(clock="+1m").chat._stub
    assert later.GetDeferredCompletion(asked).response.outputs[0].message.content == "The mock heard: Hello"
    assert refusal(lambda: later.GetDeferredCompletion(asked)) is grpc.StatusCode.NOT_FOUND


def test_a_bad_key_is_an_invalid_argument(pd: PdClients) -> None:
    assert refusal(pd.client("nobody").models.list_language_models) is grpc.StatusCode.INVALID_ARGUMENT


def test_an_unknown_model_is_not_found(pd: PdClients) -> None:
    assert refusal(say_hello(pd.client(), model="no-such-model").sample) is grpc.StatusCode.NOT_FOUND


def test_a_missing_parameter_is_an_invalid_argument(pd: PdClients) -> None:
    assert refusal(say_hello(pd.client(), model="").sample) is grpc.StatusCode.INVALID_ARGUMENT


def test_a_missing_acl_is_permission_denied(pd: PdClients) -> None:
    assert refusal(say_hello(pd.client("mock-pd-no-endpoint")).sample) is grpc.StatusCode.PERMISSION_DENIED


def test_a_limit_is_resource_exhausted_and_not_retried(pd: PdClients) -> None:
    client = pd.client("mock-pd-tight")
    say_hello(client).sample()
    assert refusal(say_hello(client).sample) is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert pd.requests() == 2


def test_a_server_fault_is_internal_and_not_retried(pd: PdClients) -> None:
    assert refusal(pd.client(scenario="internal_error").models.list_language_models) is grpc.StatusCode.INTERNAL
    assert pd.requests() == 1


def test_an_unavailable_service_is_retried_until_it_is_back(pd: PdClients) -> None:
    models = pd.client(scenario="service_unavailable;times=1").models.list_language_models()
    assert models
    assert pd.requests() == 2


def test_its_timeout_is_the_deadline(pd: PdClients) -> None:
    hanging = pd.client(timeout=0.2, scenario="hang")
    assert refusal(hanging.models.list_language_models) is grpc.StatusCode.DEADLINE_EXCEEDED


WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def test_it_calls_a_function_whole_and_streamed(pd: PdClients) -> None:
    asked = {"messages": [user("use get_weather")], "tools": [tool("get_weather", "The weather.", WEATHER)]}
    (made,) = pd.client().chat.create(model="mock-small", **asked).sample().tool_calls
    *_, (streamed, _) = pd.client().chat.create(model="mock-small", **asked).stream()
    assert made.function.name == streamed.tool_calls[0].function.name == "get_weather"
    assert json.loads(made.function.arguments).keys() == {"city"}


def test_it_makes_what_a_model_of_pydantic_wants(pd: PdClients) -> None:
    class WeatherForecast(pydantic.BaseModel):
        city: str
        days: int

    _, made = say_hello(pd.client()).parse(WeatherForecast)
    assert isinstance(made, WeatherForecast)
