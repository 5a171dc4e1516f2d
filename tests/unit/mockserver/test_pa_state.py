"""PA's batches, files and agents: per session, by its clock, within its rate limits (2:8.2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.mockserver.mock_client import Client, make_message

if TYPE_CHECKING:
    from httpx import Response

REQUESTS = {
    "requests": [{"custom_id": "ok", "params": make_message()}, {"custom_id": "bad", "params": {"model": "mock-small"}}]
}


def upload(client: Client, name: str = "a.txt", content: bytes = b"hello", **kwargs: Any) -> Response:
    return client.pa("POST", "/v1/files", files={"file": (name, content, "text/plain")}, **kwargs)


def test_a_batch_runs_on_the_clock_and_leaves_results(client: Client) -> None:
    batch = client.pa("POST", "/v1/messages/batches", json=REQUESTS).json()
    path = f"/v1/messages/batches/{batch['id']}"
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


def test_a_cancelled_batch_ends_without_messages(client: Client) -> None:
    batch = client.pa("POST", "/v1/messages/batches", json=REQUESTS).json()
    path = f"/v1/messages/batches/{batch['id']}"
    assert client.pa("POST", f"{path}/cancel").json()["processing_status"] == "canceling"
    assert client.pa("GET", path, clock="+2m").json()["request_counts"]["canceled"] == 2


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"requests": []},
        {"requests": [{"custom_id": "a"}]},
        {"requests": [1]},
        {"requests": [{"custom_id": "a", "params": {}}] * 2},
    ],
)
def test_an_invalid_batch_gets_400(client: Client, fields: dict[str, Any]) -> None:
    assert client.pa("POST", "/v1/messages/batches", json=fields).status_code == 400


def test_batches_are_paged_newest_first(client: Client) -> None:
    ids = [client.pa("POST", "/v1/messages/batches", json=REQUESTS).json()["id"] for _ in range(3)]
    first = client.pa("GET", "/v1/messages/batches?limit=2").json()
    assert [batch["id"] for batch in first["data"]] == [ids[2], ids[1]]
    assert first["has_more"]
    following = client.pa("GET", f"/v1/messages/batches?after_id={first['last_id']}").json()
    assert [batch["id"] for batch in following["data"]] == [ids[0]]


def test_a_file_is_kept_until_it_is_deleted(client: Client) -> None:
    file = upload(client).json()
    path = f"/v1/files/{file['id']}"
    assert (file["filename"], file["size_bytes"], file["mime_type"]) == ("a.txt", 5, "text/plain")
    assert client.pa("GET", path).json() == file
    assert client.pa("GET", f"{path}/content").content == b"hello"
    assert [file["id"] for file in client.pa("GET", "/v1/files").json()["data"]] == [file["id"]]
    assert client.pa("DELETE", path).json() == {"id": file["id"], "type": "file_deleted"}
    assert client.pa("GET", f"{path}/content").status_code == 404


def test_any_bytes_survive_an_upload(client: Client) -> None:
    content = bytes(range(256)) + b"\r\n--not-the-boundary\r\n\r\n"
    file = upload(client, name="an odd name.bin", content=content).json()
    assert file["filename"] == "an odd name.bin"
    assert client.pa("GET", f"/v1/files/{file['id']}/content").content == content


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (b"hello", "text/plain"),
        (b"hello", "multipart/form-data"),
        (b"hello", "multipart/form-data; boundary=x"),
        (
            b'--x\r\nContent-Disposition: form-data; name="other"\r\n\r\nhello\r\n--x--\r\n',
            "multipart/form-data; boundary=x",
        ),
        (
            b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nhello\r\n--x--\r\n',
            "multipart/form-data; boundary=x",
        ),
        (b"--x\r\nno headers end\r\n--x--\r\n", "multipart/form-data; boundary=x"),
    ],
)
def test_an_invalid_upload_gets_400(client: Client, content: bytes, content_type: str) -> None:
    response = client.pa("POST", "/v1/files", content=content, headers={"content-type": content_type})
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


def test_an_agent_is_made_listed_and_read(client: Client) -> None:
    agent = client.pa("POST", "/v1/agents", json={"name": "one", "model": "mock-small"}).json()
    assert (agent["type"], agent["version"], agent["model"]["id"]) == ("agent", 1, "mock-small")
    assert client.pa("GET", f"/v1/agents/{agent['id']}").json() == agent
    assert client.pa("GET", "/v1/agents").json()["data"] == [agent]


@pytest.mark.parametrize(
    ("fields", "status"),
    [({}, 400), ({"name": "x"}, 400), ({"name": "x", "model": "no"}, 404)],
)
def test_an_invalid_agent_is_refused(client: Client, fields: dict[str, str], status: int) -> None:
    assert client.pa("POST", "/v1/agents", json=fields).status_code == status


def test_an_agent_is_changed_in_the_version_that_the_client_knows_or_in_any(client: Client) -> None:
    agent = client.pa("POST", "/v1/agents", json={"name": "one", "model": "mock-small"}).json()
    path = f"/v1/agents/{agent['id']}"
    assert client.pa("POST", path, json={"version": 1, "description": "new"}).json()["version"] == 2
    assert client.pa("POST", path, json={"version": 1}).status_code == 409
    changed = client.pa("POST", path, json={"description": None, "tools": None}).json()
    assert (changed["version"], changed["description"], changed["tools"]) == (3, None, [])


def test_sessions_never_see_each_other(client: Client) -> None:
    file = upload(client, session="one").json()
    assert client.pa("GET", f"/v1/files/{file['id']}", session="one").status_code == 200
    assert client.pa("GET", f"/v1/files/{file['id']}", session="two").status_code == 404
    assert client.pa("GET", f"/v1/files/{file['id']}").status_code == 404


def test_organizations_never_see_each_other(client: Client) -> None:
    file = upload(client).json()
    assert client.pa("GET", f"/v1/files/{file['id']}", key="mock-pa-inference-scale").status_code == 404


def test_three_cheap_requests_exhaust_a_tight_organization(client: Client) -> None:
    def count_tokens(**kwargs: Any) -> Response:
        request_body = make_message({"max_tokens": ...})
        return client.pa("POST", "/v1/messages/count_tokens", json=request_body, key="mock-pa-tight", **kwargs)

    assert [count_tokens().status_code for _ in range(2)] == [200, 200]
    refused = count_tokens()
    assert refused.status_code == 429
    assert refused.json()["error"]["type"] == "rate_limit_error"
    assert refused.headers["x-should-retry"] == "true"
    assert 1 <= int(refused.headers["retry-after"]) <= 30
    assert refused.headers["pa-ratelimit-requests-limit"] == "2"
    assert refused.headers["pa-ratelimit-requests-remaining"] == "0"
    assert count_tokens(session="another").status_code == 200
    assert count_tokens(clock="+31s").status_code == 200


def test_each_model_class_has_a_budget_of_its_own(client: Client) -> None:
    for model in ("mock-small", "mock-large"):
        statuses = [client.hello({"model": model}, key="mock-pa-tight").status_code for _ in range(3)]
        assert statuses == [200, 200, 429]


def test_output_tokens_are_charged_as_generated_and_input_as_sent(client: Client) -> None:
    before = client.hello(key="mock-pa-tight").headers
    answer = client.hello({"messages": [{"role": "user", "content": "word " * 4000}]}, key="mock-pa-tight")
    after, sent = answer.headers, answer.json()["usage"]["input_tokens"]
    taken = int(before["pa-ratelimit-input-tokens-remaining"]) - int(after["pa-ratelimit-input-tokens-remaining"])
    assert sent - 400 < taken <= sent  # the bucket refills a little meanwhile
    assert after["pa-ratelimit-tokens-limit"] in ("4000", "20000")
