"""Replacements for what PA's compliance API keeps, shows and deletes (1:2.4, 1:3, 2:7.2)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.compliance.archive import Archive, Item, Message

ArchiveOf = Callable[["Call"], "Archive"]
Body = dict[str, Any]
Delete = Callable[["Archive", "Item", str, float], None]
Find = Callable[["Archive", str, str, float], "Item | None"]
Handler = Callable[["Call"], Awaitable["Response"]]
ListItems = Callable[["Archive", str, float], "list[Item]"]
Meet = Callable[["Call"], None]
Record = Callable[["Archive", str, str, str, float], None]
Show = Callable[["Message", Mapping[str, Any]], Body]


def without_deleted(list_items: ListItems) -> ListItems:
    return lambda archive, kind, now: [
        item for item in list_items(archive, kind, now) if item.shown.get("deleted_at") is None
    ]


def deleted_alone(list_items: ListItems) -> ListItems:
    return lambda archive, kind, now: [
        item for item in list_items(archive, kind, now) if kind != "chat" or item.shown["deleted_at"] is not None
    ]


def but_deleted(find: Find) -> Find:
    def replacement(archive: Archive, kind: str, item_id: str, now: float) -> Item | None:
        item = find(archive, kind, item_id, now)
        return None if item is None or item.shown.get("deleted_at") is not None else item

    return replacement


def of_one_id(describe: Callable[[Item], Body]) -> Callable[[Item], Body]:
    return lambda item: {**describe(item), "id": "chat_01Any" if item.kind == "chat" else item.id}


def without_deleted_at(describe: Callable[[Item], Body]) -> Callable[[Item], Body]:
    return lambda chat: {**describe(chat), "deleted_at": None}


def _keeping(kind: str) -> Callable[[Delete], Delete]:
    """Puts a deleted item of this kind back, but not what belongs to it."""

    def replacement(delete: Delete) -> Delete:
        def replacement(archive: Archive, item: Item, actor: str, now: float) -> None:
            delete(archive, item, actor, now)
            if item.kind == kind:
                archive.items[item.id] = replace(item, owner=None)

        return replacement

    return replacement


keeps_chats = _keeping("chat")
keeps_projects = _keeping("project")
keeps_files = _keeping("file")
keeps_documents = _keeping("project_document")


def _outlived_by(*kinds: str) -> Callable[[Delete], Delete]:
    """Deletes an item without what belongs to it, if that is of these kinds."""

    def replacement(delete: Delete) -> Delete:
        def replacement(archive: Archive, item: Item, actor: str, now: float) -> None:
            kept = [owned for owned in archive.items.values() if owned.owner == item.id and owned.kind in kinds]
            archive.items.update({owned.id: replace(owned, owner=None) for owned in kept})
            delete(archive, item, actor, now)

        return replacement

    return replacement


outlived_by_files = _outlived_by("file")
outlived_by_products = _outlived_by("generated_file", "artifact")


def after_deleting_it(has_attached_chats: Callable[[Archive, str, float], bool]) -> Callable[..., bool]:
    def replacement(archive: Archive, item_id: str, now: float) -> bool:
        is_refused = has_attached_chats(archive, item_id, now)
        if is_refused:
            archive.delete(archive.items[item_id], "nobody", now)
        return is_refused

    return replacement


def _but(kind: str) -> Callable[[Record], Record]:
    def replacement(record: Record) -> Record:
        return lambda archive, of, *subject: None if of == kind else record(archive, of, *subject)

    return replacement


but_projects = _but("project_deleted")
but_chats = _but("chat_deleted")
but_files = _but("file_deleted")


def of_all_parents(archive_of: ArchiveOf) -> ArchiveOf:
    def replacement(call: Call) -> Archive:
        from catalog_probe.mockserver.pa.keys import ACME

        return archive_of(replace(call, key=replace(call.key, organization=ACME)))

    return replacement


def retained_or_not(is_readable: Callable[[Archive, Item, float], bool]) -> Callable[[Archive, Item, float], bool]:
    return lambda archive, item, now: is_readable(archive, replace(item, is_retained=True), now)


def _passes(cause: str) -> Callable[[Meet], Meet]:
    def replacement(meet: Meet) -> Meet:
        def replacement(call: Call) -> None:
            if call.context.take(cause) is None:
                meet(call)

        return replacement

    return replacement


but_the_index = _passes("local_sessions_index_down")
but_the_overrides = _passes("retention_overrides_down")


def whatever_is_asked_for(answer: Handler) -> Handler:
    """Answers with something where there is nothing."""

    async def replacement(call: Call) -> Response:
        from catalog_probe.mockserver.core.errors import Refusal

        try:
            return await answer(call)
        except Refusal as refusal:
            if refusal.row.status != 404:
                raise
            return JSONResponse({"id": "", "type": "found", "data": []})

    return replacement


def says_why(settings: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        from catalog_probe.mockserver.core.errors import Refusal
        from catalog_probe.mockserver.pa.errors import NO_WORKSPACE

        try:
            return await settings(call)
        except Refusal as refusal:
            if refusal.row.status != NO_WORKSPACE.status:
                raise
            raise NO_WORKSPACE(id=call.params["organization_id"]) from None

    return replacement


def plain_documents(list_attachments: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        page = _body_of(await list_attachments(call))
        entries = [{**entry, "id": entry["id"].removeprefix(call.names.id_prefix)} for entry in page["data"]]
        return JSONResponse({**page, "data": entries})

    return replacement


def empty_page(listed: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        await listed(call)
        return JSONResponse({"data": [], "next_page": None})

    return replacement


def _content_without(kind: str) -> Callable[[Show], Show]:
    def replacement(shown: Show) -> Show:
        def replacement(message: Message, values: Mapping[str, Any]) -> Body:
            whole = shown(message, values)
            return {**whole, "content": [block for block in whole["content"] if block["type"] != kind]}

        return replacement

    return replacement


without_tool_input = _content_without("tool_use")
without_tool_result = _content_without("tool_result")


def _without(is_missing: Callable[[Item], bool]) -> Callable[[ArchiveOf], ArchiveOf]:
    """The archive without some of its items."""

    def replacement(archive_of: ArchiveOf) -> ArchiveOf:
        def replacement(call: Call) -> Archive:
            archive = archive_of(call)
            archive.items = {item.id: item for item in archive.items.values() if not is_missing(item)}
            return archive

        return replacement

    return replacement


def _is_file_of(item: Item, owner_prefix: str) -> bool:
    return item.kind == "file" and (item.owner or "").startswith(owner_prefix)


without_chat_files = _without(lambda item: _is_file_of(item, "chat_"))
without_project_files = _without(lambda item: _is_file_of(item, "proj_"))
without_documents = _without(lambda item: item.kind == "project_document")


def _body_of(response: Response) -> Body:
    body: Body = json.loads(bytes(response.body))
    return body


def of_another_id(answer: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        return JSONResponse({**_body_of(await answer(call)), "id": "proj_01Another"})

    return replacement


def in_an_envelope(trouble: Callable[[Call], Response | None]) -> Callable[[Call], Response | None]:
    """What fails upstream answers as the API itself does, with a type."""

    def replacement(call: Call) -> Response | None:
        answer = trouble(call)
        if answer is None:
            return None
        error = {"type": "overloaded_error", "message": "Overloaded"}
        return JSONResponse({"type": "error", "error": error}, answer.status_code)

    return replacement
