"""The files that the mock's organization holds, and those that are uploaded (1:1); their paths are not documented."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.core.bodies import BodyTooLarge, read_body
from catalog_probe.mockserver.core.stores import BoundedStore
from catalog_probe.mockserver.pc.call import MAX_BODY
from catalog_probe.mockserver.pc.errors import NO_FILE, TOO_LARGE, UNSUPPORTED_CONTENT_TYPE, PcError, missing

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.multipart import Part
    from catalog_probe.mockserver.pc.call import Call


BYTES_PER_TOKEN = 4


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
    content: bytes = b""
    """What was uploaded, or written by a batch; of the files that are there from the beginning nothing is shown."""
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

FILES = {file.id: file for file in _TABLE}


@dataclass
class Uploads:
    """The files that were uploaded in a session, by id."""

    files: BoundedStore[str, File] = field(default_factory=BoundedStore)


def find(call: Call, file_id: str) -> File:
    """The file of that id, or 404."""
    file = call.session.state(Uploads).files.get(file_id) or FILES.get(file_id)
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
    return JSONResponse(_described(keep(call, parts["file"].filename or "file", purpose, content)))


def keep(call: Call, filename: str, purpose: str, content: bytes) -> File:
    """Keep a file; one whose purpose is a batch asks the model that its first line names."""
    made = File(
        call.session.new_id("file-", 24),
        filename,
        len(content),
        purpose,
        model=_model_in(content),
        tokens=len(content) // BYTES_PER_TOKEN,
        content=content,
        created_at=int(call.now),
    )
    call.session.state(Uploads).files[made.id] = made
    return made


def _model_in(content: bytes) -> str:
    try:
        return str(strict_json.loads(content.partition(b"\n")[0])["body"]["model"])
    except (ValueError, TypeError, KeyError):
        return "mock-small"


async def list_files(call: Call) -> Response:
    """GET /v1/files."""
    purpose = call.request.query_params.get("purpose")
    listed = [*FILES.values(), *call.session.state(Uploads).files.values()]
    return JSONResponse(page([_described(file) for file in listed if purpose in (None, file.purpose)]))


async def retrieve(call: Call) -> Response:
    """GET /v1/files/{file_id}."""
    return JSONResponse(_described(find(call, call.params["file_id"])))


async def download(call: Call) -> Response:
    """GET /v1/files/{file_id}/content."""
    return Response(find(call, call.params["file_id"]).content, media_type="application/octet-stream")


async def delete(call: Call) -> Response:
    """DELETE /v1/files/{file_id}; the files that are there from the beginning stay."""
    file_id = call.params["file_id"]
    if call.session.state(Uploads).files.pop(file_id, None) is None:
        raise _absent(file_id)
    return JSONResponse({"id": file_id, "object": "file", "deleted": True})


async def _form(call: Call) -> list[Part]:
    from catalog_probe.mockserver.core.multipart import Malformed, parse  # most runs upload nothing

    try:
        return parse(call.request.headers.get("content-type", ""), await read_body(call.request, MAX_BODY))
    except Malformed as error:
        raise UNSUPPORTED_CONTENT_TYPE(str(error)) from None
    except BodyTooLarge:
        raise TOO_LARGE("The request body is too large.") from None


def page(items: list[dict[str, Any]]) -> dict[str, Any]:
    """All items as the one page of a list."""
    ends = {"first_id": items[0]["id"] if items else None, "last_id": items[-1]["id"] if items else None}
    return {"object": "list", "data": items, **ends, "has_more": False}


def _absent(file_id: str) -> PcError:
    return NO_FILE(f"No such File object: {file_id}", "id")


def _described(file: File) -> dict[str, Any]:
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.size,
        "created_at": file.created_at,
        "filename": file.filename,
        "purpose": file.purpose,
        "status": "processed",
    }
