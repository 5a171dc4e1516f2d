"""Tools and structured output on every HTTP surface: by schema, forced, named, parallel, streamed."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from catalog_probe.mockserver.app import create_app
from tests.unit.mockserver.mock_client import (
    VERSION,
    Client,
    PcClient,
    join_message_blocks,
    read_events,
    read_refusal,
)

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
CHAT_TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in FUNCTIONS.items()
]
FLAT_TOOLS = [{"type": "function", "name": name, "parameters": schema} for name, schema in FUNCTIONS.items()]

Calls = list[tuple[str, Any]]
Ask = Callable[..., tuple[Calls, str]]
"""Sends a text, with a tool that must be called or a schema that the text must follow; returns calls and text."""


@pytest.fixture(scope="module")
def every() -> Client:
    return Client(create_app())


def post(client: Client, path: str, body: dict[str, Any]) -> Any:
    provider = path.split("/")[1]
    key = f"mock-{provider}-inference"
    key_headers = {
        "pa": {"x-api-key": key, "pa-version": VERSION},
        "pb": {"x-pb-api-key": key},
    }.get(provider, {"authorization": f"Bearer {key}"})
    session = {"x-mock-session": path + str(hash(json.dumps(body)))}
    answer = client.send("POST", path, json=body, headers={**key_headers, **session})
    assert answer.status_code == 200, answer.text
    return answer


def ask_messages(
    client: Client, text: str, must: bool = False, schema: Any = None, *, streamed: bool = False
) -> tuple[Calls, str]:
    tools = [{"name": name, "input_schema": parameters} for name, parameters in FUNCTIONS.items()]
    body: dict[str, Any] = {"model": "mock-small", "max_tokens": 500, "messages": [{"role": "user", "content": text}]}
    body |= {"tools": tools, "tool_choice": {"type": "any" if must else "auto"}, "stream": streamed}
    if schema:
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    answer = post(client, "/pa/v1/messages", body)
    content = join_message_blocks(read_events(answer)) if streamed else answer.json()["content"]
    calls = [(block["name"], block["input"]) for block in content if block["type"] == "tool_use"]
    return calls, "".join(block["text"] for block in content if block["type"] == "text")


def ask_generate(
    client: Client, text: str, must: bool = False, schema: Any = None, *, operation: str = "generateContent"
) -> tuple[Calls, str]:
    declared = [{"name": "get_weather", "parameters": IN_CAPITALS}, {"name": "get_time", "parametersJsonSchema": TIME}]
    body: dict[str, Any] = {"contents": [{"parts": [{"text": text}]}], "tools": [{"functionDeclarations": declared}]}
    body["toolConfig"] = {"functionCallingConfig": {"mode": "ANY" if must else "AUTO"}}
    if schema:
        body["generationConfig"] = {"responseMimeType": "application/json", "responseSchema": IN_CAPITALS}
    answer = post(client, f"/pb/v1beta/models/mock-lite:{operation}", body)
    chunks = read_events(answer) if "alt=sse" in operation else [answer.json()]
    parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    return [(call["name"], call["args"]) for call in calls], "".join(part.get("text", "") for part in parts)


def ask_interactions(client: Client, text: str, must: bool = False, schema: Any = None) -> tuple[Calls, str]:
    body: dict[str, Any] = {"model": "mock-lite", "input": text, "tools": FLAT_TOOLS}
    body["generation_config"] = {"tool_choice": "any" if must else "auto"}
    if schema:
        body |= {"response_format": schema, "response_mime_type": "application/json"}
    steps = post(client, "/pb/v1beta/interactions", body).json()["steps"]
    calls = [(step["name"], step["arguments"]) for step in steps if step["type"] == "function_call"]
    return calls, "".join(step["content"][0]["text"] for step in steps if step["type"] == "model_output")


def read_chat_calls(tool_calls: Iterable[Any]) -> Calls:
    """Read the calls of a message, or of the deltas of a stream, where a call may come in several pieces."""
    names: dict[int, str] = {}
    arguments: dict[int, str] = {}
    for position, tool_call in enumerate(tool_calls):
        index, function = tool_call.get("index", position), tool_call["function"]
        names.setdefault(index, function.get("name", ""))
        arguments[index] = arguments.get(index, "") + function["arguments"]
    return [(names[index], json.loads(arguments[index])) for index in names]


def ask_chat(
    client: Client, text: str, must: bool = False, schema: Any = None, *, provider: str, streamed: bool = False
) -> tuple[Calls, str]:
    body: dict[str, Any] = {"model": "mock-small", "messages": [{"role": "user", "content": text}], "tools": CHAT_TOOLS}
    body |= {"tool_choice": "required" if must else "auto", "stream": streamed}
    if schema:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    answer = post(client, f"/{provider}/v1/chat/completions", body)
    choices = [chunk["choices"][0] for chunk in (read_events(answer) if streamed else [answer.json()])]
    messages = [choice["delta" if streamed else "message"] for choice in choices]
    calls = read_chat_calls(call for message in messages for call in message.get("tool_calls") or ())
    assert choices[-1]["finish_reason"] == ("tool_calls" if calls else "stop")
    return calls, "".join(message.get("content") or "" for message in messages)


def ask_responses(
    client: Client, text: str, must: bool = False, schema: Any = None, *, provider: str, streamed: bool = False
) -> tuple[Calls, str]:
    body: dict[str, Any] = {"model": "mock-small", "input": text, "tools": FLAT_TOOLS, "stream": streamed}
    body["tool_choice"] = "required" if must else "auto"
    if schema:
        body["text"] = {"format": {"type": "json_schema", "name": "answer", "schema": schema}}
    answer = post(client, f"/{provider}/v1/responses", body)
    if streamed:
        events = read_events(answer)
        assert [event["sequence_number"] for event in events] == [*range(len(events))]
        pieces = [event["delta"] for event in events if event["type"].endswith(".delta")]
        output = events[-1]["response"]["output"]
        assert "".join(pieces) == "".join(item.get("arguments") or item["content"][0]["text"] for item in output)
    else:
        output = answer.json()["output"]
    calls = [(item["name"], json.loads(item["arguments"])) for item in output if item["type"] == "function_call"]
    return calls, "".join(item["content"][0]["text"] for item in output if item["type"] == "message")


SURFACES: dict[str, Ask] = {
    "pa messages": ask_messages,
    "pa stream": partial(ask_messages, streamed=True),
    "pb generate": ask_generate,
    "pb stream": partial(ask_generate, operation="streamGenerateContent?alt=sse"),
    "pb interactions": ask_interactions,
    "pc chat": partial(ask_chat, provider="pc"),
    "pc chat stream": partial(ask_chat, provider="pc", streamed=True),
    "pc responses": partial(ask_responses, provider="pc"),
    "pc responses stream": partial(ask_responses, provider="pc", streamed=True),
    "pd chat": partial(ask_chat, provider="pd"),
    "pd chat stream": partial(ask_chat, provider="pd", streamed=True),
    "pd responses": partial(ask_responses, provider="pd"),
    "pd responses stream": partial(ask_responses, provider="pd", streamed=True),
}
for_each_surface = pytest.mark.parametrize("ask", SURFACES.values(), ids=SURFACES)


@for_each_surface
def test_called_functions_follow_the_request_and_their_arguments_the_schema(every: Client, ask: Ask) -> None:
    for text_sent, must, expected in (
        ("Hello", False, []),
        ("get_time and get_weather", False, ["get_weather", "get_time"]),
        ("Hello", True, ["get_weather"]),
    ):
        calls, text = ask(every, text_sent, must)
        assert [name for name, _ in calls] == expected
        assert text == ("" if expected else "The mock heard: Hello")
        for name, arguments in calls:
            Draft202012Validator(FUNCTIONS[name]).validate(arguments)


@for_each_surface
def test_structured_output_follows_the_schema(every: Client, ask: Ask) -> None:
    calls, text = ask(every, "Hello", schema=WEATHER)
    assert calls == []
    Draft202012Validator(WEATHER).validate(json.loads(text))


def test_an_enum_output_is_plain_text(every: Client) -> None:
    config = {"responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING", "enum": ["yes"]}}
    body = {"contents": [{"parts": [{"text": "Hello"}]}], "generationConfig": config}
    answer = post(every, "/pb/v1beta/models/mock-lite:generateContent", body).json()
    assert answer["candidates"][0]["content"]["parts"] == [{"text": "yes"}]


def test_json_without_a_schema_is_any_object(pc: PcClient) -> None:
    (item,) = pc.respond({"text": {"format": {"type": "json_object"}}}).json()["output"]
    assert isinstance(json.loads(item["content"][0]["text"]), dict)


def test_the_model_repeats_tool_results_unless_a_tool_is_forced(every: Client) -> None:
    turns = [
        {"role": "user", "content": "use look"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "a cat"}]},
    ]
    tools = [{"name": "look", "input_schema": {"type": "object"}}, {"name": "answer", "input_schema": WEATHER}]
    body = {"model": "mock-small", "max_tokens": 99, "messages": turns, "tools": tools}
    assert post(every, "/pa/v1/messages", body).json()["content"] == [{"type": "text", "text": "The mock heard: a cat"}]
    for choice in ({"type": "any"}, {"type": "tool", "name": "answer"}):
        forced = post(every, "/pa/v1/messages", {**body, "tool_choice": choice}).json()
        assert [block["name"] for block in forced["content"]] == ["answer"]


def test_after_the_results_of_a_call_the_model_of_pc_speaks_of_them(pc: PcClient) -> None:
    user = {"role": "user", "content": "get_time"}
    message = pc.complete({"messages": [user], "tools": CHAT_TOOLS}).json()["choices"][0]["message"]
    message.pop("annotations")
    result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "noon"}
    answer = pc.complete({"messages": [user, message, result], "tools": CHAT_TOOLS}).json()["choices"][0]
    assert (answer["message"]["content"], answer["finish_reason"]) == ("The mock heard: noon", "stop")


@pytest.mark.parametrize(
    ("choice", "called"),
    [
        ("none", []),
        ({"type": "function", "name": "get_time"}, ["get_time"]),
        ({"type": "function", "function": {"name": "get_time"}}, ["get_time"]),
        ({"type": "allowed_tools", "mode": "required", "tools": [FLAT_TOOLS[1]]}, ["get_time"]),
        ({"type": "allowed_tools", "mode": "auto", "tools": [FLAT_TOOLS[1]]}, []),
    ],
)
def test_the_function_that_is_chosen_is_called(pc: PcClient, choice: Any, called: list[str]) -> None:
    output = pc.respond({"input": "get_weather", "tools": FLAT_TOOLS, "tool_choice": choice}).json()["output"]
    assert [item["name"] for item in output if item["type"] == "function_call"] == called


def test_calls_in_parallel_can_be_forbidden(pc: PcClient) -> None:
    fields = {"input": "get_time, get_weather", "tools": FLAT_TOOLS, "parallel_tool_calls": False}
    assert [item["name"] for item in pc.respond(fields).json()["output"]] == ["get_weather"]


def test_a_limit_cuts_a_call_off(pc: PcClient) -> None:
    response = pc.respond({"input": "get_weather", "tools": FLAT_TOOLS, "max_output_tokens": 16}).json()
    long = {"type": "function", "name": "long", "parameters": {"properties": {"a": {"const": "x" * 400}}}}
    cut = pc.respond({"input": "long", "tools": [long], "max_output_tokens": 16}).json()
    assert response["status"] == "completed"
    assert (cut["status"], cut["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})


def test_a_tool_that_is_none_is_refused(pc: PcClient) -> None:
    assert read_refusal(pc.respond({"tools": ["look"]})) == (400, "invalid_type", "tools[0]")
    text = {"format": {"type": "json_schema", "name": "a", "schema": "text"}}
    assert read_refusal(pc.respond({"text": text})) == (400, "invalid_type", "text.format.schema")
