"""PC's files: those of every session, and uploads (1:1, 2:7.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.bodies import BodyTooLarge, Malformed, parse, read_body
from catalog_probe.mockserver.core.generation import BYTES_PER_TOKEN
from catalog_probe.mockserver.pc.call import MAX_BODY_BYTES
from catalog_probe.mockserver.pc.errors import MISSING_REQUIRED_PARAMETER, NO_FILE, NO_FORM, TOO_LARGE

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.bodies import Part
    from catalog_probe.mockserver.pc.call import Call


@dataclass(frozen=True)
class File:
    """A file; its content is not kept.

    Args:
        searchable: whether a vector store can extract text from it.
        model: for the input of a batch, the model that it asks.
        tokens: for the input of a batch, how many tokens it queues.
    """

    id: str
    filename: str
    size: int
    purpose: str = "user_data"
    searchable: bool = True
    model: str = "mock-small"
    tokens: int = 0
    created_at: int = 1_770_000_000


_TABLE = (
    File("file-mock-notes", "notes.txt", 2_048),
    File("file-mock-picture", "picture.png", 4_096, "vision", searchable=False),
    File("file-mock-empty-picture", "empty.png", 0, "vision", searchable=False),
    File("file-mock-huge-picture", "huge.png", 200_000_000, "vision", searchable=False),
    File("file-mock-training", "training.jsonl", 4_096, "fine-tune"),
    *(
        File(f"file-mock-batch-{model}", "batch.jsonl", 4_096, "batch", model=f"mock-{model}", tokens=1_000)
        for model in ("small", "large", "old", "long")
    ),
)

FILES = {file.id: file for file in _TABLE}  # files that exist in every session and cannot be deleted


def find_file(call: Call, file_id: str) -> File:
    """Return the file of this id, or refuse with 404."""
    return FILES.get(file_id) or call.session.store(File).find(file_id, NO_FILE)


async def upload(call: Call) -> Response:
    """Store an upload: "multipart only on file endpoints" (2:7.5)."""
    parts = {part.name: part for part in await _read_form(call)}
    for name in ("file", "purpose"):
        if name not in parts:
            raise MISSING_REQUIRED_PARAMETER(path=name, param=name)
    size = len(parts["file"].content)
    file = File(
        call.session.new_id("file-"),
        parts["file"].filename or "file",
        size,
        parts["purpose"].content.decode("utf-8", "replace"),
        tokens=size // BYTES_PER_TOKEN,
        created_at=int(call.now),
    )
    call.session.store(File)[file.id] = file
    return JSONResponse(_describe(file))


async def retrieve_file(call: Call) -> Response:
    """Describe a file."""
    return JSONResponse(_describe(find_file(call, call.params["file_id"])))


async def delete_file(call: Call) -> Response:
    """Delete an upload."""
    uploads = call.session.store(File)
    file = uploads.find(call.params["file_id"], NO_FILE)
    del uploads[file.id]
    return JSONResponse({"id": file.id, "object": "file", "deleted": True})


async def _read_form(call: Call) -> list[Part]:
    try:
        return parse(call.request.headers.get("content-type", ""), await read_body(call.request, MAX_BODY_BYTES))
    except Malformed as error:
        raise NO_FORM(reason=error) from None
    except BodyTooLarge:
        raise TOO_LARGE(most_bytes=MAX_BODY_BYTES) from None


def _describe(file: File) -> dict[str, Any]:
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.size,
        "created_at": file.created_at,
        "filename": file.filename,
        "purpose": file.purpose,
        "status": "processed",
    }
