"""Files: upload, list, retrieve, download, delete. Their paths are not shown (1:4.1, 2:8.2); assumed as usual."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.stores import BoundedStore
from catalog_probe.mockserver.pa.call import MB, Call, read_bytes
from catalog_probe.mockserver.pa.errors import invalid, not_found
from catalog_probe.mockserver.pa.limits import rates
from catalog_probe.mockserver.pa.paging import page

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.multipart import Part
    from catalog_probe.mockserver.pa.auth.keys import Organization

MAX_BODY = 500 * MB
"""2:8.1"""


@dataclass(frozen=True)
class File:
    """A file and its content."""

    id: str
    filename: str
    mime_type: str
    content: bytes
    created_at: float

    def described(self) -> dict[str, Any]:
        """The metadata that clients validate."""
        return {
            "id": self.id,
            "type": "file",
            "filename": self.filename,
            "mime_type": self.mime_type,
            "size_bytes": len(self.content),
            "created_at": rfc3339(self.created_at),
            "downloadable": True,
        }


@dataclass
class Files:
    """The files of one session, by organization."""

    by_organization: dict[str, BoundedStore[str, File]] = field(default_factory=dict)

    def of(self, organization: Organization) -> BoundedStore[str, File]:
        """The files of an organization, by id."""
        return self.by_organization.setdefault(organization.id, BoundedStore())


async def upload(call: Call) -> Response:
    """Keep the form's `file`."""
    from catalog_probe.mockserver.core.multipart import Malformed, parse  # most runs upload nothing

    rates.admit_request(call, "files")
    body = await read_bytes(call, MAX_BODY)
    try:
        parts = {part.name: part for part in parse(call.request.headers.get("content-type", ""), body)}
    except Malformed as error:
        raise invalid(str(error)) from None
    file = _file(call, parts.get("file"))
    _mine(call)[file.id] = file
    return JSONResponse(file.described())


async def list_files(call: Call) -> Response:
    """One page of the files, newest first."""
    rates.admit_request(call, "files")
    return JSONResponse(page(call, [file.described() for file in _mine(call).newest_first()]))


async def retrieve(call: Call) -> Response:
    """One file's metadata."""
    rates.admit_request(call, "files")
    return JSONResponse(_find(call).described())


async def download(call: Call) -> Response:
    """One file's content."""
    rates.admit_request(call, "files")
    file = _find(call)
    return Response(file.content, media_type=file.mime_type)


async def delete(call: Call) -> Response:
    """Forget a file."""
    rates.admit_request(call, "files")
    file = _find(call)
    del _mine(call)[file.id]
    return JSONResponse({"id": file.id, "type": "file_deleted"})


def _mine(call: Call) -> BoundedStore[str, File]:
    return call.session.state(Files).of(call.key.organization)


def _find(call: Call) -> File:
    file = _mine(call).get(call.params["file_id"])
    if file is None:
        raise not_found(f"File not found: {call.params['file_id']}")
    return file


def _file(call: Call, part: Part | None) -> File:
    if part is None:
        raise invalid("file: Field required")
    if not part.filename:
        raise invalid("file: a filename is required")
    mime_type = part.content_type or "application/octet-stream"
    return File(call.session.new_id("file_"), part.filename, mime_type, part.content, call.now)
