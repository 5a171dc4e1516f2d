"""PB's generateContent: answers to a prompt, and refusals of one (1:2.6, 1:4.2, 2:7.4)."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.mockserver.pb_client import CONTENTS, PbClient, parse_events, read_status

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
TOOLS = [{"functionDeclarations": [{"name": "look", "parameters": SCHEMA}]}]
MUST_CALL = {"functionCallingConfig": {"mode": "ANY"}}


def candidate(response: Any) -> dict[str, Any]:
    """The one candidate of an answer."""
    (candidate_found,) = response.json()["candidates"]
    return dict(candidate_found)


def test_the_answer_repeats_the_request_and_counts_its_tokens(pb: PbClient) -> None:
    response = pb.generate()
    assert candidate(response)["content"]["parts"] == [{"text": "The mock heard: Hello"}]
    assert candidate(response)["finishReason"] == "STOP"
    assert response.headers["x-pb-service-tier"] == response.json()["usageMetadata"]["serviceTier"] == "standard"


@pytest.mark.parametrize("model", ["mock-lite", "mock-pro", "mock-image"])
@pytest.mark.parametrize("config", [{}, {"maxOutputTokens": 1}, {"candidateCount": 3}])
def test_the_counts_add_up(pb: PbClient, model: str, config: dict[str, int]) -> None:
    usage = pb.generate(model, config=config).json()["usageMetadata"]
    parts = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    assert usage["totalTokenCount"] == sum(usage.get(part, 0) for part in parts)
    assert usage["promptTokenCount"] == sum(detail["tokenCount"] for detail in usage["promptTokensDetails"])
    assert ("thoughtsTokenCount" in usage) == (model == "mock-pro")


def test_media_are_counted_by_modality(pb: PbClient) -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    contents = [{"role": "user", "parts": [{"text": "Hello"}, image]}]
    details = pb.generate(fields={"contents": contents}).json()["usageMetadata"]["promptTokensDetails"]
    assert [detail["modality"] for detail in details] == ["TEXT", "IMAGE"]


def test_both_spellings_of_a_field_mean_the_same(pb: PbClient) -> None:
    snake = {"generation_config": {"max_output_tokens": 1}}
    assert candidate(pb.generate(fields=snake)) == candidate(pb.generate(config={"maxOutputTokens": 1}))


def test_a_tiny_budget_is_eaten_by_reasoning(pb: PbClient) -> None:
    starved = candidate(pb.generate("mock-pro", config={"maxOutputTokens": 1}))
    assert (starved["finishReason"], starved["content"]) == ("MAX_TOKENS", {"role": "model"})
    unthinking = {"maxOutputTokens": 1, "thinkingConfig": {"thinkingBudget": 0}}
    assert candidate(pb.generate("mock-pro", config=unthinking))["content"]["parts"] == [{"text": "The "}]


def test_an_image_model_draws_unless_asked_for_text(pb: PbClient) -> None:
    drawn = candidate(pb.generate("mock-image"))
    assert drawn["content"]["parts"][0]["inlineData"]["mimeType"] == "image/png"
    contents = [{"role": "user", "parts": [{"text": "Text only: what is this?"}]}]
    refused = pb.generate("mock-image", fields={"contents": contents}, config={"responseModalities": ["IMAGE"]})
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
    pb: PbClient, echo: Callable[[str], str] | None, reason: str
) -> None:
    first = candidate(pb.generate("mock-pro", fields={"tools": TOOLS, "toolConfig": MUST_CALL}))
    (part,) = first["content"]["parts"]
    assert part["functionCall"]["name"] == "look"
    assert isinstance(part["functionCall"]["args"]["at"], str)
    signed = {"thoughtSignature": echo(part["thoughtSignature"])} if echo else {}
    echoed = {"functionCall": part["functionCall"], **signed}
    result = {"functionResponse": {"name": "look", "response": {}}}
    contents = [*CONTENTS, {"role": "model", "parts": [echoed]}, {"role": "user", "parts": [result]}]
    second = pb.generate("mock-pro", fields={"contents": contents, "tools": TOOLS})
    assert candidate(second)["finishReason"] == reason


def test_a_chain_of_calls_has_an_end(pb: PbClient) -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]}
    answered = {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {}}}]}

    def reason(rounds: int) -> str:
        contents = [*CONTENTS, *([call, answered] * rounds)]
        return str(candidate(pb.generate(fields={"contents": contents, "tools": TOOLS}))["finishReason"])

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
def test_settings_are_checked(pb: PbClient, config: dict[str, Any], refusal: tuple[int, str] | None) -> None:
    response = pb.generate("mock-pro", config=config)
    assert (None if response.status_code == 200 else read_status(response)) == refusal


def test_an_image_model_takes_no_temperature_above_1(pb: PbClient) -> None:
    assert pb.generate("mock-image", config={"temperature": 1}).status_code == 200
    assert read_status(pb.generate("mock-image", config={"temperature": 1.1})) == (400, "INVALID_ARGUMENT")


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
def test_bodies_are_checked(pb: PbClient, fields: dict[str, Any], refusal: tuple[int, str]) -> None:
    assert read_status(pb.generate(fields=fields)) == refusal


def test_a_tool_on_the_providers_side_may_have_any_name(pb: PbClient) -> None:
    assert pb.generate(fields={"tools": [{"someSearch": {}}, *TOOLS]}).status_code == 200


def test_a_file_of_ones_own_is_read(pb: PbClient) -> None:
    contents = [{"parts": [{"fileData": {"mimeType": "text/plain", "fileUri": "files/mock-own"}}]}]
    assert pb.generate(fields={"contents": contents}).status_code == 200


def test_a_context_that_is_too_large_is_a_server_error(pb: PbClient) -> None:
    contents = [{"parts": [{"text": "word " * 2_100}]}]
    assert read_status(pb.generate("mock-legacy", fields={"contents": contents})) == (500, "INTERNAL")


def test_a_blocked_prompt_has_no_candidates(pb: PbClient) -> None:
    answer = pb.generate(scenario="prompt_blocked;filter=blocklist").json()
    assert answer["promptFeedback"]["blockReason"] == "BLOCKLIST"
    assert "candidates" not in answer


def test_an_image_filter_has_nothing_to_do_with_a_text_model(pb: PbClient) -> None:
    for scenario in ("prompt_blocked;filter=image_safety", "output_stopped;filter=image_other"):
        assert "mock_error" in pb.generate(scenario=scenario).json()
        assert pb.generate("mock-image", scenario=scenario).status_code == 200


def test_a_malformed_call_needs_tools(pb: PbClient) -> None:
    scenario = "model_fault;fault=malformed_call"
    assert "mock_error" in pb.generate(scenario=scenario).json()
    assert candidate(pb.generate(fields={"tools": TOOLS}, scenario=scenario))["finishReason"] == (
        "MALFORMED_FUNCTION_CALL"
    )


def stream(pb: PbClient, **kwargs: Any) -> Any:
    return pb.generate(operation="streamGenerateContent?alt=sse", **kwargs)


def test_a_stream_comes_in_chunks_of_the_same_shape(pb: PbClient) -> None:
    contents = [{"parts": [{"text": "A somewhat longer text to be repeated"}]}]
    chunks = parse_events(stream(pb, fields={"contents": contents}))
    texts = [chunk["candidates"][0]["content"]["parts"][0]["text"] for chunk in chunks]
    assert len(texts) > 1
    assert "".join(texts) == f"The mock heard: {contents[0]['parts'][0]['text']}"
    assert [chunk["candidates"][0].get("finishReason") for chunk in chunks[-2:]] == [None, "STOP"]


def test_a_stream_that_fails_after_200_ends_with_an_error(pb: PbClient) -> None:
    response = stream(pb, scenario="internal_error_mid_stream")
    assert response.status_code == 200
    begun, failure = parse_events(response)
    assert failure["error"]["status"] == "INTERNAL"
    assert "finishReason" not in begun["candidates"][0]  # STOP would call the output whole (2:7.4)


def names(response: Any) -> set[str]:
    return {model["name"] for model in response.json()["models"]}


def test_preview_models_exist_only_in_v1beta(pb: PbClient) -> None:
    beta, stable = (names(pb.ask("GET", f"/{version}/models")) for version in ("v1beta", "v1"))
    assert stable < beta
    assert "models/mock-pro-preview" in beta - stable
    assert pb.generate("mock-pro-preview").status_code == 200
    assert read_status(pb.generate("mock-pro-preview", version="v1")) == (404, "NOT_FOUND")


def test_a_closed_model_stays_listed_for_new_users(pb: PbClient) -> None:
    assert "models/mock-legacy" in names(pb.ask("GET", "/v1/models", key="mock-pb-newcomer"))
    assert read_status(pb.generate("mock-legacy", key="mock-pb-newcomer")) == (404, "NOT_FOUND")
    assert pb.generate("mock-legacy").status_code == 200


def test_a_listing_is_paged(pb: PbClient) -> None:
    first = pb.ask("GET", "/v1beta/models", params={"pageSize": 4})
    second = pb.ask("GET", "/v1beta/models", params={"pageToken": first.json()["nextPageToken"]})
    assert names(first) | names(second) == names(pb.ask("GET", "/v1beta/models"))
    assert read_status(pb.ask("GET", "/v1beta/models", params={"pageToken": "x"})) == (400, "INVALID_ARGUMENT")


def test_one_model_is_described_or_not_found(pb: PbClient) -> None:
    assert pb.ask("GET", "/v1/models/mock-image").json()["maxTemperature"] == 1
    assert read_status(pb.ask("GET", "/v1/models/none")) == (404, "NOT_FOUND")
    assert read_status(pb.generate("mock-live")) == (404, "NOT_FOUND")
