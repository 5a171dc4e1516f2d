"""PC's stored state: uploads, vector store files, conversations, accepted jobs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.mockserver.pc_client import PcClient, refusal_of

BATCH = {"endpoint": "/v1/responses", "completion_window": "24h"}


def upload(pc: PcClient, content: bytes, purpose: str = "batch") -> dict[str, Any]:
    files = {"file": ("lines.jsonl", content)}
    file: dict[str, Any] = pc.ask("POST", "/v1/files", files=files, data={"purpose": purpose}).json()
    return file


def test_an_upload_can_be_searched_until_it_is_deleted(pc: PcClient) -> None:
    file = upload(pc, b"some text", "user_data")
    path = f"/v1/files/{file['id']}"
    assert pc.ask("GET", path).json() == file
    store = pc.ask("POST", "/v1/vector_stores", json={"file_ids": [file["id"]]}).json()
    assert (store["usage_bytes"], store["file_counts"]["total"]) == (9, 1)
    assert pc.ask("DELETE", path).json()["deleted"]
    assert refusal_of(pc.ask("GET", path)) == (404, None, "id")


@pytest.mark.parametrize(
    ("path", "field", "body", "status"),
    [
        ("/v1/batches", "input_file_id", BATCH, "validating"),
        ("/v1/fine_tuning/jobs", "training_file", {"model": "mock-small"}, "queued"),
    ],
)
def test_a_job_is_accepted_and_its_file_must_exist(
    pc: PcClient, path: str, field: str, body: dict[str, Any], status: str
) -> None:
    assert pc.ask("POST", path, json={**body, field: upload(pc, b"{}")["id"]}).json()["status"] == status
    assert refusal_of(pc.ask("POST", path, json={**body, field: "file-none"}))[0] == 404


def test_a_vector_store_is_deleted_and_its_files_stay(pc: PcClient) -> None:
    store = pc.ask("POST", "/v1/vector_stores", json={"name": "one", "file_ids": ["file-mock-notes"]}).json()
    path = f"/v1/vector_stores/{store['id']}"
    assert store["name"] == "one"
    assert pc.ask("DELETE", path).json()["deleted"]
    assert pc.ask("GET", f"{path}/files").status_code == 404
    assert pc.ask("GET", "/v1/files/file-mock-notes").status_code == 200


def test_a_conversation_keeps_its_metadata_until_it_is_deleted(pc: PcClient) -> None:
    item = {"type": "message", "role": "user", "content": "First"}
    conversation = pc.ask("POST", "/v1/conversations", json={"items": [item], "metadata": {"a": "b"}}).json()
    path = f"/v1/conversations/{conversation['id']}"
    body = {"model": "mock-small", "input": "Hello", "conversation": conversation["id"]}
    assert pc.ask("POST", "/v1/responses", json=body).json()["conversation"] == {"id": conversation["id"]}
    assert pc.ask("GET", path).json() == conversation
    assert pc.ask("DELETE", path).json()["deleted"]
    assert refusal_of(pc.ask("GET", path)) == (404, None, None)


def test_a_file_is_attached_to_a_store_once(pc: PcClient) -> None:
    for _ in range(2):
        pc.ask("POST", "/v1/vector_stores/vs_mock/files", json={"file_id": "file-mock-training"})
    listed = pc.ask("GET", "/v1/vector_stores/vs_mock/files").json()["data"]
    assert [file["id"] for file in listed] == ["file-mock-notes", "file-mock-training"]
