"""Vector stores: their files and file batches share one budget of requests (1:4.3, 2:8.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from mockserver.pc.call import read_object
from mockserver.pc.causes import used_before
from mockserver.pc.errors import NO_VECTOR_STORE, RATE_LIMIT_EXCEEDED, UNPROCESSABLE, retry_after
from mockserver.pc.fields import OBJECT, array, check, check_value, string
from mockserver.pc.files import find

if TYPE_CHECKING:
    from starlette.responses import Response

    from mockserver.pc.call import Call

REQUESTS_PER_MINUTE = 300

_ATTACHED = {"file_id": string(), "attributes": OBJECT, "chunking_strategy": OBJECT}


@dataclass
class Stores:
    """The vector stores of a session: id -> the ids of its files. One is there from the beginning."""

    files: dict[str, list[str]] = field(default_factory=lambda: {"vs_mock": ["file-mock-notes"]})


async def create(call: Call) -> Response:
    """POST /v1/vector_stores; the path is not in the documents."""
    body = await read_object(call)
    check(body, {"name": string(), "file_ids": array(500), "metadata": OBJECT})
    made = call.session.new_id("vs_", 24)
    files = call.session.state(Stores).files.setdefault(made, [])
    for number, file_id in enumerate(body.get("file_ids") or ()):
        take_file(files, file_id, f"file_ids[{number}]")
    return JSONResponse({"id": made, "object": "vector_store", "created_at": int(call.now), "name": body.get("name")})


async def delete(call: Call) -> Response:
    """DELETE /v1/vector_stores/{id}; the path is not in the documents."""
    _files(call)
    del call.session.state(Stores).files[call.params["vector_store_id"]]
    deleted = {"id": call.params["vector_store_id"], "object": "vector_store.deleted", "deleted": True}
    return JSONResponse(deleted)


async def list_files(call: Call) -> Response:
    """GET …/files."""
    admit(call)
    files = [_described(call, each) for each in _files(call)]
    return JSONResponse({"object": "list", "data": files, "has_more": False})


async def attach(call: Call) -> Response:
    """POST …/files; a file of which no text can be made is well-formed and cannot be processed (2:7.5 row 422)."""
    admit(call)
    files = _files(call)
    body = await read_object(call)
    check(body, _ATTACHED, required=("file_id",))
    take_file(files, body["file_id"], "file_id")
    return JSONResponse(_described(call, body["file_id"]))


async def attach_batch(call: Call) -> Response:
    """POST …/file_batches."""
    admit(call)
    files = _files(call)
    body = await read_object(call)
    check(body, {"file_ids": array(2_000), "attributes": OBJECT, "chunking_strategy": OBJECT}, required=("file_ids",))
    for number, file_id in enumerate(body["file_ids"]):
        take_file(files, file_id, f"file_ids[{number}]")
    counts = {"in_progress": 0, "completed": len(body["file_ids"]), "failed": 0, "cancelled": 0}
    return JSONResponse(
        {
            "id": call.session.new_id("vsfb_", 24),
            "object": "vector_store.files_batch",
            "created_at": int(call.now),
            "vector_store_id": call.params["vector_store_id"],
            "status": "completed",
            "file_counts": {**counts, "total": len(body["file_ids"])},
        }
    )


def take_file(files: list[str], file_id: Any, param: str) -> None:
    check_value(param, file_id, string())
    if not find(file_id).searchable:
        raise UNPROCESSABLE(f"The file '{file_id}' holds no text that could be searched.", param)
    files.append(file_id)


def _files(call: Call) -> list[str]:
    found = call.session.state(Stores).files.get(call.params["vector_store_id"])
    if found is None:
        raise NO_VECTOR_STORE(f"No vector store found with id '{call.params['vector_store_id']}'.")
    return found


def counted_for(call: Call) -> tuple[str, ...]:
    """Whose budget a request is of: the vector store's, for files and file batches alike (2:8.4)."""
    return (call.params["vector_store_id"],)


def admit(call: Call) -> None:
    """Count one request of a vector store, or 429."""
    bucket = call.session.bucket(("pc", "vector_store", *counted_for(call)), REQUESTS_PER_MINUTE)
    used = used_before(call.context, "vector_store_requests_per_minute")
    if used is not None:
        bucket.leave(used, call.now)
    wait = bucket.seconds_until(1, call.now)
    if wait > 0:
        message = f"Rate limit reached for this vector store: limit {REQUESTS_PER_MINUTE} requests per min."
        raise RATE_LIMIT_EXCEEDED(message, headers=retry_after(max(1, wait)))
    bucket.charge(1, call.now)


def _described(call: Call, file_id: str) -> dict[str, Any]:
    return {
        "id": file_id,
        "object": "vector_store.file",
        "created_at": int(call.now),
        "usage_bytes": find(file_id).size,
        "vector_store_id": call.params["vector_store_id"],
        "status": "completed",
        "last_error": None,
    }
