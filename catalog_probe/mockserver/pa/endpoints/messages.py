"""POST /v1/messages and /v1/messages/count_tokens (1:4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.streams import event_stream
from catalog_probe.mockserver.pa.auth.keys import Role
from catalog_probe.mockserver.pa.bodies import MESSAGE_BODY, read_object
from catalog_probe.mockserver.pa.causes import raise_billable_failure, take_mid_stream
from catalog_probe.mockserver.pa.errors import NO_FAST_MODE, REMOVED_PATH
from catalog_probe.mockserver.pa.generation.generator import complete
from catalog_probe.mockserver.pa.generation.message_checks import (
    Body,
    check_count,
    check_message,
    refuse_sampling,
    refuse_threads,
)
from catalog_probe.mockserver.pa.generation.streaming import encode_message
from catalog_probe.mockserver.pa.generation.tokens import InputTokens, measure
from catalog_probe.mockserver.pa.limits.rates import admit_message

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.models import Model


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
