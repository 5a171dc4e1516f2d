"""PB's interactions, in v1 and v1beta (1:4.2, 2:9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.streams import event_stream
from catalog_probe.mockserver.pb.bodies import AsciiJsonResponse, read_object
from catalog_probe.mockserver.pb.endpoints.generate import run_generation
from catalog_probe.mockserver.pb.errors import ALREADY_EXISTS, NO_RESOURCE, NOT_OWNED
from catalog_probe.mockserver.pb.fields import INTERACTION
from catalog_probe.mockserver.pb.generation.generator import PIXEL, Completion
from catalog_probe.mockserver.pb.generation.interaction_request import InteractionRequest, read_interaction
from catalog_probe.mockserver.pb.generation.interaction_stream import make_interaction_events
from catalog_probe.mockserver.pb.generation.outcomes import MAX_TOKENS
from catalog_probe.mockserver.pb.scenarios import ID_COLLISION, find_stream_failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.generation.interaction_request import Step
    from catalog_probe.mockserver.pb.keys import Project

FAILURE_MESSAGE = "The request was stopped before it could be completed."

BACKGROUND_S = 2.0  # that work in the background takes, on the virtual clock


@dataclass(frozen=True)
class Interaction:
    """An interaction: its resource when done, and its conversation so far."""

    resource: dict[str, Any]
    steps: Sequence[Step]
    project: Project
    done_at: float

    def describe_at(self, now: float) -> dict[str, Any]:
        """Return the resource at a moment: in progress until the work is done."""
        if now < self.done_at:
            return {**self.resource, "status": "in_progress", "steps": []}
        return self.resource


async def create_interaction(call: Call) -> Response:
    """Run an interaction. A failure after it has begun is in its resource."""
    body = await read_object(call, INTERACTION)
    previous = body.get("previousInteractionId")
    request = read_interaction(call, body, _find(call, previous).steps if previous is not None else ())
    if call.context.take(ID_COLLISION):
        raise ALREADY_EXISTS(id="An interaction of this id")
    completion, service_tier = run_generation(call, request.prompt)
    resource = _describe(call, request, completion, service_tier)
    done_at = call.now + (BACKGROUND_S if request.background else 0)
    interaction = Interaction(resource, [*request.steps, *resource["steps"]], call.project, done_at)
    if request.store:
        call.session.store(Interaction)[resource["id"]] = interaction
    if request.stream:
        return event_stream(make_interaction_events(resource, find_stream_failure(call)))
    return AsciiJsonResponse(interaction.describe_at(call.now))


async def retrieve_interaction(call: Call) -> Response:
    """Describe a stored interaction."""
    return AsciiJsonResponse(_find(call, call.params["interaction"]).describe_at(call.now))


async def delete_interaction(call: Call) -> Response:
    """Delete a stored interaction."""
    _find(call, call.params["interaction"])
    del call.session.store(Interaction)[call.params["interaction"]]
    return AsciiJsonResponse({})


def _find(call: Call, name: str) -> Interaction:
    """Return a stored interaction; another project's is 403 (2:7.4)."""
    interaction = call.session.store(Interaction).find(name, NO_RESOURCE)
    if interaction.project is not call.project:
        raise NOT_OWNED(id=name)
    return interaction


def _describe(call: Call, request: InteractionRequest, completion: Completion, service_tier: str) -> dict[str, Any]:
    code = find_failing_code(completion)
    resource = {
        "id": call.session.new_id("int_"),
        "object": "interaction",
        "model": request.prompt.model.id,
        "status": "failed" if code else _find_status(completion),
        "created": rfc3339(call.now),
        "updated": rfc3339(call.now),
        "steps": [] if code else _make_steps(call, completion),
        "usage": {
            "total_input_tokens": request.prompt.tokens,
            "total_output_tokens": completion.tokens,
            "total_thought_tokens": completion.thought_tokens,
            "total_tokens": request.prompt.tokens + completion.tokens + completion.thought_tokens,
        },
        "service_tier": service_tier,
    }
    if request.previous is not None:
        resource["previous_interaction_id"] = request.previous
    if code:
        resource["errors"] = [{"code": code, "message": FAILURE_MESSAGE}]
    return resource


def find_failing_code(completion: Completion) -> str | None:
    """Return the code with which the interaction fails, if it does (2:7.4)."""
    if completion.block is not None:
        return completion.block.code
    return completion.candidates[0].ending.code


def _find_status(completion: Completion) -> str:
    candidate = completion.candidates[0]
    if candidate.calls:
        return "requires_action"
    return "incomplete" if candidate.ending is MAX_TOKENS else "completed"


def _make_steps(call: Call, completion: Completion) -> list[dict[str, Any]]:
    candidate = completion.candidates[0]
    steps: list[dict[str, Any]] = []
    if completion.thought:
        signature = candidate.calls[0].signature if candidate.calls else None
        steps.append({"type": "thought", **({"signature": signature} if signature else {})})
    for function_call in candidate.calls:
        fields = {"name": function_call.name, "arguments": dict(function_call.args)}
        steps.append({"type": "function_call", "id": call.session.new_id("call_"), **fields})
    if candidate.image:
        steps.append({"type": "model_output", "content": [{"type": "image", "mime_type": "image/png", "data": PIXEL}]})
    elif candidate.text:
        steps.append({"type": "model_output", "content": [{"type": "text", "text": candidate.text}]})
    return steps
