"""Handlers of all kinds of items: show, send, delete; and attachments (1:4.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.pa.compliance.archive import DOCUMENT, FILE, PROJECT, Item, describe
from catalog_probe.mockserver.pa.compliance.errors import (
    ATTACHED_CHATS,
    NO_CHAT,
    NO_DOCUMENT,
    NO_FILE,
    NO_PRODUCT,
    NO_PROJECT,
)
from catalog_probe.mockserver.pa.compliance.paging import Row, page_by_token
from catalog_probe.mockserver.pa.compliance.seeds import archive_of
from catalog_probe.mockserver.pa.compliance.tenants import ADA, BEN

if TYPE_CHECKING:
    from catalog_probe.mockserver.pa.call import Call

Handler = Callable[["Call"], Awaitable[Response]]

ABSENT = {
    "chat": NO_CHAT,
    "file": NO_FILE,
    "generated_file": NO_PRODUCT,
    "artifact": NO_PRODUCT,
    "project": NO_PROJECT,
    "project_document": NO_DOCUMENT,
}
"""The 404 of each kind (2:7.2)."""


def find_item(call: Call, kind: str) -> Item:
    """Return the item that the path names, or raise the 404 of its kind."""
    (item_id,) = call.params.values()
    item = archive_of(call).find(kind, item_id, call.now)
    if item is None:
        raise ABSENT[kind]()
    return item


def show_item(kind: str) -> Handler:
    """Make the handler that shows an item."""

    async def show(call: Call) -> Response:
        return JSONResponse(describe(find_item(call, kind)))

    return show


def send_content(kind: str) -> Handler:
    """Make the handler that sends the content of an item."""

    async def send(call: Call) -> Response:
        return Response(find_item(call, kind).content, media_type="application/octet-stream")

    return send


def delete_item(kind: str) -> Handler:
    """Make the handler that deletes an item; a project only without chats (1:3)."""

    async def delete(call: Call) -> Response:
        item, archive = find_item(call, kind), archive_of(call)
        if archive.has_attached_chats(item.id, call.now):
            raise ATTACHED_CHATS()
        archive.delete(item, call.key.organization.id, call.now)
        return JSONResponse({"id": item.id, "type": f"{kind}_deleted"})

    return delete


async def list_attachments(call: Call) -> Response:
    """Answer with one page of a project's files and text documents."""
    project, archive = find_item(call, PROJECT), archive_of(call)
    attached = [item for kind in (FILE, DOCUMENT) for item in archive.list_items(kind, call.now)]
    rows = [Row((item.created_at, item.id), describe(item)) for item in attached if item.owner == project.id]
    return JSONResponse(page_by_token(call, rows, call.query, ("attachments", project.id)))


async def list_collaborators(call: Call) -> Response:
    """Answer with one page of the people who work on a project."""
    project = find_item(call, PROJECT)
    rows = [Row((0.0, person["id"]), person) for person in (ADA, BEN)]
    return JSONResponse(page_by_token(call, rows, call.query, ("collaborators", project.id)))
