"""PB's stored state: uploaded files, batches, file stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.mockserver.pb_client import PbClient, read_status

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSIONS = ("v1", "v1beta")
CONTENT = b"Hello"
ASKED = {"contents": [{"parts": [{"text": "Hello"}]}]}


def upload_file(pb: PbClient, content: bytes = CONTENT, version: str = "v1", **file: Any) -> Mapping[str, Any]:
    """A file, announced and then sent."""
    start = {"x-pb-upload-command": "start", "x-pb-upload-protocol": "resumable"}
    announcement = {"file": {"sizeBytes": str(len(content)), **file}}
    announced = pb.ask("POST", f"/upload/{version}/files", json=announcement, headers=start)
    assert (announced.status_code, announced.headers["x-pb-upload-status"]) == (200, "active")
    url = announced.headers["x-pb-upload-url"]
    sent = pb.send("POST", url, content=content, headers={"x-pb-upload-command": "upload, finalize"})
    assert sent.headers["x-pb-upload-status"] == "final"
    uploaded_file: Mapping[str, Any] = sent.json()["file"]
    return uploaded_file


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_is_listed_until_it_is_deleted(pb: PbClient, version: str) -> None:
    file = upload_file(pb, version=version, mimeType="text/plain", displayName="hello")
    assert (file["sizeBytes"], file["mimeType"], file["state"]) == ("5", "text/plain", "ACTIVE")
    path = f"/{version}/{file['name']}"
    assert pb.ask("GET", path).json() == file
    assert [listed["name"] for listed in pb.ask("GET", f"/{version}/files").json()["files"]] == [file["name"]]
    assert pb.ask("DELETE", path).json() == {}
    assert read_status(pb.ask("GET", path)) == (404, "NOT_FOUND")


def test_an_upload_goes_on_without_a_key_where_its_address_says_and_nowhere_else(pb: PbClient) -> None:
    assert read_status(pb.ask("POST", "/upload/v1/files?upload_id=none", content=b"x")) == (404, "NOT_FOUND")
    assert read_status(pb.ask("POST", "/upload/v1/files", key=None, json={"file": {"sizeBytes": 1}}))[0] == 401


def test_an_upload_goes_on_in_its_session(pb: PbClient) -> None:
    announcement = {"file": {"sizeBytes": 1}}
    announced = pb.ask("POST", "/upload/v1/files", json=announcement, session="mine")
    assert "/pb@mine/upload/v1/files?upload_id=" in announced.headers["x-pb-upload-url"]
    pb.send("POST", announced.headers["x-pb-upload-url"], content=b"x")
    assert len(pb.ask("GET", "/v1/files", session="mine").json()["files"]) == 1
    assert pb.ask("GET", "/v1/files").json()["files"] == []


def test_a_prompt_may_read_the_files_of_its_project(pb: PbClient) -> None:
    uri = upload_file(pb)["uri"]
    body = {"contents": [{"parts": [{"fileData": {"fileUri": uri}}, {"text": "Hello"}]}]}
    path = "/v1/models/mock-lite:generateContent"
    assert pb.ask("POST", path, json=body).status_code == 200
    assert read_status(pb.ask("POST", path, json=body, key="mock-pb-stranger")) == (404, "NOT_FOUND")


def batch(pb: PbClient, source: Mapping[str, Any], clock: str | None = None) -> dict[str, Any]:
    body = {"batch": {"displayName": "one", "inputConfig": source}}
    job: dict[str, Any] = pb.ask("POST", "/v1/models/mock-lite:batchGenerateContent", json=body, clock=clock).json()
    return job


INLINE = {"requests": {"requests": [{"request": ASKED, "metadata": {"key": "a"}}, {"request": {"contents": 5}}]}}


def test_a_batch_answers_each_of_its_requests(pb: PbClient) -> None:
    job = batch(pb, INLINE)
    path = f"/v1/{job['name']}"
    states = [pb.ask("GET", path, clock=clock).json()["metadata"]["state"] for clock in ("+0s", "+2s", "+61s")]
    assert states == ["BATCH_STATE_PENDING", "BATCH_STATE_RUNNING", "BATCH_STATE_SUCCEEDED"]
    finished = pb.ask("GET", path, clock="+61s").json()
    good, bad = finished["response"]["inlinedResponses"]["inlinedResponses"]
    assert good["metadata"] == {"key": "a"}
    assert good["response"]["candidates"][0]["content"]["parts"][0]["text"] == "The mock heard: Hello"
    assert bad["error"]["status"] == "INVALID_ARGUMENT"
    assert finished["metadata"]["output"] == finished["response"]


def test_a_batch_that_reads_a_file_has_no_answers(pb: PbClient) -> None:
    job = batch(pb, {"fileName": upload_file(pb, b"{}")["name"]})
    finished = pb.ask("GET", f"/v1/{job['name']}", clock="+61s").json()
    assert finished["response"] == {"inlinedResponses": {"inlinedResponses": []}}


def test_a_batch_belongs_to_its_project_and_can_be_deleted(pb: PbClient) -> None:
    path = f"/v1/{batch(pb, INLINE)['name']}"
    assert read_status(pb.ask("GET", path, key="mock-pb-stranger")) == (404, "NOT_FOUND")
    assert pb.ask("DELETE", path).json() == {}
    assert read_status(pb.ask("GET", path)) == (404, "NOT_FOUND")


def test_a_batch_that_has_ended_makes_room_for_another(pb: PbClient) -> None:
    for _ in range(100):
        assert "name" in batch(pb, INLINE)
    assert batch(pb, INLINE)["error"]["status"] == "RESOURCE_EXHAUSTED"
    assert "name" in batch(pb, INLINE, clock="+61s")


@pytest.mark.parametrize(
    "source", [{}, {"requests": {}}, {"requests": {"requests": 5}}, {"requests": {"requests": [5]}}, {"fileName": "x"}]
)
def test_a_batch_of_nothing_is_refused(pb: PbClient, source: Mapping[str, Any]) -> None:
    assert batch(pb, source)["error"]["code"] in (400, 404)


def test_a_store_that_is_given_no_name_gets_one(pb: PbClient) -> None:
    store = pb.ask("POST", "/v1/fileSearchStores", json={"displayName": "one"}).json()
    assert pb.ask("GET", "/v1/fileSearchStores").json()["fileSearchStores"] == [store]
    assert pb.ask("POST", f"/v1/{store['name']}/documents", json={"name": "a"}).status_code == 200
    (listed,) = pb.ask("GET", "/v1/fileSearchStores").json()["fileSearchStores"]
    assert listed["activeDocumentsCount"] == "1"
    pb.ask("DELETE", f"/v1/{store['name']}")
    assert pb.ask("GET", "/v1/fileSearchStores").json()["fileSearchStores"] == []


def test_a_listing_is_turned_page_by_page(pb: PbClient) -> None:
    names = [pb.ask("POST", "/v1/fileSearchStores", json={}).json()["name"] for _ in range(3)]
    first = pb.ask("GET", "/v1/fileSearchStores?pageSize=2").json()
    second = pb.ask("GET", f"/v1/fileSearchStores?pageSize=2&pageToken={first['nextPageToken']}").json()
    assert [store["name"] for page in (first, second) for store in page["fileSearchStores"]] == names
    assert "nextPageToken" not in second
