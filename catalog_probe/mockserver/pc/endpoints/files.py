"""The files that the mock's organization holds, and those that are uploaded by multipart (1:1, 2:7.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.core.bodies import BodyTooLarge, read_body
from catalog_probe.mockserver.core.echo import BYTES_PER_TOKEN
from catalog_probe.mockserver.core.multipart import Malformed, parse
from catalog_probe.mockserver.pc.bodies import MOST_BYTES
from catalog_probe.mockserver.pc.errors import MISSING_REQUIRED_PARAMETER, NO_FILE, NO_FORM, TOO_LARGE
from catalog_probe.mockserver.pc.pages import list_page

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.multipart import Part
    from catalog_probe.mockserver.pc.gateway import Call


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
"""Those that are there from the beginning, and stay."""


def find_file(call: Call, file_id: str) -> File:
    """The file of that id, or 404."""
    return FILES.get(file_id) or call.session.store(File).find(file_id, NO_FILE)


async def upload(call: Call) -> Response:
    """Keep what is uploaded: "multipart only on file endpoints" (2:7.5)."""
    parts = {part.name: part for part in await _read_form(call)}
    for name in ("file", "purpose"):
        if name not in parts:
            raise MISSING_REQUIRED_PARAMETER(path=name, param=name)
    purpose = parts["purpose"].content.decode("utf-8", "replace")
    return JSONResponse(_describe(keep(call, parts["file"].filename or "file", purpose, parts["file"].content)))


def keep(call: Call, filename: str, purpose: str, content: bytes) -> File:
    """Keep a file; one whose purpose is a batch asks the model that its first line names."""
    file = File(
        call.session.new_id("file-"),
        filename,
        len(content),
        purpose,
        model=_model_in(content),
        tokens=len(content) // BYTES_PER_TOKEN,
        content=content,
        created_at=int(call.now),
    )
    call.session.store(File)[file.id] = file
    return file


def _model_in(content: bytes) -> str:
    try:
        return str(strict_json.loads(content.partition(b"\n")[0])["body"]["model"])
    except (ValueError, TypeError, KeyError):
        return "mock-small"


async def list_files(call: Call) -> Response:
    """The files, or those of one purpose."""
    purpose = call.request.query_params.get("purpose")
    files = [*FILES.values(), *call.session.store(File).values()]
    return list_page([_describe(file) for file in files if purpose in (None, file.purpose)])


async def retrieve(call: Call) -> Response:
    """One file, without its content."""
    return JSONResponse(_describe(find_file(call, call.params["file_id"])))


async def download(call: Call) -> Response:
    """The content of a file."""
    return Response(find_file(call, call.params["file_id"]).content, media_type="application/octet-stream")


async def delete(call: Call) -> Response:
    """Forget an uploaded file."""
    uploads = call.session.store(File)
    file = uploads.find(call.params["file_id"], NO_FILE)
    del uploads[file.id]
    return JSONResponse({"id": file.id, "object": "file", "deleted": True})


async def _read_form(call: Call) -> list[Part]:
    try:
        return parse(call.request.headers.get("content-type", ""), await read_body(call.request, MOST_BYTES))
    except Malformed as error:
        raise NO_FORM(reason=error) from None
    except BodyTooLarge:
        raise TOO_LARGE(most_bytes=MOST_BYTES) from None


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
