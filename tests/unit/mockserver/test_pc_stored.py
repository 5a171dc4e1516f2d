"""What PC's mock keeps: uploads, batches that answer their lines, vector stores with their files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import stores
from tests.unit.mockserver.pc_client import PcClient, told

if TYPE_CHECKING:
    import pytest

HELLO = {"model": "mock-small", "input": "Hello"}


def upload(pc: PcClient, content: bytes, purpose: str = "batch") -> dict[str, Any]:
    files = {"file": ("lines.jsonl", content)}
    made: dict[str, Any] = pc.ask("POST", "/v1/files", files=files, data={"purpose": purpose}).json()
    return made


def lines(*bodies: Any) -> bytes:
    return b"\n".join(json.dumps({"custom_id": f"{n}", "body": body}).encode() for n, body in enumerate(bodies))


def batch(pc: PcClient, file_id: str, endpoint: str = "/v1/responses") -> dict[str, Any]:
    asked = {"input_file_id": file_id, "endpoint": endpoint, "completion_window": "24h"}
    made: dict[str, Any] = pc.ask("POST", "/v1/batches", json=asked).json()
    return made


def test_an_upload_can_be_listed_read_and_searched(pc: PcClient) -> None:
    file = upload(pc, b"some text", "user_data")
    assert pc.ask("GET", f"/v1/files/{file['id']}/content").content == b"some text"
    assert file["id"] in {each["id"] for each in pc.ask("GET", "/v1/files?purpose=user_data").json()["data"]}
    assert file["id"] not in {each["id"] for each in pc.ask("GET", "/v1/files?purpose=batch").json()["data"]}
    store = pc.ask("POST", "/v1/vector_stores", json={"file_ids": [file["id"]]}).json()
    assert (store["usage_bytes"], store["file_counts"]["total"]) == (9, 1)


def test_a_batch_answers_its_lines_each_as_if_it_were_sent_alone(pc: PcClient) -> None:
    file = upload(pc, lines(HELLO, {**HELLO, "model": "nobody"}) + b"\nno json")
    made = batch(pc, file["id"])
    path = f"/v1/batches/{made['id']}"
    assert (made["status"], made["request_counts"]["total"]) == ("validating", 3)
    assert pc.ask("GET", path, clock="+30s").json()["status"] == "in_progress"
    done = pc.ask("GET", path, clock="+61s").json()
    assert (done["status"], done["request_counts"]["completed"]) == ("completed", 3)
    output = pc.ask("GET", f"/v1/files/{done['output_file_id']}/content").text.splitlines()
    answers = [json.loads(line) for line in output]
    assert [(each["custom_id"], each["response"]["status_code"]) for each in answers] == [
        ("0", 200),
        ("1", 404),
        (None, 400),
    ]
    assert answers[0]["response"]["body"]["output"][0]["content"][0]["text"] == "The mock heard: Hello"
    assert pc.ask("GET", path, clock="+2h").json()["output_file_id"] == done["output_file_id"]


def test_batches_of_each_endpoint_are_answered(pc: PcClient) -> None:
    chat = {"model": "mock-small", "messages": [{"role": "user", "content": "Hello"}]}
    embedding = {"model": "mock-embedding", "input": "Hello"}
    for endpoint, body, name in (
        ("/v1/chat/completions", chat, "chat.completion"),
        ("/v1/embeddings", embedding, "list"),
    ):
        made = batch(pc, upload(pc, lines(body))["id"], endpoint)
        done = pc.ask("GET", f"/v1/batches/{made['id']}", clock="+61s").json()
        (line,) = pc.ask("GET", f"/v1/files/{done['output_file_id']}/content").text.splitlines()
        assert json.loads(line)["response"]["body"]["object"] == name


def test_a_batch_can_be_cancelled_until_it_is_done(pc: PcClient) -> None:
    first, second = (batch(pc, upload(pc, lines(HELLO))["id"])["id"] for _ in range(2))
    assert pc.ask("POST", f"/v1/batches/{first}/cancel").json()["status"] == "cancelled"
    assert pc.ask("GET", f"/v1/batches/{first}", clock="+61s").json()["status"] == "cancelled"
    assert pc.ask("POST", f"/v1/batches/{second}/cancel", clock="+61s").json()["status"] == "completed"
    assert [each["id"] for each in pc.ask("GET", "/v1/batches").json()["data"]] == [first, second]
    assert told(pc.ask("GET", "/v1/batches/batch_none")) == (404, None, None)
    assert pc.ask("GET", f"/v1/batches/{first}", key="mock-pc-elsewhere").status_code == 404


def test_a_vector_store_is_fetched_renamed_and_gives_its_files_back(pc: PcClient) -> None:
    store = pc.ask("POST", "/v1/vector_stores", json={"name": "one", "file_ids": ["file-mock-notes"]}).json()
    path = f"/v1/vector_stores/{store['id']}"
    assert pc.ask("POST", path, json={"name": "two"}).json()["name"] == "two"
    assert pc.ask("GET", path).json()["name"] == "two"
    assert {"vs_mock", store["id"]} <= {each["id"] for each in pc.ask("GET", "/v1/vector_stores").json()["data"]}
    made = pc.ask("POST", f"{path}/file_batches", json={"file_ids": ["file-mock-notes"]}).json()
    assert pc.ask("GET", f"{path}/file_batches/{made['id']}").json()["file_counts"] == made["file_counts"]
    assert pc.ask("GET", f"{path}/files/file-mock-notes").json()["status"] == "completed"
    assert pc.ask("DELETE", f"{path}/files/file-mock-notes").json()["deleted"]
    assert pc.ask("GET", f"{path}/files/file-none").status_code == 404
    assert pc.ask("GET", f"{path}/file_batches/vsfb_none").status_code == 404


def items_of(pc: PcClient, path: str, order: str = "asc") -> list[tuple[str, str]]:
    """Who said what in a conversation."""
    listed = pc.ask("GET", f"{path}/items?order={order}").json()["data"]
    return [(each["role"], each["content"][0]["text"]) for each in listed]


def test_a_conversation_keeps_what_was_said_in_it(pc: PcClient) -> None:
    first = {"type": "message", "role": "user", "content": "First"}
    made = pc.ask("POST", "/v1/conversations", json={"items": [first], "metadata": {"a": "b"}}).json()
    path = f"/v1/conversations/{made['id']}"
    pc.ask("POST", "/v1/responses", json={"model": "mock-small", "input": "Hello", "conversation": made["id"]})
    said = [("user", "First"), ("user", "Hello"), ("assistant", "The mock heard: Hello")]
    assert items_of(pc, path) == said
    assert items_of(pc, path, "desc") == said[::-1]
    (added,) = pc.ask("POST", f"{path}/items", json={"items": [{**first, "content": "Last"}]}).json()["data"]
    assert pc.ask("GET", f"{path}/items/{added['id']}").json() == added
    assert pc.ask("DELETE", f"{path}/items/{added['id']}").json()["id"] == made["id"]
    assert told(pc.ask("GET", f"{path}/items/{added['id']}")) == (404, None, None)
    assert pc.ask("POST", path, json={"metadata": {"c": "d"}}).json()["metadata"] == {"c": "d"}
    assert pc.ask("GET", path).json()["metadata"] == {"c": "d"}


def test_a_stream_that_fails_leaves_nothing_in_its_conversation(pc: PcClient) -> None:
    made = pc.ask("POST", "/v1/conversations", json={}).json()["id"]
    body = {"model": "mock-small", "input": "Hello", "conversation": made, "stream": True}
    pc.ask("POST", "/v1/responses", json=body, scenario="internal_error;when=mid_stream")
    assert items_of(pc, f"/v1/conversations/{made}") == []


def test_a_conversation_forgets_what_was_said_first(pc: PcClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "MAX_ITEMS", 2)
    made = pc.ask("POST", "/v1/conversations", json={}).json()["id"]
    for said in ("one", "two"):
        pc.ask("POST", "/v1/responses", json={"model": "mock-small", "input": said, "conversation": made})
    assert items_of(pc, f"/v1/conversations/{made}") == [("user", "two"), ("assistant", "The mock heard: two")]


def test_a_file_is_attached_to_a_store_once(pc: PcClient) -> None:
    for _ in range(2):
        pc.ask("POST", "/v1/vector_stores/vs_mock/files", json={"file_id": "file-mock-training"})
    listed = pc.ask("GET", "/v1/vector_stores/vs_mock/files").json()["data"]
    assert [each["id"] for each in listed] == ["file-mock-notes", "file-mock-training"]
