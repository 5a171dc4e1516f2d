"""PC's generation: responses, storage, streams, and refused images (1:2.6, 1:3, 1:6, 2:7.5)."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.unit.mockserver.pc_client import PcClient, error_of, events_of, refusal_of


def data_url(content: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def png(width: int = 8, height: int = 8, depth: int = 8) -> bytes:
    sides = width.to_bytes(4) + height.to_bytes(4)
    return b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4) + b"IHDR" + sides + bytes([depth, 0, 0, 0, 0])


def showing(**image: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "input_image", **image}]}]


WRONG_IMAGES = [
    ("invalid_image", {"image_url": data_url(b"nothing")}),
    ("invalid_image_format", {"image_url": data_url(b"\xff\xd8\xff\xe0")}),
    ("invalid_base64_image", {"image_url": "data:image/png;base64,?"}),
    ("invalid_image_url", {"image_url": "ftp://a.example/x.png"}),
    ("image_too_large", {"image_url": data_url(png(20_000))}),
    ("image_too_small", {"image_url": data_url(png(1))}),
    ("image_parse_error", {"image_url": data_url(png()[:20])}),
    ("invalid_image_mode", {"image_url": data_url(png(depth=16))}),
    ("image_file_too_large", {"file_id": "file-mock-huge-picture"}),
    ("unsupported_image_media_type", {"image_url": data_url(b"x", "image/tiff")}),
    ("empty_image_file", {"file_id": "file-mock-empty-picture"}),
    ("failed_to_download_image", {"image_url": "https://a.invalid/x.png"}),
    ("image_file_not_found", {"file_id": "file-none"}),
]


def test_a_response_has_text_usage_and_id(pc: PcClient) -> None:
    response = pc.respond().json()
    assert (response["status"], response["incomplete_details"], response["error"]) == ("completed", None, None)
    assert response["output"][0]["content"][0]["text"] == "The mock heard: Hello"
    usage = response["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert response["id"].startswith("resp_")


@pytest.mark.parametrize(
    ("changes", "scenario", "reason"),
    [
        ({"input": "Count to 100", "max_output_tokens": 16}, None, "max_output_tokens"),
        ({"model": "mock-reasoning", "max_output_tokens": 16, "input": "x" * 90}, None, "max_output_tokens"),
        ({}, "content_filtered", "content_filter"),
        ({}, "message_limit", "max_messages"),
    ],
)
def test_a_response_is_incomplete(pc: PcClient, changes: dict[str, Any], scenario: str | None, reason: str) -> None:
    response = pc.respond(changes, scenario=scenario).json()
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": reason})
    limit = changes.get("max_output_tokens")
    assert limit is None or response["usage"]["output_tokens"] <= limit
    streamed = events_of(pc.respond({**changes, "stream": True}, scenario=scenario))
    assert streamed[-1][0] == "response.incomplete"


@pytest.mark.parametrize(
    ("changes", "scenario", "reason"),
    [
        ({}, None, "stop"),
        ({"max_tokens": 1}, None, "length"),
        ({"max_completion_tokens": 1}, None, "length"),
        ({}, "content_filtered", "content_filter"),
    ],
)
def test_why_a_completion_ended(pc: PcClient, changes: dict[str, int], scenario: str | None, reason: str) -> None:
    (choice,) = pc.complete(changes, scenario=scenario).json()["choices"]
    assert choice["finish_reason"] == reason


def test_a_part_without_text_adds_no_text(pc: PcClient) -> None:
    parts = [{"type": "input_text", "text": None}, {"type": "input_text", "text": "Hello"}]
    response = pc.respond({"input": [{"role": "user", "content": parts}]}).json()
    assert response["output"][0]["content"][0]["text"] == "The mock heard: Hello"


def test_a_response_streams(pc: PcClient) -> None:
    events = events_of(pc.respond({"stream": True}))
    names = [name for name, _ in events]
    assert names[:2] == ["response.created", "response.in_progress"]
    assert names[-1] == "response.completed"
    assert [data["sequence_number"] for _, data in events] == list(range(len(events)))
    text = "".join(data["delta"] for name, data in events if name == "response.output_text.delta")
    assert text == "The mock heard: Hello" == events[-1][1]["response"]["output"][0]["content"][0]["text"]


def test_a_completion_streams_until_done(pc: PcClient) -> None:
    text = pc.complete({"stream": True, "stream_options": {"include_usage": True}}).text
    assert text.endswith("data: [DONE]\n\n")
    assert "The mock heard: Hello" in text
    assert '"usage"' in text


@pytest.mark.parametrize(("code", "image"), WRONG_IMAGES)
def test_an_image_that_cannot_be_taken(pc: PcClient, code: str, image: dict[str, str]) -> None:
    assert refusal_of(pc.respond({"input": showing(**image)}))[:2] == (400, code)
    (error_name, error), (failed_name, failed) = events_of(pc.respond({"input": showing(**image), "stream": True}))[-2:]
    assert (error_name, error["code"]) == ("error", code)
    assert error.keys() == {"type", "code", "message", "param", "sequence_number"}
    assert failed_name == "response.failed"
    assert (failed["response"]["status"], failed["response"]["error"]["code"]) == ("failed", code)


@pytest.mark.parametrize("image", [{"image_url": data_url(png())}, {"image_url": "https://a.example/x.png"}])
def test_an_image_that_can_be_taken(pc: PcClient, image: dict[str, str]) -> None:
    assert pc.respond({"input": showing(**image)}).status_code == 200


@pytest.mark.parametrize(
    ("scenario", "code"),
    [
        ("internal_error;when=mid_stream", "server_error"),
        ("capacity_rate_limited", "rate_limit_exceeded"),
        ("prompt_rejected;when=mid_stream", "invalid_prompt"),
        ("image_policy", "image_content_policy_violation"),
    ],
)
def test_a_stream_that_fails(pc: PcClient, scenario: str, code: str) -> None:
    events = events_of(pc.respond({"stream": True}, scenario=scenario))
    assert [name for name, _ in events][-2:] == ["error", "response.failed"]
    assert events[-1][1]["response"]["error"]["code"] == code


def test_the_cyber_safeguard_comes_as_an_error_event_alone(pc: PcClient) -> None:
    events = events_of(pc.respond({"stream": True}, scenario="cyber_safeguard;when=mid_stream"))
    assert (events[-1][0], events[-1][1]["code"]) == ("error", "cyber_policy")


def test_a_stored_response_can_be_fetched_until_it_is_deleted(pc: PcClient) -> None:
    response = pc.respond().json()
    path = f"/v1/responses/{response['id']}"
    assert pc.ask("GET", path).json() == response
    assert pc.ask("GET", path, key="mock-pc-elsewhere").status_code == 404
    assert pc.ask("GET", path, headers={"x-mock-session": "another"}).status_code == 404
    assert pc.ask("DELETE", path).json()["deleted"]
    assert refusal_of(pc.ask("GET", path))[:2] == (404, None)
    assert refusal_of(pc.respond({"previous_response_id": response["id"]}))[:2] == (400, "previous_response_not_found")


def test_an_unstored_response_cannot_be_fetched_or_continued(pc: PcClient) -> None:
    response_id = pc.respond({"store": False}).json()["id"]
    assert pc.ask("GET", f"/v1/responses/{response_id}").status_code == 404
    assert pc.respond({"previous_response_id": response_id}).status_code == 400


def test_a_response_goes_on_from_another(pc: PcClient) -> None:
    first = pc.respond().json()["id"]
    second = pc.respond({"previous_response_id": first, "input": "Again"}).json()
    assert second["output"][0]["content"][0]["text"] == "The mock heard: The mock heard: Hello Again"


def test_a_conversation_takes_one_response_at_a_time(pc: PcClient) -> None:
    conversation = pc.ask("POST", "/v1/conversations", json={}).json()["id"]
    assert pc.respond({"conversation": conversation, "background": True}).status_code == 200
    assert refusal_of(pc.respond({"conversation": {"id": conversation}})) == (409, None, "conversation")
    assert pc.respond({"conversation": conversation}, clock="+31s").status_code == 200


def test_fast_counts_as_priority(pc: PcClient) -> None:
    assert pc.respond({"service_tier": "fast"}).json()["service_tier"] == "priority"


def test_blocked_moderation_names_its_stage(pc: PcClient) -> None:
    body = {"prompt": "x"}
    answer = pc.ask("POST", "/v1/images/generations", json=body, scenario="image_moderation;stage=output")
    error = error_of(answer)
    assert (error["type"], error["code"]) == ("image_generation_user_error", "moderation_blocked")
    assert error["moderation_details"]["moderation_stage"] == "output"
    assert "b64_json" in pc.ask("POST", "/v1/images/generations", json=body).json()["data"][0]


def test_vector_stores_take_files_that_can_be_searched(pc: PcClient) -> None:
    store = pc.ask("POST", "/v1/vector_stores", json={}).json()["id"]
    base = f"/v1/vector_stores/{store}"
    batch = pc.ask("POST", f"{base}/file_batches", json={"file_ids": ["file-mock-notes"]}).json()
    assert batch["file_counts"]["completed"] == 1
    assert refusal_of(pc.ask("POST", f"{base}/files", json={"file_id": "file-mock-picture"}))[0] == 422
    assert [file["id"] for file in pc.ask("GET", f"{base}/files").json()["data"]] == ["file-mock-notes"]
    assert pc.ask("DELETE", base).json()["deleted"]
    assert pc.ask("GET", f"{base}/files").status_code == 404
