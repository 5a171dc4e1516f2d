"""Request bodies: their size, JSON, forms, and the violations of fields that no record's probe provokes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.mockserver.core import bodies
from catalog_probe.mockserver.pd.bodies import find_end, line_and_column
from tests.unit.mockserver.mock_client import Client, PbClient, PcClient, PdClient, read_refusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.mark.parametrize(
    ("path", "megabytes"),
    [("/v1/messages", 32), ("/v1/messages/count_tokens", 32), ("/v1/messages/batches", 256), ("/v1/files", 500)],
)
def test_a_body_over_the_limit_is_refused_before_it_is_read(client: Client, path: str, megabytes: int) -> None:
    async def never() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    declared = {"content-length": str(megabytes * 1024 * 1024 + 1)}
    assert client.pa("POST", path, content=never(), headers=declared).status_code == 413


def test_a_chunked_body_is_counted_while_it_is_read(client: Client) -> None:
    sent = 0

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 40:
            sent += 1
            yield b" " * 1024 * 1024

    assert client.pa("POST", "/v1/messages", content=chunks()).status_code == 413
    assert sent == 33


@pytest.mark.parametrize("text", [b"", b"{", b"[1,]", b"NaN", b'{"a": -Infinity}', b"1e999", b"\xff", b"[" * 100_000])
def test_json_is_read_as_strictly_as_servers_read_it(text: bytes) -> None:
    with pytest.raises(ValueError):
        bodies.loads(text)


def test_json_may_be_of_any_encoding_and_hold_half_a_surrogate_pair() -> None:
    assert bodies.loads('{"ü": 1.5e3}'.encode("utf-16")) == {"ü": 1500}
    assert bodies.loads(b'"\\ud800"') == "\ud800"


FORM = "multipart/form-data; boundary=x"


def make_form(disposition: str, content: bytes) -> bytes:
    """Make a form of one part, between boundaries of `x`."""
    return f"--x\r\nContent-Disposition: {disposition}\r\n\r\n".encode() + content + b"\r\n--x--\r\n"


def test_any_bytes_survive_an_upload() -> None:
    content = bytes(range(256)) + b"\r\n--not-the-boundary\r\n\r\n"
    (part,) = bodies.parse_form(FORM, make_form('form-data; name="file"; filename="an odd name.bin"', content))
    assert (part.name, part.filename, part.content_type, part.content) == ("file", "an odd name.bin", None, content)


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/plain", make_form('form-data; name="file"', b"hello")),
        ("multipart/form-data", make_form('form-data; name="file"', b"hello")),
        (FORM, b"hello"),
        (FORM, make_form('form-data; name="file"', b"hello").removesuffix(b"--\r\n")),
        (FORM, make_form("form-data", b"hello")),
        (FORM, b"--x\r\nno headers end\r\n--x--\r\n"),
    ],
    ids=["another type", "no boundary", "no parts", "no end", "no name", "no end of headers"],
)
def test_a_form_that_is_none_is_malformed(content_type: str, body: bytes) -> None:
    with pytest.raises(bodies.Malformed):
        bodies.parse_form(content_type, body)


def test_a_malformed_form_and_one_without_the_file_get_400(client: Client, pc: PcClient) -> None:
    for body in (b"hello", make_form('form-data; name="other"', b"hello")):
        refused = client.pa("POST", "/v1/files", content=body, headers={"content-type": FORM})
        assert (refused.status_code, refused.json()["error"]["type"]) == (400, "invalid_request_error")
    refused = pc.ask("POST", "/v1/files", json={"purpose": "user_data"})
    assert read_refusal(refused) == (400, "unsupported_content_type", None)


@pytest.mark.parametrize(
    ("text", "path", "position"),
    [
        ('{"text": 1}', ["text"], (1, 10)),
        ('{\n  "a": [],\n  "text": true\n}', ["text"], (3, 14)),
        ('{"a": [{"b": "x"}, {"b": 12}]}', ["a", 1, "b"], (1, 27)),
        ('{"a": 1, "a": 22}', ["a"], (1, 16)),
        ('{"a": {}}', ["a", "missing"], (1, 8)),
        (" []", [], (1, 3)),
    ],
)
def test_a_value_is_found_in_its_text(text: str, path: list[str | int], position: tuple[int, int]) -> None:
    assert line_and_column(text, find_end(text, path)) == position


def test_a_wrong_type_is_refused_by_pd_with_field_line_and_column(pd: PdClient) -> None:
    headers = {"content-type": "application/json"}
    refused = pd.ask("POST", "/v1/tokenize-text", content=b'{"text": null}', headers=headers)
    assert refused.status_code == 422
    message = "target type: text: invalid type: null `null`, expected a string at line 1 column 13"
    assert refused.json().endswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages.0.content.0.text: Field required"),
        ({"messages": [{"role": "user", "content": "x" * 900_000}]}, "prompt is too long"),
    ],
)
def test_pa_names_the_place_of_a_violation(client: Client, changes: dict[str, Any], message: str) -> None:
    refused = client.hello(changes)
    assert refused.status_code == 400
    assert message in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"contents": []}, "contents: must not be empty"),
        ({"contents": [{"parts": [{"functionCall": {}}]}]}, "contents[0].parts[0].functionCall.name: is required"),
        ({"cachedContent": "cachedContents/none"}, "cachedContents/none"),
    ],
)
def test_pb_names_the_place_of_a_violation(pb: PbClient, fields: dict[str, Any], message: str) -> None:
    refused = pb.generate(fields=fields)
    assert refused.status_code in (400, 404)
    assert message in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"model": None}, ("missing_required_parameter", "model")),
        ({"input": ...}, ("missing_required_parameter", "input")),
        ({"input": [{"role": "user", "content": [{"text": 1}]}]}, ("invalid_type", "input[0].content[0].text")),
        ({"temperature": -0.1}, ("invalid_value", "temperature")),
        ({"tool_choice": {"type": "function", "name": "nobody"}}, ("invalid_value", "tool_choice")),
    ],
)
def test_pc_names_the_place_of_a_violation(pc: PcClient, changes: dict[str, Any], expected: tuple[str, str]) -> None:
    assert read_refusal(pc.respond(changes)) == (400, *expected)


def test_pc_wants_a_message_in_a_completion(pc: PcClient) -> None:
    assert read_refusal(pc.complete({"messages": []})) == (400, "invalid_value", "messages")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": ...}, "missing field `model`"),
        ({"max_tokens": 0}, "max_tokens must be at least 1, not 0"),
        ({"n": 9}, "n must be at most 8, not 9"),
        ({"tools": [], "tool_choice": {"type": "function", "function": {"name": "none"}}}, "'none' is none of"),
    ],
)
def test_pd_names_the_place_of_a_violation(pd: PdClient, changes: dict[str, Any], message: str) -> None:
    refused = pd.complete(changes)
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid-argument")
    assert message in refused.json()["error"]


@pytest.mark.parametrize(
    "changes",
    [
        {"diagnostics": {}, "thinking": {"type": "between_tools"}},
        {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]},
        {"tools": [{"type": "mcp_toolset", "mcp_server_name": "one"}, {"type": "tool_search_tool_bm25", "name": "t"}]},
    ],
)
def test_fields_of_official_clients_are_accepted_by_pa(client: Client, changes: dict[str, Any]) -> None:
    assert client.hello(changes).status_code == 200


def test_both_spellings_of_a_field_and_any_tool_on_its_side_are_accepted_by_pb(pb: PbClient) -> None:
    fields = {"generation_config": {"max_output_tokens": 1}, "tools": [{"someSearch": {}}]}
    (candidate,) = pb.generate(fields=fields).json()["candidates"]
    assert candidate["finishReason"] == "MAX_TOKENS"


def test_unknown_fields_are_ignored_by_the_compatibility_layer_of_pb(pb: PbClient) -> None:
    assert pb.chat({"no_such_parameter": {"deep": 1}}, bearer="mock-pb-oauth").status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/responses", {"model": "mock-small", "input": "x", "context_management": [], "user": None}),
        ("/v1/chat/completions", {"model": "mock-small", "messages": [{"role": "user"}], "audio": {}}),
        ("/v1/images/generations", {"prompt": "x", "output_compression": 50, "stream": True}),
        (
            "/v1/batches",
            {
                "input_file_id": "file-mock-batch-small",
                "endpoint": "/v1/responses",
                "completion_window": "24h",
                "output_expires_after": {},
            },
        ),
        (
            "/v1/fine_tuning/jobs",
            {"model": "mock-small", "training_file": "file-mock-training", "hyperparameters": {}},
        ),
        ("/v1/vector_stores/vs_mock/file_batches", {"files": [{"file_id": "file-mock-notes"}]}),
    ],
)
def test_fields_of_official_clients_are_accepted_by_pc(pc: PcClient, path: str, body: dict[str, Any]) -> None:
    assert pc.ask("POST", path, json=body).status_code == 200


def test_null_fields_are_accepted_by_pd(pd: PdClient) -> None:
    assert pd.complete({"temperature": None, "tools": None}).status_code == 200
