"""PB's generateContent: what a prompt comes to, and what is wrong with one (1:2.6, 1:4.2, 2:7.4)."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.mockserver.pb_client import HELLO, PbClient, events_of, status_of

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
TOOLS = [{"functionDeclarations": [{"name": "look", "parameters": SCHEMA}]}]
MUST_CALL = {"functionCallingConfig": {"mode": "ANY"}}


@pytest.fixture
def client() -> PbClient:
    return PbClient()


def candidate(response: Any) -> dict[str, Any]:
    """The one candidate of an answer."""
    (found,) = response.json()["candidates"]
    return dict(found)


def test_the_answer_says_what_was_heard_and_counts_it(client: PbClient) -> None:
    response = client.generate()
    assert candidate(response)["content"]["parts"] == [{"text": "The mock heard: Hello"}]
    assert candidate(response)["finishReason"] == "STOP"
    assert response.headers["x-pb-service-tier"] == response.json()["usageMetadata"]["serviceTier"] == "standard"


@pytest.mark.parametrize("model", ["mock-lite", "mock-pro", "mock-image"])
@pytest.mark.parametrize("config", [{}, {"maxOutputTokens": 1}, {"candidateCount": 3}])
def test_the_counts_add_up(client: PbClient, model: str, config: dict[str, int]) -> None:
    usage = client.generate(model, config=config).json()["usageMetadata"]
    parts = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    assert usage["totalTokenCount"] == sum(usage.get(part, 0) for part in parts)
    assert usage["promptTokenCount"] == sum(detail["tokenCount"] for detail in usage["promptTokensDetails"])
    assert ("thoughtsTokenCount" in usage) == (model == "mock-pro")


def test_media_are_counted_by_modality(client: PbClient) -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    contents = [{"role": "user", "parts": [{"text": "Hello"}, image]}]
    details = client.generate(fields={"contents": contents}).json()["usageMetadata"]["promptTokensDetails"]
    assert [detail["modality"] for detail in details] == ["TEXT", "IMAGE"]


def test_both_spellings_of_a_field_mean_the_same(client: PbClient) -> None:
    snake = {"generation_config": {"max_output_tokens": 1}}
    assert candidate(client.generate(fields=snake)) == candidate(client.generate(config={"maxOutputTokens": 1}))


def test_a_tiny_budget_is_eaten_by_reasoning(client: PbClient) -> None:
    starved = candidate(client.generate("mock-pro", config={"maxOutputTokens": 1}))
    assert (starved["finishReason"], starved["content"]) == ("MAX_TOKENS", {"role": "model"})
    unthinking = {"maxOutputTokens": 1, "thinkingConfig": {"thinkingBudget": 0}}
    assert candidate(client.generate("mock-pro", config=unthinking))["content"]["parts"] == [{"text": "The "}]


def test_an_image_model_draws_unless_asked_for_text(client: PbClient) -> None:
    drawn = candidate(client.generate("mock-image"))
    assert drawn["content"]["parts"][0]["inlineData"]["mimeType"] == "image/png"
    asked = [{"role": "user", "parts": [{"text": "Text only: what is this?"}]}]
    refused = client.generate("mock-image", fields={"contents": asked}, config={"responseModalities": ["IMAGE"]})
    assert candidate(refused)["finishReason"] == "NO_IMAGE"


def in_the_other_alphabet(signature: str) -> str:
    """The same bytes as clients write them that took them apart."""
    return base64.urlsafe_b64encode(base64.b64decode(signature)).decode()


@pytest.mark.parametrize(
    ("echo", "reason"),
    [
        (str, "STOP"),
        (in_the_other_alphabet, "STOP"),
        (str.swapcase, "MISSING_THOUGHT_SIGNATURE"),
        (None, "MISSING_THOUGHT_SIGNATURE"),
    ],
    ids=["echoed", "echoed in the other alphabet", "changed", "dropped"],
)
def test_a_reasoning_model_wants_its_thought_signature_back(
    client: PbClient, echo: Callable[[str], str] | None, reason: str
) -> None:
    first = candidate(client.generate("mock-pro", fields={"tools": TOOLS, "toolConfig": MUST_CALL}))
    (part,) = first["content"]["parts"]
    assert part["functionCall"]["name"] == "look"
    assert isinstance(part["functionCall"]["args"]["at"], str)
    signed = {"thoughtSignature": echo(part["thoughtSignature"])} if echo else {}
    echoed = {"functionCall": part["functionCall"], **signed}
    result = {"functionResponse": {"name": "look", "response": {}}}
    contents = [*HELLO, {"role": "model", "parts": [echoed]}, {"role": "user", "parts": [result]}]
    second = client.generate("mock-pro", fields={"contents": contents, "tools": TOOLS})
    assert candidate(second)["finishReason"] == reason


def test_a_chain_of_calls_has_an_end(client: PbClient) -> None:
    asked = {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]}
    answered = {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {}}}]}

    def reason(rounds: int) -> str:
        contents = [*HELLO, *([asked, answered] * rounds)]
        return str(candidate(client.generate(fields={"contents": contents, "tools": TOOLS}))["finishReason"])

    assert (reason(32), reason(33)) == ("STOP", "TOO_MANY_TOOL_CALLS")


@pytest.mark.parametrize(
    ("config", "refusal"),
    [
        ({"temperature": 2}, None),
        ({"temperature": 2.1}, (400, "INVALID_ARGUMENT")),
        ({"temperature": "hot"}, (400, "INVALID_ARGUMENT")),
        ({"topP": 1}, None),
        ({"topP": 1.1}, (416, "OUT_OF_RANGE")),
        ({"candidateCount": 8}, None),
        ({"candidateCount": 9}, (416, "OUT_OF_RANGE")),
        ({"candidateCount": 0}, (416, "OUT_OF_RANGE")),
        ({"maxOutputTokens": 0}, (416, "OUT_OF_RANGE")),
        ({"maxOutputTokens": True}, (400, "INVALID_ARGUMENT")),
        ({"thinkingConfig": {"thinkingLevel": "low", "thinkingBudget": 1}}, (400, "INVALID_ARGUMENT")),
        ({"responseModalities": ["AUDIO"]}, (501, "UNIMPLEMENTED")),
        ({"noSuchField": 1}, (400, "INVALID_ARGUMENT")),
    ],
    ids=str,
)
def test_settings_are_checked(client: PbClient, config: dict[str, Any], refusal: tuple[int, str] | None) -> None:
    response = client.generate("mock-pro", config=config)
    assert (None if response.status_code == 200 else status_of(response)) == refusal


def test_an_image_model_takes_no_temperature_above_1(client: PbClient) -> None:
    assert client.generate("mock-image", config={"temperature": 1}).status_code == 200
    assert status_of(client.generate("mock-image", config={"temperature": 1.1})) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"contents": []}, (400, "INVALID_ARGUMENT")),
        ({"contents": [{"role": "user", "parts": []}]}, (400, "INVALID_ARGUMENT")),
        ({"contents": [{"parts": [{"text": "x", "no_such_field": 1}]}]}, (400, "INVALID_ARGUMENT")),
        ({"contents": [{"parts": [{"fileData": {"fileUri": "files/none"}}]}]}, (404, "NOT_FOUND")),
        ({"contents": [{"parts": [{"fileData": {"fileUri": "files/mock-foreign"}}]}]}, (403, "PERMISSION_DENIED")),
        ({"cachedContent": "cachedContents/none"}, (404, "NOT_FOUND")),
    ],
    ids=str,
)
def test_bodies_are_checked(client: PbClient, fields: dict[str, Any], refusal: tuple[int, str]) -> None:
    assert status_of(client.generate(fields=fields)) == refusal


def test_a_tool_on_the_providers_side_may_have_any_name(client: PbClient) -> None:
    assert client.generate(fields={"tools": [{"someSearch": {}}, *TOOLS]}).status_code == 200


def test_a_file_of_ones_own_is_read(client: PbClient) -> None:
    contents = [{"parts": [{"fileData": {"mimeType": "text/plain", "fileUri": "files/mock-own"}}]}]
    assert client.generate(fields={"contents": contents}).status_code == 200


def test_a_context_that_is_too_large_is_a_server_error(client: PbClient) -> None:
    contents = [{"parts": [{"text": "word " * 2_100}]}]
    assert status_of(client.generate("mock-legacy", fields={"contents": contents})) == (500, "INTERNAL")


def test_a_blocked_prompt_has_no_candidates(client: PbClient) -> None:
    answer = client.generate(scenario="prompt_blocked;filter=blocklist").json()
    assert answer["promptFeedback"]["blockReason"] == "BLOCKLIST"
    assert "candidates" not in answer


def test_an_image_filter_has_nothing_to_do_with_a_text_model(client: PbClient) -> None:
    for scenario in ("prompt_blocked;filter=image_safety", "output_stopped;filter=image_other"):
        assert "mock_error" in client.generate(scenario=scenario).json()
        assert client.generate("mock-image", scenario=scenario).status_code == 200


def test_a_malformed_call_needs_tools(client: PbClient) -> None:
    scenario = "model_fault;fault=malformed_call"
    assert "mock_error" in client.generate(scenario=scenario).json()
    assert candidate(client.generate(fields={"tools": TOOLS}, scenario=scenario))["finishReason"] == (
        "MALFORMED_FUNCTION_CALL"
    )


def streamed(client: PbClient, **kwargs: Any) -> Any:
    return client.generate(operation="streamGenerateContent?alt=sse", **kwargs)


def test_a_stream_comes_in_chunks_of_the_same_shape(client: PbClient) -> None:
    contents = [{"parts": [{"text": "A somewhat longer text to be repeated"}]}]
    chunks = events_of(streamed(client, fields={"contents": contents}))
    texts = [chunk["candidates"][0]["content"]["parts"][0]["text"] for chunk in chunks]
    assert len(texts) > 1
    assert "".join(texts) == f"The mock heard: {contents[0]['parts'][0]['text']}"
    assert [chunk["candidates"][0].get("finishReason") for chunk in chunks[-2:]] == [None, "STOP"]


def test_a_stream_that_fails_after_200_ends_with_an_error(client: PbClient) -> None:
    response = streamed(client, scenario="internal_error_mid_stream")
    assert response.status_code == 200
    begun, failure = events_of(response)
    assert failure["error"]["status"] == "INTERNAL"
    assert "finishReason" not in begun["candidates"][0]  # STOP would call the output whole (2:7.4)


def names(response: Any) -> set[str]:
    return {model["name"] for model in response.json()["models"]}


def test_preview_models_exist_only_in_v1beta(client: PbClient) -> None:
    beta, stable = (names(client.pb("GET", f"/{version}/models")) for version in ("v1beta", "v1"))
    assert stable < beta
    assert "models/mock-pro-preview" in beta - stable
    assert client.generate("mock-pro-preview").status_code == 200
    assert status_of(client.generate("mock-pro-preview", version="v1")) == (404, "NOT_FOUND")


def test_a_closed_model_stays_listed_for_new_users(client: PbClient) -> None:
    assert "models/mock-legacy" in names(client.pb("GET", "/v1/models", key="mock-pb-newcomer"))
    assert status_of(client.generate("mock-legacy", key="mock-pb-newcomer")) == (404, "NOT_FOUND")
    assert client.generate("mock-legacy").status_code == 200


def test_a_listing_is_paged(client: PbClient) -> None:
    first = client.pb("GET", "/v1beta/models", params={"pageSize": 4})
    rest = client.pb("GET", "/v1beta/models", params={"pageToken": first.json()["nextPageToken"]})
    assert names(first) | names(rest) == names(client.pb("GET", "/v1beta/models"))
    assert status_of(client.pb("GET", "/v1beta/models", params={"pageToken": "x"})) == (400, "INVALID_ARGUMENT")


def test_one_model_is_described_or_not_found(client: PbClient) -> None:
    assert client.pb("GET", "/v1/models/mock-image").json()["maxTemperature"] == 1
    assert status_of(client.pb("GET", "/v1/models/none")) == (404, "NOT_FOUND")
    assert status_of(client.generate("mock-live")) == (404, "NOT_FOUND")
