"""POST /v1/messages and /v1/messages/count_tokens (1:4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, StreamingResponse

from catalog_probe.mockserver.pa.auth.keys import Role
from catalog_probe.mockserver.pa.call import MB, Call, read_object
from catalog_probe.mockserver.pa.causes import MID_STREAM, raise_billable_failure
from catalog_probe.mockserver.pa.errors import PaError, invalid
from catalog_probe.mockserver.pa.generation.generator import complete
from catalog_probe.mockserver.pa.generation.message_request import (
    Body,
    check_count,
    check_message,
    refuse_sampling,
    refuse_threads,
)
from catalog_probe.mockserver.pa.generation.prompt_cache import InputTokens, measure
from catalog_probe.mockserver.pa.generation.streaming import sse
from catalog_probe.mockserver.pa.limits import rates
from catalog_probe.mockserver.pa.limits.spending import refuse_spenders

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.models import Model

MAX_BODY = 32 * MB
"""2:8.1"""


async def create(call: Call) -> Response:
    """Generate a message, whole or streamed, within the organization's money and rate limits."""
    body = await read_object(call, MAX_BODY)
    refuse_sampling(body, call.version)
    if call.has_other_betas:
        refuse_threads(body)
    model, input_tokens = check_message(body, extra=call.has_other_betas)
    if call.key.role is Role.MARKETPLACE and body.get("speed") == "fast":
        raise invalid("speed: fast mode is not available here")
    raise_billable_failure(call)
    refuse_spenders(call.key.standing, call.now, call.real_now)
    measured = measure(call.session, body, input_tokens)
    admission = rates.admit_message(call, model, measured, body)
    message = compose(call, body, model, measured, admission.service_tier)
    admission.settle(call, message["usage"]["output_tokens"])
    if not body.get("stream"):
        return JSONResponse(message)
    scenario = call.context.take(*MID_STREAM)
    failure = PaError(*MID_STREAM[scenario.name]) if scenario else None
    headers = {"cache-control": "no-cache"}
    return StreamingResponse(sse(message, failure), media_type="text/event-stream", headers=headers)


async def count_tokens(call: Call) -> Response:
    """Count the input tokens of a message without generating; free (1:4.1)."""
    body = await read_object(call, MAX_BODY)
    _, input_tokens = check_count(body, extra=call.has_other_betas)
    rates.admit_request(call, "count_tokens")
    return JSONResponse({"input_tokens": input_tokens})


def compose(
    call: Call, body: Body, model: Model, measured: InputTokens, service_tier: str = "standard"
) -> dict[str, Any]:
    """The message object that answers a checked body, with all the usage fields that clients validate."""
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
