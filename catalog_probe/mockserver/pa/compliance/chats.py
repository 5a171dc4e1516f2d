"""Chats: their list, and their messages with capped tool texts (1:2.5, 1:4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.compliance.archive import CHAT, describe
from catalog_probe.mockserver.pa.compliance.items import find_item
from catalog_probe.mockserver.pa.compliance.paging import Row, issue_cursor, page_of_window, redeem_cursor
from catalog_probe.mockserver.pa.compliance.query import UNLIMITED, is_created_within
from catalog_probe.mockserver.pa.compliance.seeds import archive_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.compliance.archive import Item, Message

USERS, PROJECTS = "user_ids[]", "project_ids[]"
FILTERS = (USERS, PROJECTS, "created_at.gte", "created_at.lt")
INPUT_CAP, RESULT_CAP = "tool_use_input_max_bytes", "tool_result_max_bytes"
DEFAULT_CAP = 1_000  # bytes; not shown


async def list_chats(call: Call) -> Response:
    """Answer with one page of chats, those included that their user deleted."""
    rows = [
        Row((chat.created_at, chat.id), describe(chat))
        for chat in archive_of(call).list_items(CHAT, call.now)
        if is_requested(chat, call.query)
    ]
    rows.sort(key=lambda row: row.key, reverse=True)
    binding = ("chats", call.key.organization.id, *(call.query.get(name) for name in FILTERS))
    return JSONResponse(
        page_of_window(
            rows,
            call.query,
            lambda name, token: redeem_cursor(call, name, token, binding),
            lambda row: issue_cursor(call, row, binding),
        )
    )


async def list_chat_messages(call: Call) -> Response:
    """Answer with the messages of one chat, oldest first."""
    chat = find_item(call, CHAT)
    messages = [show_message(message, call.query) for message in chat.messages]
    return JSONResponse({**describe(chat), "chat_messages": messages})


def is_requested(chat: Item, values: Mapping[str, Any]) -> bool:
    """Whether a chat has the users, projects and window of a query, if given."""
    user, project = chat.shown["user"]["id"], chat.shown["project_id"]
    return (
        user in values.get(USERS, (user,))
        and project in values.get(PROJECTS, (project,))
        and is_created_within(values, chat.created_at)
    )


def show_message(message: Message, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message as shown, with the tool's input and result capped."""
    content: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text else []
    if message.tool_input is not None:
        content.append({"type": "tool_use", "input": cut(message.tool_input, values.get(INPUT_CAP))})
    if message.tool_result is not None:
        content.append({"type": "tool_result", "content": cut(message.tool_result, values.get(RESULT_CAP))})
    return {"id": message.id, "role": message.role, "created_at": rfc3339(message.created_at), "content": content}


def cut(text: str, max_bytes: int | None) -> str:
    """Cut a text at a number of bytes, never within a character; -1 lifts the cap."""
    if max_bytes == UNLIMITED:
        return text
    return text.encode()[: max_bytes or DEFAULT_CAP].decode(errors="ignore")
