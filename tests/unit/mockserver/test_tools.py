"""Tools and structured output of PA, PB and PD: by schema, forced, named, parallel."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from catalog_probe.mockserver.app import create_app
from tests.unit.mockserver.mock_client import VERSION, Client

if TYPE_CHECKING:
    from collections.abc import Iterable

WEATHER: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city", "days"],
}
TIME: dict[str, Any] = {"type": "object", "properties": {"zone": {"enum": ["UTC"]}}, "required": ["zone"]}
FUNCTIONS = {"get_weather": WEATHER, "get_time": TIME}
IN_CAPITALS = {
    "type": "OBJECT",
    "properties": {"city": {"type": "STRING"}, "days": {"type": "INTEGER", "minimum": 1}},
    "required": ["city", "days"],
}

Calls = list[tuple[str, Any]]


def post(client: Client, path: str, body: dict[str, Any], **headers: str) -> Any:
    provider = path.split("/")[1]
    key_headers = {
        "pa": {"x-api-key": "mock-pa-inference", "pa-version": VERSION},
        "pb": {"x-pb-api-key": "mock-pb-inference"},
        "pd": {"authorization": "Bearer mock-pd-inference"},
    }[provider]
    session = {"x-mock-session": path + str(hash(json.dumps(body)))}
    answer = client.send("POST", path, json=body, headers={**key_headers, **session, **headers})
    assert answer.status_code == 200, answer.text
    return answer


def ask_pa(client: Client, text_sent: str, must: bool = False, schema: Any = None) -> tuple[Calls, str]:
    tools = [{"name": name, "input_schema": schema_declared} for name, schema_declared in FUNCTIONS.items()]
    body: dict[str, Any] = {
        "model": "mock-small",
        "max_tokens": 500,
        "messages": [{"role": "user", "content": text_sent}],
    }
    body |= {"tools": tools, "tool_choice": {"type": "any" if must else "auto"}}
    if schema:
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    content = post(client, "/pa/v1/messages", body).json()["content"]
    calls = [(block["name"], block["input"]) for block in content if block["type"] == "tool_use"]
    return calls, "".join(block["text"] for block in content if block["type"] == "text")


def ask_pb(
    client: Client, text_sent: str, must: bool = False, schema: Any = None, path: str = "generateContent"
) -> Any:
    declared = [{"name": "get_weather", "parameters": IN_CAPITALS}, {"name": "get_time", "parametersJsonSchema": TIME}]
    body: dict[str, Any] = {
        "contents": [{"parts": [{"text": text_sent}]}],
        "tools": [{"functionDeclarations": declared}],
    }
    body["toolConfig"] = {"functionCallingConfig": {"mode": "ANY" if must else "AUTO"}}
    if schema:
        body["generationConfig"] = {"responseMimeType": "application/json", "responseSchema": IN_CAPITALS}
    text = post(client, f"/pb/v1beta/models/mock-lite:{path}", body).text
    chunks = [json.loads(chunk) for chunk in text.replace("data: ", "").split("\n\n") if chunk]
    parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    return [(call["name"], call["args"]) for call in calls], "".join(part.get("text", "") for part in parts)


def ask_pb_stream(client: Client, text_sent: str, must: bool = False, schema: Any = None) -> Any:
    return ask_pb(client, text_sent, must, schema, "streamGenerateContent?alt=sse")


def ask_interactions(client: Client, text_sent: str, must: bool = False, schema: Any = None) -> tuple[Calls, str]:
    tools = [
        {"type": "function", "name": name, "parameters": schema_declared} for name, schema_declared in FUNCTIONS.items()
    ]
    body: dict[str, Any] = {"model": "mock-lite", "input": text_sent, "tools": tools}
    body["generation_config"] = {"tool_choice": "any" if must else "auto"}
    if schema:
        body |= {"response_format": schema, "response_mime_type": "application/json"}
    steps = post(client, "/pb/v1beta/interactions", body).json()["steps"]
    calls = [(step["name"], step["arguments"]) for step in steps if step["type"] == "function_call"]
    return calls, "".join(step["content"][0]["text"] for step in steps if step["type"] == "model_output")


def chat_body(model: str, text_sent: str, must: bool, schema: Any) -> dict[str, Any]:
    tools = [
        {"type": "function", "function": {"name": name, "parameters": schema_declared}}
        for name, schema_declared in FUNCTIONS.items()
    ]
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": text_sent}], "tools": tools}
    body["tool_choice"] = "required" if must else "auto"
    if schema:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    return body


def read_chat_calls(tool_calls: Iterable[Any]) -> Calls:
    return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in tool_calls]


def ask_pd_chat(client: Client, text_sent: str, must: bool = False, schema: Any = None) -> tuple[Calls, str]:
    body = chat_body("mock-small", text_sent, must, schema)
    (choice,) = post(client, "/pd/v1/chat/completions", body).json()["choices"]
    return read_chat_calls(choice["message"].get("tool_calls", [])), choice["message"]["content"]


def ask_pd_stream(client: Client, text_sent: str, must: bool = False, schema: Any = None) -> tuple[Calls, str]:
    body = {**chat_body("mock-small", text_sent, must, schema), "stream": True}
    lines = post(client, "/pd/v1/chat/completions", body).text.split("\n\n")
    deltas = [json.loads(line[6:])["choices"][0]["delta"] for line in lines if line.startswith("data: {")]
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    return read_chat_calls(calls), "".join(delta.get("content", "") for delta in deltas)


def ask_pd_responses(client: Client, text_sent: str, must: bool = False, schema: Any = None) -> tuple[Calls, str]:
    tools = [
        {"type": "function", "name": name, "parameters": schema_declared} for name, schema_declared in FUNCTIONS.items()
    ]
    body: dict[str, Any] = {"model": "mock-small", "input": text_sent, "tools": tools}
    body["tool_choice"] = "required" if must else "auto"
    if schema:
        body["text"] = {"format": {"type": "json_schema", "name": "answer", "schema": schema}}
    output = post(client, "/pd/v1/responses", body).json()["output"]
    calls = [(item["name"], json.loads(item["arguments"])) for item in output if item["type"] == "function_call"]
    return calls, "".join(item["content"][0]["text"] for item in output if item["type"] == "message")


SURFACES = (ask_pa, ask_pb, ask_pb_stream, ask_interactions, ask_pd_chat, ask_pd_stream, ask_pd_responses)


@pytest.fixture(scope="module")
def every() -> Client:
    return Client(create_app(only=["pa", "pb", "pd"]))


@pytest.mark.parametrize("ask", SURFACES)
def test_called_functions_follow_the_request_and_their_arguments_the_schema(every: Client, ask: Any) -> None:
    for text_sent, must, expected in (
        ("Hello", False, []),
        ("use get_time", False, ["get_time"]),
        ("get_time and get_weather", False, ["get_weather", "get_time"]),
        ("Hello", True, ["get_weather"]),
    ):
        calls, _ = ask(every, text_sent, must)
        assert [name for name, _ in calls] == expected
        for name, arguments in calls:
            Draft202012Validator(FUNCTIONS[name]).validate(arguments)


@pytest.mark.parametrize("ask", SURFACES)
def test_structured_output_follows_the_schema(every: Client, ask: Any) -> None:
    calls, text = ask(every, "Hello", schema=WEATHER)
    assert calls == []
    Draft202012Validator(WEATHER).validate(json.loads(text))


def test_an_enum_output_is_plain_text(every: Client) -> None:
    config = {"responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING", "enum": ["yes"]}}
    body = {"contents": [{"parts": [{"text": "Hello"}]}], "generationConfig": config}
    answer = post(every, "/pb/v1beta/models/mock-lite:generateContent", body).json()
    assert answer["candidates"][0]["content"]["parts"] == [{"text": "yes"}]


def test_the_model_repeats_tool_results_unless_a_tool_is_forced(every: Client) -> None:
    turns = [
        {"role": "user", "content": "use look"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "a cat"}]},
    ]
    tools = [{"name": "look", "input_schema": {"type": "object"}}, {"name": "answer", "input_schema": WEATHER}]
    body = {"model": "mock-small", "max_tokens": 99, "messages": turns, "tools": tools}
    assert post(every, "/pa/v1/messages", body).json()["content"] == [{"type": "text", "text": "The mock heard: a cat"}]
    forced = post(every, "/pa/v1/messages", {**body, "tool_choice": {"type": "any"}}).json()
    assert [block["name"] for block in forced["content"]] == ["answer"]
