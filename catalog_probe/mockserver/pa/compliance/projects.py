"""Projects: detail, attachments, collaborators, deletion; and their text documents (1:4.1, 1:3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.compliance.errors import ATTACHED_CHATS, NO_DOCUMENT, NO_PROJECT
from catalog_probe.mockserver.pa.compliance.paging import Row, page_by_token
from catalog_probe.mockserver.pa.compliance.seeds import archive_of

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.compliance.archive import Project


async def get_project(call: Call) -> Response:
    """One project."""
    project = _find(call)
    shown = {"id": project.id, "type": "project", "name": project.name, "created_at": rfc3339(project.created_at)}
    return JSONResponse(shown)


async def list_attachments(call: Call) -> Response:
    """The project's current attachments: files and text documents."""
    project, archive = _find(call), archive_of(call)
    entries: list[tuple[float, str, str, str]] = [
        (file.created_at, file.id, "file", file.filename)
        for file in archive.files.values()
        if file.project == project.id
    ]
    entries += [
        (document.created_at, call.names.id_prefix + document.id, "text_document", document.filename)
        for document in archive.documents.values()
        if document.project == project.id
    ]
    rows = [Row((at, id_), {"id": id_, "type": kind, "filename": name}) for at, id_, kind, name in entries]
    return JSONResponse(page_by_token(call, rows, call.query, ("attachments", project.id)))


async def list_collaborators(call: Call) -> Response:
    """Who works on the project."""
    project = _find(call)
    rows = [Row((0.0, person.id), _person(person.id, person.email)) for person in project.collaborators]
    return JSONResponse(page_by_token(call, rows, call.query, ("collaborators", project.id)))


async def delete_project(call: Call) -> Response:
    """Delete a project for good; refused while chats are attached."""
    project, archive = _find(call), archive_of(call)
    if archive.attached_chats(project.id, call.now):
        raise ATTACHED_CHATS()
    archive.delete_project(project.id, call.key.organization.id, call.now)
    return JSONResponse({"id": project.id, "type": "project_deleted"})


async def delete_document(call: Call) -> Response:
    """Delete a project's text document for good."""
    archive, shown_id = archive_of(call), call.params["document_id"]
    document_id = shown_id.removeprefix(call.names.id_prefix)
    if document_id == shown_id or document_id not in archive.documents:
        raise NO_DOCUMENT()
    del archive.documents[document_id]
    return JSONResponse({"id": shown_id, "type": "project_document_deleted"})


def _find(call: Call) -> Project:
    project = archive_of(call).projects.get(call.params["project_id"])
    if project is None:
        raise NO_PROJECT()
    return project


def _person(id_: str, email: str) -> dict[str, Any]:
    return {"id": id_, "type": "user", "email_address": email}
