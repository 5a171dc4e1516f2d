"""Tools and structured output of PA, PB and PD in the mock: as the schema says, forced, named, parallel."""

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
    known = {
        "pa": {"x-api-key": "mock-pa-inference", "pa-version": VERSION},
        "pb": {"x-pb-api-key": "mock-pb-inference"},
        "pd": {"authorization": "Bearer mock-pd-inference"},
    }[provider]
    session = {"x-mock-session": path + str(hash(json.dumps(body)))}
    answer = client.send("POST", path, json=body, headers={**known, **session, **headers})
    assert answer.status_code == 200, answer.text
    return answer


def pa(client: Client, said: str, must: bool = False, schema: Any = None) -> tuple[Calls, str]:
    tools = [{"name": name, "input_schema": each} for name, each in FUNCTIONS.items()]
    body: dict[str, Any] = {"model": "mock-small", "max_tokens": 500, "messages": [{"role": "user", "content": said}]}
    body |= {"tools": tools, "tool_choice": {"type": "any" if must else "auto"}}
    if schema:
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    content = post(client, "/pa/v1/messages", body).json()["content"]
    calls = [(block["name"], block["input"]) for block in content if block["type"] == "tool_use"]
    return calls, "".join(block["text"] for block in content if block["type"] == "text")


def pb(client: Client, said: str, must: bool = False, schema: Any = None, path: str = "generateContent") -> Any:
    declared = [{"name": "get_weather", "parameters": IN_CAPITALS}, {"name": "get_time", "parametersJsonSchema": TIME}]
    body: dict[str, Any] = {"contents": [{"parts": [{"text": said}]}], "tools": [{"functionDeclarations": declared}]}
    body["toolConfig"] = {"functionCallingConfig": {"mode": "ANY" if must else "AUTO"}}
    if schema:
        body["generationConfig"] = {"responseMimeType": "application/json", "responseSchema": IN_CAPITALS}
    text = post(client, f"/pb/v1beta/models/mock-lite:{path}", body).text
    chunks = [json.loads(chunk) for chunk in text.replace("data: ", "").split("\n\n") if chunk]
    parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    return [(call["name"], call["args"]) for call in calls], "".join(part.get("text", "") for part in parts)


def pb_streamed(client: Client, said: str, must: bool = False, schema: Any = None) -> Any:
    return pb(client, said, must, schema, "streamGenerateContent?alt=sse")


def interactions(client: Client, said: str, must: bool = False, schema: Any = None) -> tuple[Calls, str]:
    tools = [{"type": "function", "name": name, "parameters": each} for name, each in FUNCTIONS.items()]
    body: dict[str, Any] = {"model": "mock-lite", "input": said, "tools": tools}
    body["generation_config"] = {"tool_choice": "any" if must else "auto"}
    if schema:
        body |= {"response_format": schema, "response_mime_type": "application/json"}
    steps = post(client, "/pb/v1beta/interactions", body).json()["steps"]
    calls = [(step["name"], step["arguments"]) for step in steps if step["type"] == "function_call"]
    return calls, "".join(step["content"][0]["text"] for step in steps if step["type"] == "model_output")


def chat_body(model: str, said: str, must: bool, schema: Any) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": name, "parameters": each}} for name, each in FUNCTIONS.items()]
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": said}], "tools": tools}
    body["tool_choice"] = "required" if must else "auto"
    if schema:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    return body


def of_chat(tool_calls: Iterable[Any]) -> Calls:
    return [(each["function"]["name"], json.loads(each["function"]["arguments"])) for each in tool_calls]


def pd_chat(client: Client, said: str, must: bool = False, schema: Any = None) -> tuple[Calls, str]:
    body = chat_body("mock-small", said, must, schema)
    (choice,) = post(client, "/pd/v1/chat/completions", body).json()["choices"]
    return of_chat(choice["message"].get("tool_calls", [])), choice["message"]["content"]


def pd_streamed(client: Client, said: str, must: bool = False, schema: Any = None) -> tuple[Calls, str]:
    body = {**chat_body("mock-small", said, must, schema), "stream": True}
    lines = post(client, "/pd/v1/chat/completions", body).text.split("\n\n")
    deltas = [json.loads(line[6:])["choices"][0]["delta"] for line in lines if line.startswith("data: {")]
    calls = [each for delta in deltas for each in delta.get("tool_calls", [])]
    return of_chat(calls), "".join(delta.get("content", "") for delta in deltas)


def pd_responses(client: Client, said: str, must: bool = False, schema: Any = None) -> tuple[Calls, str]:
    tools = [{"type": "function", "name": name, "parameters": each} for name, each in FUNCTIONS.items()]
    body: dict[str, Any] = {"model": "mock-small", "input": said, "tools": tools}
    body["tool_choice"] = "required" if must else "auto"
    if schema:
        body["text"] = {"format": {"type": "json_schema", "name": "answer", "schema": schema}}
    output = post(client, "/pd/v1/responses", body).json()["output"]
    calls = [(item["name"], json.loads(item["arguments"])) for item in output if item["type"] == "function_call"]
    return calls, "".join(item["content"][0]["text"] for item in output if item["type"] == "message")


SURFACES = (pa, pb, pb_streamed, interactions, pd_chat, pd_streamed, pd_responses)


@pytest.fixture(scope="module")
def every() -> Client:
    return Client(create_app(only=["pa", "pb", "pd"]))


@pytest.mark.parametrize("ask", SURFACES)
def test_the_request_decides_which_functions_are_called_and_their_schema_with_what(every: Client, ask: Any) -> None:
    for said, must, expected in (
        ("Hello", False, []),
        ("use get_time", False, ["get_time"]),
        ("get_time and get_weather", False, ["get_weather", "get_time"]),
        ("Hello", True, ["get_weather"]),
    ):
        calls, _ = ask(every, said, must)
        assert [name for name, _ in calls] == expected
        for name, given in calls:
            Draft202012Validator(FUNCTIONS[name]).validate(given)


@pytest.mark.parametrize("ask", SURFACES)
def test_the_text_is_what_the_schema_wants(every: Client, ask: Any) -> None:
    calls, text = ask(every, "Hello", schema=WEATHER)
    assert calls == []
    Draft202012Validator(WEATHER).validate(json.loads(text))


def test_a_word_out_of_an_enum_comes_as_it_is(every: Client) -> None:
    config = {"responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING", "enum": ["yes"]}}
    body = {"contents": [{"parts": [{"text": "Hello"}]}], "generationConfig": config}
    answer = post(every, "/pb/v1beta/models/mock-lite:generateContent", body).json()
    assert answer["candidates"][0]["content"]["parts"] == [{"text": "yes"}]


def test_after_the_results_of_its_tools_the_model_speaks_of_them(every: Client) -> None:
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
