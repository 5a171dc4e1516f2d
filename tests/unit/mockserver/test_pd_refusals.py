"""PD's refusals by URL, method, key, body and model, in their documented shapes (2:7.1, 2:7.6)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.mockserver.mock_client import COMPLETION

if TYPE_CHECKING:
    from tests.unit.mockserver.pd_client import PdClient

ENVELOPE = {"code", "error"}
JSON = {"content-type": "application/json"}


def test_a_missing_header_is_401_with_its_code(pd: PdClient) -> None:
    answer = pd.ask("GET", "/v1/models", key=None)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated:no-credentials")
    assert answer.json().keys() == ENVELOPE


@pytest.mark.parametrize("authorization", ["Bearer nobody", "Bearer ", "Basic abc", "mock-pd-inference"])
def test_an_incorrect_key_is_400_on_the_inference_api(pd: PdClient, authorization: str) -> None:
    answer = pd.ask("GET", "/v1/models", key=None, headers={"authorization": authorization})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-argument")


@pytest.mark.parametrize("key", [None, "nobody", "mock-pd-inference"])
def test_an_invalid_bearer_is_401_on_the_management_api(pd: PdClient, key: str | None) -> None:
    answer = pd.ask("GET", "/auth/management-keys/validation", key=key, host="pd-management")
    assert answer.status_code == 401
    assert answer.json().keys() == {"code", "message", "details"}
    assert answer.json()["code"] == 16


def test_a_management_key_is_valid_there_and_nowhere_else(pd: PdClient) -> None:
    path, key = "/auth/management-keys/validation", "mock-pd-management"
    assert pd.ask("GET", path, key=key, host="pd-management").status_code == 200
    assert pd.ask("GET", "/v1/models", key=key).status_code == 400
    assert pd.ask("GET", path).status_code == 404


@pytest.mark.parametrize("host", ["pd", "pd-regional", "pd-management"])
def test_an_unknown_path_is_404_even_without_a_key(pd: PdClient, host: str) -> None:
    assert pd.ask("GET", "/v1/no-such-path", key=None, host=host).status_code == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [("DELETE", "/v1/models"), ("GET", "/v1/chat/completions"), ("PUT", "/v1/models/mock-small")],
)
def test_a_wrong_method_is_405_with_an_empty_body(pd: PdClient, method: str, path: str) -> None:
    answer = pd.ask(method, path)
    assert (answer.status_code, answer.content) == (405, b"")


@pytest.mark.parametrize("path", ["/v1/models/%FF", "/v1/models/%C3", "/v1/embedding-models/a%FFb"])
def test_a_url_that_is_no_utf_8_is_400(pd: PdClient, path: str) -> None:
    answer = pd.ask("GET", path)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-argument")


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/jsonp"])
def test_another_content_type_is_415(pd: PdClient, content_type: str | None) -> None:
    headers = {"content-type": content_type} if content_type else {}
    content = json.dumps(COMPLETION).encode()
    assert pd.ask("POST", "/v1/chat/completions", content=content, headers=headers).status_code == 415


def test_a_content_type_may_name_its_charset(pd: PdClient) -> None:
    headers = {"content-type": "application/json; charset=utf-8"}
    content = json.dumps(COMPLETION).encode()
    assert pd.ask("POST", "/v1/chat/completions", content=content, headers=headers).status_code == 200


@pytest.mark.parametrize("content", [b"", b'{"model": ', b"[1,]", b'{"n": NaN}', b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_is_400_with_a_bare_string(pd: PdClient, content: bytes) -> None:
    answer = pd.ask("POST", "/v1/chat/completions", content=content, headers=JSON)
    assert answer.status_code == 400
    assert isinstance(answer.json(), str)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"text": 1}', "text: invalid type: integer `1`, expected a string at line 1 column 10"),
        (
            b'{\n  "a": [],\n  "text": true\n}',
            "text: invalid type: boolean `true`, expected a string at line 3 column 14",
        ),
        (b'{"text": null}', "text: invalid type: null `null`, expected a string at line 1 column 13"),
        (b"[]", "invalid type: sequence `[]`, expected a map at line 1 column 2"),
        (b"null", "invalid type: null `null`, expected a map at line 1 column 4"),
    ],
)
def test_a_wrong_type_is_422_with_a_bare_string_naming_field_line_and_column(
    pd: PdClient, content: bytes, message: str
) -> None:
    answer = pd.ask("POST", "/v1/tokenize-text", content=content, headers=JSON)
    assert answer.status_code == 422
    assert answer.json().endswith(f"target type: {message}")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"model": 1}, "model"),
        ({"model": None}, "model"),
        ({"messages": "hi"}, "messages"),
        ({"messages": None}, "messages"),
        ({"messages": [COMPLETION["messages"][0], {"role": 2}]}, "messages[1].role"),
        ({"messages": [{"role": "user", "content": ["hi"]}]}, "messages[0].content[0]"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"reasoning_effort": 1}, "reasoning_effort"),
        ({"stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
    ],
)
def test_every_field_of_a_completion_has_its_type(pd: PdClient, changes: dict[str, Any], field: str) -> None:
    answer = pd.complete(changes)
    assert answer.status_code == 422
    assert f"type: {field}: invalid type" in answer.json()


@pytest.mark.parametrize(
    "changes",
    [
        {"model": ...},
        {"messages": ...},
        {"messages": []},
        {"messages": [{"content": "hi"}]},
        {"max_tokens": 0},
        {"n": 9},
        {"tools": [], "tool_choice": {"type": "function", "function": {"name": "none"}}},
        {"reasoning_effort": "low"},
        {"model": "mock-multi-agent"},
    ],
)
def test_a_bad_completion_is_400_in_the_envelope(pd: PdClient, changes: dict[str, Any]) -> None:
    answer = pd.complete(changes)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-argument")
    assert answer.json().keys() == ENVELOPE


@pytest.mark.parametrize(
    "changes",
    [{"input": ...}, {"input": []}, {"reasoning": {"effort": "low"}}],
)
def test_a_bad_response_is_400_in_the_envelope(pd: PdClient, changes: dict[str, Any]) -> None:
    answer = pd.respond(changes)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-argument")


def test_missing_restricted_and_unserved_models_have_the_same_error(pd: PdClient) -> None:
    missing = pd.ask("GET", "/v1/models/no-such-model")
    restricted = pd.ask("GET", "/v1/models/mock-early-access")
    unserved = pd.ask("GET", "/v1/models/mock-large", host="pd-regional")
    assert {answer.status_code for answer in (missing, restricted, unserved)} == {404}
    assert missing.content == restricted.content == unserved.content
    assert missing.json()["code"] == "not-found"


def test_a_restricted_model_is_there_for_the_team_that_has_it(pd: PdClient) -> None:
    assert pd.ask("GET", "/v1/models/mock-early-access", key="mock-pd-labs").status_code == 200
    assert pd.complete({"model": "mock-early-access"}).status_code == 404
    assert pd.complete({"model": "mock-early-access"}, key="mock-pd-labs").status_code == 200
    listed = pd.ask("GET", "/v1/models").json()["data"]
    assert "mock-early-access" not in [model["id"] for model in listed]


def test_embedding_models_and_others_are_on_separate_endpoints(pd: PdClient) -> None:
    assert pd.ask("GET", "/v1/embedding-models/mock-embedding").status_code == 200
    assert pd.ask("GET", "/v1/models/mock-embedding").status_code == 404
    assert pd.ask("GET", "/v1/embedding-models/mock-small").status_code == 404


@pytest.mark.parametrize("key", ["mock-pd-disabled", "mock-pd-blocked", "mock-pd-team-blocked"])
def test_a_key_that_may_not_be_used_is_403(pd: PdClient, key: str) -> None:
    answer = pd.complete(key=key)
    assert (answer.status_code, answer.json()["code"]) == (403, "permission-denied")


def test_acls_open_endpoints_and_models_by_name(pd: PdClient) -> None:
    assert pd.ask("GET", "/v1/models", key="mock-pd-no-endpoint").status_code == 200
    assert "api-key:endpoint:chat" in pd.complete(key="mock-pd-no-endpoint").json()["error"]
    assert pd.complete({"model": "mock-reasoning"}, key="mock-pd-no-model").status_code == 200
    assert "api-key:model:mock-small" in pd.complete(key="mock-pd-no-model").json()["error"]


def test_zero_data_retention_keeps_nothing_for_later(pd: PdClient) -> None:
    assert pd.complete(key="mock-pd-zdr").status_code == 200
    assert pd.complete({"deferred": True}, key="mock-pd-zdr").status_code == 403


def test_a_team_may_lack_server_side_tools(pd: PdClient) -> None:
    search = {"tools": [{"type": "web_search"}]}
    assert pd.respond(search).status_code == 200
    assert pd.respond(search, key="mock-pd-no-server-tools").status_code == 403


@pytest.mark.parametrize(("scenario", "status"), [("internal_error", 500), ("service_unavailable", 503)])
def test_each_provider_only_scenario_has_its_error(pd: PdClient, scenario: str, status: int) -> None:
    assert pd.ask("GET", "/v1/models", scenario=scenario).status_code == status
    assert pd.ask("GET", "/v1/models", scenario=scenario, key="nobody").status_code == 400


def test_a_scenario_that_nothing_acts_on_is_refused(pd: PdClient) -> None:
    assert "mock_error" in pd.complete(scenario="connection_lost_mid_stream").json()
