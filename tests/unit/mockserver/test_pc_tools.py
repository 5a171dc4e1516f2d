"""Tools and structured output of PC: calls that follow the schema, forced, parallel, streamed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.unit.mockserver.pc_client import PcClient, events_of, refusal_of

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
TIME = {"type": "object", "properties": {"zone": {"enum": ["UTC"]}}, "required": ["zone"]}
FUNCTIONS: dict[str, dict[str, Any]] = {"get_weather": WEATHER, "get_time": TIME}
CHAT_TOOLS = [{"type": "function", "function": {"name": n, "parameters": p}} for n, p in FUNCTIONS.items()]
TOOLS = [{"type": "function", "name": name, "parameters": schema} for name, schema in FUNCTIONS.items()]
SCHEMA = {"name": "answer", "strict": True, "schema": WEATHER}


def chat_calls(pc: PcClient, user_text: str, **fields: Any) -> list[tuple[str, Any]]:
    messages = [{"role": "user", "content": user_text}]
    (choice,) = pc.complete({"messages": messages, "tools": CHAT_TOOLS, **fields}).json()["choices"]
    tool_calls = choice["message"].get("tool_calls", [])
    assert choice["finish_reason"] == ("tool_calls" if tool_calls else "stop")
    return [(tool_call["function"]["name"], json.loads(tool_call["function"]["arguments"])) for tool_call in tool_calls]


def calls(pc: PcClient, user_text: str, **fields: Any) -> list[tuple[str, Any]]:
    output = pc.respond({"input": user_text, "tools": TOOLS, **fields}).json()["output"]
    return [(item["name"], json.loads(item["arguments"])) for item in output if item["type"] == "function_call"]


ASKING = pytest.mark.parametrize("ask", [chat_calls, calls])


def names(called: list[tuple[str, Any]]) -> list[str]:
    for name, arguments in called:
        Draft202012Validator(FUNCTIONS[name]).validate(arguments)
    return [name for name, _ in called]


@ASKING
def test_a_function_is_called_that_the_user_names_or_that_must_be(pc: PcClient, ask: Any) -> None:
    assert names(ask(pc, "Hello")) == []
    assert names(ask(pc, "use get_time")) == ["get_time"]
    assert names(ask(pc, "get_time, get_weather")) == ["get_weather", "get_time"]
    assert names(ask(pc, "get_time, get_weather", parallel_tool_calls=False)) == ["get_weather"]
    assert names(ask(pc, "Hello", tool_choice="required")) == ["get_weather"]
    assert names(ask(pc, "use get_time", tool_choice="none")) == []


def test_the_one_that_is_chosen_is_called(pc: PcClient) -> None:
    chosen = {"type": "function", "name": "get_time"}
    assert names(calls(pc, "get_weather", tool_choice=chosen)) == ["get_time"]
    nested = {"type": "function", "function": {"name": "get_time"}}
    assert names(chat_calls(pc, "get_weather", tool_choice=nested)) == ["get_time"]
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [chosen]}
    assert names(calls(pc, "get_weather", tool_choice=allowed)) == ["get_time"]
    assert names(calls(pc, "get_weather", tool_choice={**allowed, "mode": "auto"})) == []


def test_after_the_results_the_model_speaks(pc: PcClient) -> None:
    first = pc.complete({"messages": [{"role": "user", "content": "get_time"}], "tools": CHAT_TOOLS}).json()
    message = first["choices"][0]["message"]
    result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "noon"}
    turns = [{"role": "user", "content": "get_time"}, {"role": "assistant", **message}, result]
    turns[1].pop("annotations")
    answer = pc.complete({"messages": turns, "tools": CHAT_TOOLS}).json()["choices"][0]
    assert (answer["message"]["content"], answer["finish_reason"]) == ("The mock heard: noon", "stop")


def test_calls_come_in_pieces_in_streams(pc: PcClient) -> None:
    messages = [{"role": "user", "content": "get_weather get_time"}]
    streamed = pc.complete({"messages": messages, "tools": CHAT_TOOLS, "stream": True}).text
    chunks = [json.loads(line[6:]) for line in streamed.split("\n\n") if line.startswith("data: {")]
    arguments = {0: "", 1: ""}
    for chunk in chunks:
        for piece in chunk["choices"][0]["delta"].get("tool_calls", []):
            arguments[piece["index"]] += piece["function"]["arguments"]
    Draft202012Validator(WEATHER).validate(json.loads(arguments[0]))
    assert json.loads(arguments[1]) == {"zone": "UTC"}
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"

    events = events_of(pc.respond({"input": "get_time", "tools": TOOLS, "stream": True}))
    pieces = [data["delta"] for name, data in events if name == "response.function_call_arguments.delta"]
    assert json.loads("".join(pieces)) == {"zone": "UTC"}
    assert events[-1][1]["response"]["output"][0]["arguments"] == "".join(pieces)


def test_text_follows_the_schema_that_was_asked_for(pc: PcClient) -> None:
    chat = pc.complete({"response_format": {"type": "json_schema", "json_schema": SCHEMA}}).json()
    response = pc.respond({"text": {"format": {"type": "json_schema", **SCHEMA}}}).json()
    free = pc.respond({"text": {"format": {"type": "json_object"}}}).json()
    for text in (chat["choices"][0]["message"]["content"], response["output"][0]["content"][0]["text"]):
        Draft202012Validator(WEATHER).validate(json.loads(text))
    assert isinstance(json.loads(free["output"][0]["content"][0]["text"]), dict)


def test_a_limit_cuts_a_call_off(pc: PcClient) -> None:
    response = pc.respond({"input": "get_weather", "tools": TOOLS, "max_output_tokens": 16}).json()
    long = {"type": "function", "name": "long", "parameters": {"properties": {"a": {"const": "x" * 400}}}}
    cut = pc.respond({"input": "long", "tools": [long], "max_output_tokens": 16}).json()
    assert response["status"] == "completed"
    assert (cut["status"], cut["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"tools": ["look"]}, (400, "invalid_type", "tools[0]")),
        ({"tools": [{}]}, (400, "missing_required_parameter", "tools[0].type")),
        ({"tool_choice": {"type": "function", "name": "nobody"}}, (400, "invalid_value", "tool_choice")),
        (
            {"text": {"format": {"type": "json_schema", "name": "a", "schema": "text"}}},
            (400, "invalid_type", "text.format.schema"),
        ),
    ],
)
def test_an_invalid_tool_request_is_refused(
    pc: PcClient, fields: dict[str, Any], expected: tuple[int, str, str]
) -> None:
    assert refusal_of(pc.respond(fields)) == expected


def test_a_response_in_the_background_is_done_later(pc: PcClient) -> None:
    response = pc.respond({"background": True}).json()
    path = f"/v1/responses/{response['id']}"
    assert response["status"] == pc.ask("GET", path).json()["status"] == "in_progress"
    assert pc.ask("GET", path, clock="+31s").json()["status"] == "completed"
