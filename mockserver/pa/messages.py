"""POST /v1/messages and /v1/messages/count_tokens (1:4.1)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, StreamingResponse

from mockserver.pa import limits
from mockserver.pa.call import MB, Call, read_object
from mockserver.pa.causes import MID_STREAM, befall_billable
from mockserver.pa.errors import PaError
from mockserver.pa.generator import Completion, complete
from mockserver.pa.message_request import Body, check_count, check_message
from mockserver.pa.spending import refuse_spenders
from mockserver.pa.streaming import sse
from mockserver.pa.tokens import count_value

if TYPE_CHECKING:
    from starlette.responses import Response

    from mockserver.pa.catalogue import Model

MAX_BODY = 32 * MB
"""2:8.1"""


@dataclass
class PromptCache:
    """The prompt prefixes that this session has marked with `cache_control`."""

    seen: set[bytes] = field(default_factory=set)


async def create(call: Call) -> Response:
    """Generate a message, whole or streamed."""
    body = await read_object(call, MAX_BODY)
    model, input_tokens = check_message(body)
    befall_billable(call)
    refuse_spenders(call.key.standing, call.now)
    message = generate(call, body, model, input_tokens)
    if not body.get("stream"):
        return JSONResponse(message)
    scenario = call.context.take(*MID_STREAM)
    failure = PaError(*MID_STREAM[scenario.name]) if scenario else None
    return StreamingResponse(
        sse(message, failure), media_type="text/event-stream", headers={"cache-control": "no-cache"}
    )


async def count_tokens(call: Call) -> Response:
    """Count the input tokens of a message without generating; free (1:4.1)."""
    body = await read_object(call, MAX_BODY)
    _, input_tokens = check_count(body)
    limits.admit_request(call, "count_tokens")
    return JSONResponse({"input_tokens": input_tokens})


def generate(call: Call, body: Body, model: Model, input_tokens: int) -> dict[str, Any]:
    """The message that answers a checked body, within the organization's rate limits."""
    created, read = _cached(call, body)
    fresh = input_tokens - created - read
    limits.admit_message(call, model, fresh + created + (read if model.limit_class == "retired_small" else 0))
    completion = complete(call, body)
    limits.settle_message(call, model, completion.output_tokens)
    usage = {
        "input_tokens": fresh,
        "cache_creation_input_tokens": created,
        "cache_read_input_tokens": read,
        "cache_creation": {"ephemeral_5m_input_tokens": created, "ephemeral_1h_input_tokens": 0},
        "output_tokens": completion.output_tokens,
        "server_tool_use": completion.server_tool_use,
        "service_tier": "standard",
    }
    if model.inference_geo:
        usage["inference_geo"] = body.get("inference_geo") or "global"
    if model.speed:
        usage["speed"] = body.get("speed") or "standard"
    return _message(call, model, completion, usage)


def _message(call: Call, model: Model, completion: Completion, usage: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": call.session.new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": model.id,
        "content": completion.content,
        "stop_reason": completion.stop_reason,
        "stop_sequence": completion.stop_sequence,
        "stop_details": completion.stop_details,
        "usage": usage,
    }


def _cached(call: Call, body: Body) -> tuple[int, int]:
    """Tokens written to and read from the prompt cache: all up to the last block marked with `cache_control`."""
    parts = [*body.get("tools", ())]
    system = body.get("system", "")
    parts += system if isinstance(system, list) else [system]
    for message in body["messages"]:
        parts += message["content"] if isinstance(message["content"], list) else [message["content"]]
    marked = [index for index, part in enumerate(parts) if isinstance(part, dict) and part.get("cache_control")]
    if not marked:
        return 0, 0
    prefix = parts[: marked[-1] + 1]
    digest = blake2b(json.dumps([body["model"], prefix]).encode(), digest_size=16).digest()
    seen = call.session.state(PromptCache).seen
    tokens = count_value(prefix)
    if digest in seen:
        return 0, tokens
    seen.add(digest)
    return tokens, 0
