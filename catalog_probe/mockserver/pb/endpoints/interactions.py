"""POST interactions in v1 and v1beta, whole, streamed or in the background; and what was stored (1:4.2, 2:9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import StreamingResponse

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pb.call import JsonAnswer, read_object
from catalog_probe.mockserver.pb.causes import mid_stream
from catalog_probe.mockserver.pb.endpoints.generate import run
from catalog_probe.mockserver.pb.errors import ALREADY_EXISTS, PRECONDITION, PbError
from catalog_probe.mockserver.pb.generation.generator import PIXEL, Completion
from catalog_probe.mockserver.pb.generation.interaction_request import Asked, asked_of
from catalog_probe.mockserver.pb.generation.interaction_store import BACKGROUND_S, Interaction, Interactions
from catalog_probe.mockserver.pb.generation.interaction_stream import sse
from catalog_probe.mockserver.pb.generation.outcomes import MAX_TOKENS

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call

BLOCKED = "The request was stopped before it could be completed."


async def create(call: Call) -> Response:
    """Run an interaction: a refusal before it begins has an HTTP status; later the outcome says what failed."""
    asked = asked_of(call, await read_object(call))
    if call.context.take("id_collision"):
        raise PbError(ALREADY_EXISTS, "An interaction of this id already exists.")
    completion, service_tier = run(call, asked.prompt)
    resource = _resource(call, asked, completion, service_tier)
    done_at = call.now + (BACKGROUND_S if asked.background else 0)
    interaction = Interaction(resource, [*asked.steps, *resource["steps"]], call.project, done_at)
    if asked.store:
        call.session.state(Interactions).stored[resource["id"]] = interaction
    if asked.stream:
        events = sse(resource, mid_stream(call))
        return StreamingResponse(events, media_type="text/event-stream")
    return JsonAnswer(interaction.at(call.now))


async def retrieve(call: Call) -> Response:
    """A stored interaction as it is now."""
    return JsonAnswer(_stored(call).at(call.now))


async def cancel(call: Call) -> Response:
    """Cancel work in the background; what is done cannot be cancelled."""
    interaction = _stored(call)
    if call.now >= interaction.done_at:
        raise PbError(PRECONDITION, "The interaction is not running in the background.")
    interaction.cancelled = True
    return JsonAnswer(interaction.at(call.now))


async def delete(call: Call) -> Response:
    """Delete a stored interaction."""
    _stored(call)
    del call.session.state(Interactions).stored[call.params["interaction"]]
    return JsonAnswer({})


def _stored(call: Call) -> Interaction:
    return call.session.state(Interactions).find(call.params["interaction"], call.project)


def _resource(call: Call, asked: Asked, completion: Completion, service_tier: str) -> dict[str, Any]:
    steps, code = _steps(call, completion), failing_code(completion)
    usage = {
        "total_input_tokens": asked.prompt.tokens,
        "total_output_tokens": completion.tokens,
        "total_thought_tokens": completion.thought_tokens,
        "total_tokens": asked.prompt.tokens + completion.tokens + completion.thought_tokens,
    }
    resource = {
        "id": call.session.new_id("int_"),
        "object": "interaction",
        "model": asked.prompt.model.id,
        "status": "failed" if code else _status(completion),
        "created": rfc3339(call.now),
        "updated": rfc3339(call.now),
        "steps": steps,
        "usage": usage,
        "service_tier": service_tier,
    }
    if asked.previous is not None:
        resource["previous_interaction_id"] = asked.previous
    if code:
        resource["errors"] = [{"code": code, "message": BLOCKED}]
    return resource


def failing_code(completion: Completion) -> str | None:
    """The blocked or generation code that the interaction fails with, if any (2:7.4)."""
    if completion.block is not None:
        return completion.block.code
    return completion.candidates[0].ending.code


def _status(completion: Completion) -> str:
    candidate = completion.candidates[0]
    if candidate.calls:
        return "requires_action"
    return "incomplete" if candidate.ending is MAX_TOKENS else "completed"


def _steps(call: Call, completion: Completion) -> list[dict[str, Any]]:
    if not completion.candidates or completion.candidates[0].ending.code:
        return []
    candidate = completion.candidates[0]
    steps: list[dict[str, Any]] = []
    if completion.thought:
        signature = candidate.calls[0].signature if candidate.calls else None
        steps.append({"type": "thought", **({"signature": signature} if signature else {})})
    for made in candidate.calls:
        called = {"name": made.name, "arguments": dict(made.args)}
        steps.append({"type": "function_call", "id": call.session.new_id("call_"), **called})
    if candidate.image:
        steps.append({"type": "model_output", "content": [{"type": "image", "mime_type": "image/png", "data": PIXEL}]})
    elif candidate.text:
        steps.append({"type": "model_output", "content": [{"type": "text", "text": candidate.text}]})
    return steps
