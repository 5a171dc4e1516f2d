"""PC answers any JSON body in its envelope: the mock never crashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.mockserver.app import create_app
from tests.unit.mockserver.json_changes import JSON, list_paths, replace_value
from tests.unit.mockserver.pc_client import PcClient, error_of

if TYPE_CHECKING:
    from hypothesis.strategies._internal.core import DataObject

CLIENT = PcClient(create_app(only=["pc"]))

RESPONSE: dict[str, Any] = {
    "model": "mock-small",
    "input": [
        {"role": "system", "content": "x"},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "x"},
                {"type": "input_image", "image_url": "https://a.example/x.png", "detail": "low"},
            ],
        },
        {"type": "function_call_output", "call_id": "1", "output": "x"},
    ],
    "tools": [{"type": "file_search", "vector_store_ids": ["vs_mock"]}],
    "metadata": {"a": "b"},
    "reasoning": {"effort": "low"},
    "text": {"format": {"type": "text"}},
    "include": ["x"],
    "max_output_tokens": 20,
    "temperature": 1,
    "service_tier": "flex",
    "stream": False,
}
CHAT: dict[str, Any] = {
    "model": "mock-small",
    "messages": [
        {"role": "system", "content": "x"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "x"},
                {"type": "image_url", "image_url": {"url": "https://a.example/x.png"}},
            ],
        },
    ],
    "stop": ["x"],
    "n": 2,
    "max_tokens": 3,
    "stream_options": {"include_usage": True},
    "stream": False,
}
STORE = "/v1/vector_stores/vs_mock"
SURFACES: dict[str, tuple[str, dict[str, Any]]] = {
    "response": ("/v1/responses", RESPONSE),
    "streamed": ("/v1/responses", {**RESPONSE, "stream": True}),
    "chat": ("/v1/chat/completions", CHAT),
    "embedding": ("/v1/embeddings", {"model": "mock-embedding", "input": ["x"], "dimensions": 2}),
    "image": ("/v1/images/generations", {"model": "mock-image", "prompt": "x", "n": 1}),
    "batch": (f"{STORE}/file_batches", {"file_ids": ["file-mock-notes"]}),
    "file": (f"{STORE}/files", {"file_id": "file-mock-notes", "attributes": {}}),
    "store": ("/v1/vector_stores", {"name": "x", "file_ids": ["file-mock-notes"]}),
    "conversation": ("/v1/conversations", {"items": [], "metadata": {}}),
    "live": ("/v1/live/sessions", {"model": "mock-small"}),
}


@pytest.mark.parametrize("surface", SURFACES)
@given(st.data())
def test_a_body_with_one_value_replaced_is_answered(surface: str, data: DataObject) -> None:
    path, base = SURFACES[surface]
    body = replace_value(base, data.draw(st.sampled_from(list_paths(base))), data.draw(JSON))
    response = CLIENT.ask("POST", path, json=body, headers={"x-mock-session": data.draw(st.uuids()).hex})
    if response.status_code == 200:
        assert "mock_error" not in response.text
    else:
        assert error_of(response)["message"]


@pytest.mark.parametrize("surface", SURFACES)
def test_the_body_itself_is_accepted(surface: str) -> None:
    """Else the test above would only ever see its first mistake."""
    path, body = SURFACES[surface]
    assert CLIENT.ask("POST", path, json=body).status_code == 200
