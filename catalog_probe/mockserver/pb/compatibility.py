"""PB's compatibility layer, which ignores unknown parameters (1:4.2, 2:9)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.generation import DONE, encode_event, event_stream, make_chat_chunks
from catalog_probe.mockserver.pb.call import AsciiJsonResponse, read_object
from catalog_probe.mockserver.pb.errors import make_wrapped
from catalog_probe.mockserver.pb.fields import CHAT
from catalog_probe.mockserver.pb.generate import run_generation
from catalog_probe.mockserver.pb.generation import MODEL, USER, Prompt, Turn, count_turns, read_settings
from catalog_probe.mockserver.pb.models import GENERATE, find_model, list_models_of
from catalog_probe.mockserver.pb.scenarios import find_stream_failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.generation import Candidate


FINISH_REASONS = {"STOP": "stop", "MAX_TOKENS": "length"}  # all others are `content_filter`
MODEL_CREATED = 1_767_225_600  # seconds since the epoch
CHUNKS_BEFORE_FAILURE = 2  # the role and the first piece of text


async def create_completion(call: Call) -> Response:
    """Generate a chat completion, as one body or as a stream."""
    body = await read_object(call, CHAT)
    prompt = _read_prompt(call, body)
    completion, _ = run_generation(call, prompt)
    answer = {
        "id": call.session.new_id("chatcmpl-"),
        "object": "chat.completion",
        "created": int(call.now),
        "model": prompt.model.id,
        "choices": [_describe(index, candidate) for index, candidate in enumerate(completion.candidates)],
        "usage": {
            "prompt_tokens": prompt.tokens,
            "completion_tokens": completion.tokens,
            "total_tokens": prompt.tokens + completion.tokens + completion.thought_tokens,
        },
    }
    if not body.get("stream"):
        return AsciiJsonResponse(answer)
    chunks = map(encode_event, make_chat_chunks(answer, whole_calls=True))
    failure = find_stream_failure(call)
    if failure is not None:
        return event_stream([*islice(chunks, CHUNKS_BEFORE_FAILURE), encode_event(make_wrapped(failure))])
    return event_stream([*chunks, DONE])


async def list_models_for_clients(call: Call) -> Response:
    """List the models in the shape of this layer."""
    data = [
        {"id": f"models/{model.id}", "object": "model", "created": MODEL_CREATED, "owned_by": "pb"}
        for model in list_models_of(call.version)
    ]
    return AsciiJsonResponse({"object": "list", "data": data})


def _read_prompt(call: Call, body: Mapping[str, Any]) -> Prompt:
    model = find_model(body["model"], call.version, call.project, GENERATE)
    turns = tuple(_read_turn(message) for message in body["messages"])
    return Prompt(
        model=model,
        turns=turns,
        tokens=count_turns(turns),
        settings=read_settings(_make_config(body), model),
        service_tier=body.get("service_tier", "standard").lower(),
    )


def _make_config(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters as a generation config names them."""
    config = {
        "maxOutputTokens": body.get("max_completion_tokens", body.get("max_tokens")),
        "temperature": body.get("temperature"),
        "candidateCount": body.get("n"),
    }
    return {name: value for name, value in config.items() if value is not None}


def _read_turn(message: Mapping[str, Any]) -> Turn:
    role, content = MODEL if message["role"] == "assistant" else USER, message.get("content", "")
    if isinstance(content, str):
        return Turn(role, text=content)
    texts = [part["text"] for part in content if "text" in part]
    return Turn(role, text="\n".join(texts), media=len(content) - len(texts))


def _describe(index: int, candidate: Candidate) -> dict[str, Any]:
    reason = FINISH_REASONS.get(candidate.ending.finish_reason, "content_filter")
    message = {"role": "assistant", "content": candidate.text or None}
    return {"index": index, "message": message, "finish_reason": reason}
