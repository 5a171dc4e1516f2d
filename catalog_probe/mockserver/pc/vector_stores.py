"""PC's vector stores, each with one budget of requests (1:4.3, 2:8.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.sessions import BoundedStore
from catalog_probe.mockserver.pc.call import make_page, read_object
from catalog_probe.mockserver.pc.errors import NO_VECTOR_STORE, UNPROCESSABLE
from catalog_probe.mockserver.pc.fields import FILE_BATCH, STORE_FILE, VECTOR_STORE
from catalog_probe.mockserver.pc.files import find_file
from catalog_probe.mockserver.pc.limits import admit_to_store

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.call import Call


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
    store = _find(call)
    del call.session.state(VectorStores)[store.id]
    return JSONResponse({"id": store.id, "object": "vector_store.deleted", "deleted": True})


async def list_files(call: Call) -> Response:
    """List the files of a store."""
    admit_to_store(call)
    return make_page([_describe_file(call, file_id) for file_id in _find(call).file_ids])


async def attach(call: Call) -> Response:
    """Attach a file."""
    admit_to_store(call)
    store, body = _find(call), await read_object(call, STORE_FILE)
    attach_file(call, store, body["file_id"], "file_id")
    return JSONResponse(_describe_file(call, body["file_id"]))


async def attach_batch(call: Call) -> Response:
    """Attach several files, given by their ids or as objects with one id each."""
    admit_to_store(call)
    store, body = _find(call), await read_object(call, FILE_BATCH)
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


def _find(call: Call) -> VectorStore:
    return call.session.state(VectorStores).find(call.params["vector_store_id"], NO_VECTOR_STORE)


def _count_files(completed: int) -> dict[str, int]:
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
