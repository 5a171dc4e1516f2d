"""Files of chats and of projects: metadata, content, deletion (1:4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.compliance.errors import NO_FILE
from catalog_probe.mockserver.pa.compliance.seeds import archive_of

if TYPE_CHECKING:
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.compliance.archive import File


async def get_file(call: Call) -> Response:
    """A file's metadata."""
    file = _find(call)
    return JSONResponse(
        {
            "id": file.id,
            "type": "file",
            "filename": file.filename,
            "size_bytes": len(file.content),
            "created_at": rfc3339(file.created_at),
            "chat_id": file.chat,
            "project_id": file.project,
        }
    )


async def get_file_content(call: Call) -> Response:
    """A file's content."""
    return Response(_find(call).content, media_type="application/octet-stream")


async def delete_file(call: Call) -> Response:
    """Delete a file for good."""
    file = _find(call)
    archive_of(call).delete_file(file.id, call.key.organization.id, call.now)
    return JSONResponse({"id": file.id, "type": "file_deleted"})


def _find(call: Call) -> File:
    archive = archive_of(call)
    file = archive.files.get(call.params["file_id"])
    if file is None or (file.chat is not None and archive.chat(file.chat, call.now) is None):
        raise NO_FILE()
    return file
