"""PD's completions and responses, at once and streamed (1:4.4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.unit.mockserver.pd_client import PdClient


def chunks_of(text: str) -> list[str]:
    return [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]


def test_a_completion_repeats_its_input_and_counts_tokens(pd: PdClient) -> None:
    completion = pd.complete().json()
    assert completion["choices"][0]["message"]["content"] == "The mock heard: Hello"
    assert completion["choices"][0]["finish_reason"] == "stop"
    usage = completion["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_a_completion_is_cut_at_max_tokens(pd: PdClient) -> None:
    (choice,) = pd.complete({"max_tokens": 1}).json()["choices"]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("length", "The ")


def test_a_null_field_is_as_good_as_absent(pd: PdClient) -> None:
    assert pd.complete({"temperature": None, "tools": None}).status_code == 200


def test_a_reasoning_model_takes_reasoning_effort(pd: PdClient) -> None:
    assert pd.complete({"model": "mock-reasoning", "reasoning_effort": "low"}).status_code == 200


def test_a_streamed_completion_ends_with_done(pd: PdClient) -> None:
    answer = pd.complete({"stream": True, "stream_options": {"include_usage": True}})
    assert answer.headers["content-type"].startswith("text/event-stream")
    *chunks, done = chunks_of(answer.text)
    parsed = [json.loads(chunk) for chunk in chunks]
    pieces = [choice["delta"].get("content", "") for chunk in parsed for choice in chunk["choices"]]
    assert "".join(pieces) == "The mock heard: Hello"
    assert parsed[-1]["usage"]["total_tokens"] > 0
    assert done == "[DONE]"


def test_multi_agent_models_are_accepted_by_responses_alone(pd: PdClient) -> None:
    assert pd.respond({"model": "mock-multi-agent"}).status_code == 200
    assert pd.complete({"model": "mock-multi-agent"}).status_code == 400


def test_an_incomplete_response_has_its_reason(pd: PdClient) -> None:
    response = pd.respond({"max_output_tokens": 1}).json()
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    assert response["id"].startswith("resp_")


def test_a_response_takes_items(pd: PdClient) -> None:
    items = [{"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}]
    response = pd.respond({"input": items}).json()
    assert response["output"][0]["content"][0]["text"] == "The mock heard: Hello"


def test_a_streamed_response_is_numbered_and_ends_completed(pd: PdClient) -> None:
    events = [json.loads(chunk) for chunk in chunks_of(pd.respond({"stream": True}).text)]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert (events[0]["type"], events[-1]["type"]) == ("response.created", "response.completed")


def test_tokens_add_up_to_the_text(pd: PdClient) -> None:
    tokens = pd.ask("POST", "/v1/tokenize-text", json={"text": "Hello mock"}).json()["token_ids"]
    assert "".join(token["string_token"] for token in tokens) == "Hello mock"
    assert pd.ask("POST", "/v1/tokenize-text", json={"text": "hi", "model": "no-such-model"}).status_code == 404


def test_the_regional_host_lists_its_models(pd: PdClient) -> None:
    everywhere, regional = (
        {model["id"] for model in pd.ask("GET", "/v1/models", host=host).json()["data"]}
        for host in ("pd", "pd-regional")
    )
    assert regional < everywhere
    assert "mock-large" in everywhere - regional
