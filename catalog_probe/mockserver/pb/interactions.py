"""PB's interactions: request, answer and stream (1:4.2, 1:6, 2:9).

The documents show no shape of the input; this is the one of official clients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.generation import encode_event, event_stream
from catalog_probe.mockserver.pb.call import AsciiJsonResponse, encode_json, read_object
from catalog_probe.mockserver.pb.errors import (
    ALREADY_EXISTS,
    MISSING_FIELD,
    NO_RESOURCE,
    NOT_OWNED,
    UNSTORED_BACKGROUND,
    make_interactions,
)
from catalog_probe.mockserver.pb.fields import INTERACTION
from catalog_probe.mockserver.pb.generate import run_generation
from catalog_probe.mockserver.pb.generation import (
    MODEL,
    PIXEL,
    USER,
    Completion,
    FunctionCall,
    Prompt,
    Tools,
    Turn,
    choose_tools,
    count_turns,
    count_value,
    read_settings,
)
from catalog_probe.mockserver.pb.models import GENERATE, find_model
from catalog_probe.mockserver.pb.scenarios import ID_COLLISION, MAX_TOKENS, find_stream_failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.keys import Project
    from catalog_probe.mockserver.pb.models import Model


Step = dict[str, Any]

CONTENT_TYPES = ("text", "image", "audio", "document", "video")  # content types of a user's input that has no steps


@dataclass(frozen=True)
class InteractionRequest:
    """A checked request for an interaction."""

    prompt: Prompt
    steps: Sequence[Step]
    background: bool
    stream: bool
    store: bool
    previous: str | None


def find_requested_model(call: Call, body: Mapping[str, Any]) -> Model:
    """Return the model that a body names; the mock has no agents."""
    if "agent" in body:
        raise NO_RESOURCE(id=f"agent {body['agent']}")
    if "model" not in body:
        raise MISSING_FIELD(path="model")
    return find_model(body["model"], call.version, call.project, GENERATE)


def read_interaction(call: Call, body: Mapping[str, Any], earlier: Sequence[Step]) -> InteractionRequest:
    """Read a checked body; `earlier` are the steps that it continues."""
    background, store = body.get("background", False), body.get("store", True)
    if background and not store:
        raise UNSTORED_BACKGROUND()
    model, steps = find_requested_model(call, body), [*earlier, *read_steps(body["input"])]
    turns, config = read_turns(steps), body.get("generationConfig", {})
    all_turns = (Turn(USER, text=body.get("systemInstruction", "")), *turns)
    prompt = Prompt(
        model=model,
        turns=turns,
        tokens=count_turns(all_turns) + count_value(body.get("tools")),
        settings=read_settings({**config, **_read_output_config(body)}, model),
        tools=read_tools(body.get("tools", ()), config.get("toolChoice", "auto")),
        service_tier=body.get("serviceTier", "standard").lower(),
    )
    return InteractionRequest(
        prompt, steps, background, body.get("stream", False), store, body.get("previousInteractionId")
    )


def read_steps(content: Any) -> list[Step]:
    """Read the input as steps; it is a text, a content or step, or several."""
    if isinstance(content, str):
        content = {"type": "text", "text": content}
    items = content if isinstance(content, list) else [content]
    if all(item["type"] in CONTENT_TYPES for item in items):
        return [{"type": "user_input", "content": items}]
    return items


def read_turns(steps: Sequence[Step]) -> tuple[Turn, ...]:
    """Read the steps as turns.

    The signature of a thought belongs to the call that follows it. Consecutive calls are one turn.
    """
    turns: list[Turn] = []
    signature: str | None = None
    for step in steps:
        content = step.get("content", ())
        text = "\n".join(item.get("text", "") for item in content if item["type"] == "text")
        match step["type"]:
            case "user_input":
                turns.append(Turn(USER, text=text, media=sum(item["type"] != "text" for item in content)))
            case "model_output":
                turns.append(Turn(MODEL, text=text))
            case "function_call":
                calls = turns.pop().calls if turns and turns[-1].calls else ()
                call = FunctionCall(step.get("name", ""), step.get("arguments", {}), signature)
                turns.append(Turn(MODEL, calls=(*calls, call)))
            case "function_result":
                turns.append(Turn(USER, results=(step.get("name", ""),)))
        signature = step.get("signature") if step["type"] == "thought" else None
    return tuple(turns)


def read_tools(tools: Sequence[Mapping[str, Any]], choice: str | Mapping[str, Any]) -> Tools:
    """Read the tools; a choice is a mode, or a mode with allowed functions."""
    functions = {
        tool["name"]: tool.get("parameters") or {} for tool in tools if tool["type"] == "function" and "name" in tool
    }
    allowed = choice.get("allowedTools", {}) if not isinstance(choice, str) else {"mode": choice}
    builtin = any(tool["type"] != "function" for tool in tools)
    return choose_tools(functions, allowed.get("mode", "auto"), allowed.get("tools"), builtin=builtin)


def _read_output_config(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the output as a generation config names them."""
    config = {"responseModalities": body.get("responseModalities", [])}
    schema = body.get("responseFormat")
    if isinstance(schema, dict):
        media_type = body.get("responseMimeType", schema.get("mime_type", "application/json"))
        config |= {"responseJsonSchema": schema.get("schema", schema), "responseMimeType": media_type}
    return config


