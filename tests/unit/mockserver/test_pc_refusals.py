"""PC's refusals: bodies, keys, lookups, hosts (2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.mockserver.pc_client import PcClient, error_of, refusal_of

if TYPE_CHECKING:
    from types import EllipsisType


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"model": ...}, ("missing_required_parameter", "model")),
        ({"model": None}, ("missing_required_parameter", "model")),
        ({"input": ...}, ("missing_required_parameter", "input")),
        ({"max_output_tokens": "many"}, ("invalid_type", "max_output_tokens")),
        ({"max_output_tokens": 20.5}, ("invalid_type", "max_output_tokens")),
        ({"max_output_tokens": True}, ("invalid_type", "max_output_tokens")),
        ({"store": 1}, ("invalid_type", "store")),
        ({"tools": {}}, ("invalid_type", "tools")),
        ({"extra": 1}, ("unknown_parameter", "extra")),
        ({"max_output_tokens": 15}, ("integer_below_min_value", "max_output_tokens")),
        ({"max_output_tokens": 10**9}, ("invalid_value", "max_output_tokens")),
        ({"top_logprobs": 21}, ("integer_above_max_value", "top_logprobs")),
        ({"safety_identifier": "x" * 65}, ("string_above_max_length", "safety_identifier")),
        ({"truncation": "some"}, ("invalid_value", "truncation")),
        ({"service_tier": "gold"}, ("invalid_value", "service_tier")),
        ({"temperature": 2.1}, ("invalid_value", "temperature")),
        ({"model": "mock-reasoning", "temperature": 1}, ("unsupported_parameter", "temperature")),
        (
            {"previous_response_id": "resp_1", "conversation": "conv_1"},
            ("mutually_exclusive_parameters", "previous_response_id"),
        ),
        ({"previous_response_id": "resp_1"}, ("previous_response_not_found", "previous_response_id")),
        ({"model": "mock-old", "input": "word " * 5_000}, ("context_length_exceeded", "input")),
        ({"input": ["x"]}, ("invalid_type", "input[0]")),
        ({"input": [{"role": "user", "content": [{"text": 1}]}]}, ("invalid_type", "input[0].content[0].text")),
        ({"conversation": {}}, ("missing_required_parameter", "conversation.id")),
    ],
)
def test_a_response_that_is_asked_for_wrongly(pc: PcClient, changes: dict[str, Any], expected: tuple[str, str]) -> None:
    assert refusal_of(pc.respond(changes)) == (400, *expected)


@pytest.mark.parametrize("changes", [{"truncation": "auto"}, {"max_output_tokens": 16}, {"user": None}, {"top_p": 1}])
def test_a_response_that_is_asked_for_rightly(pc: PcClient, changes: dict[str, Any]) -> None:
    assert pc.respond(changes).status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/responses", {"model": "mock-small", "input": "x", "context_management": []}),
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
def test_fields_of_official_clients_are_accepted(pc: PcClient, path: str, body: dict[str, Any]) -> None:
    assert pc.ask("POST", path, json=body).status_code == 200


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"messages": ...}, ("missing_required_parameter", "messages")),
        ({"messages": []}, ("invalid_value", "messages")),
        ({"messages": [{"content": "x"}]}, ("missing_required_parameter", "messages[0].role")),
        ({"max_tokens": 10**9}, ("invalid_value", "max_tokens")),
        ({"max_tokens": 0}, ("integer_below_min_value", "max_tokens")),
        ({"stop": list("abcde")}, ("array_above_max_length", "stop")),
        ({"model": "mock-reasoning", "temperature": 0}, ("unsupported_parameter", "temperature")),
    ],
)
def test_a_completion_that_is_asked_for_wrongly(
    pc: PcClient, changes: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert refusal_of(pc.complete(changes)) == (400, *expected)


def test_a_body_that_is_no_json(pc: PcClient) -> None:
    sent = {"content-type": "application/json"}
    assert refusal_of(pc.ask("POST", "/v1/responses", content=b"{", headers=sent))[:2] == (400, "invalid_json")
    assert refusal_of(pc.ask("POST", "/v1/responses", content=b"[]", headers=sent))[:2] == (400, "invalid_type")
    assert refusal_of(pc.ask("POST", "/v1/responses", content=b"NaN", headers=sent))[:2] == (400, "invalid_json")


@pytest.mark.parametrize("content_type", ["text/plain", "multipart/form-data; boundary=x", ""])
def test_a_body_of_another_type(pc: PcClient, content_type: str) -> None:
    answer = pc.ask("POST", "/v1/responses", content=b"{}", headers={"content-type": content_type})
    assert refusal_of(answer)[:2] == (400, "unsupported_content_type")


def test_only_the_older_embedding_model_takes_no_dimensions(pc: PcClient) -> None:
    body = {"input": "x", "dimensions": 2}
    old = pc.ask("POST", "/v1/embeddings", json={"model": "mock-embedding-old", **body})
    assert refusal_of(old) == (400, "unsupported_parameter", "dimensions")
    new = pc.ask("POST", "/v1/embeddings", json={"model": "mock-embedding", **body})
    assert len(new.json()["data"][0]["embedding"]) == 2


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("mock-pc-nobody", "invalid_api_key"),
        ("mock-pc-revoked", None),
        ("mock-pc-not-a-member", None),
        ("mock-pc-foreign", None),
        (None, None),
        ("mock-pc-fenced", "ip_not_authorized"),
    ],
)
def test_keys_that_cannot_be_used(pc: PcClient, key: str | None, code: str | None) -> None:
    answer = pc.ask("GET", "/v1/models", key=key)
    assert refusal_of(answer) == (401, code, None)
    assert error_of(answer)["type"] == "invalid_request_error"


def test_the_organization_header_must_be_the_keys_own(pc: PcClient) -> None:
    assert pc.ask("GET", "/v1/models", headers={"PC-Organization": "org-mock-acme"}).status_code == 200
    other_organization = pc.ask("GET", "/v1/models", headers={"PC-Organization": "org-other"})
    assert refusal_of(other_organization)[:2] == (401, "mismatched_organization")


def test_the_project_header_matters_to_a_legacy_user_key_alone(pc: PcClient) -> None:
    nowhere = {"PC-Project": "proj_nowhere"}
    assert pc.ask("GET", "/v1/models", headers=nowhere).status_code == 200
    legacy = {"key": "mock-pc-legacy-user"}
    assert refusal_of(pc.ask("GET", "/v1/models", headers=nowhere, **legacy))[:2] == (401, "invalid_project")
    narrow = pc.ask("GET", "/v1/models", headers={"PC-Project": "proj_mock_narrow"}, **legacy).json()["data"]
    assert "mock-large" not in {model["id"] for model in narrow}


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("no-such-model", "mock-pc-inference"),
        ("mock-early-access", "mock-pc-inference"),
        ("mock-large", "mock-pc-narrow"),
    ],
)
def test_models_that_are_not_there_for_this_key(pc: PcClient, model: str, key: str) -> None:
    assert refusal_of(pc.respond({"model": model}, key=key)) == (404, "model_not_found", "model")
    assert refusal_of(pc.ask("GET", f"/v1/models/{model}", key=key))[:2] == (404, "model_not_found")


@pytest.mark.parametrize("tier", ["default", "flex", "priority", "fast", "auto", ...])
def test_service_tiers_that_the_project_does_not_allow(pc: PcClient, tier: str | EllipsisType) -> None:
    assert refusal_of(pc.respond({"service_tier": tier}, key="mock-pc-tierless")) == (400, None, "service_tier")


@pytest.mark.parametrize(("beta", "status"), [("agents=v1", 200), ("assistants=v2", 400), ("", 400)])
def test_agents_need_their_beta(pc: PcClient, beta: str, status: int) -> None:
    assert pc.ask("GET", "/v1/agents", headers={"PC-Beta": beta}).status_code == status


def test_external_storage_needs_its_scope(pc: PcClient) -> None:
    assert refusal_of(pc.ask("GET", "/v1/organization/external_storage"))[:2] == (403, "insufficient_permissions")
    assert pc.ask("GET", "/v1/organization/external_storage", key="mock-pc-storage").status_code == 200


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/assistants", "/v1/threads", "/v1/threads/thread_1/runs", "/"])
@pytest.mark.parametrize("key", ["mock-pc-inference", "mock-pc-nobody", None])
def test_an_unknown_url_has_no_body_and_no_request_id(pc: PcClient, path: str, key: str | None) -> None:
    answer = pc.ask("GET", path, key=key)
    assert (answer.status_code, answer.content) == (404, b"")
    assert "x-request-id" not in answer.headers


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_a_wrong_method(pc: PcClient, method: str) -> None:
    assert refusal_of(pc.ask(method, "/v1/models"))[:2] == (405, None)


@pytest.mark.parametrize(
    ("path", "type_", "code"),
    [
        ("/v1/conversations/conv_1", "invalid_request_error", None),
        ("/v1/files/file-1", "invalid_request_error", None),
        ("/v1/fine_tuning/jobs/1/events", "invalid_request_error", "fine_tune_not_found"),
        ("/v1/videos/1", "not_found_error", "not_found_error"),
    ],
)
def test_lookups_that_find_nothing(pc: PcClient, path: str, type_: str, code: str | None) -> None:
    error = error_of(pc.ask("GET", path))
    assert (error["type"], error["code"]) == (type_, code)


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("unsupported_region", (403, "unsupported_country_region_territory")),
        ("internal_error", (500, None)),
        ("overloaded;retry_after=7", (503, "server_is_overloaded")),
        ("prompt_rejected", (400, "invalid_prompt")),
        ("cyber_safeguard", (403, "cyber_policy")),
        ("misalignment_detected", (403, "misalignment_policy_violation")),
    ],
)
def test_each_provider_only_scenario_has_its_error(
    pc: PcClient, scenario: str, expected: tuple[int | str | None, ...]
) -> None:
    answer = pc.respond(scenario=scenario)
    assert refusal_of(answer)[:2] == expected
    assert answer.headers.get("retry-after") == ("7" if scenario.startswith("overloaded") else None)


def test_a_scenario_with_nothing_to_act_on_is_misuse(pc: PcClient) -> None:
    assert "mock_error" in pc.respond(scenario="image_moderation").json()
    assert "mock_error" in pc.respond(scenario="internal_error;when=mid_stream").json()
