"""Vector stores: their files and file batches share one budget of requests (1:4.3, 2:8.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.stores import BoundedStore
from catalog_probe.mockserver.pc.call import read_object
from catalog_probe.mockserver.pc.endpoints.files import find, page
from catalog_probe.mockserver.pc.errors import NO_FILE, NO_VECTOR_STORE, RATE_LIMIT_EXCEEDED, UNPROCESSABLE, retry_after
from catalog_probe.mockserver.pc.fields import OBJECT, array, check, check_value, string

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pc.call import Call

REQUESTS_PER_MINUTE = 300

_NAMED = {"name": string(), "metadata": OBJECT, "expires_after": OBJECT}
_ATTACHED = {"file_id": string(), "attributes": OBJECT, "chunking_strategy": OBJECT}


@dataclass
class Store:
    """A vector store: its files, and the files of each batch by which some were attached."""

    id: str
    name: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    created_at: int = 1_770_000_000
    files: dict[str, None] = field(default_factory=dict)
    batches: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Stores:
    """The vector stores of a session by id. One is there from the beginning."""

    known: BoundedStore[str, Store] = field(
        default_factory=lambda: _with(Store("vs_mock", files={"file-mock-notes": None}))
    )


def _with(store: Store) -> BoundedStore[str, Store]:
    known: BoundedStore[str, Store] = BoundedStore()
    known[store.id] = store
    return known


async def create(call: Call) -> Response:
    """POST /v1/vector_stores; the path is not in the documents."""
    body = await read_object(call)
    check(body, {**_NAMED, "file_ids": array(500), "chunking_strategy": OBJECT, "description": string()})
    made = Store(call.session.new_id("vs_", 24), body.get("name"), body.get("metadata") or {}, int(call.now))
    for number, file_id in enumerate(body.get("file_ids") or ()):
        take_file(call, made.files, file_id, f"file_ids[{number}]")
    call.session.state(Stores).known[made.id] = made
    return JSONResponse(_described(call, made))


async def list_stores(call: Call) -> Response:
    """GET /v1/vector_stores; the path is not in the documents."""
    return JSONResponse(page([_described(call, store) for store in call.session.state(Stores).known.values()]))


async def retrieve(call: Call) -> Response:
    """GET /v1/vector_stores/{id}; the path is not in the documents."""
    return JSONResponse(_described(call, _store(call)))


async def update(call: Call) -> Response:
    """POST /v1/vector_stores/{id}; the path is not in the documents."""
    store, body = _store(call), await read_object(call)
    check(body, _NAMED)
    store.name, store.metadata = body.get("name", store.name), body.get("metadata") or store.metadata
    return JSONResponse(_described(call, store))


async def delete(call: Call) -> Response:
    """DELETE /v1/vector_stores/{id}; the path is not in the documents."""
    del call.session.state(Stores).known[_store(call).id]
    deleted = {"id": call.params["vector_store_id"], "object": "vector_store.deleted", "deleted": True}
    return JSONResponse(deleted)


async def list_files(call: Call) -> Response:
    """GET …/files."""
    admit(call)
    return JSONResponse(page([_attached(call, each) for each in _store(call).files]))


async def attach(call: Call) -> Response:
    """POST …/files; a file of which no text can be made is well-formed and cannot be processed (2:7.5 row 422)."""
    admit(call)
    store = _store(call)
    body = await read_object(call)
    check(body, _ATTACHED, required=("file_id",))
    take_file(call, store.files, body["file_id"], "file_id")
    _weigh(call, store)
    return JSONResponse(_attached(call, body["file_id"]))


async def retrieve_file(call: Call) -> Response:
    """GET …/files/{file_id}."""
    admit(call)
    return JSONResponse(_attached(call, _own_file(call)))


async def detach(call: Call) -> Response:
    """DELETE …/files/{file_id}; the file itself stays."""
    admit(call)
    file_id = _own_file(call)
    del _store(call).files[file_id]
    return JSONResponse({"id": file_id, "object": "vector_store.file.deleted", "deleted": True})


async def attach_batch(call: Call) -> Response:
    """POST …/file_batches."""
    admit(call)
    store = _store(call)
    body = await read_object(call)
    check(body, {"file_ids": array(2_000), "attributes": OBJECT, "chunking_strategy": OBJECT}, required=("file_ids",))
    for number, file_id in enumerate(body["file_ids"]):
        take_file(call, store.files, file_id, f"file_ids[{number}]")
    made = call.session.new_id("vsfb_", 24)
    store.batches[made] = list(body["file_ids"])
    _weigh(call, store)
    return JSONResponse(_batch(call, store, made))


async def retrieve_batch(call: Call) -> Response:
    """GET …/file_batches/{batch_id}."""
    admit(call)
    store, batch_id = _store(call), call.params["batch_id"]
    if batch_id not in store.batches:
        raise NO_VECTOR_STORE(f"No file batch found with id '{batch_id}' in vector store '{store.id}'.")
    return JSONResponse(_batch(call, store, batch_id))


def _weigh(call: Call, store: Store) -> None:
    """Put a store back that holds more than before."""
    call.session.state(Stores).known[store.id] = store


def take_file(call: Call, files: dict[str, None], file_id: Any, param: str) -> None:
    """Attach a file that holds text."""
    check_value(param, file_id, string())
    if not find(call, file_id).searchable:
        raise UNPROCESSABLE(f"The file '{file_id}' holds no text that could be searched.", param)
    files[file_id] = None


def _store(call: Call) -> Store:
    found = call.session.state(Stores).known.get(call.params["vector_store_id"])
    if found is None:
        raise NO_VECTOR_STORE(f"No vector store found with id '{call.params['vector_store_id']}'.")
    return found


def _own_file(call: Call) -> str:
    store, file_id = _store(call), call.params["file_id"]
    if file_id not in store.files:
        raise NO_FILE(f"No file found with id '{file_id}' in vector store '{store.id}'.")
    return file_id


def counted_for(call: Call) -> tuple[str, ...]:
    """Whose budget a request is of: the vector store's, for files and file batches alike (2:8.4)."""
    return (call.params["vector_store_id"],)


