"""PA answers any JSON body in its envelope: the mock never crashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog_probe.mockserver.app import create_app
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
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)

Place = tuple[Any, ...]
"""The keys and indexes that lead to a value."""


def places(value: Any, path: Place = ()) -> list[Place]:
    """The path of every value inside a JSON value, its own first."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, inner in items for place in places(inner, (*path, key)))]


def replace_value(value: Any, path: Place, new: Any) -> Any:
    """A copy of a JSON value with one value replaced."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replace_value(value[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
@pytest.mark.parametrize("model", ["mock-small", "mock-large"])
@given(st.data())
@settings(max_examples=settings().max_examples * 3 // 2, suppress_health_check=[HealthCheck.too_slow])
def test_a_message_with_one_value_replaced_is_answered(path: str, model: str, data: DataObject) -> None:
    base = {**RICH, "model": model}
    if path.endswith("count_tokens"):
        base = {name: value for name, value in base.items() if name not in ("max_tokens", "stop_sequences")}
        base["tools"] = [LOOK]
    place = data.draw(st.sampled_from(places(base)))
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
    request_body = replace_value(base, data.draw(st.sampled_from(places(base))), data.draw(JSON))
    session = data.draw(st.uuids()).hex
    check_answer(CLIENT.pa("POST", path, json=request_body, session=session))
    check_answer(CLIENT.pa("GET", path, session=session, clock="+2m"))


def check_answer(response: Any) -> None:
    if response.status_code == 200:
        return
    assert response.status_code in (400, 404, 409, 429), response.text
    assert response.json()["type"] == "error"
