"""PB's interactions: stored, continued, in background, streamed, and their error codes (1:4.2, 2:7.4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.mockserver.pb_client import PbClient, parse_events, read_code

FUNCTION = {"type": "function", "name": "look", "parameters": {"type": "object"}}
CODE = {"type": "code_execution"}


def test_an_interaction_answers_and_counts(pb: PbClient) -> None:
    interaction = pb.interact({"model": "mock-pro"}).json()
    assert (interaction["object"], interaction["status"], interaction["service_tier"]) == (
        "interaction",
        "completed",
        "standard",
    )
    assert [step["type"] for step in interaction["steps"]] == ["thought", "model_output"]
    usage = interaction["usage"]
    parts = ("total_input_tokens", "total_output_tokens", "total_thought_tokens")
    assert usage["total_tokens"] == sum(usage[part] for part in parts)


def test_both_versions_have_it(pb: PbClient) -> None:
    body = {"model": "mock-lite", "input": "Hello"}
    assert pb.ask("POST", "/v1/interactions", json=body).status_code == 200
    preview = pb.ask("POST", "/v1/interactions", json={**body, "model": "mock-pro-preview"})
    assert read_code(preview) == (404, "model_not_found")


def test_a_stored_interaction_can_be_continued_read_and_deleted(pb: PbClient) -> None:
    first = pb.interact().json()
    second = pb.interact({"previous_interaction_id": first["id"], "input": "And now?"}).json()
    assert second["previous_interaction_id"] == first["id"]
    assert second["usage"]["total_input_tokens"] > first["usage"]["total_input_tokens"]
    place = f"/v1beta/interactions/{first['id']}"
    assert pb.ask("GET", place).json() == first
    assert pb.ask("DELETE", place).status_code == 200
    assert read_code(pb.ask("GET", place)) == (404, "not_found")


def test_an_unstored_interaction_cannot_be_continued_read_or_deleted(pb: PbClient) -> None:
    unstored = pb.interact({"store": False}).json()
    assert read_code(pb.interact({"previous_interaction_id": unstored["id"]})) == (404, "not_found")


def test_an_interaction_belongs_to_its_project(pb: PbClient) -> None:
    mine = pb.interact().json()
    place = f"/v1beta/interactions/{mine['id']}"
    assert read_code(pb.ask("GET", place, key="mock-pb-stranger")) == (403, "permission_denied")
    assert read_code(pb.ask("GET", place, session="another")) == (404, "not_found")


def test_background_work_takes_its_time(pb: PbClient) -> None:
    begun = pb.interact({"background": True}).json()
    assert (begun["status"], begun["steps"]) == ("in_progress", [])
    place = f"/v1beta/interactions/{begun['id']}"
    assert pb.ask("GET", place, clock="+3s").json()["status"] == "completed"
    assert read_code(pb.interact({"background": True, "store": False})) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"input": 5}, (400, "invalid_request")),
        ({"input": []}, (400, "invalid_request")),
        ({"no_such_field": 1}, (400, "parameter_unknown")),
        ({"generation_config": {"no_such_field": 1}}, (400, "parameter_unknown")),
        ({"generation_config": {"top_p": 2}}, (416, "out_of_range")),
        ({"generation_config": {"thinking_level": "low", "thinking_budget": 1}}, (400, "invalid_request")),
        ({"response_modalities": ["audio"]}, (501, "unimplemented")),
        ({"model": "none"}, (404, "model_not_found")),
        ({"agent": "none"}, (404, "not_found")),
    ],
    ids=str,
)
def test_bodies_are_checked(pb: PbClient, fields: dict[str, Any], refusal: tuple[int, str]) -> None:
    assert read_code(pb.interact(fields)) == refusal


@pytest.mark.parametrize(
    ("key", "refusal"),
    [
        (None, (401, "authentication")),
        ("unknown", (400, "invalid_request")),
        ("mock-pb-leaked", (403, "permission_denied")),
        ("mock-pb-region", (400, "failed_precondition")),
    ],
)
def test_keys_are_checked(pb: PbClient, key: str | None, refusal: tuple[int, str]) -> None:
    assert read_code(pb.interact(key=key)) == refusal


def test_an_id_that_is_taken(pb: PbClient) -> None:
    assert read_code(pb.interact(scenario="id_collision")) == (409, "already_exists")


def names(events: list[Any]) -> list[str]:
    return [event["event_type"] for event in events]


def test_a_stream_builds_the_interaction_step_by_step(pb: PbClient) -> None:
    events = parse_events(pb.interact({"stream": True}))
    assert names(events) == [
        "interaction.created",
        "interaction.status_update",
        "step.start",
        "step.delta",
        "step.stop",
        "interaction.completed",
    ]
    assert events[3]["delta"] == {"type": "text", "text": "The mock heard: Hello"}
    assert events[-1]["interaction"]["status"] == "completed"


def test_a_refusal_before_the_stream_is_no_stream(pb: PbClient) -> None:
    assert read_code(pb.interact({"stream": True, "input": 5})) == (400, "invalid_request")


@pytest.mark.parametrize("scenario", ["internal_error_mid_stream", "overloaded_mid_stream"])
def test_a_failure_mid_stream_is_the_last_event(pb: PbClient, scenario: str) -> None:
    events = parse_events(pb.interact({"stream": True}, scenario=scenario))
    assert names(events)[-2:] == ["step.delta", "error"]
    assert events[-1]["error"].keys() == {"code", "message"}


@pytest.mark.parametrize(
    ("fields", "scenario", "code"),
    [
        ({}, "output_stopped;filter=personal_data", "spii"),
        ({}, "prompt_blocked;filter=other", "content_blocked"),
        ({"tools": [FUNCTION]}, "model_fault;fault=malformed_call", "malformed_function_call"),
        ({"tools": [CODE]}, "model_fault;fault=malformed_call", "malformed_tool_call"),
        ({}, "model_fault;fault=unexpected_call", "unexpected_tool_call"),
    ],
)
def test_a_stopped_interaction_has_an_error_event_or_an_outcome(
    pb: PbClient, fields: dict[str, list[dict[str, Any]]], scenario: str, code: str
) -> None:
    events = parse_events(pb.interact({**fields, "stream": True}, scenario=scenario))
    assert (names(events)[-1], events[-1]["error"]["code"]) == ("error", code)
    response = pb.interact(fields, scenario=scenario)
    assert (response.status_code, response.json()["status"]) == (200, "failed")
    assert response.json()["errors"][0]["code"] == code


@pytest.mark.parametrize("echoed", [True, False])
def test_thought_steps_must_be_echoed(pb: PbClient, echoed: bool) -> None:
    choice = {"tools": [FUNCTION], "generation_config": {"tool_choice": "any"}}
    first = pb.interact({"model": "mock-pro", **choice}).json()
    assert first["status"] == "requires_action"
    thought, called = first["steps"]
    result = {"type": "function_result", "call_id": called["id"], "name": "look", "result": "x"}
    user_input = {"type": "user_input", "content": [{"type": "text", "text": "Hello"}]}
    steps = [user_input, *([thought] if echoed else []), called, result]
    second = pb.interact({"model": "mock-pro", "input": steps, "tools": [FUNCTION]}).json()
    assert second["status"] == ("completed" if echoed else "failed")
    assert [error["code"] for error in second.get("errors", [])] == ([] if echoed else ["missing_thought_signature"])


def test_a_stored_conversation_keeps_its_thoughts(pb: PbClient) -> None:
    choice = {"tools": [FUNCTION], "generation_config": {"tool_choice": "any"}}
    first = pb.interact({"model": "mock-pro", **choice}).json()
    result = {"type": "function_result", "call_id": first["steps"][1]["id"], "result": "x"}
    fields = {"model": "mock-pro", "input": [result], "previous_interaction_id": first["id"]}
    assert pb.interact(fields).json()["status"] == "completed"
