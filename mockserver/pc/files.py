"""The files that the mock's organization holds: enough to be named by a vector store or an image (1:4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from mockserver.pc.errors import not_found

if TYPE_CHECKING:
    from starlette.responses import Response

    from mockserver.pc.call import Call


@dataclass(frozen=True)
class File:
    """A file. `searchable` says whether a vector store can make anything of it."""

    id: str
    filename: str
    size: int
    purpose: str = "user_data"
    searchable: bool = True


_TABLE = (
    File("file-mock-notes", "notes.txt", 2_048),
    File("file-mock-picture", "picture.png", 4_096, "vision", searchable=False),
    File("file-mock-empty-picture", "empty.png", 0, "vision", searchable=False),
    File("file-mock-huge-picture", "huge.png", 200_000_000, "vision", searchable=False),
)

FILES = {file.id: file for file in _TABLE}


def find(file_id: str) -> File:
    """The file of that id, or 404."""
    file = FILES.get(file_id)
    if file is None:
        raise not_found(f"No such File object: {file_id}", param="id")
    return file


async def retrieve(call: Call) -> Response:
    """GET /v1/files/{file_id}; the path is not in the documents."""
    return JSONResponse(_described(find(call.params["file_id"])))


def _described(file: File) -> dict[str, Any]:
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.size,
        "created_at": 1_770_000_000,
        "filename": file.filename,
        "purpose": file.purpose,
        "status": "processed",
    }
