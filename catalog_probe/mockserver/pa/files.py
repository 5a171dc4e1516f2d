"""Files: upload, list, retrieve, download, delete (1:4.1, 2:8.2; paths assumed)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.bodies import read_form
from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.call import FILE_BODY, Resources
from catalog_probe.mockserver.pa.errors import MISSING_FIELD, NO_FILE

if TYPE_CHECKING:
    from catalog_probe.mockserver.pa.call import Call


@dataclass(frozen=True)
class File:
    """A file and its content."""

    id: str
    filename: str
    mime_type: str
    content: bytes
    created_at: float


def describe_file(call: Call, file: File) -> dict[str, Any]:
    """Return the metadata of a file, all of them, because clients validate them."""
    return {
        "id": file.id,
        "type": "file",
        "filename": file.filename,
        "mime_type": file.mime_type,
        "size_bytes": len(file.content),
        "created_at": rfc3339(file.created_at),
        "downloadable": True,
    }


FILES = Resources(File, "{file_id}", NO_FILE, describe_file, "file")


async def upload(call: Call) -> Response:
    """Keep the `file` of the form."""
    part = (await read_form(call.request, FILE_BODY)).get("file")
    if part is None or not part.filename:
        raise MISSING_FIELD(path="file")
    mime_type = part.content_type or "application/octet-stream"
    file = File(call.session.new_id("file_"), part.filename, mime_type, part.content, call.now)
    FILES.of(call)[file.id] = file
    return JSONResponse(describe_file(call, file))


async def download(call: Call) -> Response:
    """Answer with a file's content."""
    file = FILES.find(call)
    return Response(file.content, media_type=file.mime_type)
