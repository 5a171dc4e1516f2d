"""An interaction as server-sent events (1:6, 2:7.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.streams import encode_event
from catalog_probe.mockserver.pb.bodies import encode_json
from catalog_probe.mockserver.pb.errors import make_interactions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.mockserver.core.errors import Refusal

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
