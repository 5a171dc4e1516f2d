"""Generations beyond what the records compare: streams that add up, caching, signatures, what clients rely on."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.mockserver.mock_client import (
    CONTENTS,
    Client,
    PbClient,
    PcClient,
    PdClient,
    join_message_blocks,
    read_events,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SEARCH = {"type": "web_search_20250305", "name": "web_search"}
THINKING = {"model": "mock-large", "max_tokens": 2000, "thinking": {"type": "enabled", "budget_tokens": 1024}}
WITH_USAGE = {"stream": True, "stream_options": {"include_usage": True}}


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ({}, ["text"]),
        (THINKING, ["thinking", "text"]),
        (
            {"messages": [{"role": "user", "content": "search: x"}], "tools": [SEARCH], "max_tokens": 1000},
            ["server_tool_use", "web_search_tool_result", "text"],
        ),
    ],
)
def test_a_stream_of_pa_adds_up_to_the_message(client: Client, changes: dict[str, Any], kinds: list[str]) -> None:
    whole = client.hello(changes, session="whole").json()["content"]
    streamed = join_message_blocks(read_events(client.hello({**changes, "stream": True}, session="streamed")))
    assert [block["type"] for block in whole] == [block["type"] for block in streamed] == kinds
    assert [block.get("text") for block in streamed] == [block.get("text") for block in whole]
    assert [block.get("input") for block in streamed] == [block.get("input") for block in whole]
    assert all(block["thinking"] for block in streamed if block["type"] == "thinking")


def test_a_stop_sequence_ends_an_answer_of_pa(client: Client) -> None:
    message = client.hello({"stop_sequences": ["heard"]}).json()
    assert (message["stop_reason"], message["stop_sequence"]) == ("stop_sequence", "heard")
    assert message["content"][0]["text"] == "The mock "


def test_a_marked_prompt_of_pa_is_written_to_the_cache_and_then_read(client: Client) -> None:
    system = [{"type": "text", "text": "Be brief. " * 50, "cache_control": {"type": "ephemeral"}}]
    first, second = (client.hello({"system": system}).json()["usage"] for _ in range(2))
    assert first["cache_creation_input_tokens"] == second["cache_read_input_tokens"] > 0
    assert first["cache_read_input_tokens"] == second["cache_creation_input_tokens"] == 0


def stream(pb: PbClient, **kwargs: Any) -> list[dict[str, Any]]:
    return read_events(pb.generate(operation="streamGenerateContent?alt=sse", **kwargs))


def test_a_stream_of_pb_comes_in_chunks_of_the_same_shape(pb: PbClient) -> None:
    contents = [{"parts": [{"text": "A somewhat longer text to be repeated"}]}]
    chunks = stream(pb, fields={"contents": contents})
    texts = [chunk["candidates"][0]["content"]["parts"][0]["text"] for chunk in chunks]
    assert len(texts) > 1
    assert "".join(texts) == f"The mock heard: {contents[0]['parts'][0]['text']}"
    assert [chunk["candidates"][0].get("finishReason") for chunk in chunks[-2:]] == [None, "STOP"]


def test_a_stream_of_pb_that_fails_never_says_that_it_was_whole(pb: PbClient) -> None:
    begun, failure = stream(pb, scenario="internal_error_mid_stream")
    assert failure["error"]["status"] == "INTERNAL"
    assert "finishReason" not in begun["candidates"][0]  # STOP would call the output whole (2:7.4)


def in_the_other_alphabet(signature: str) -> str:
    """Write the same bytes as clients do that took them apart."""
    return base64.urlsafe_b64encode(base64.b64decode(signature)).decode()


@pytest.mark.parametrize(
    ("echo", "reason"),
    [(str, "STOP"), (in_the_other_alphabet, "STOP"), (str.swapcase, "MISSING_THOUGHT_SIGNATURE")],
    ids=["echoed", "echoed in the other alphabet", "changed"],
)
def test_a_reasoning_model_of_pb_wants_its_thought_signature_back(
    pb: PbClient, echo: Callable[[str], str], reason: str
) -> None:
    tools = [{"functionDeclarations": [{"name": "look", "parameters": {"type": "object"}}]}]
    must_call = {"tools": tools, "toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}
    (part,) = pb.generate("mock-pro", fields=must_call).json()["candidates"][0]["content"]["parts"]
    echoed = {"functionCall": part["functionCall"], "thoughtSignature": echo(part["thoughtSignature"])}
    result = {"functionResponse": {"name": "look", "response": {}}}
    contents = [*CONTENTS, {"role": "model", "parts": [echoed]}, {"role": "user", "parts": [result]}]
    answer = pb.generate("mock-pro", fields={"contents": contents, "tools": tools}).json()
    assert answer["candidates"][0]["finishReason"] == reason


def test_media_in_a_prompt_of_pb_are_counted_by_modality(pb: PbClient) -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    contents = [{"role": "user", "parts": [{"text": "Hello"}, image]}]
    details = pb.generate(fields={"contents": contents}).json()["usageMetadata"]["promptTokensDetails"]
    assert [detail["modality"] for detail in details] == ["TEXT", "IMAGE"]


def test_a_chat_stream_of_pb_ends_with_done_unless_it_fails(pb: PbClient) -> None:
    assert pb.chat({"stream": True}).text.endswith("data: [DONE]\n\n")
    failed = pb.chat({"stream": True}, scenario="internal_error_mid_stream").text
    assert '"INTERNAL"' in failed
    assert "[DONE]" not in failed


def test_a_chat_completion_of_pb_has_the_time_of_the_mock_clock(pb: PbClient) -> None:
    created, later = (pb.chat(clock=clock).json()["created"] for clock in (None, "+24h"))
    assert later - created >= 24 * 3600


@pytest.mark.parametrize("provider", ["pc", "pd"])
def test_a_chat_stream_counts_its_tokens_if_asked_to_and_ends_with_done(
    provider: str, pc: PcClient, pd: PdClient
) -> None:
    answer = (pc if provider == "pc" else pd).complete(WITH_USAGE)
    *_, last = read_events(answer)
    assert (last["choices"], last["usage"]["total_tokens"] > 0) == ([], True)
    assert answer.text.endswith("data: [DONE]\n\n")


@pytest.mark.parametrize("provider", ["pc", "pd"])
def test_input_may_be_items_of_parts_some_without_text(provider: str, pc: PcClient, pd: PdClient) -> None:
    parts = [{"type": "input_text", "text": None}, {"type": "input_text", "text": "Hello"}]
    (item,) = (pc if provider == "pc" else pd).respond({"input": [{"role": "user", "content": parts}]}).json()["output"]
    assert item["content"][0]["text"] == "The mock heard: Hello"


def test_embeddings_of_pc_have_the_dimensions_that_were_asked_for(pc: PcClient) -> None:
    body = {"model": "mock-embedding", "input": ["one", "two"], "dimensions": 2}
    data = pc.ask("POST", "/v1/embeddings", json=body).json()["data"]
    assert [(embedding["index"], len(embedding["embedding"])) for embedding in data] == [(0, 2), (1, 2)]