Event = dict[str, Any]

LIFECYCLE_FIELDS = ("id", "object", "model", "created", "updated", "service_tier")
"""Fields of the resource that the lifecycle events repeat."""


def make_interaction_events(resource: Mapping[str, Any], failure: Refusal | None) -> Iterator[bytes]:
    """Yield the events; with a failure, those to the first delta and an `error`."""
    for event in _make_events(resource):
        if failure is not None and event["event_type"] in ("error", "interaction.completed"):
            break
        yield _encode(event)
        if failure is not None and event["event_type"] == "step.delta":
            break
    if failure is not None:
        yield _encode(make_error_event(make_interactions(failure)["error"]))


def make_error_event(error: Mapping[str, Any]) -> Event:
    """Return the event that ends a failing stream (1:6)."""
    return {"event_type": "error", "error": error}


def _make_events(resource: Mapping[str, Any]) -> Iterator[Event]:
    lifecycle = {name: resource[name] for name in LIFECYCLE_FIELDS}
    yield {"event_type": "interaction.created", "interaction": {**lifecycle, "status": "in_progress"}}
    yield {
        "event_type": "interaction.status_update",
        "interaction_id": resource["id"],
        "status": "in_progress",
    }
    if "errors" in resource:
        yield make_error_event(resource["errors"][0])
        return
    for index, step in enumerate(resource["steps"]):
        first_part, deltas = _split_step(step)
        yield {"event_type": "step.start", "index": index, "step": first_part}
        for delta in deltas:
            yield {"event_type": "step.delta", "index": index, "delta": delta}
        yield {"event_type": "step.stop", "index": index}
    summary = {**lifecycle, "status": resource["status"], "usage": resource["usage"]}
    yield {"event_type": "interaction.completed", "interaction": summary}


def _split_step(step: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the step as it starts, and the deltas that complete it."""
    match step["type"]:
        case "model_output":
            return {"type": "model_output"}, [dict(content) for content in step["content"]]
        case "thought" if "signature" in step:
            return {"type": "thought"}, [{"type": "thought_signature", "signature": step["signature"]}]
        case "function_call":
            arguments = encode_json(step["arguments"]).decode()
            return {**step, "arguments": {}}, [{"type": "arguments_delta", "arguments": arguments}]
        case _:
            return dict(step), []


def _encode(event: Event) -> bytes:
    return encode_event(event, event["event_type"])


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
