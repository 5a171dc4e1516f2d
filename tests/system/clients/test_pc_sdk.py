"""PC's official SDK on the mock works and raises what it would raise live."""

from __future__ import annotations

from contextlib import closing
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest

from catalog_probe.mockserver.pc import fields
from tests.harness.sdk import Session, serving_provider

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.mockserver.core.fields import Value

sdk = pytest.importorskip("openai", reason="the official SDK of PC is not installed (dependency group `clients`)")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

MODEL = "mock-small"
CHAT: dict[str, Any] = {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}]}
ANSWER = "The mock heard: Hello"


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """A mock that speaks as the SDK does: its header prefix is the SDK's name."""
    with serving_provider("pc", tmp_path_factory.mktemp("mock"), header_prefix=f"{sdk.__name__}-") as addresses:
        yield addresses


class PcClients(Session):
    """Makes SDK clients in a session of their own."""

    def client(self, key: str = "mock-pc-inference", *, options: dict[str, Any] | None = None, **mock: str) -> Any:
        headers = self.headers(**mock)
        made = sdk.OpenAI(api_key=key, base_url=f"{self.base_url}/v1", default_headers=headers, **(options or {}))
        return self.keep(made)


@pytest.fixture
def pc(mock: Mapping[str, str], request: pytest.FixtureRequest) -> Iterator[PcClients]:
    """The SDK in a session named after the test."""
    with closing(PcClients(mock, request.node.name)) as clients:
        yield clients


def test_it_lists_models(pc: PcClients) -> None:
    models = list(pc.client().models.list())
    assert MODEL in {model.id for model in models}
    for model in models:
        type(model).model_validate(model.model_dump())


def test_it_generates_a_response(pc: PcClients) -> None:
    response = pc.client().responses.create(model=MODEL, input="Hello")
    type(response).model_validate(response.model_dump(warnings=False))
    assert (response.output_text, response.status) == (ANSWER, "completed")
    assert response._request_id.startswith("req_")
    assert pc.client().responses.retrieve(response.id).output_text == ANSWER
    pc.client().responses.delete(response.id)
    with pytest.raises(sdk.NotFoundError):
        pc.client().responses.retrieve(response.id)


def test_it_completes_a_chat(pc: PcClients) -> None:
    completion = pc.client().chat.completions.create(**CHAT)
    type(completion).model_validate(completion.model_dump())
    assert (completion.choices[0].message.content, completion.choices[0].finish_reason) == (ANSWER, "stop")


def test_it_streams_a_response(pc: PcClients) -> None:
    with pc.client().responses.stream(model=MODEL, input="Hello") as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        assert "".join(deltas) == ANSWER
        assert stream.get_final_response().output_text == ANSWER


