"""PA's local and remote sessions: cursors, ageing, unavailable and pending ones (1:2.4, 2:7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.mockserver.compliance_client import (
    FINISHED,
    OTHER_SESSION,
    PENDING,
    SESSION,
    UNRETAINED_SESSION,
    Compliance,
    read_message,
    read_refusal,
)

if TYPE_CHECKING:
    from tests.unit.mockserver.mock_client import Client

LOCAL, REMOTE = "/apps/local-sessions", "/apps/remote-sessions"
INVALID = (400, "invalid_request_error")
MISSING = (404, "not_found_error")
UNAVAILABLE = (503, "overloaded_error")


@pytest.fixture
def api(client: Client) -> Compliance:
    return Compliance(client)


def test_a_walk_through_messages_reaches_each_once(api: Compliance) -> None:
    message_ids: list[str] = []
    page: str | None = None
    while page is not None or not message_ids:
        params = {"limit": 1, **({"page": page} if page else {})}
        answer = api.get(f"{LOCAL}/{SESSION}/messages", params=params).json()
        message_ids += [message["id"] for message in answer["data"]]
        page = answer["next_page"]
    assert message_ids == sorted(message_ids)
    assert len(message_ids) == 4
    newest_first = api.get(f"{LOCAL}/{SESSION}/messages", params={"order": "desc"}).json()["data"]
    assert [message["id"] for message in newest_first] == message_ids[::-1]


def test_a_page_cursor_is_bound_to_session_and_order_and_expires(api: Compliance) -> None:
    page = api.get(f"{LOCAL}/{SESSION}/messages", params={"limit": 1}).json()["next_page"]
    assert api.get(f"{LOCAL}/{SESSION}/messages", params={"page": page}, clock="+23h").status_code == 200
    for refusal in (
        api.get(f"{LOCAL}/{OTHER_SESSION}/messages", params={"page": page}),
        api.get(f"{LOCAL}/{SESSION}/messages", params={"page": page, "order": "desc"}),
        api.get(f"{LOCAL}/{SESSION}/messages", params={"page": page}, clock="+25h"),
        api.get(f"{LOCAL}/{SESSION}/messages", params={"page": "page_made_up"}),
        api.get(LOCAL, params={"page": page}),
    ):
        assert read_refusal(refusal) == INVALID
        assert read_message(refusal).startswith("page: ")


def test_an_unretained_session_is_neither_listed_nor_readable(api: Compliance) -> None:
    assert [session["id"] for session in api.get(LOCAL).json()["data"]] == [SESSION, OTHER_SESSION, "clls_01MockOwn"]
    assert read_refusal(api.get(f"{LOCAL}/{UNRETAINED_SESSION}/messages")) == MISSING
    assert read_refusal(api.get(f"{LOCAL}/clls_none/messages")) == MISSING
    assert read_refusal(api.get(f"{LOCAL}/{SESSION}/messages", clock="+31d")) == MISSING
    assert api.get(LOCAL, clock="+31d").json()["data"] == []


@pytest.mark.parametrize("path", [f"{LOCAL}/no-session/messages", f"{REMOTE}/no-session/transcript"])
def test_a_malformed_id_is_no_404(api: Compliance, path: str) -> None:
    assert read_refusal(api.get(path)) == INVALID


@pytest.mark.parametrize("path", [LOCAL, f"{LOCAL}/{SESSION}/messages", f"{LOCAL}/no-session/messages"])
def test_every_local_call_says_that_the_parent_has_none(api: Compliance, path: str) -> None:
    answer = api.get(path, key="mock-pa-compliance-no-local")
    assert read_refusal(answer) == MISSING
    assert answer.headers["x-should-retry"] == "true"


def test_a_revoked_customer_key_seals_the_content_and_stays_so(api: Compliance) -> None:
    key = "mock-pa-compliance-sealed"
    assert api.get(LOCAL, key=key).status_code == 200
    for clock in ("+0s", "+2h"):
        assert read_refusal(api.get(f"{LOCAL}/{SESSION}/messages", key=key, clock=clock)) == UNAVAILABLE


@pytest.mark.parametrize("cause", ["local_sessions_index_down", "captured_content_down", "retention_overrides_down"])
def test_a_part_can_fail_for_a_while(api: Compliance, cause: str) -> None:
    assert read_refusal(api.get(LOCAL, scenario=f"{cause};times=1")) == UNAVAILABLE
    assert api.get(LOCAL, scenario=f"{cause};times=1").status_code == 200
    assert "mock_error" in api.get("/apps/chats", scenario=cause).json()


def test_a_pending_session_has_no_transcript_until_it_is_ready(api: Compliance) -> None:
    statuses = {session["id"]: session["status"] for session in api.get(REMOTE).json()["data"]}
    assert statuses[PENDING] == "pending"
    assert statuses[FINISHED] != "pending"
    refusal = api.get(f"{REMOTE}/{PENDING}/transcript")
    assert read_refusal(refusal) == MISSING
    assert refusal.headers["x-should-retry"] == "true"
    for session, clock in ((PENDING, "+20m"), (FINISHED, None)):
        assert "Much." in api.get(f"{REMOTE}/{session}/transcript", clock=clock).json()["transcript"]
    assert read_refusal(api.get(f"{REMOTE}/cse_none/transcript")) == MISSING
