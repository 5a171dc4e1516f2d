"""PB's interactions: stored, continued, in the background, streamed, and the codes they fail with (1:4.2, 2:7.4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.mockserver.pb_client import PbClient, code_of, events_of

FUNCTION = {"type": "function", "name": "look", "parameters": {"type": "object"}}
CODE = {"type": "code_execution"}


@pytest.fixture
def client() -> PbClient:
    return PbClient()


def test_an_interaction_answers_and_counts(client: PbClient) -> None:
    found = client.interact({"model": "mock-pro"}).json()
    assert (found["object"], found["status"], found["service_tier"]) == ("interaction", "completed", "standard")
    assert [step["type"] for step in found["steps"]] == ["thought", "model_output"]
    usage = found["usage"]
    parts = ("total_input_tokens", "total_output_tokens", "total_thought_tokens")
    assert usage["total_tokens"] == sum(usage[part] for part in parts)


def test_both_versions_have_it(client: PbClient) -> None:
    body = {"model": "mock-lite", "input": "Hello"}
    assert client.pb("POST", "/v1/interactions", json=body).status_code == 200
    preview = client.pb("POST", "/v1/interactions", json={**body, "model": "mock-pro-preview"})
    assert code_of(preview) == (404, "model_not_found")


def test_what_is_stored_can_be_continued_read_and_deleted(client: PbClient) -> None:
    first = client.interact().json()
    second = client.interact({"previous_interaction_id": first["id"], "input": "And now?"}).json()
    assert second["previous_interaction_id"] == first["id"]
    assert second["usage"]["total_input_tokens"] > first["usage"]["total_input_tokens"]
    place = f"/v1beta/interactions/{first['id']}"
    assert client.pb("GET", place).json() == first
    assert client.pb("DELETE", place).status_code == 200
    assert code_of(client.pb("GET", place)) == (404, "not_found")


def test_what_is_not_stored_cannot(client: PbClient) -> None:
    unstored = client.interact({"store": False}).json()
    assert code_of(client.interact({"previous_interaction_id": unstored["id"]})) == (404, "not_found")


def test_an_interaction_belongs_to_its_project(client: PbClient) -> None:
    mine = client.interact().json()
    place = f"/v1beta/interactions/{mine['id']}"
    assert code_of(client.pb("GET", place, key="mock-pb-stranger")) == (403, "permission_denied")
    assert code_of(client.pb("GET", place, session="another")) == (404, "not_found")


def test_background_work_takes_its_time(client: PbClient) -> None:
    begun = client.interact({"background": True}).json()
    assert (begun["status"], begun["steps"]) == ("in_progress", [])
    place = f"/v1beta/interactions/{begun['id']}"
    assert client.pb("GET", place, clock="+3s").json()["status"] == "completed"
    assert code_of(client.interact({"background": True, "store": False})) == (400, "invalid_request")


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
def test_bodies_are_checked(client: PbClient, fields: dict[str, Any], refusal: tuple[int, str]) -> None:
    assert code_of(client.interact(fields)) == refusal


@pytest.mark.parametrize(
    ("key", "refusal"),
    [
        (None, (401, "authentication")),
        ("unknown", (400, "invalid_request")),
        ("mock-pb-leaked", (403, "permission_denied")),
        ("mock-pb-region", (400, "failed_precondition")),
    ],
)
def test_keys_are_checked(client: PbClient, key: str | None, refusal: tuple[int, str]) -> None:
    assert code_of(client.interact(key=key)) == refusal


def test_an_id_that_is_taken(client: PbClient) -> None:
    assert code_of(client.interact(scenario="id_collision")) == (409, "already_exists")


def names(events: list[Any]) -> list[str]:
    return [event["event_type"] for event in events]


def test_a_stream_builds_the_interaction_step_by_step(client: PbClient) -> None:
    events = events_of(client.interact({"stream": True}))
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


def test_a_refusal_before_the_stream_is_no_stream(client: PbClient) -> None:
    assert code_of(client.interact({"stream": True, "input": 5})) == (400, "invalid_request")


@pytest.mark.parametrize("scenario", ["internal_error_mid_stream", "overloaded_mid_stream"])
def test_a_failure_mid_stream_is_the_last_event(client: PbClient, scenario: str) -> None:
    events = events_of(client.interact({"stream": True}, scenario=scenario))
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
def test_what_stops_an_interaction_is_an_event_or_an_outcome(
    client: PbClient, fields: dict[str, list[dict[str, Any]]], scenario: str, code: str
) -> None:
    events = events_of(client.interact({**fields, "stream": True}, scenario=scenario))
    assert (names(events)[-1], events[-1]["error"]["code"]) == ("error", code)
    whole = client.interact(fields, scenario=scenario)
    assert (whole.status_code, whole.json()["status"]) == (200, "failed")
    assert whole.json()["errors"][0]["code"] == code


@pytest.mark.parametrize("echoed", [True, False])
def test_thought_steps_must_be_echoed(client: PbClient, echoed: bool) -> None:
    choice = {"tools": [FUNCTION], "generation_config": {"tool_choice": "any"}}
    first = client.interact({"model": "mock-pro", **choice}).json()
    assert first["status"] == "requires_action"
    thought, called = first["steps"]
    result = {"type": "function_result", "call_id": called["id"], "name": "look", "result": "x"}
    asked = {"type": "user_input", "content": [{"type": "text", "text": "Hello"}]}
    steps = [asked, *([thought] if echoed else []), called, result]
    second = client.interact({"model": "mock-pro", "input": steps, "tools": [FUNCTION]}).json()
    assert second["status"] == ("completed" if echoed else "failed")
    assert [error["code"] for error in second.get("errors", [])] == ([] if echoed else ["missing_thought_signature"])


def test_a_stored_conversation_keeps_its_thoughts(client: PbClient) -> None:
    choice = {"tools": [FUNCTION], "generation_config": {"tool_choice": "any"}}
    first = client.interact({"model": "mock-pro", **choice}).json()
    result = {"type": "function_result", "call_id": first["steps"][1]["id"], "result": "x"}
    fields = {"model": "mock-pro", "input": [result], "previous_interaction_id": first["id"]}
    assert client.interact(fields).json()["status"] == "completed"