def test_it_streams_a_chat(pc: PcClients) -> None:
    chunks = list(pc.client().chat.completions.create(**CHAT, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == ANSWER
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_it_embeds_and_draws(pc: PcClients) -> None:
    client = pc.client()
    assert len(client.embeddings.create(model="mock-embedding", input="x").data[0].embedding) == 8
    assert client.images.generate(model="mock-image", prompt="x").data[0].b64_json


def test_a_response_that_is_incomplete(pc: PcClients) -> None:
    response = pc.client().responses.create(model=MODEL, input="Count to 100", max_output_tokens=16)
    assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")


def test_a_bad_key_is_not_retried(pc: PcClients) -> None:
    with pytest.raises(sdk.AuthenticationError) as raised:
        pc.client("mock-pc-nobody").models.list()
    assert (raised.value.code, raised.value.type) == ("invalid_api_key", "invalid_request_error")
    assert pc.requests() == 1


def test_another_organization(pc: PcClients) -> None:
    with pytest.raises(sdk.AuthenticationError) as raised:
        pc.client(options={"organization": "org-other"}).models.list()
    assert raised.value.code == "mismatched_organization"


def test_an_unknown_model(pc: PcClients) -> None:
    with pytest.raises(sdk.NotFoundError) as raised:
        pc.client().responses.create(model="no-such-model", input="x")
    assert (raised.value.code, raised.value.param) == ("model_not_found", "model")


def test_an_unknown_url_has_nothing_to_say(pc: PcClients) -> None:
    with pytest.raises(sdk.NotFoundError) as raised:
        pc.client().get("/no-such-path", cast_to=object)
    assert (raised.value.body, raised.value.request_id) == (None, None) or raised.value.body == ""


def test_a_missing_parameter(pc: PcClients) -> None:
    with pytest.raises(sdk.BadRequestError) as raised:
        pc.client().post("/responses", cast_to=object, body={"input": "x"})
    assert (raised.value.code, raised.value.param) == ("missing_required_parameter", "model")


def test_a_rate_limit_is_waited_for_as_told(pc: PcClients) -> None:
    """The first answer says how long to wait; the SDK waits, and the second attempt is served."""
    client = pc.client(scenario="overloaded;retry_after=0;times=1")
    assert client.responses.create(model=MODEL, input="Hello").output_text == ANSWER
    assert pc.requests() == 2


def test_a_429_with_retry_after(pc: PcClients) -> None:
    client = pc.client("mock-pc-tight", options={"max_retries": 0})
    for _ in range(2):
        client.responses.create(model=MODEL, input="x", max_output_tokens=16)
    with pytest.raises(sdk.RateLimitError) as raised:
        client.responses.create(model=MODEL, input="x")
    assert raised.value.code == "rate_limit_exceeded"
    assert int(raised.value.response.headers["retry-after"]) > 0


def test_a_429_without_retry_after_is_retried_twice(pc: PcClients) -> None:
    with pytest.raises(sdk.RateLimitError) as raised:
        pc.client("mock-pc-quota").responses.create(model=MODEL, input="x")
    assert (raised.value.code, raised.value.type) == ("insufficient_quota", "insufficient_quota")
    assert "retry-after" not in raised.value.response.headers
    assert pc.requests() == 3


@pytest.mark.parametrize(("scenario", "status"), [("internal_error", 500), ("overloaded;retry_after=0", 503)])
def test_a_fault_of_the_server_is_retried_twice(pc: PcClients, scenario: str, status: int) -> None:
    with pytest.raises(sdk.InternalServerError) as raised:
        pc.client(scenario=scenario).responses.create(model=MODEL, input="x")
    assert raised.value.status_code == status
    assert pc.requests() == 3


def test_a_conflict_is_retried_until_it_is_over(pc: PcClients) -> None:
    client = pc.client(options={"max_retries": 1})
    conversation = client.conversations.create().id
    client.responses.create(model=MODEL, input="x", conversation=conversation, background=True)
    with pytest.raises(sdk.ConflictError):
        client.responses.create(model=MODEL, input="x", conversation=conversation)
    assert pc.requests() == 4


def test_a_response_stream_that_fails(pc: PcClients) -> None:
    client = pc.client(scenario="internal_error;when=mid_stream")
    events = list(client.responses.create(model=MODEL, input="x", stream=True))
    assert [event.type for event in events][-2:] == ["error", "response.failed"]
    assert events[-2].code == events[-1].response.error.code == "server_error"


def test_a_chat_stream_that_fails(pc: PcClients) -> None:
    stream = pc.client(scenario="internal_error;when=mid_stream").chat.completions.create(**CHAT, stream=True)
    with pytest.raises(sdk.APIError, match="had an error"):
        list(stream)


def test_moderation_details_reach_the_caller(pc: PcClients) -> None:
    client = pc.client(scenario="image_moderation")
    with pytest.raises(sdk.BadRequestError) as raised:
        client.images.generate(model="mock-image", prompt="x")
    assert raised.value.code == "moderation_blocked"
    assert raised.value.body["moderation_details"]["moderation_stage"] == "input"


@pytest.mark.parametrize(
    ("parameters", "table"),
    [
        ("responses.response_create_params.ResponseCreateParamsStreaming", fields.RESPONSE),
        ("chat.completion_create_params.CompletionCreateParamsStreaming", fields.CHAT),
        ("embedding_create_params.EmbeddingCreateParams", fields.EMBEDDING),
        ("image_generate_params.ImageGenerateParamsStreaming", fields.IMAGE),
        ("audio.speech_create_params.SpeechCreateParams", fields.SPEECH),
        ("batch_create_params.BatchCreateParams", fields.BATCH),
        ("fine_tuning.job_create_params.JobCreateParams", fields.FINE_TUNING_JOB),
        ("conversations.conversation_create_params.ConversationCreateParams", fields.CONVERSATION),
        ("vector_store_create_params.VectorStoreCreateParams", fields.VECTOR_STORE),
        ("vector_stores.file_create_params.FileCreateParams", fields.STORE_FILE),
        ("vector_stores.file_batch_create_params.FileBatchCreateParams", fields.FILE_BATCH),
    ],
)
def test_every_parameter_of_the_sdk_has_a_row(parameters: str, table: Value) -> None:
    """An unknown field is refused, so that a parameter without a row could not be sent."""
    module, _, name = parameters.rpartition(".")
    assert get_type_hints(getattr(import_module(f"{sdk.__name__}.types.{module}"), name)).keys() <= table.members.keys()


def test_it_streams_an_image(pc: PcClients) -> None:
    stream = pc.client().images.generate(model="mock-image", prompt="x", stream=True, output_compression=50)
    (completed,) = list(stream)
    type(completed).model_validate(completed.model_dump())
    assert completed.b64_json


def test_a_vector_store(pc: PcClients) -> None:
    client = pc.client()
    store = client.vector_stores.create()
    batch = client.vector_stores.file_batches.create(store.id, file_ids=["file-mock-notes"])
    assert batch.file_counts.completed == 1
    assert [file.id for file in client.vector_stores.files.list(store.id)] == ["file-mock-notes"]
