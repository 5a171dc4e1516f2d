"""PC's files, and what is made of them: batches, fine-tuning jobs, vector stores (1:1, 1:4.3, 2:7.5, 2:8.4).

Batches and fine-tuning jobs never run. The documents show neither paths nor bodies of files, batches and jobs; those of
the mock are the ones that official clients use.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.bodies import BodyRules, read_form
from catalog_probe.mockserver.core.generation import BYTES_PER_TOKEN
from catalog_probe.mockserver.core.sessions import BoundedStore
from catalog_probe.mockserver.pc import limits
from catalog_probe.mockserver.pc.call import MAX_BODY_BYTES, make_page, read_object
from catalog_probe.mockserver.pc.errors import (
    MISSING_REQUIRED_PARAMETER,
    NO_FILE,
    NO_FORM,
    NO_VECTOR_STORE,
    TOO_LARGE,
    UNPROCESSABLE,
)
from catalog_probe.mockserver.pc.fields import (
    BATCH,
    EMBEDDINGS_PATH,
    FILE_BATCH,
    FINE_TUNING_JOB,
    STORE_FILE,
    VECTOR_STORE,
)
from catalog_probe.mockserver.pc.limits import admit_to_store, check_spending
from catalog_probe.mockserver.pc.models import find_model

if TYPE_CHECKING:
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


FORM = BodyRules(MAX_BODY_BYTES, TOO_LARGE, NO_FORM)


async def upload(call: Call) -> Response:
    """Store an upload: "multipart only on file endpoints" (2:7.5)."""
    parts = await read_form(call.request, FORM)
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
    return JSONResponse(describe_file(file))


async def retrieve_file(call: Call) -> Response:
    """Describe a file."""
    return JSONResponse(describe_file(find_file(call, call.params["file_id"])))


async def delete_file(call: Call) -> Response:
    """Delete an upload."""
    uploads = call.session.store(File)
    file = uploads.find(call.params["file_id"], NO_FILE)
    del uploads[file.id]
    return JSONResponse({"id": file.id, "object": "file", "deleted": True})


def describe_file(file: File) -> dict[str, Any]:
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.size,
        "created_at": file.created_at,
        "filename": file.filename,
        "purpose": file.purpose,
        "status": "processed",
    }


EXPIRES_AFTER_S = 24 * 3600


async def create_batch(call: Call) -> Response:
    """Queue the input tokens of a batch."""
    body = await read_object(call, BATCH)
    file = find_file(call, body["input_file_id"])
    model = find_model(call, file.model, None if body["endpoint"] == EMBEDDINGS_PATH else "text")
    check_spending(call)
    limits.enqueue(call, model, file.tokens)
    return JSONResponse(
        {
            "id": call.session.new_id("batch_", 32),
            "object": "batch",
            "endpoint": body["endpoint"],
            "input_file_id": file.id,
            "completion_window": body["completion_window"],
            "status": "validating",
            "created_at": int(call.now),
            "expires_at": int(call.now) + EXPIRES_AFTER_S,
            "metadata": body.get("metadata"),
        }
    )


async def create_fine_tuning_job(call: Call) -> Response:
    """Create a fine-tuning job that stays queued."""
    body = await read_object(call, FINE_TUNING_JOB)
    file = find_file(call, body["training_file"])
    model = find_model(call, body["model"], "text")
    check_spending(call)
    return JSONResponse(
        {
            "id": call.session.new_id("ftjob-"),
            "object": "fine_tuning.job",
            "model": model.id,
            "training_file": file.id,
            "status": "queued",
            "created_at": int(call.now),
        }
    )


@dataclass
class VectorStore:
    """A vector store: the ids of its files, in the order in which they were attached."""

    id: str
    file_ids: BoundedStore[str, None] = field(default_factory=BoundedStore)


class VectorStores(BoundedStore[str, VectorStore]):
    """The vector stores of a session; one with one file is there from the beginning."""

    def __init__(self) -> None:
        super().__init__()
        self["vs_mock"] = store = VectorStore("vs_mock")
        store.file_ids["file-mock-notes"] = None


async def create_store(call: Call) -> Response:
    """Create a store, empty or with the given files."""
    body = await read_object(call, VECTOR_STORE)
    store = VectorStore(call.session.new_id("vs_"))
    for index, file_id in enumerate(body.get("file_ids", ())):
        attach_file(call, store, file_id, f"file_ids[{index}]")
    call.session.state(VectorStores)[store.id] = store
    return JSONResponse(
        {
            "id": store.id,
            "object": "vector_store",
            "created_at": int(call.now),
            "name": body.get("name"),
            "usage_bytes": sum(find_file(call, file_id).size for file_id in store.file_ids),
            "file_counts": _count_files(len(store.file_ids)),
            "status": "completed",
            "last_active_at": int(call.now),
            "metadata": body.get("metadata", {}),
        }
    )


async def delete_store(call: Call) -> Response:
    """Delete a store; its files stay."""
    store = _find_store(call)
    del call.session.state(VectorStores)[store.id]
    return JSONResponse({"id": store.id, "object": "vector_store.deleted", "deleted": True})


async def list_attached(call: Call) -> Response:
    """List the files of a store."""
    admit_to_store(call)
    return make_page([_describe_attached(call, file_id) for file_id in _find_store(call).file_ids])


async def attach(call: Call) -> Response:
    """Attach a file."""
    admit_to_store(call)
    store, body = _find_store(call), await read_object(call, STORE_FILE)
    attach_file(call, store, body["file_id"], "file_id")
    return JSONResponse(_describe_attached(call, body["file_id"]))


async def attach_batch(call: Call) -> Response:
    """Attach several files, given by their ids or as objects with one id each."""
    admit_to_store(call)
    store, body = _find_store(call), await read_object(call, FILE_BATCH)
    file_ids = body.get("file_ids") or [file["file_id"] for file in body.get("files", ())]
    for index, file_id in enumerate(file_ids):
        attach_file(call, store, file_id, f"file_ids[{index}]")
    return JSONResponse(
        {
            "id": call.session.new_id("vsfb_"),
            "object": "vector_store.files_batch",
            "created_at": int(call.now),
            "vector_store_id": store.id,
            "status": "completed",
            "file_counts": _count_files(len(file_ids)),
        }
    )


def attach_file(call: Call, store: VectorStore, file_id: str, param: str) -> None:
    """Attach a file; one without text is unprocessable (2:7.5 row 422)."""
    if not find_file(call, file_id).searchable:
        raise UNPROCESSABLE(id=file_id, param=param)
    store.file_ids[file_id] = None


def _find_store(call: Call) -> VectorStore:
    return call.session.state(VectorStores).find(call.params["vector_store_id"], NO_VECTOR_STORE)


def _count_files(completed: int) -> dict[str, int]:
    return {"in_progress": 0, "completed": completed, "failed": 0, "cancelled": 0, "total": completed}


def _describe_attached(call: Call, file_id: str) -> dict[str, Any]:
    return {
        "id": file_id,
        "object": "vector_store.file",
        "created_at": int(call.now),
        "usage_bytes": find_file(call, file_id).size,
        "vector_store_id": call.params["vector_store_id"],
        "status": "completed",
        "last_error": None,
    }
