"""What works on a file in the background: batches, fine-tuning jobs (1:1, 2:8.4); their paths are not documented."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.core.shelves import Shelf
from catalog_probe.mockserver.pc.call import read_object
from catalog_probe.mockserver.pc.endpoints import chat, other_models
from catalog_probe.mockserver.pc.endpoints.files import File, keep, page
from catalog_probe.mockserver.pc.endpoints.files import find as find_file
from catalog_probe.mockserver.pc.errors import INVALID_JSON, INVALID_VALUE, NO_BATCH, PcError
from catalog_probe.mockserver.pc.fields import OBJECT, Field, check, string
from catalog_probe.mockserver.pc.generation.answering import answer
from catalog_probe.mockserver.pc.limits import rates
from catalog_probe.mockserver.pc.models import find

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.responses import Response

    from catalog_probe.mockserver.pc.call import Call

EMBEDDINGS = "/v1/embeddings"

ANSWERS: Mapping[str, Callable[[Call, dict[str, Any]], dict[str, Any]]] = {
    "/v1/responses": lambda call, asked: answer(call, asked, {}, streamed=False).response,
    "/v1/chat/completions": chat.made,
    EMBEDDINGS: other_models.embedded,
}
"""What answers a line of a batch, by endpoint."""

_BATCH: Mapping[str, Field] = {
    "input_file_id": string(),
    "endpoint": string("/v1/responses", "/v1/chat/completions", "/v1/embeddings"),
    "completion_window": string("24h"),
    "metadata": OBJECT,
}
_JOB: Mapping[str, Field] = {
    "model": string(),
    "training_file": string(),
    "validation_file": string(),
    "method": OBJECT,
    "suffix": string(max_length=64),
    "metadata": OBJECT,
}


BATCH_S = 60
"""How long a batch takes; the documents show no state of one, these are as clients know them."""


@dataclass
class Batch:
    """A batch: what it is to do, for whom, and what has become of it."""

    described: dict[str, Any]
    file: File
    project: str
    cancelled: bool = False
    output: str | None = None


@dataclass
class Batches:
    """The batches of a session by id."""

    made: Shelf[str, Batch] = field(default_factory=Shelf)


async def create_batch(call: Call) -> Response:
    """POST /v1/batches: its input tokens wait in the queue of the model that it asks (2:8.4)."""
    body = await read_object(call)
    check(body, _BATCH, required=("input_file_id", "endpoint", "completion_window"))
    file = _file(call, body, "input_file_id", "batch")
    model = find(file.model, call.key, call.project, None if body["endpoint"] == EMBEDDINGS else "text")
    rates.refuse_spenders(call)
    rates.enqueue(call, model, file.tokens)
    described = {
        "id": call.session.new_id("batch_", 32),
        "object": "batch",
        "endpoint": body["endpoint"],
        "errors": None,
        "input_file_id": file.id,
        "completion_window": body["completion_window"],
        "created_at": int(call.now),
        "expires_at": int(call.now) + 24 * 3600,
        "metadata": body.get("metadata"),
    }
    call.session.state(Batches).made[described["id"]] = batch = Batch(described, file, call.project.id)
    return JSONResponse(_as_it_is(call, batch))


async def list_batches(call: Call) -> Response:
    """GET /v1/batches."""
    made = call.session.state(Batches).made.values()
    return JSONResponse(page([_as_it_is(call, each) for each in made if each.project == call.project.id]))


async def retrieve_batch(call: Call) -> Response:
    """GET /v1/batches/{batch_id}."""
    return JSONResponse(_as_it_is(call, _batch(call)))


async def cancel_batch(call: Call) -> Response:
    """POST /v1/batches/{batch_id}/cancel; what is done cannot be cancelled, and stays."""
    batch = _batch(call)
    batch.cancelled = batch.cancelled or call.now < batch.described["created_at"] + BATCH_S
    return JSONResponse(_as_it_is(call, batch))


def _batch(call: Call) -> Batch:
    found = call.session.state(Batches).made.get(call.params["batch_id"])
    if found is None or found.project != call.project.id:
        raise NO_BATCH(f"No batch found with id '{call.params['batch_id']}'.")
    return found


def _as_it_is(call: Call, batch: Batch) -> dict[str, Any]:
    """The batch as it is now, with all that clients validate; its output is written when it is first seen done."""
    begun, lines = batch.described["created_at"], batch.file.content.splitlines()
    now: dict[str, Any] = {"status": "in_progress", "in_progress_at": begun, "completed_at": None, "cancelled_at": None}
    done = 0
    if batch.cancelled:
        now |= {"status": "cancelled", "cancelled_at": begun}
    elif call.now < begun + 1:
        now |= {"status": "validating", "in_progress_at": None}
    elif call.now >= begun + BATCH_S:
        done = len(lines)
        now |= {"status": "completed", "completed_at": begun + BATCH_S}
        if batch.output is None:
            content = b"".join(_answered(call, batch, line) for line in lines)
            batch.output = keep(call, "output.jsonl", "batch_output", content).id
    files = {"output_file_id": batch.output, "error_file_id": None}
    counts = {"total": len(lines), "completed": done, "failed": 0}
    return {**batch.described, **now, **files, "request_counts": counts}


def _answered(call: Call, batch: Batch, line: bytes) -> bytes:
    """The line of the output that answers one of the input: refused or made as it would be alone."""
    custom_id, status = None, 200
    try:
        given = strict_json.loads(line)
        custom_id, asked = given["custom_id"], given["body"]
        body = ANSWERS[batch.described["endpoint"]](call, asked)
    except PcError as error:
        status, body = error.status, error.envelope()
    except (ValueError, TypeError, KeyError, AttributeError):
        status, body = 400, INVALID_JSON("The line is no request of a batch.").envelope()
    response = {"status_code": status, "request_id": call.session.new_id("req_", 32), "body": body}
    made = {"id": call.session.new_id("batch_req_", 24), "custom_id": custom_id, "response": response, "error": None}
    return json.dumps(made).encode() + b"\n"


async def create_fine_tuning_job(call: Call) -> Response:
    """POST /v1/fine_tuning/jobs."""
    body = await read_object(call)
    check(body, _JOB, required=("model", "training_file"))
    file = _file(call, body, "training_file", "fine-tune")
    model = find(body["model"], call.key, call.project, "text")
    rates.refuse_spenders(call)
    return JSONResponse(
        {
            "id": call.session.new_id("ftjob-", 24),
            "object": "fine_tuning.job",
            "model": model.id,
            "training_file": file.id,
            "status": "queued",
            "created_at": int(call.now),
        }
    )


def _file(call: Call, body: Mapping[str, str], param: str, purpose: str) -> File:
    file = find_file(call, body[param])
    if file.purpose != purpose:
        raise INVALID_VALUE(f"The purpose of '{file.id}' is not '{purpose}'.", param)
    return file
