"""The files that the mock's organization holds, and those that are uploaded (1:1); their paths are not documented."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from mockserver.bodies import BodyTooLarge, read_body
from mockserver.pc.call import MAX_BODY
from mockserver.pc.errors import NO_FILE, TOO_LARGE, UNSUPPORTED_CONTENT_TYPE, PcError, missing

if TYPE_CHECKING:
    from starlette.responses import Response

    from mockserver.multipart import Part
    from mockserver.pc.call import Call


@dataclass(frozen=True)
class File:
    """A file. `searchable` says whether a vector store can make anything of it.

    One whose purpose is a batch asks `model` about so many `tokens`.
    """

    id: str
    filename: str
    size: int
    purpose: str = "user_data"
    searchable: bool = True
    model: str = "mock-small"
    tokens: int = 0


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

FILES = {file.id: file for file in _TABLE}


@dataclass
class Uploads:
    """The files that were uploaded in a session, by id."""

    files: dict[str, File] = field(default_factory=dict)


def find(file_id: str) -> File:
    """The file of that id, or 404."""
    file = FILES.get(file_id)
    if file is None:
        raise _absent(file_id)
    return file


async def upload(call: Call) -> Response:
    """POST /v1/files: the endpoint that takes multipart (2:7.5)."""
    parts = {part.name: part for part in await _form(call)}
    for name in ("file", "purpose"):
        if name not in parts:
            raise missing(name)
    content = parts["file"].content
    purpose = parts["purpose"].content.decode("utf-8", "replace")
    made = File(call.session.new_id("file-", 24), parts["file"].filename or "file", len(content), purpose)
    call.session.state(Uploads).files[made.id] = made
    return JSONResponse(_described(made))


async def list_files(call: Call) -> Response:
    """GET /v1/files."""
    listed = [*FILES.values(), *call.session.state(Uploads).files.values()]
    return JSONResponse({"object": "list", "data": [_described(file) for file in listed], "has_more": False})


async def retrieve(call: Call) -> Response:
    """GET /v1/files/{file_id}."""
    return JSONResponse(_described(_known(call, call.params["file_id"])))


async def delete(call: Call) -> Response:
    """DELETE /v1/files/{file_id}; the files that are there from the beginning stay."""
    file_id = call.params["file_id"]
    if call.session.state(Uploads).files.pop(file_id, None) is None:
        raise _absent(file_id)
    return JSONResponse({"id": file_id, "object": "file", "deleted": True})


async def _form(call: Call) -> list[Part]:
    from mockserver.multipart import Malformed, parse  # most runs upload nothing

    try:
        return parse(call.request.headers.get("content-type", ""), await read_body(call.request, MAX_BODY))
    except Malformed as error:
        raise UNSUPPORTED_CONTENT_TYPE(str(error)) from None
    except BodyTooLarge:
        raise TOO_LARGE("The request body is too large.") from None


def _known(call: Call, file_id: str) -> File:
    return call.session.state(Uploads).files.get(file_id) or find(file_id)


def _absent(file_id: str) -> PcError:
    return NO_FILE(f"No such File object: {file_id}", "id")


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
