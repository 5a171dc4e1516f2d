"""Vector stores: their files and file batches share one budget of requests (1:4.3, 2:8.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.stores import BoundedStore
from catalog_probe.mockserver.pc.bodies import read_object
from catalog_probe.mockserver.pc.endpoints.files import find_file
from catalog_probe.mockserver.pc.errors import NO_FILE, NO_FILE_BATCH, NO_VECTOR_STORE, UNPROCESSABLE
from catalog_probe.mockserver.pc.fields import FILE_BATCH, STORE_FILE, VECTOR_STORE, VECTOR_STORE_UPDATE
from catalog_probe.mockserver.pc.limits.rates import admit_to_store
from catalog_probe.mockserver.pc.pages import list_page

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.gateway import Call


@dataclass
class VectorStore:
    """A vector store: its files by id, and the files of each batch by which some were attached."""

    id: str
    name: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    created_at: int = 1_770_000_000
    files: BoundedStore[str, str] = field(default_factory=BoundedStore)
    batches: BoundedStore[str, list[str]] = field(default_factory=BoundedStore)


class VectorStores(BoundedStore[str, VectorStore]):
    """The vector stores of a session; one with one file is there from the beginning."""

    def __init__(self) -> None:
        super().__init__()
        self["vs_mock"] = first = VectorStore("vs_mock")
        first.files["file-mock-notes"] = "file-mock-notes"


async def create(call: Call) -> Response:
    """A store, empty or with the files that are given."""
    body = await read_object(call, VECTOR_STORE)
    store = VectorStore(call.session.new_id("vs_"), body.get("name"), body.get("metadata", {}), int(call.now))
    for index, file_id in enumerate(body.get("file_ids", ())):
        attach_file(call, store, file_id, f"file_ids[{index}]")
    call.session.state(VectorStores)[store.id] = store
    return JSONResponse(_describe(call, store))


async def list_stores(call: Call) -> Response:
    """All stores."""
    return list_page([_describe(call, store) for store in call.session.state(VectorStores).values()])


async def retrieve(call: Call) -> Response:
    """One store."""
    return JSONResponse(_describe(call, _find(call)))


async def update(call: Call) -> Response:
    """Rename a store, or replace its metadata."""
    store, body = _find(call), await read_object(call, VECTOR_STORE_UPDATE)
    store.name, store.metadata = body.get("name", store.name), body.get("metadata", store.metadata)
    return JSONResponse(_describe(call, store))


async def delete(call: Call) -> Response:
    """Forget a store; its files stay."""
    store = _find(call)
    del call.session.state(VectorStores)[store.id]
    return JSONResponse({"id": store.id, "object": "vector_store.deleted", "deleted": True})


async def list_files(call: Call) -> Response:
    """The files of a store."""
    admit_to_store(call)
    return list_page([_describe_file(call, file_id) for file_id in _find(call).files])


async def attach(call: Call) -> Response:
    """Attach a file."""
    admit_to_store(call)
    store, body = _find(call), await read_object(call, STORE_FILE)
    attach_file(call, store, body["file_id"], "file_id")
    return JSONResponse(_describe_file(call, body["file_id"]))


async def retrieve_file(call: Call) -> Response:
    """One file of a store."""
    admit_to_store(call)
    return JSONResponse(_describe_file(call, _find(call).files.find(call.params["file_id"], NO_FILE)))


async def detach(call: Call) -> Response:
    """Take a file out; the file itself stays."""
    admit_to_store(call)
    files = _find(call).files
    file_id = files.find(call.params["file_id"], NO_FILE)
    del files[file_id]
    return JSONResponse({"id": file_id, "object": "vector_store.file.deleted", "deleted": True})


async def attach_batch(call: Call) -> Response:
    """Attach several files: by their ids, or as objects that hold one each."""
    admit_to_store(call)
    store, body = _find(call), await read_object(call, FILE_BATCH)
    file_ids = body.get("file_ids") or [file["file_id"] for file in body.get("files", ())]
    for index, file_id in enumerate(file_ids):
        attach_file(call, store, file_id, f"file_ids[{index}]")
    batch_id = call.session.new_id("vsfb_")
    store.batches[batch_id] = file_ids
    return JSONResponse(_describe_batch(call, store, batch_id))


async def retrieve_batch(call: Call) -> Response:
    """One batch by which files were attached."""
    admit_to_store(call)
    return JSONResponse(_describe_batch(call, _find(call), call.params["batch_id"]))


def attach_file(call: Call, store: VectorStore, file_id: str, param: str) -> None:
    """Attach a file; one of which no text can be made is well-formed and cannot be processed (2:7.5 row 422)."""
    if not find_file(call, file_id).searchable:
        raise UNPROCESSABLE(id=file_id, param=param)
    store.files[file_id] = file_id


def _find(call: Call) -> VectorStore:
    return call.session.state(VectorStores).find(call.params["vector_store_id"], NO_VECTOR_STORE)


def _describe(call: Call, store: VectorStore) -> dict[str, Any]:
    """A vector store, with all that clients validate."""
    return {
        "id": store.id,
        "object": "vector_store",
        "created_at": store.created_at,
        "name": store.name,
        "usage_bytes": sum(find_file(call, file_id).size for file_id in store.files),
        "file_counts": _counts(len(store.files)),
        "status": "completed",
        "last_active_at": int(call.now),
        "metadata": store.metadata,
    }


def _describe_batch(call: Call, store: VectorStore, batch_id: str) -> dict[str, Any]:
    return {
        "id": batch_id,
        "object": "vector_store.files_batch",
        "created_at": int(call.now),
        "vector_store_id": store.id,
        "status": "completed",
        "file_counts": _counts(len(store.batches.find(batch_id, NO_FILE_BATCH))),
    }


def _counts(completed: int) -> dict[str, int]:
    return {"in_progress": 0, "completed": completed, "failed": 0, "cancelled": 0, "total": completed}


def _describe_file(call: Call, file_id: str) -> dict[str, Any]:
    return {
        "id": file_id,
        "object": "vector_store.file",
        "created_at": int(call.now),
        "usage_bytes": find_file(call, file_id).size,
        "vector_store_id": call.params["vector_store_id"],
        "status": "completed",
        "last_error": None,
    }
