"""PA's compliance data: queries, pages, deletion and its activities (1:2.5, 1:3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.mockserver.compliance_client import (
    ARTIFACT,
    BUSY,
    CHAT,
    CHAT_FILE,
    DELETED_CHAT,
    DOCUMENT,
    GENERATED_FILE,
    IDLE,
    ORGANIZATION,
    ORGANIZATION_WITHOUT_SETTINGS,
    PLAIN_CHAT,
    PROJECT_FILE,
    Compliance,
    read_message,
    read_refusal,
)

if TYPE_CHECKING:
    from tests.unit.mockserver.mock_client import Client

INVALID = (400, "invalid_request_error")
MISSING = (404, "not_found_error")
EARLY, LATE = "2026-01-01T00:00:00Z", "2099-01-01T00:00:00+02:00"


@pytest.fixture
def api(client: Client) -> Compliance:
    return Compliance(client)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", "1001"),
        ("limit", "0"),
        ("limit", "many"),
        ("limit", "1_0"),
        ("limit", " 1"),
        ("limit", "\u0663"),
        ("created_at.gte", "yesterday"),
        ("created_at.gte", "2026-02-30T00:00:00Z"),
        ("created_at.lt", "2026-01-01T00:00:00"),
        ("created_at.lt", "2026-01-01"),
        ("activity_types[]", "no_such_activity"),
    ],
)
def test_a_message_begins_with_the_parameter(api: Compliance, name: str, value: str) -> None:
    answer = api.get("/activities", params={name: value})
    assert read_refusal(answer) == INVALID
    assert read_message(answer).startswith(f"{name}: ")


def test_the_window_must_have_a_length(api: Compliance) -> None:
    answer = api.get("/activities", params={"created_at.gte": EARLY, "created_at.lt": EARLY})
    assert read_message(answer).startswith("created_at.lt: ")
    assert len(api.get("/activities", params={"created_at.gte": EARLY, "created_at.lt": LATE}).json()["data"]) == 7
    assert api.get("/activities", params={"created_at.gte": LATE}).json()["data"] == []


@pytest.mark.parametrize(
    ("name", "hint"),
    [("created_at[gte]", "dot notation"), ("activity_types", "activity_types[]"), ("no_such", "no_such")],
)
def test_an_unrecognized_parameter_is_refused_with_a_hint(api: Compliance, name: str, hint: str) -> None:
    answer = api.get("/activities", params={name: EARLY})
    assert read_refusal(answer) == INVALID
    assert hint in read_message(answer)


@pytest.mark.parametrize("path", [f"/apps/files/{CHAT_FILE}", "/organizations", "/groups", f"/apps/projects/{BUSY}"])
def test_every_endpoint_refuses_unknown_parameters(api: Compliance, path: str) -> None:
    assert read_refusal(api.get(path, params={"no_such": "1"})) == INVALID


def test_activities_are_walked_both_ways_by_their_ids(api: Compliance) -> None:
    everything = [activity["id"] for activity in api.get("/activities").json()["data"]]
    first = api.get("/activities", params={"limit": 3}).json()
    assert (first["first_id"], first["last_id"], first["has_more"]) == (everything[0], everything[2], True)
    second = api.get("/activities", params={"limit": 3, "after_id": first["last_id"]}).json()
    assert [activity["id"] for activity in second["data"]] == everything[3:6]
    back = api.get("/activities", params={"limit": 3, "before_id": second["first_id"]}).json()
    assert back["data"] == first["data"]


@pytest.mark.parametrize("cursor", ["no-activity-id", "activity_000000000000000000000000"])
def test_an_activity_cursor_must_be_an_id_of_this_list(api: Compliance, cursor: str) -> None:
    answer = api.get("/activities", params={"after_id": cursor})
    assert read_refusal(answer) == INVALID
    assert read_message(answer).startswith("after_id: ")


def test_two_cursors_cannot_be_combined(api: Compliance) -> None:
    assert read_refusal(api.get("/activities", params={"after_id": "a", "before_id": "b"})) == INVALID


def test_chats_are_chosen_by_user_and_project(api: Compliance) -> None:
    assert [chat["id"] for chat in api.get("/apps/chats").json()["data"]] == [CHAT, PLAIN_CHAT, DELETED_CHAT]
    of_ben = api.get("/apps/chats", params={"user_ids[]": "user_01MockBen"}).json()["data"]
    assert [chat["id"] for chat in of_ben] == [PLAIN_CHAT, DELETED_CHAT]
    of_project = api.get("/apps/chats", params={"project_ids[]": BUSY}).json()["data"]
    assert [chat["id"] for chat in of_project] == [CHAT]


def test_a_chat_cursor_is_opaque_and_bound_to_its_query(api: Compliance) -> None:
    page = api.get("/apps/chats", params={"limit": 1}).json()
    assert page["last_id"] != CHAT
    following = api.get("/apps/chats", params={"after_id": page["last_id"]}).json()["data"]
    assert [chat["id"] for chat in following] == [PLAIN_CHAT, DELETED_CHAT]
    other_query = api.get("/apps/chats", params={"after_id": page["last_id"], "project_ids[]": BUSY})
    assert read_refusal(other_query) == INVALID
    assert read_refusal(api.get("/apps/chats", params={"after_id": CHAT})) == INVALID
    assert read_refusal(api.get("/apps/chats", params={"after_id": page["last_id"]}, session="another")) == INVALID


def test_a_chat_cursor_never_expires(api: Compliance) -> None:
    """2:7.2 and 2:8.1 let the cursors of local-session messages expire, and those alone."""
    page = api.get("/apps/chats", params={"limit": 1}).json()
    following = api.get("/apps/chats", params={"after_id": page["last_id"]}, clock="+25h").json()["data"]
    assert [chat["id"] for chat in following] == [PLAIN_CHAT, DELETED_CHAT]


def test_a_walk_survives_the_deletes_on_its_way(api: Compliance) -> None:
    page = api.get("/apps/chats", params={"limit": 1}).json()
    api.delete(f"/apps/chats/{CHAT}")
    following = api.get("/apps/chats", params={"limit": 1, "after_id": page["last_id"]}).json()["data"]
    assert [chat["id"] for chat in following] == [PLAIN_CHAT]


def test_a_user_deleted_chat_is_listed_and_readable(api: Compliance) -> None:
    listed = {chat["id"]: chat["deleted_at"] for chat in api.get("/apps/chats").json()["data"]}
    assert listed[DELETED_CHAT] is not None
    assert listed[CHAT] is None
    assert api.get(f"/apps/chats/{DELETED_CHAT}/messages").status_code == 200


def test_a_chat_past_its_retention_is_gone(api: Compliance) -> None:
    assert api.get(f"/apps/chats/{CHAT}/messages").status_code == 200
    assert read_refusal(api.get(f"/apps/chats/{CHAT}/messages", clock="+366d")) == MISSING
    assert read_refusal(api.get(f"/apps/files/{CHAT_FILE}", clock="+366d")) == MISSING


@pytest.mark.parametrize(
    ("parameter", "block", "field"),
    [("tool_use_input_max_bytes", "tool_use", "input"), ("tool_result_max_bytes", "tool_result", "content")],
)
def test_tool_text_is_cut_at_its_cap(api: Compliance, parameter: str, block: str, field: str) -> None:
    def length(**params: int) -> int:
        messages = api.get(f"/apps/chats/{CHAT}/messages", params=params).json()["chat_messages"]
        contents = [content for message in messages for content in message["content"]]
        blocks = [content for content in contents if content["type"] == block]
        return len(blocks[0][field])

    assert length(**{parameter: 7}) == 7
    assert length(**{parameter: -1}) > length() > 7
    for bad in ("0", "-2", "1.5"):
        answer = api.get(f"/apps/chats/{CHAT}/messages", params={parameter: bad})
        assert read_message(answer).startswith(f"{parameter}: ")


def test_a_deleted_chat_takes_everything_along(api: Compliance) -> None:
    paths = (
        f"/apps/chats/{CHAT}/messages",
        f"/apps/files/{CHAT_FILE}",
        f"/apps/files/{CHAT_FILE}/content",
        f"/apps/generated-files/{GENERATED_FILE}",
        f"/apps/generated-files/{GENERATED_FILE}/content",
        f"/apps/artifacts/{ARTIFACT}",
        f"/apps/artifacts/{ARTIFACT}/content",
    )
    assert [api.get(path).status_code for path in paths] == [200] * len(paths)
    assert api.delete(f"/apps/chats/{CHAT}").status_code == 200
    assert [read_refusal(api.get(path)) for path in paths] == [MISSING] * len(paths)
    assert read_refusal(api.delete(f"/apps/chats/{CHAT}")) == MISSING
    assert api.deleted_activities("pa_chat_deleted") == [CHAT]
    assert api.deleted_activities("pa_file_deleted") == [CHAT_FILE]
    assert api.get(f"/apps/files/{CHAT_FILE}", session="another").status_code == 200


def test_a_project_is_deleted_only_without_attached_chats(api: Compliance) -> None:
    assert read_refusal(api.delete(f"/apps/projects/{BUSY}")) == (409, "invalid_request_error")
    assert api.get(f"/apps/projects/{BUSY}").status_code == 200
    api.delete(f"/apps/chats/{CHAT}")
    assert api.delete(f"/apps/projects/{BUSY}").status_code == 200
    for tail in ("", "/attachments", "/collaborators"):
        assert read_refusal(api.get(f"/apps/projects/{BUSY}{tail}")) == MISSING
    assert read_refusal(api.delete(f"/apps/projects/{BUSY}")) == MISSING
    assert api.deleted_activities("pa_project_deleted") == [BUSY]


def test_a_project_document_is_an_attachment_until_it_is_deleted(api: Compliance) -> None:
    def list_attachment_ids() -> set[str]:
        return {attachment["id"] for attachment in api.get(f"/apps/projects/{IDLE}/attachments").json()["data"]}

    assert list_attachment_ids() == {PROJECT_FILE, DOCUMENT}
    assert api.delete(f"/apps/projects/documents/{DOCUMENT}").status_code == 200
    assert list_attachment_ids() == {PROJECT_FILE}
    assert read_refusal(api.delete(f"/apps/projects/documents/{DOCUMENT}")) == MISSING
    assert read_refusal(api.delete("/apps/projects/documents/proj_doc_01MockNotes")) == MISSING


def test_a_deleted_project_takes_its_files_along(api: Compliance) -> None:
    assert api.delete(f"/apps/projects/{IDLE}").status_code == 200
    assert read_refusal(api.get(f"/apps/files/{PROJECT_FILE}")) == MISSING


def test_a_file_is_deleted_for_good(api: Compliance) -> None:
    assert api.get(f"/apps/files/{CHAT_FILE}/content").content == b"a,b\n1,2\n"
    assert api.delete(f"/apps/files/{CHAT_FILE}").status_code == 200
    assert read_refusal(api.get(f"/apps/files/{CHAT_FILE}/content")) == MISSING
    assert read_refusal(api.delete(f"/apps/files/{CHAT_FILE}")) == MISSING


@pytest.mark.parametrize(
    "path",
    [
        "/organizations/c0000000-0000-4000-8000-00000000ffff/roles",
        "/organizations/c0000000-0000-4000-8000-00000000ffff/users",
        f"/organizations/{ORGANIZATION}/roles/rbac_role_none",
        "/groups/rbac_group_none",
        "/groups/rbac_group_none/members",
    ],
)
def test_an_unknown_organization_role_or_group_is_not_found(api: Compliance, path: str) -> None:
    assert read_refusal(api.get(path)) == MISSING


def test_settings_hide_why_there_are_none(api: Compliance) -> None:
    unlinked, no_uuid = "c0000000-0000-4000-8000-00000000ffff", "no-uuid"
    bodies = [
        api.get(f"/organizations/{organization}/settings").json()["error"]
        for organization in (unlinked, no_uuid, ORGANIZATION_WITHOUT_SETTINGS)
    ]
    assert bodies[0] == bodies[1] == bodies[2]
    assert api.get(f"/organizations/{ORGANIZATION}/settings").status_code == 200


def test_the_structure_is_paged(api: Compliance) -> None:
    page = api.get("/organizations", params={"limit": 1}).json()
    next_page = api.get("/organizations", params={"limit": 1, "page": page["next_page"]}).json()
    ids = [entry["id"] for entry in (*page["data"], *next_page["data"])]
    assert ids == [ORGANIZATION, ORGANIZATION_WITHOUT_SETTINGS]
    assert next_page["next_page"] is None
    assert read_refusal(api.get("/groups", params={"page": page["next_page"]})) == INVALID
