"""What stands in the place of what PA's compliance API keeps, shows and deletes (1:2.4, 1:3, 2:7.2)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.compliance.archive import Archive, Chat, LocalSession, Message

ArchiveOf = Callable[["Call"], "Archive"]
Body = dict[str, Any]
Handler = Callable[["Call"], Awaitable["Response"]]
Meet = Callable[["Call"], None]
Show = Callable[["Message", Mapping[str, Any]], Body]


def without_deleted(live: Callable[[Archive, float], list[Chat]]) -> Callable[[Archive, float], list[Chat]]:
    return lambda archive, now: [chat for chat in live(archive, now) if chat.deleted_at is None]


def deleted_alone(live: Callable[[Archive, float], list[Chat]]) -> Callable[[Archive, float], list[Chat]]:
    return lambda archive, now: [chat for chat in live(archive, now) if chat.deleted_at is not None]


def but_deleted(find: Callable[[Archive, str, float], Chat | None]) -> Callable[[Archive, str, float], Chat | None]:
    def found(archive: Archive, chat_id: str, now: float) -> Chat | None:
        chat = find(archive, chat_id, now)
        return None if chat is not None and chat.deleted_at is not None else chat

    return found


def without_deleted_at(described: Callable[[Chat], Body]) -> Callable[[Chat], Body]:
    return lambda chat: {**described(chat), "deleted_at": None}


def of_all_parents(archive_of: ArchiveOf) -> ArchiveOf:
    def found(call: Call) -> Archive:
        from catalog_probe.mockserver.pa.auth.keys import ACME

        return archive_of(replace(call, key=replace(call.key, organization=ACME)))

    return found


def retained_or_not(readable: object) -> Callable[[Archive, float], list[LocalSession]]:
    def found(archive: Archive, now: float) -> list[LocalSession]:
        from catalog_probe.mockserver.pa.compliance.archive import LOCAL_SESSION_RETENTION_S

        sessions = archive.local_sessions.values()
        return [session for session in sessions if now - session.created_at <= LOCAL_SESSION_RETENTION_S]

    return found


def _passes(cause: str) -> Callable[[Meet], Meet]:
    def passing(meet: Meet) -> Meet:
        def met(call: Call) -> None:
            if call.context.take(cause) is None:
                meet(call)

        return met

    return passing


but_the_index = _passes("local_sessions_index_down")
but_the_overrides = _passes("retention_overrides_down")


def whatever_is_asked_for(answer: Handler) -> Handler:
    """Answers with something where there is nothing."""

    async def found(call: Call) -> Response:
        from catalog_probe.mockserver.core.errors import Refusal

        try:
            return await answer(call)
        except Refusal as refusal:
            if refusal.row.status != 404:
                raise
            return JSONResponse({"id": "", "type": "found", "data": []})

    return found


def says_why(settings: Handler) -> Handler:
    async def told(call: Call) -> Response:
        from catalog_probe.mockserver.core.errors import Refusal
        from catalog_probe.mockserver.pa.errors import NO_WORKSPACE

        try:
            return await settings(call)
        except Refusal as refusal:
            if refusal.row.status != NO_WORKSPACE.status:
                raise
            raise NO_WORKSPACE(id=call.params["organization_id"]) from None

    return told


def plain_documents(listed: Handler) -> Handler:
    async def plain(call: Call) -> Response:
        return await listed(replace(call, names=replace(call.names, id_prefix="")))

    return plain


def empty_page(listed: Handler) -> Handler:
    async def empty(call: Call) -> Response:
        await listed(call)
        return JSONResponse({"data": [], "next_page": None})

    return empty


def _content_without(kind: str) -> Callable[[Show], Show]:
    def lacking(shown: Show) -> Show:
        def told(message: Message, values: Mapping[str, Any]) -> Body:
            whole = shown(message, values)
            return {**whole, "content": [block for block in whole["content"] if block["type"] != kind]}

        return told

    return lacking


without_tool_input = _content_without("tool_use")
without_tool_result = _content_without("tool_result")


def _lacking(kept: str, doomed: Callable[[Any], bool]) -> Callable[[ArchiveOf], ArchiveOf]:
    """The archive as it is found, without some entries of one of its tables."""

    def lacking(archive_of: ArchiveOf) -> ArchiveOf:
        def found(call: Call) -> Archive:
            archive = archive_of(call)
            table = getattr(archive, kept)
            for key in [key for key, entry in table.items() if doomed(entry)]:
                del table[key]
            return archive

        return found

    return lacking


without_chat_files = _lacking("files", lambda file: file.chat is not None)
without_project_files = _lacking("files", lambda file: file.project is not None)
without_documents = _lacking("documents", lambda document: True)


def _body_of(response: Response) -> Body:
    body: Body = json.loads(bytes(response.body))
    return body


def of_another_id(answer: Handler) -> Handler:
    async def renamed(call: Call) -> Response:
        return JSONResponse({**_body_of(await answer(call)), "id": "proj_01Another"})

    return renamed


def in_an_envelope(trouble: Callable[[Call], Response | None]) -> Callable[[Call], Response | None]:
    """What fails upstream answers as the API itself does, with a type."""

    def upstream_trouble(call: Call) -> Response | None:
        answer = trouble(call)
        if answer is None:
            return None
        error = {"type": "overloaded_error", "message": "Overloaded"}
        return JSONResponse({"type": "error", "error": error}, answer.status_code)

    return upstream_trouble
