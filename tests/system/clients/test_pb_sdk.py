"""PB's official SDK on the mock works and raises what it would raise live."""

from __future__ import annotations

import io
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.sdk import Session, serving_provider

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

sdk = pytest.importorskip("google.genai", reason="the official SDK of PB is not installed (dependency group `clients`)")
openai = pytest.importorskip("openai", reason="the SDK that the compatibility layer is for is not installed")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*experimental.*"),
    pytest.mark.filterwarnings("ignore:.*token creation.*"),
]

HELLO: dict[str, Any] = {"model": "mock-lite", "contents": "Hello"}


def key_header() -> str:
    """The header in which the SDK sends the key."""
    headers = sdk.Client(api_key="unused")._api_client._http_options.headers
    return str(next(name for name, value in headers.items() if value == "unused"))


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """A mock that reads the key where the SDK sends it."""
    with serving_provider("pb", tmp_path_factory.mktemp("mock"), key_header=key_header()) as addresses:
        yield addresses


class PbClients(Session):
    """Makes SDK clients in a session of their own."""

    def client(self, key: str = "mock-pb-inference", *, attempts: int = 1, **mock: str) -> Any:
        retry = sdk.types.HttpRetryOptions(attempts=attempts, initial_delay=0.01, max_delay=0.02)
        options = {"base_url": self.base_url, "headers": self.headers(**mock), "retry_options": retry}
        return self.keep(sdk.Client(api_key=key, http_options=options))


@pytest.fixture
def pb(mock: Mapping[str, str], request: pytest.FixtureRequest) -> Iterator[PbClients]:
    """The SDK in a session named after the test."""
    with closing(PbClients(mock, request.node.name)) as clients:
        yield clients


def test_it_lists_models(pb: PbClients) -> None:
    names = [model.name for model in pb.client().models.list(config={"page_size": 2})]
    assert "models/mock-lite" in names
    assert pb.client().models.get(model="mock-image").max_temperature == 1


def test_it_generates(pb: PbClients) -> None:
    answer = pb.client().models.generate_content(**HELLO)
    assert answer.text == "The mock heard: Hello"
    assert answer.candidates[0].finish_reason.name == "STOP"
    assert answer.usage_metadata.total_token_count > answer.usage_metadata.prompt_token_count


def test_it_streams(pb: PbClients) -> None:
    chunks = list(pb.client().models.generate_content_stream(model="mock-lite", contents="Hello, " * 20))
    assert len(chunks) > 1
    assert "".join(chunk.text for chunk in chunks).startswith("The mock heard: Hello, ")


def test_it_calls_a_function_of_ours_and_echoes_the_signature(pb: PbClients) -> None:
    called = []

    def look(place: str) -> str:
        """Looks at a place."""
        called.append(place)
        return "nothing there"

    config = {
        "tools": [look],
        "tool_config": {"function_calling_config": {"mode": "ANY"}},
        "automatic_function_calling": {"maximum_remote_calls": 2},
    }
    answer = pb.client().models.generate_content(model="mock-pro", contents="Look at it", config=config)
    assert called
    assert all(isinstance(place, str) for place in called)
    assert answer.candidates[0].finish_reason.name == "STOP"


def test_it_sees_a_blocked_prompt(pb: PbClients) -> None:
    answer = pb.client(scenario="prompt_blocked;filter=safety").models.generate_content(**HELLO)
    assert answer.prompt_feedback.block_reason.name == "SAFETY"
    assert not answer.candidates


@pytest.mark.parametrize(
    ("key", "changes", "raised"),
    [
        ("unknown", {}, (400, "INVALID_ARGUMENT")),
        ("mock-pb-leaked", {}, (403, "PERMISSION_DENIED")),
        ("mock-pb-inference", {"model": "mock-none"}, (404, "NOT_FOUND")),
        ("mock-pb-inference", {"contents": {"role": "user", "parts": []}}, (400, "INVALID_ARGUMENT")),
        ("mock-pb-inference", {"config": {"temperature": 3}}, (400, "INVALID_ARGUMENT")),
        ("mock-pb-free", {"model": "mock-premium"}, (429, "RESOURCE_EXHAUSTED")),
    ],
)
def test_what_is_the_clients_fault_is_raised_as_such(
    pb: PbClients, key: str, changes: dict[str, Any], raised: tuple[int, str]
) -> None:
    with pytest.raises(sdk.errors.ClientError) as caught:
        pb.client(key).models.generate_content(**{**HELLO, **changes})
    assert (caught.value.code, caught.value.status) == raised
    assert "retry-after" not in caught.value.response.headers
    assert pb.requests() == 1


@pytest.mark.parametrize(
    ("scenario", "raised"),
    [
        ("internal_error", (500, "INTERNAL")),
        ("overloaded", (503, "UNAVAILABLE")),
        ("deadline_exceeded", (504, "DEADLINE_EXCEEDED")),
    ],
)
def test_what_is_the_providers_fault_is_raised_as_such(pb: PbClients, scenario: str, raised: tuple[int, str]) -> None:
    with pytest.raises(sdk.errors.ServerError) as caught:
        pb.client(scenario=scenario).models.generate_content(**HELLO)
    assert (caught.value.code, caught.value.status) == raised


def test_it_retries_when_asked_to(pb: PbClients) -> None:
    answer = pb.client(scenario="overloaded;times=2", attempts=3).models.generate_content(**HELLO)
    assert answer.text == "The mock heard: Hello"
    assert pb.requests() == 3


