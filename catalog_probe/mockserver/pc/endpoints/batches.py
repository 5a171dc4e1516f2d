"""Batches: their input tokens wait in a queue per model (2:8.4); their paths and states are as clients know them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.pc.bodies import read_object
from catalog_probe.mockserver.pc.endpoints import chat, embeddings
from catalog_probe.mockserver.pc.endpoints.files import File, find_file, keep
from catalog_probe.mockserver.pc.envelopes import envelope
from catalog_probe.mockserver.pc.errors import INVALID_JSON, NO_BATCH, WRONG_PURPOSE
from catalog_probe.mockserver.pc.fields import BATCH, BATCH_ENDPOINTS, FINE_TUNING_JOB
from catalog_probe.mockserver.pc.generation.response import answer
from catalog_probe.mockserver.pc.limits import rates
from catalog_probe.mockserver.pc.limits.spending import refuse_spenders
from catalog_probe.mockserver.pc.models import find
from catalog_probe.mockserver.pc.pages import list_page

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.gateway import Call

RESPONSES, CHAT, EMBEDDINGS = BATCH_ENDPOINTS

ANSWERS: Mapping[str, Callable[[Call, Any], dict[str, Any]]] = {
    RESPONSES: lambda call, raw_body: answer(call, raw_body, {}, streamed=False).response,
    CHAT: chat.complete,
    EMBEDDINGS: embeddings.embed,
}
"""What answers a line of a batch, by endpoint."""

BATCH_S = 60
"""How long a batch takes."""


@dataclass
class Batch:
    """A batch: what it is to do, and what has become of it."""

    described: dict[str, Any]
    file: File
    cancelled: bool = False
    output_file_id: str | None = None


async def create_batch(call: Call) -> Response:
    """Queue a batch."""
    body = await read_object(call, BATCH)
    file = _find_input(call, body, "input_file_id", "batch")
    model = find(call, file.model, None if body["endpoint"] == EMBEDDINGS else "text")
    refuse_spenders(call)
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
    call.session.store(Batch, call.project.id)[described["id"]] = batch = Batch(described, file)
    return JSONResponse(_describe_now(call, batch))


async def list_batches(call: Call) -> Response:
    """The project's batches."""
    return list_page([_describe_now(call, batch) for batch in call.session.store(Batch, call.project.id).values()])


async def retrieve_batch(call: Call) -> Response:
    """One batch of the project."""
    return JSONResponse(_describe_now(call, _find(call)))


async def cancel_batch(call: Call) -> Response:
    """Cancel a batch; what is done cannot be cancelled, and stays."""
    batch = _find(call)
    batch.cancelled = batch.cancelled or call.now < batch.described["created_at"] + BATCH_S
    return JSONResponse(_describe_now(call, batch))


async def create_fine_tuning_job(call: Call) -> Response:
    """A job that waits: clients see what it was asked for."""
    body = await read_object(call, FINE_TUNING_JOB)
    file = _find_input(call, body, "training_file", "fine-tune")
    model = find(call, body["model"], "text")
    refuse_spenders(call)
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


def _find(call: Call) -> Batch:
    return call.session.store(Batch, call.project.id).find(call.params["batch_id"], NO_BATCH)


def _find_input(call: Call, body: Mapping[str, str], param: str, purpose: str) -> File:
    file = find_file(call, body[param])
    if file.purpose != purpose:
        raise WRONG_PURPOSE(id=file.id, purpose=purpose, param=param)
    return file


def _describe_now(call: Call, batch: Batch) -> dict[str, Any]:
    """The batch as it is now, with all that clients validate; its output is written when it is first seen done."""
    begun, lines = batch.described["created_at"], batch.file.content.splitlines()
    state: dict[str, Any] = {"status": "in_progress", "in_progress_at": begun}
    if batch.cancelled:
        state |= {"status": "cancelled", "cancelled_at": begun}
    elif call.now < begun + 1:
        state |= {"status": "validating", "in_progress_at": None}
    elif call.now >= begun + BATCH_S:
        state |= {"status": "completed", "completed_at": begun + BATCH_S}
        if batch.output_file_id is None:
            content = b"".join(_answer(call, batch, line) for line in lines)
            batch.output_file_id = keep(call, "output.jsonl", "batch_output", content).id
    done = len(lines) if state["status"] == "completed" else 0
    return {
        **batch.described,
        "completed_at": None,
        "cancelled_at": None,
        **state,
        "output_file_id": batch.output_file_id,
        "error_file_id": None,
        "request_counts": {"total": len(lines), "completed": done, "failed": 0},
    }


def _answer(call: Call, batch: Batch, line: bytes) -> bytes:
    """The line of the output that answers one of the input: refused or made as it would be alone."""
    custom_id, status = None, 200
    try:
        request = strict_json.loads(line)
        custom_id = request["custom_id"]
        body = ANSWERS[batch.described["endpoint"]](call, request["body"])
    except Refusal as refusal:
        status, body = refusal.row.status, envelope(refusal)
    except (ValueError, TypeError, KeyError):
        status, body = 400, envelope(INVALID_JSON(reason="the line is no request of a batch"))
    response = {"status_code": status, "request_id": call.session.new_id("req_", 32), "body": body}
    output = {"id": call.session.new_id("batch_req_"), "custom_id": custom_id, "response": response, "error": None}
    return json.dumps(output).encode() + b"\n"