def admit(call: Call) -> None:
    """Count one request of a vector store, or 429."""
    bucket = call.session.bucket(("pc", "vector_store", *counted_for(call)), REQUESTS_PER_MINUTE)
    wait = bucket.seconds_until(1, call.now)
    if wait > 0:
        message = f"Rate limit reached for this vector store: limit {REQUESTS_PER_MINUTE} requests per min."
        raise RATE_LIMIT_EXCEEDED(message, headers=retry_after(max(1, wait)))
    bucket.charge(1, call.now)


def _described(call: Call, store: Store) -> dict[str, Any]:
    """A vector store, with all that clients validate."""
    return {
        "id": store.id,
        "object": "vector_store",
        "created_at": store.created_at,
        "name": store.name,
        "usage_bytes": sum(find(call, file_id).size for file_id in store.files),
        "file_counts": _counts(len(store.files)),
        "status": "completed",
        "expires_after": None,
        "expires_at": None,
        "last_active_at": int(call.now),
        "metadata": store.metadata,
    }


def _batch(call: Call, store: Store, batch_id: str) -> dict[str, Any]:
    return {
        "id": batch_id,
        "object": "vector_store.files_batch",
        "created_at": int(call.now),
        "vector_store_id": store.id,
        "status": "completed",
        "file_counts": _counts(len(store.batches[batch_id])),
    }


def _counts(completed: int) -> dict[str, int]:
    return {"in_progress": 0, "completed": completed, "failed": 0, "cancelled": 0, "total": completed}


def _attached(call: Call, file_id: str) -> dict[str, Any]:
    return {
        "id": file_id,
        "object": "vector_store.file",
        "created_at": int(call.now),
        "usage_bytes": find(call, file_id).size,
        "vector_store_id": call.params["vector_store_id"],
        "status": "completed",
        "last_error": None,
    }
