"""Files: upload, list, retrieve, download, delete (1:4.1, 2:8.2; paths assumed)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.bodies import Malformed, Part, parse
from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.call import FILE_BODY, make_page, read_bytes
from catalog_probe.mockserver.pa.errors import BAD_FORM, MISSING_FIELD, NO_FILE

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.sessions import BoundedStore
    from catalog_probe.mockserver.pa.call import Call


@dataclass(frozen=True)
class File:
    """A file and its content."""

    id: str
    filename: str
    mime_type: str
    content: bytes
    created_at: float

    def describe(self) -> dict[str, Any]:
        """Return the metadata, all of it, because clients validate it."""
        return {
            "id": self.id,
            "type": "file",
            "filename": self.filename,
            "mime_type": self.mime_type,
            "size_bytes": len(self.content),
            "created_at": rfc3339(self.created_at),
            "downloadable": True,
        }


async def upload(call: Call) -> Response:
    """Keep the `file` of the form."""
    part = _read_file(call.request.headers.get("content-type", ""), await read_bytes(call, FILE_BODY))
    mime_type = part.content_type or "application/octet-stream"
    file = File(call.session.new_id("file_"), part.filename or "", mime_type, part.content, call.now)
    _files(call)[file.id] = file
    return JSONResponse(file.describe())


async def list_files(call: Call) -> Response:
    """Answer with one page of the files, newest first."""
    return JSONResponse(make_page(call, [file.describe() for file in _files(call).newest_first()]))


async def retrieve_file(call: Call) -> Response:
    """Answer with a file's metadata."""
    return JSONResponse(_find(call).describe())


async def download(call: Call) -> Response:
    """Answer with a file's content."""
    file = _find(call)
    return Response(file.content, media_type=file.mime_type)


async def delete(call: Call) -> Response:
    """Delete a file."""
    file = _find(call)
    del _files(call)[file.id]
    return JSONResponse({"id": file.id, "type": "file_deleted"})


def _files(call: Call) -> BoundedStore[str, File]:
    return call.session.store(File, call.key.organization.id)


def _find(call: Call) -> File:
    return _files(call).find(call.params["file_id"], NO_FILE)


def _read_file(content_type: str, body: bytes) -> Part:
    try:
        parts = {part.name: part for part in parse(content_type, body)}
    except Malformed as error:
        raise BAD_FORM(reason=error) from None
    if "file" not in parts or not parts["file"].filename:
        raise MISSING_FIELD(path="file")
    return parts["file"]
