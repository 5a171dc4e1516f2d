"""PA's messages, streams, server tools, models and token counts on the happy path (1:4.1, 1:6, 2:7.3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from tests.unit.mockserver.mock_client import Client, make_message

if TYPE_CHECKING:
    from httpx import Response

SEARCH = {"type": "web_search_20250305", "name": "web_search"}
FETCH = {"type": "web_fetch_20250910", "name": "web_fetch"}
CODE = {"type": "code_execution_20250825", "name": "code_execution"}
LOOK: dict[str, Any] = {
    "name": "look",
    "input_schema": {
        "type": "object",
        "properties": {"where": {"type": "string"}, "how": {"enum": ["well", "badly"]}},
        "required": ["where", "how"],
    },
}


def events(response: Response) -> list[tuple[str, dict[str, Any]]]:
    assert response.headers["content-type"].startswith("text/event-stream")
    named_events = []
    for chunk in response.text.strip().split("\n\n"):
        name, data = chunk.split("\n")
        named_events.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
        assert named_events[-1][1]["type"] == named_events[-1][0]
    return named_events


def say(text: str, *tools: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], "tools": list(tools), "max_tokens": 1000}


def error_codes(response: Response) -> list[tuple[str, str | None]]:
    assert response.status_code == 200, response.text
    results = [block for block in response.json()["content"] if block["type"].endswith("_tool_result")]
    for result in results:
        if isinstance(result["content"], dict) and "error_code" in result["content"]:
            assert result["content"]["type"] == result["type"] + "_error"
    return [(result["type"], result["content"].get("error_code")) for result in map(as_dict, results)]


def as_dict(result: dict[str, Any]) -> dict[str, Any]:
    return {**result, "content": {} if isinstance(result["content"], list) else result["content"]}


def test_a_message_has_all_that_clients_validate(client: Client) -> None:
    response = client.hello()
    message = response.json()
    assert message["type"] == "message"
    assert message["role"] == "assistant"
    assert message["stop_reason"] == "end_turn"
    usage = {"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens", "service_tier"}
    assert usage <= message["usage"].keys()
    assert response.headers["pa-workspace-id"].startswith("wrkspc_")
    for family in ("requests", "tokens", "input-tokens", "output-tokens"):
        for name in ("limit", "remaining", "reset"):
            assert f"pa-ratelimit-{family}-{name}" in response.headers


def test_the_answer_is_cut_at_max_tokens(client: Client) -> None:
    message = client.hello({"max_tokens": 1}).json()
    assert message["stop_reason"] == "max_tokens"
    assert message["usage"]["output_tokens"] == 1


def test_a_stop_sequence_ends_the_answer(client: Client) -> None:
    message = client.hello({"stop_sequences": ["heard"]}).json()
    assert (message["stop_reason"], message["stop_sequence"]) == ("stop_sequence", "heard")


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "look"}])
def test_a_forced_tool_is_used_as_its_schema_demands(client: Client, choice: dict[str, str]) -> None:
    message = client.hello({"tools": [LOOK], "tool_choice": choice}).json()
    assert message["stop_reason"] == "tool_use"
    Draft202012Validator(LOOK["input_schema"]).validate(message["content"][-1]["input"])


def test_a_tool_use_may_be_answered(client: Client) -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    answered = [
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "seen"}]},
    ]
    assert client.hello({"messages": answered, "tools": [LOOK]}).status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"diagnostics": {}, "thinking": {"type": "between_tools"}},
        {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]},
        {"tools": [{"type": "mcp_toolset", "mcp_server_name": "one"}, {"type": "tool_search_tool_bm25", "name": "t"}]},
    ],
)
def test_fields_of_official_clients_are_accepted(client: Client, changes: dict[str, Any]) -> None:
    assert client.hello(changes).status_code == 200


@pytest.mark.parametrize("thinking", [{"type": "adaptive"}, {"type": "enabled", "budget_tokens": 1024}])
def test_thinking_comes_first(client: Client, thinking: dict[str, str]) -> None:
    message = client.hello({"model": "mock-large", "max_tokens": 2000, "thinking": thinking}).json()
    assert [block["type"] for block in message["content"]] == ["thinking", "text"]


def test_a_refusal_is_a_success_with_its_category_and_credit(client: Client) -> None:
    message = client.hello(scenario="refusal;category=bio").json()
    assert message["stop_reason"] == "refusal"
    assert message["stop_details"]["category"] == "bio"
    assert message["stop_details"]["fallback_credit_token"]


def test_a_stream_has_its_events_in_order(client: Client) -> None:
    named_events = events(client.hello({"stream": True}))
    names = [name for name, _ in named_events]
    assert names[:4] == ["message_start", "content_block_start", "ping", "content_block_delta"]
    assert names[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    text = "".join(data["delta"]["text"] for name, data in named_events if name == "content_block_delta")
    assert text == client.hello().json()["content"][0]["text"]


@pytest.mark.parametrize(
    ("scenario", "kind"), [("overloaded_mid_stream", "overloaded_error"), ("internal_error_mid_stream", "api_error")]
)
def test_a_stream_can_end_in_an_error_event_after_200(client: Client, scenario: str, kind: str) -> None:
    response = client.hello({"stream": True}, scenario=scenario)
    assert response.status_code == 200
    name, data = events(response)[-1]
    assert name == "error"
    assert data.keys() == {"type", "error"}
    assert data["error"]["type"] == kind


def test_a_refusal_and_a_tool_use_can_be_streamed(client: Client) -> None:
    delta = dict(events(client.hello({"stream": True}, scenario="refusal")))["message_delta"]["delta"]
    assert delta["stop_details"]["category"] == "cyber"
    forced = events(client.hello({"stream": True, "tools": [LOOK], "tool_choice": {"type": "any"}}))
    parts = [data["delta"]["partial_json"] for name, data in forced if name == "content_block_delta"]
    Draft202012Validator(LOOK["input_schema"]).validate(json.loads("".join(parts)))


@pytest.mark.parametrize(
    ("text", "tool", "code"),
    [
        ("search: mock servers", SEARCH, None),
        ("search:", SEARCH, "invalid_tool_input"),
        ("search: " + "q" * 1001, SEARCH, "query_too_long"),
        ("search: x", {**SEARCH, "blocked_domains": [f"d{n}.example" for n in range(1000)]}, "request_too_large"),
        ("fetch: https://docs.example/page", FETCH, None),
        ("fetch: ftp://docs.example/page", FETCH, "invalid_tool_input"),
        ("fetch: no address", FETCH, "invalid_tool_input"),
        ("fetch: https://docs.example/" + "p" * 250, FETCH, "url_too_long"),
        ("fetch: docs.example/page", FETCH, "url_not_in_prior_context"),
        ("fetch: https://docs.example/", {**FETCH, "allowed_domains": ["other.example"]}, "url_not_allowed"),
        ("fetch: https://docs.example/", {**FETCH, "blocked_domains": ["docs.example"]}, "url_not_allowed"),
        ("fetch: https://docs.invalid/", FETCH, "url_not_accessible"),
        ("fetch: https://docs.example/a.zip", FETCH, "unsupported_content_type"),
        ("fetch: https://large.example/", FETCH, "content_too_large"),
        ("run: print(1)", CODE, None),
        ("run:", CODE, "invalid_tool_input"),
        ("run: time.sleep(3600)", CODE, "execution_time_exceeded"),
        ("bash: ls", CODE, None),
        ("bash:", CODE, "invalid_tool_input"),
        ("bash: sleep 3600", CODE, "execution_time_exceeded"),
        ("bash: truncate -s 10G out.bin", CODE, "output_file_too_large"),
        ("view: /home/none.txt", CODE, "file_not_found"),
        ("view:", CODE, "invalid_tool_input"),
    ],
)
def test_the_request_decides_the_result_of_a_server_tool(
    client: Client, text: str, tool: dict[str, Any], code: str | None
) -> None:
    (block,) = error_codes(client.hello(say(text, tool)))
    assert block[1] == code


@pytest.mark.parametrize(("verb", "tool"), [("search: x", SEARCH), ("fetch: https://docs.example/", FETCH)])
def test_a_server_tool_stops_at_its_max_uses(client: Client, verb: str, tool: dict[str, Any]) -> None:
    blocks = error_codes(client.hello(say(f"{verb}\n{verb}", {**tool, "max_uses": 1})))
    assert [code for _, code in blocks] == [None, "max_uses_exceeded"]


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("web_search", SEARCH),
        ("web_fetch", FETCH),
        ("code_execution", CODE),
        ("bash_code_execution", CODE),
        ("text_editor_code_execution", CODE),
    ],
)
@pytest.mark.parametrize(
    ("scenario", "code"),
    [("server_tool_unavailable", "unavailable"), ("server_tool_rate_limited", "too_many_requests")],
)
def test_a_server_tool_can_fail_on_the_providers_side(
    client: Client, name: str, tool: dict[str, Any], scenario: str, code: str
) -> None:
    response = client.hello(say("Anything.", tool), scenario=f"{scenario};tool={name}")
    assert error_codes(response) == [(f"{name}_tool_result", code)]


def test_a_tool_failure_needs_its_tool(client: Client) -> None:
    response = client.hello(say("Anything.", FETCH), scenario="server_tool_unavailable;tool=web_search")
    assert "nothing to act on" in response.json()["mock_error"]


def test_server_tools_can_be_streamed(client: Client) -> None:
    named_events = events(client.hello({**say("search: x", SEARCH), "stream": True}))
    started = [data["content_block"]["type"] for name, data in named_events if name == "content_block_start"]
    assert started == ["server_tool_use", "web_search_tool_result", "text"]


def test_counted_tokens_are_those_that_generating_uses(client: Client) -> None:
    counted = client.pa("POST", "/v1/messages/count_tokens", json=make_message({"max_tokens": ...})).json()
    assert counted == {"input_tokens": client.hello().json()["usage"]["input_tokens"]}
    longer = make_message({"max_tokens": ..., "system": "Be brief. " * 10})
    assert client.pa("POST", "/v1/messages/count_tokens", json=longer).json()["input_tokens"] > counted["input_tokens"]


def test_a_marked_prompt_is_written_to_the_cache_and_then_read(client: Client) -> None:
    system = [{"type": "text", "text": "Be brief. " * 50, "cache_control": {"type": "ephemeral"}}]
    first, second = (client.hello({"system": system}).json()["usage"] for _ in range(2))
    assert first["cache_creation_input_tokens"] == second["cache_read_input_tokens"] > 0
    assert first["cache_read_input_tokens"] == second["cache_creation_input_tokens"] == 0


def test_models_are_listed_by_pages_and_found_by_id(client: Client) -> None:
    listing = client.pa("GET", "/v1/models").json()
    ids = [model["id"] for model in listing["data"]]
    assert listing["has_more"] is False
    first = client.pa("GET", "/v1/models?limit=2").json()
    assert (first["has_more"], first["last_id"]) == (True, ids[1])
    following = client.pa("GET", f"/v1/models?after_id={first['last_id']}").json()
    assert [model["id"] for model in first["data"] + following["data"]] == ids
    back = client.pa("GET", f"/v1/models?limit=1&before_id={ids[2]}").json()
    assert [model["id"] for model in back["data"]] == [ids[1]]
    assert client.pa("GET", f"/v1/models/{ids[0]}").json() == listing["data"][0]


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "after_id=none", "after_id=a&before_id=b"])
def test_an_invalid_page_gets_400(client: Client, query: str) -> None:
    assert client.pa("GET", f"/v1/models?{query}").status_code == 400
