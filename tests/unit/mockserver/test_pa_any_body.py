"""PA answers any JSON body in its envelope: the mock never crashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog_probe.mockserver.app import create_app
from tests.unit.mockserver.json_changes import JSON, list_paths, replace_value
from tests.unit.mockserver.mock_client import MESSAGE, Client

if TYPE_CHECKING:
    from hypothesis.strategies._internal.core import DataObject

CLIENT = Client(create_app(only=["pa"]))

SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 1, "allowed_domains": ["a.example"]}
LOOK = {"name": "look", "input_schema": {"type": "object", "properties": {"a": {"enum": [1]}}, "required": ["a"]}}
RICH: dict[str, Any] = {
    **MESSAGE,
    "system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "search: x\nfetch: https://a.example/"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
    ],
    "tools": [LOOK, SEARCH, {"type": "web_fetch_20250910", "name": "web_fetch"}],
    "tool_choice": {"type": "tool", "name": "look"},
    "thinking": {"type": "enabled", "budget_tokens": 2000},
    "max_tokens": 3000,
    "stop_sequences": ["stop"],
}


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
@pytest.mark.parametrize("model", ["mock-small", "mock-large"])
@given(st.data())
@settings(max_examples=settings().max_examples * 3 // 2, suppress_health_check=[HealthCheck.too_slow])
def test_a_message_with_one_value_replaced_is_answered(path: str, model: str, data: DataObject) -> None:
    base = {**RICH, "model": model}
    if path.endswith("count_tokens"):
        base = {name: value for name, value in base.items() if name not in ("max_tokens", "stop_sequences")}
        base["tools"] = [LOOK]
    place = data.draw(st.sampled_from(list_paths(base)))
    request_body = replace_value(base, place, data.draw(JSON))
    check_answer(
        CLIENT.pa("POST", path, json=request_body, key="mock-pa-inference-scale", clock="+1d", session=str(place))
    )


@pytest.mark.parametrize("path", ["/v1/messages/batches", "/v1/agents"])
@given(st.data())
def test_a_batch_or_agent_with_one_value_replaced_is_answered(path: str, data: DataObject) -> None:
    base = {
        "/v1/messages/batches": {"requests": [{"custom_id": "a", "params": MESSAGE}]},
        "/v1/agents": {"name": "a", "model": {"id": "mock-small"}, "metadata": {}, "tools": []},
    }[path]
    request_body = replace_value(base, data.draw(st.sampled_from(list_paths(base))), data.draw(JSON))
    session = data.draw(st.uuids()).hex
    check_answer(CLIENT.pa("POST", path, json=request_body, session=session))
    check_answer(CLIENT.pa("GET", path, session=session, clock="+2m"))


def check_answer(response: Any) -> None:
    if response.status_code == 200:
        return
    assert response.status_code in (400, 404, 409, 429), response.text
    assert response.json()["type"] == "error"
