"""Stored state of every provider: files, batches, pages, conversations, and to whom each belongs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.mockserver.core.sessions import Session
from catalog_probe.mockserver.pb import access
from catalog_probe.mockserver.pb.access import TokenState
from catalog_probe.mockserver.pb.keys import MAIN
from tests.unit.mockserver.mock_client import (
    CONTENTS,
    Client,
    PbClient,
    PcClient,
    PdClient,
    make_message,
    read_code,
    read_refusal,
    read_status,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from httpx import Response

PA_BATCHES = "/v1/messages/batches"
PA_BATCH = {
    "requests": [{"custom_id": "ok", "params": make_message()}, {"custom_id": "bad", "params": {"model": "mock-small"}}]
}


def test_a_batch_of_pa_runs_on_the_clock_and_leaves_results(client: Client) -> None:
    batch = client.pa("POST", PA_BATCHES, json=PA_BATCH).json()
    path = f"{PA_BATCHES}/{batch['id']}"
    assert batch["processing_status"] == "in_progress"
    assert batch["request_counts"]["processing"] == 2
    assert client.pa("GET", f"{path}/results").status_code == 404
    ended = client.pa("GET", path, clock="+2m").json()
    assert ended["processing_status"] == "ended"
    assert (ended["request_counts"]["succeeded"], ended["request_counts"]["errored"]) == (1, 1)
    assert ended["results_url"] == f"http://mock/pa{path}/results"
    lines = client.pa("GET", f"{path}/results", clock="+2m").text.splitlines()
    results = {line["custom_id"]: line["result"] for line in map(json.loads, lines)}
    assert results["ok"]["message"]["type"] == "message"
    assert results["bad"]["error"]["error"]["type"] == "invalid_request_error"
    assert client.pa("POST", f"{path}/cancel", clock="+2m").status_code == 409


def test_a_cancelled_batch_of_pa_ends_without_messages(client: Client) -> None:
    path = f"{PA_BATCHES}/{client.pa('POST', PA_BATCHES, json=PA_BATCH).json()['id']}"
    assert client.pa("POST", f"{path}/cancel").json()["processing_status"] == "canceling"
    assert client.pa("GET", path, clock="+2m").json()["request_counts"]["canceled"] == 2


def test_the_ids_of_a_batch_of_pa_are_unique(client: Client) -> None:
    twice = {"requests": [{"custom_id": "a", "params": {}}] * 2}
    refused = client.pa("POST", PA_BATCHES, json=twice)
    assert (refused.status_code, "unique" in refused.text) == (400, True)


def test_models_of_pa_are_listed_by_pages_both_ways(client: Client) -> None:
    listing = client.pa("GET", "/v1/models").json()
    ids = [model["id"] for model in listing["data"]]
    assert listing["has_more"] is False
    first = client.pa("GET", "/v1/models?limit=2").json()
    assert (first["has_more"], first["last_id"]) == (True, ids[1])
    following = client.pa("GET", f"/v1/models?after_id={first['last_id']}").json()
    assert [model["id"] for model in first["data"] + following["data"]] == ids
    back = client.pa("GET", f"/v1/models?limit=1&before_id={ids[2]}").json()
    assert [model["id"] for model in back["data"]] == [ids[1]]


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "after_id=none", "after_id=a&before_id=b"])
def test_a_page_of_pa_that_is_none_gets_400(client: Client, query: str) -> None:
    assert client.pa("GET", f"/v1/models?{query}").status_code == 400


@pytest.mark.parametrize(
    "query", ["after_id=no-activity-id", "after_id=activity_000000000000000000000000", "after_id=a&before_id=b"]
)
def test_a_page_of_activities_that_is_none_gets_400(client: Client, query: str) -> None:
    answer = client.pa("GET", f"/v1/compliance/activities?{query}", key="mock-pa-compliance")
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("after_id: ")


def test_a_walk_through_chats_survives_the_deletes_on_its_way(client: Client) -> None:
    def list_chats(**query: Any) -> Any:
        params = {"limit": 1, **query}
        return client.pa("GET", "/v1/compliance/apps/chats", key="mock-pa-compliance", params=params).json()

    first = list_chats()
    deleted = f"/v1/compliance/apps/chats/{first['data'][0]['id']}"
    assert client.pa("DELETE", deleted, key="mock-pa-compliance-delete").status_code == 200
    (second,) = list_chats(after_id=first["last_id"])["data"]
    assert list_chats()["data"] == [second]


def test_files_of_pa_belong_to_their_session_and_organization(client: Client) -> None:
    form = {"file": ("a.txt", b"hello", "text/plain")}
    file = client.pa("POST", "/v1/files", files=form, session="one").json()
    path = f"/v1/files/{file['id']}"
    assert client.pa("GET", path, session="one").json() == file
    assert client.pa("GET", path, session="two").status_code == 404
    assert client.pa("GET", path, session="one", key="mock-pa-inference-scale").status_code == 404


def test_one_parent_organization_sees_nothing_of_another(client: Client) -> None:
    (chat,) = client.pa("GET", "/v1/compliance/apps/chats?limit=1", key="mock-pa-compliance").json()["data"]
    key = "mock-pa-compliance-elsewhere"
    assert client.pa("GET", "/v1/compliance/apps/chats", key=key).json()["data"] == []
    assert client.pa("GET", f"/v1/compliance/apps/chats/{chat['id']}/messages", key=key).status_code == 404


def upload_file(pb: PbClient, content: bytes = b"Hello", version: str = "v1", **file: Any) -> Mapping[str, Any]:
    """Announce a file to PB and then send it."""
    start = {"x-pb-upload-command": "start", "x-pb-upload-protocol": "resumable"}
    announcement = {"file": {"sizeBytes": str(len(content)), **file}}
    announced = pb.ask("POST", f"/upload/{version}/files", json=announcement, headers=start)
    assert (announced.status_code, announced.headers["x-pb-upload-status"]) == (200, "active")
    url = announced.headers["x-pb-upload-url"]
    sent = pb.send("POST", url, content=content, headers={"x-pb-upload-command": "upload, finalize"})
    assert sent.headers["x-pb-upload-status"] == "final"
    uploaded_file: Mapping[str, Any] = sent.json()["file"]
    return uploaded_file


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_a_file_of_pb_is_listed_until_it_is_deleted(pb: PbClient, version: str) -> None:
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
    contents = [{"parts": [{"fileData": {"fileUri": upload_file(pb)["uri"]}}, {"text": "Hello"}]}]
    assert pb.generate(fields={"contents": contents}).status_code == 200
    assert read_status(pb.generate(fields={"contents": contents}, key="mock-pb-stranger")) == (404, "NOT_FOUND")


def start_batch(pb: PbClient, source: Mapping[str, Any], clock: str | None = None) -> dict[str, Any]:
    body = {"batch": {"displayName": "one", "inputConfig": source}}
    job: dict[str, Any] = pb.ask("POST", "/v1/models/mock-lite:batchGenerateContent", json=body, clock=clock).json()
    return job


INLINE = {
    "requests": {
        "requests": [{"request": {"contents": CONTENTS}, "metadata": {"key": "a"}}, {"request": {"contents": 5}}]
    }
}


def test_a_batch_of_pb_answers_each_of_its_requests(pb: PbClient) -> None:
    path = f"/v1/{start_batch(pb, INLINE)['name']}"
    states = [pb.ask("GET", path, clock=clock).json()["metadata"]["state"] for clock in ("+0s", "+2s", "+61s")]
    assert states == ["BATCH_STATE_PENDING", "BATCH_STATE_RUNNING", "BATCH_STATE_SUCCEEDED"]
    finished = pb.ask("GET", path, clock="+61s").json()
    good, bad = finished["response"]["inlinedResponses"]["inlinedResponses"]
    assert good["metadata"] == {"key": "a"}
    assert good["response"]["candidates"][0]["content"]["parts"][0]["text"] == "The mock heard: Hello"
    assert bad["error"]["status"] == "INVALID_ARGUMENT"
    assert finished["metadata"]["output"] == finished["response"]


def test_a_batch_of_pb_that_reads_a_file_has_no_answers(pb: PbClient) -> None:
    job = start_batch(pb, {"fileName": upload_file(pb, b"{}")["name"]})
    finished = pb.ask("GET", f"/v1/{job['name']}", clock="+61s").json()
    assert finished["response"] == {"inlinedResponses": {"inlinedResponses": []}}


def test_a_batch_of_pb_belongs_to_its_project_and_can_be_deleted(pb: PbClient) -> None:
    path = f"/v1/{start_batch(pb, INLINE)['name']}"
    assert read_status(pb.ask("GET", path, key="mock-pb-stranger")) == (404, "NOT_FOUND")
    assert pb.ask("DELETE", path).json() == {}
    assert read_status(pb.ask("GET", path)) == (404, "NOT_FOUND")


@pytest.mark.parametrize("source", [{}, {"requests": {"requests": [5]}}, {"fileName": "x"}])
def test_a_batch_of_pb_with_no_requests_is_refused(pb: PbClient, source: Mapping[str, Any]) -> None:
    assert start_batch(pb, source)["error"]["code"] in (400, 404)


def test_a_store_of_pb_that_is_given_no_name_gets_one(pb: PbClient) -> None:
    store = pb.ask("POST", "/v1/fileSearchStores", json={"displayName": "one"}).json()
    assert pb.ask("GET", "/v1/fileSearchStores").json()["fileSearchStores"] == [store]
    assert pb.ask("POST", f"/v1/{store['name']}/documents", json={"name": "a"}).status_code == 200
    (listed,) = pb.ask("GET", "/v1/fileSearchStores").json()["fileSearchStores"]
    assert listed["activeDocumentsCount"] == "1"
    pb.ask("DELETE", f"/v1/{store['name']}")
    assert pb.ask("GET", "/v1/fileSearchStores").json()["fileSearchStores"] == []


def test_a_listing_of_pb_is_turned_page_by_page(pb: PbClient) -> None:
    names = [pb.ask("POST", "/v1/fileSearchStores", json={}).json()["name"] for _ in range(3)]
    first = pb.ask("GET", "/v1/fileSearchStores?pageSize=2").json()
    second = pb.ask("GET", f"/v1/fileSearchStores?pageSize=2&pageToken={first['nextPageToken']}").json()
    assert [store["name"] for page in (first, second) for store in page["fileSearchStores"]] == names
    assert "nextPageToken" not in second
    assert read_status(pb.ask("GET", "/v1beta/models", params={"pageToken": "x"})) == (400, "INVALID_ARGUMENT")


FUNCTION = {"type": "function", "name": "look", "parameters": {"type": "object"}}


def test_an_interaction_of_pb_is_continued_and_belongs_to_its_project_and_session(pb: PbClient) -> None:
    first = pb.interact().json()
    path = f"/v1beta/interactions/{first['id']}"
    second = pb.interact({"previous_interaction_id": first["id"], "input": "And now?"}).json()
    assert second["previous_interaction_id"] == first["id"]
    assert second["usage"]["total_input_tokens"] > first["usage"]["total_input_tokens"]
    assert read_code(pb.ask("GET", path, key="mock-pb-stranger")) == (403, "permission_denied")
    assert read_code(pb.ask("GET", path, session="another")) == (404, "not_found")


def test_an_interaction_of_pb_in_the_background_must_be_stored_and_takes_its_time(pb: PbClient) -> None:
    begun = pb.interact({"background": True}).json()
    assert (begun["status"], begun["steps"]) == ("in_progress", [])
    assert pb.ask("GET", f"/v1beta/interactions/{begun['id']}", clock="+3s").json()["status"] == "completed"
    assert read_code(pb.interact({"background": True, "store": False})) == (400, "invalid_request")


@pytest.mark.parametrize("is_stored", [True, False])
def test_a_conversation_of_pb_keeps_its_thoughts_if_they_are_stored_or_echoed(pb: PbClient, is_stored: bool) -> None:
    choice = {"tools": [FUNCTION], "generation_config": {"tool_choice": "any"}}
    first = pb.interact({"model": "mock-pro", **choice}).json()
    assert first["status"] == "requires_action"
    thought, called = first["steps"]
    result = {"type": "function_result", "call_id": called["id"], "name": "look", "result": "x"}
    said = {"type": "user_input", "content": [{"type": "text", "text": "Hello"}]}
    going_on = (
        {"input": [result], "previous_interaction_id": first["id"]}
        if is_stored
        else {"input": [said, thought, called, result], "tools": [FUNCTION]}
    )
    assert pb.interact({"model": "mock-pro", **going_on}).json()["status"] == "completed"


@pytest.mark.parametrize("fields", [{"agent": "none"}, {"previous_interaction_id": "none"}])
def test_what_pb_does_not_keep_is_not_found(pb: PbClient, fields: dict[str, str]) -> None:
    assert read_code(pb.interact(fields)) == (404, "not_found")


def test_an_ephemeral_token_of_pb_is_used_up() -> None:
    session = Session("one")
    token = access.issue(session, MAIN, now=0, uses=2)
    assert [access.redeem(session, token.name, now=1) for _ in range(3)] == [
        TokenState.GOOD,
        TokenState.GOOD,
        TokenState.USED_UP,
    ]
    assert access.redeem(session, "auth_tokens/none", now=1) is TokenState.UNKNOWN
    assert access.find_state(Session("two"), token.name, now=0) is TokenState.UNKNOWN


def test_an_ephemeral_token_of_pb_expires() -> None:
    session = Session("one")
    token = access.issue(session, MAIN, now=0, expires_at=600, uses=0)
    assert access.redeem(session, token.name, now=599) is TokenState.GOOD
    assert access.find_state(session, token.name, now=599) is TokenState.GOOD
    assert access.redeem(session, token.name, now=600) is TokenState.EXPIRED


def test_an_ephemeral_token_of_pb_is_accepted_by_the_live_api_only(pb: PbClient) -> None:
    name = pb.ask("POST", "/v1beta/auth_tokens", json={"expireTime": "2099-01-01T00:00:00Z"}).json()["name"]
    in_header = pb.ask("GET", "/v1beta/models", key=None, headers={"authorization": f"Token {name}"})
    as_key = pb.ask("GET", "/v1beta/models", key=name)
    assert read_status(in_header) == read_status(as_key) == (403, "PERMISSION_DENIED")
    refused = pb.ask("POST", "/v1beta/auth_tokens", json={"expireTime": "soon"})
    assert read_status(refused) == (400, "INVALID_ARGUMENT")


def upload_to_pc(pc: PcClient, content: bytes, purpose: str = "batch") -> dict[str, Any]:
    files = {"file": ("lines.jsonl", content)}
    file: dict[str, Any] = pc.ask("POST", "/v1/files", files=files, data={"purpose": purpose}).json()
    return file


def test_an_upload_to_pc_can_be_searched_until_it_is_deleted(pc: PcClient) -> None:
    file = upload_to_pc(pc, b"some text", "user_data")
    path = f"/v1/files/{file['id']}"
    assert (file["filename"], file["bytes"]) == ("lines.jsonl", 9)
    assert pc.ask("GET", path).json() == file
    store = pc.ask("POST", "/v1/vector_stores", json={"name": "one", "file_ids": [file["id"]]}).json()
    assert (store["name"], store["usage_bytes"], store["file_counts"]["total"]) == ("one", 9, 1)
    assert pc.ask("DELETE", f"/v1/vector_stores/{store['id']}").json()["deleted"]
    assert pc.ask("GET", f"/v1/vector_stores/{store['id']}/files").status_code == 404
    assert pc.ask("GET", path).status_code == 200
    assert pc.ask("DELETE", path).json()["deleted"]
    assert read_refusal(pc.ask("GET", path)) == (404, None, "id")


def test_a_file_of_pc_is_attached_to_a_store_once(pc: PcClient) -> None:
    for _ in range(2):
        pc.ask("POST", "/v1/vector_stores/vs_mock/files", json={"file_id": "file-mock-training"})
    listed = pc.ask("GET", "/v1/vector_stores/vs_mock/files").json()["data"]
    assert [file["id"] for file in listed] == ["file-mock-notes", "file-mock-training"]


@pytest.mark.parametrize(
    ("path", "field", "body", "status"),
    [
        (
            "/v1/batches",
            "input_file_id",
            {"endpoint": "/v1/responses", "completion_window": "24h"},
            "validating",
        ),
        ("/v1/fine_tuning/jobs", "training_file", {"model": "mock-small"}, "queued"),
    ],
)
def test_a_job_of_pc_reads_an_uploaded_file(
    pc: PcClient, path: str, field: str, body: dict[str, Any], status: str
) -> None:
    file_id = upload_to_pc(pc, b"{}")["id"]
    assert pc.ask("POST", path, json={**body, field: file_id}).json()["status"] == status


def test_a_stored_response_of_pc_belongs_to_its_organization_and_session(pc: PcClient) -> None:
    response = pc.respond().json()
    path = f"/v1/responses/{response['id']}"
    assert pc.ask("GET", path).json() == response
    assert pc.ask("GET", path, key="mock-pc-elsewhere").status_code == 404
    assert pc.ask("GET", path, headers={"x-mock-session": "another"}).status_code == 404


def test_a_response_of_pc_in_the_background_is_done_later(pc: PcClient) -> None:
    path = f"/v1/responses/{pc.respond({'background': True}).json()['id']}"
    states = [pc.ask("GET", path, clock=clock).json()["status"] for clock in ("+0s", "+31s")]
    assert states == ["in_progress", "completed"]


def test_a_conversation_of_pc_keeps_its_metadata_until_it_is_deleted(pc: PcClient) -> None:
    conversation = pc.ask("POST", "/v1/conversations", json={"metadata": {"a": "b"}}).json()
    path = f"/v1/conversations/{conversation['id']}"
    assert pc.respond({"conversation": conversation["id"]}).json()["conversation"] == {"id": conversation["id"]}
    assert (conversation["metadata"], pc.ask("GET", path).json()) == ({"a": "b"}, conversation)
    assert pc.ask("DELETE", path).json()["deleted"]
    assert read_refusal(pc.ask("GET", path)) == (404, None, None)


def test_a_deferred_result_of_pd_belongs_to_its_team_and_session_and_waits_24_hours(pd: PdClient) -> None:
    def fetch(clock: str, **kwargs: Any) -> Response:
        return pd.ask("GET", path, clock=clock, **kwargs)

    path = f"/v1/chat/deferred-completion/{pd.complete({'deferred': True}).json()['request_id']}"
    assert fetch("+1m", key="mock-pd-labs").status_code == 404
    assert fetch("+1m", headers={"x-mock-session": "another"}).status_code == 404
    assert fetch("+24h1m").status_code == 404
    assert fetch("+23h59m").status_code == 200
