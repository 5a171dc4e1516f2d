"""Chats and what hangs on them: messages, generated files, artifacts (1:4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.compliance.errors import NO_CHAT, NO_PRODUCT
from catalog_probe.mockserver.pa.compliance.paging import Row, issue, page_of_window, redeem
from catalog_probe.mockserver.pa.compliance.query import UNLIMITED, created_within
from catalog_probe.mockserver.pa.compliance.seeds import archive_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.compliance.archive import Chat, File, Message

MAX_LIMIT = 100
USERS, PROJECTS = "user_ids[]", "project_ids[]"
FILTERS = (USERS, PROJECTS, "created_at.gte", "created_at.lt")
INPUT_CAP, RESULT_CAP = "tool_use_input_max_bytes", "tool_result_max_bytes"
DEFAULT_CAP_BYTES = 1_000


async def list_chats(call: Call) -> Response:
    """One page of the chats of some users or projects, those included that their user deleted."""
    rows = [
        Row((chat.created_at, chat.id), describe(chat))
        for chat in archive_of(call).live_chats(call.now)
        if is_wanted(chat, call.query)
    ]
    rows.sort(key=lambda row: row.key, reverse=True)
    binding = ("chats", call.key.organization.id, *(call.query.get(name) for name in FILTERS))
    return JSONResponse(
        page_of_window(
            rows,
            call.query,
            lambda name, token: redeem(call, name, token, binding),
            lambda row: issue(call, row, binding),
        )
    )


async def list_messages(call: Call) -> Response:
    """The messages of one chat, oldest first; tool inputs and results cut at their caps."""
    chat = _find(call)
    shown = [show_message(message, call.query) for message in chat.messages]
    return JSONResponse({**describe(chat), "chat_messages": shown})


async def delete_chat(call: Call) -> Response:
    """Delete a chat for good, with its files, generated files and artifacts."""
    chat = _find(call)
    archive_of(call).delete_chat(chat.id, call.key.organization.id, call.now)
    return JSONResponse({"id": chat.id, "type": "chat_deleted"})


async def get_generated_file(call: Call) -> Response:
    """Metadata of a file that the model generated."""
    return _show_metadata(call, archive_of(call).generated_files)


async def get_generated_file_content(call: Call) -> Response:
    """Content of a file that the model generated."""
    return _show_content(call, archive_of(call).generated_files)


async def get_artifact(call: Call) -> Response:
    """Metadata of one version of an artifact."""
    return _show_metadata(call, archive_of(call).artifacts)


async def get_artifact_content(call: Call) -> Response:
    """Content of one version of an artifact."""
    return _show_content(call, archive_of(call).artifacts)


def _find(call: Call) -> Chat:
    chat = archive_of(call).chat(call.params["chat_id"], call.now)
    if chat is None:
        raise NO_CHAT()
    return chat


def is_wanted(chat: Chat, values: Mapping[str, Any]) -> bool:
    """Whether a chat is of the users, the projects and the window that are asked for; each may be left open."""
    return (
        chat.user.id in values.get(USERS, (chat.user.id,))
        and chat.project in values.get(PROJECTS, (chat.project,))
        and created_within(values, chat.created_at)
    )


def describe(chat: Chat) -> dict[str, Any]:
    """A chat as it is listed."""
    return {
        "id": chat.id,
        "type": "chat",
        "created_at": rfc3339(chat.created_at),
        "deleted_at": None if chat.deleted_at is None else rfc3339(chat.deleted_at),
        "user": {"id": chat.user.id, "email_address": chat.user.email},
        "project_id": chat.project,
    }


def show_message(message: Message, values: Mapping[str, Any]) -> dict[str, Any]:
    """A message of a chat, what a tool was given and gave cut at the caps."""
    content: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text else []
    if message.tool_input is not None:
        content.append({"type": "tool_use", "input": cut(message.tool_input, values.get(INPUT_CAP))})
    if message.tool_result is not None:
        content.append({"type": "tool_result", "content": cut(message.tool_result, values.get(RESULT_CAP))})
    return {"id": message.id, "role": message.role, "created_at": rfc3339(message.created_at), "content": content}


def cut(text: str, maximum: int | None) -> str:
    """At most so many bytes of a text, never half a character; -1 lifts the cap."""
    if maximum == UNLIMITED:
        return text
    return text.encode()[: maximum or DEFAULT_CAP_BYTES].decode(errors="ignore")


def _show_metadata(call: Call, products: Mapping[str, File]) -> Response:
    product = _find_product(call, products)
    return JSONResponse({"id": product.id, "title": product.filename, "chat_id": product.chat})


def _show_content(call: Call, products: Mapping[str, File]) -> Response:
    return Response(_find_product(call, products).content, media_type="text/plain")


def _find_product(call: Call, products: Mapping[str, File]) -> File:
    product = products.get(call.params["product_id"])
    if product is None or archive_of(call).chat(product.chat or "", call.now) is None:
        raise NO_PRODUCT()
    return product