def test_it_raises_what_ends_a_stream(pb: PbClients) -> None:
    stream = pb.client(scenario="internal_error_mid_stream").models.generate_content_stream(
        model="mock-lite", contents="Hello, " * 20
    )
    assert next(stream).text
    with pytest.raises(sdk.errors.ServerError) as caught:
        list(stream)
    assert caught.value.status == "INTERNAL"


def test_it_makes_ephemeral_tokens(pb: PbClients) -> None:
    client = sdk.Client(
        api_key="mock-pb-inference",
        http_options={"base_url": pb.base_url, "headers": pb.headers(), "api_version": "v1beta"},
    )
    assert client.auth_tokens.create(config={"uses": 1}).name.startswith("auth_tokens/")


def test_it_interacts(pb: PbClients) -> None:
    interaction = pb.client().interactions.create(model="mock-lite", input="Hello")
    assert interaction.status == "completed"
    assert pb.client().interactions.get(interaction.id).id == interaction.id


def test_it_streams_an_interaction(pb: PbClients) -> None:
    events = list(pb.client().interactions.create(model="mock-lite", input="Hello", stream=True))
    assert [event.event_type for event in events][-1] == "interaction.completed"
    assert "".join(event.delta.text for event in events if event.event_type == "step.delta") == "The mock heard: Hello"


def test_it_sees_the_error_event_of_an_interaction(pb: PbClients) -> None:
    client = pb.client(scenario="overloaded_mid_stream")
    *_, last = client.interactions.create(model="mock-lite", input="Hello", stream=True)
    assert (last.event_type, last.error.code) == ("error", "service_unavailable")


@pytest.mark.parametrize(
    ("key", "changes", "code"),
    [
        ("mock-pb-leaked", {}, "permission_denied"),
        ("mock-pb-inference", {"model": "mock-none"}, "model_not_found"),
        ("mock-pb-inference", {"previous_interaction_id": "none"}, "not_found"),
    ],
)
def test_it_raises_the_code_of_an_interaction(pb: PbClients, key: str, changes: dict[str, str], code: str) -> None:
    with pytest.raises(Exception, match=code):
        pb.client(key).interactions.create(**{"model": "mock-lite", "input": "Hello", **changes})


def compatible(pb: PbClients, key: str = "mock-pb-inference", **mock_headers: str) -> Any:
    """The SDK of another provider, pointed at the compatibility layer."""
    return openai.OpenAI(
        api_key=key,
        base_url=f"{pb.base_url}/v1beta/openai",
        default_headers=pb.headers(**mock_headers),
        max_retries=0,
    )


CHAT: dict[str, Any] = {"model": "mock-lite", "messages": [{"role": "user", "content": "Hello"}]}


def test_the_compatibility_layer_serves_another_sdk(pb: PbClients) -> None:
    client = compatible(pb)
    assert "models/mock-lite" in [model.id for model in client.models.list()]
    answer = client.chat.completions.create(**CHAT, extra_body={"no_such_parameter": 1})
    assert answer.choices[0].message.content == "The mock heard: Hello"
    chunks = client.chat.completions.create(**CHAT, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "The mock heard: Hello"


@pytest.mark.parametrize(
    ("key", "changes", "scenario", "raised"),
    [
        ("unknown", {}, "", "BadRequestError"),
        ("mock-pb-leaked", {}, "", "PermissionDeniedError"),
        ("mock-pb-inference", {"model": "mock-none"}, "", "NotFoundError"),
        ("mock-pb-free", {"model": "mock-premium"}, "", "RateLimitError"),
        ("mock-pb-inference", {}, "overloaded", "InternalServerError"),
    ],
)
def test_the_compatibility_layer_raises_in_another_sdk(
    pb: PbClients, key: str, changes: dict[str, str], scenario: str, raised: str
) -> None:
    client = compatible(pb, key, **({"scenario": scenario} if scenario else {}))
    with pytest.raises(getattr(openai, raised)):
        client.chat.completions.create(**{**CHAT, **changes})


def test_it_uploads_a_file_and_reads_it_in_a_prompt(pb: PbClients) -> None:
    client = pb.client()
    file = client.files.upload(file=io.BytesIO(b"hello"), config={"mime_type": "text/plain"})
    assert (file.size_bytes, file.state.name) == (5, "ACTIVE")
    assert [each.name for each in client.files.list()] == [file.name]
    assert client.models.generate_content(model="mock-lite", contents=["Read", file]).text == "The mock heard: Read"
    client.files.delete(name=file.name)
    with pytest.raises(sdk.errors.ClientError, match="NOT_FOUND"):
        client.files.get(name=file.name)


def test_it_runs_a_batch(pb: PbClients) -> None:
    source = [{"contents": [{"parts": [{"text": "Hello"}], "role": "user"}]}]
    made = pb.client().batches.create(model="mock-lite", src=source)
    assert made.state.name == "JOB_STATE_PENDING"
    done = pb.client(clock="+2m").batches.get(name=made.name)
    assert done.state.name == "JOB_STATE_SUCCEEDED"
    assert done.dest.inlined_responses[0].response.text == "The mock heard: Hello"


def test_it_keeps_stores(pb: PbClients) -> None:
    stores = pb.client().file_search_stores
    made = stores.create(config={"display_name": "one"})
    assert [each.display_name for each in stores.list()] == ["one"]
    stores.delete(name=made.name)
    assert list(stores.list()) == []
