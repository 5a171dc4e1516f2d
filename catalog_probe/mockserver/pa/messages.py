"""POST /v1/messages and count_tokens, and their checks (1:4.1, 2:7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.generation import event_stream
from catalog_probe.mockserver.pa.call import MESSAGE_BODY, check_fields, read_object
from catalog_probe.mockserver.pa.conversation import (
    InputTokens,
    check_blocks,
    check_tool_pairs,
    count_input,
    measure,
    server_tools,
)
from catalog_probe.mockserver.pa.errors import (
    NO_FAST_MODE,
    NO_SAMPLING,
    NO_THREADS,
    PROMPT_TOO_LONG,
    REMOVED_PATH,
    SERVER_TOOLS_UNCOUNTED,
    TOO_MANY_TOKENS,
)
from catalog_probe.mockserver.pa.fields import COUNT_TOKENS, MESSAGE_FIELDS
from catalog_probe.mockserver.pa.generation import complete, encode_message
from catalog_probe.mockserver.pa.keys import Role
from catalog_probe.mockserver.pa.limits import admit_message
from catalog_probe.mockserver.pa.models import Model, find_model, refuse_unsupported
from catalog_probe.mockserver.pa.scenarios import raise_billable_failure, take_mid_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response

    from catalog_probe.mockserver.core.fields import Value
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.conversation import Tool


Body = dict[str, Any]

# from this version on sampling parameters are refused: no document says so, official clients know it
WITHOUT_SAMPLING = "2026-10-21"
SAMPLING = ("temperature", "top_k", "top_p")


def check_message(body: Body, *, ignore_unknown: bool = False) -> tuple[Model, int]:
    """Return the model and input tokens of a messages body, or raise its first error."""
    model, input_tokens = _check(body, MESSAGE_FIELDS, ignore_unknown=ignore_unknown)
    refuse_too_many_tokens(body, model)
    return model, input_tokens


def check_count(body: Body, *, ignore_unknown: bool = False) -> tuple[Model, int]:
    """Return the model and input tokens of a count_tokens body, or raise."""
    model, input_tokens = _check(body, COUNT_TOKENS, ignore_unknown=ignore_unknown)
    refuse_server_tools(body.get("tools", ()))
    return model, input_tokens


def refuse_too_many_tokens(body: Body, model: Model) -> None:
    """Refuse `max_tokens` above the model's maximum."""
    if body["max_tokens"] > model.max_output_tokens:
        raise TOO_MANY_TOKENS(max_tokens=body["max_tokens"], maximum=model.max_output_tokens, model=model.id)


def refuse_server_tools(tools: Sequence[Tool]) -> None:
    """Refuse server tools: they are allowed in messages, not in count_tokens (1:4.1)."""
    offered = server_tools(tools)
    if offered:
        raise SERVER_TOOLS_UNCOUNTED(tools=", ".join(offered))


def refuse_sampling(body: Body, version: str) -> None:
    """Refuse sampling parameters under a version that has none."""
    names = [name for name in SAMPLING if name in body]
    if names and version >= WITHOUT_SAMPLING:
        raise NO_SAMPLING(name=names[0], version=WITHOUT_SAMPLING)


def refuse_threads(body: Body) -> None:
    """Refuse threads: official clients then send the whole conversation."""
    if "thread" in body:
        raise NO_THREADS(extra={"unsupported": ["thread"]})


def _check(body: Body, table: Value, *, ignore_unknown: bool) -> tuple[Model, int]:
    check_fields(body, table, ignore_unknown=ignore_unknown)
    check_blocks(body["messages"])
    check_tool_pairs(body["messages"])
    model = find_model(body["model"])
    refuse_unsupported(body, model)
    input_tokens = count_input(body)
    if input_tokens > model.max_input_tokens:
        raise PROMPT_TOO_LONG(input_tokens=input_tokens, maximum=model.max_input_tokens)
    return model, input_tokens


async def create_message(call: Call) -> Response:
    """Generate a message, whole or streamed, within spending and rate limits."""
    body = await read_object(call, MESSAGE_BODY)
    refuse_sampling(body, call.version)
    if call.has_other_betas:
        refuse_threads(body)
    model, input_tokens = check_message(body, ignore_unknown=call.has_other_betas)
    if call.key.role is Role.MARKETPLACE and body.get("speed") == "fast":
        raise NO_FAST_MODE()
    raise_billable_failure(call)
    measured = measure(call.session, body, input_tokens)
    admission = admit_message(call, model, measured, body)
    message = compose(call, body, model, measured, admission.service_tier)
    admission.settle(call, message["usage"]["output_tokens"])
    if body.get("stream"):
        return event_stream(encode_message(message, take_mid_stream(call)))
    return JSONResponse(message)


async def count_tokens(call: Call) -> Response:
    """Count the input tokens of a message without generating; free."""
    body = await read_object(call, MESSAGE_BODY)
    _, input_tokens = check_count(body, ignore_unknown=call.has_other_betas)
    return JSONResponse({"input_tokens": input_tokens})


async def refuse_completion(call: Call) -> NoReturn:
    """Refuse POST /v1/complete: "removed; always 400 pointing to the messages path"."""
    raise REMOVED_PATH()


def compose(
    call: Call, body: Body, model: Model, measured: InputTokens, service_tier: str = "standard"
) -> dict[str, Any]:
    """Make the message of a checked body, with all usage: clients validate it."""
    completion = complete(call, body)
    usage = {
        "input_tokens": measured.fresh,
        "cache_creation_input_tokens": measured.created,
        "cache_read_input_tokens": measured.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": 0 if measured.hourly else measured.created,
            "ephemeral_1h_input_tokens": measured.created if measured.hourly else 0,
        },
        "output_tokens": completion.output_tokens,
        "server_tool_use": completion.server_tool_use,
        "service_tier": service_tier,
    }
    if model.inference_geo:
        usage["inference_geo"] = body.get("inference_geo") or "global"
    if model.speed:
        usage["speed"] = body.get("speed") or "standard"
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
