"""PB answers any JSON body in the envelope of its surface: the mock never crashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.mockserver.json_changes import JSON, list_paths, replace_value
from tests.unit.mockserver.pb_client import CONTENTS, PbClient

if TYPE_CHECKING:
    from hypothesis.strategies._internal.core import DataObject

CLIENT = PbClient()
KEY = "mock-pb-inference"

LOOK = {"name": "look", "parameters": {"type": "object", "properties": {"a": {"enum": [1]}}, "required": ["a"]}}
CONVERSATION: list[dict[str, Any]] = [
    *CONTENTS,
    {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"a": 1}}, "thoughtSignature": "x"}]},
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "look", "response": {}}},
            {"inlineData": {"mimeType": "image/png", "data": "AA"}},
            {"fileData": {"mimeType": "text/plain", "fileUri": "files/mock-own"}},
        ],
    },
]
GENERATION: dict[str, Any] = {
    "contents": CONVERSATION,
    "systemInstruction": {"parts": [{"text": "x"}]},
    "tools": [{"functionDeclarations": [LOOK]}, {"codeExecution": {}}],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["look"]}},
    "safetySettings": [{"category": "x", "threshold": "y"}],
    "generationConfig": {
        "temperature": 1,
        "topP": 0.5,
        "candidateCount": 2,
        "maxOutputTokens": 9,
        "stopSequences": ["x"],
        "responseModalities": ["TEXT"],
        "thinkingConfig": {"thinkingBudget": 5, "includeThoughts": True},
    },
    "serviceTier": "flex",
}
INTERACTION: dict[str, Any] = {
    "model": "mock-pro",
    "input": [
        {"type": "user_input", "content": [{"type": "text", "text": "x"}, {"type": "image", "uri": "y"}]},
        {"type": "thought", "signature": "x"},
        {"type": "function_call", "id": "1", "name": "look", "arguments": {"a": 1}},
        {"type": "function_result", "call_id": "1", "name": "look", "result": "x"},
        {"type": "model_output", "content": [{"type": "text", "text": "x"}]},
    ],
    "tools": [{"type": "function", **LOOK}, {"type": "code_execution"}],
    "generation_config": {"tool_choice": {"allowed_tools": {"mode": "any", "tools": ["look"]}}, "top_p": 1},
    "system_instruction": "x",
    "response_modalities": ["text"],
    "background": False,
    "stream": False,
}
CHAT: dict[str, Any] = {
    "model": "mock-lite",
    "messages": [
        {"role": "system", "content": "x"},
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "y"}}]},
    ],
    "max_tokens": 3,
    "n": 2,
    "stop": ["x"],
    "top_p": 1,
    "temperature": 1,
    "stream": False,
}
TOKEN = {"uses": 2, "expireTime": "2099-01-01T00:00:00Z", "bidiGenerateContentSetup": {}}

SURFACES = {
    "generate": ("/v1beta/models/mock-pro:generateContent", GENERATION),
    "draw": ("/v1/models/mock-image:generateContent", GENERATION),
    "stream": ("/v1/models/mock-pro:streamGenerateContent?alt=sse", GENERATION),
    "interact": ("/v1beta/interactions", INTERACTION),
    "chat": ("/v1beta/openai/chat/completions", CHAT),
    "token": ("/v1beta/auth_tokens", TOKEN),
    "store": ("/v1beta/fileSearchStores", {"name": "x"}),
}


@pytest.mark.parametrize("surface", SURFACES)
@given(st.data())
def test_a_body_with_one_value_replaced_is_answered(surface: str, data: DataObject) -> None:
    path, base = SURFACES[surface]
    body = replace_value(base, data.draw(st.sampled_from(list_paths(base))), data.draw(JSON))
    sent = {"authorization": f"Bearer {KEY}"} if surface == "chat" else {"x-pb-api-key": KEY}
    response = CLIENT.send(
        "POST", f"/pb{path}", json=body, headers={**sent, "x-mock-session": data.draw(st.uuids()).hex}
    )
    if response.status_code == 200:
        assert "mock_error" not in response.text
    else:
        answer = response.json()
        (error,) = [refusal["error"] for refusal in (answer if isinstance(answer, list) else [answer])]
        assert error["message"]


@pytest.mark.parametrize("surface", SURFACES)
def test_the_body_itself_is_accepted(surface: str) -> None:
    """Else the test above would only ever see its first mistake."""
    path, body = SURFACES[surface]
    sent = {"authorization": f"Bearer {KEY}"} if surface == "chat" else {"x-pb-api-key": KEY}
    assert CLIENT.send("POST", f"/pb{path}", json=body, headers=sent).status_code == 200


def test_half_a_surrogate_pair_comes_back_as_it_came() -> None:
    response = CLIENT.ask("POST", "/v1/models/mock-lite:generateContent", content=b'{"\\ud800": 1}')
    assert response.status_code == 400
