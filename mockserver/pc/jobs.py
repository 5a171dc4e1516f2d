"""What works on a file in the background: batches, fine-tuning jobs (1:1, 2:8.4); their paths are not documented."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from mockserver.pc import limits
from mockserver.pc.call import read_object
from mockserver.pc.catalogue import find
from mockserver.pc.errors import INVALID_VALUE
from mockserver.pc.fields import OBJECT, Field, check, string
from mockserver.pc.files import find as find_file

if TYPE_CHECKING:
    from starlette.responses import Response

    from mockserver.pc.call import Call
    from mockserver.pc.files import File

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


async def create_batch(call: Call) -> Response:
    """POST /v1/batches: its input tokens wait in the queue of the model that it asks (2:8.4)."""
    body = await read_object(call)
    check(body, _BATCH, required=("input_file_id", "endpoint", "completion_window"))
    file = _file(body, "input_file_id", "batch")
    model = find(file.model, call.key, call.project, "text")
    limits.refuse_spenders(call)
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
        }
    )


async def create_fine_tuning_job(call: Call) -> Response:
    """POST /v1/fine_tuning/jobs."""
    body = await read_object(call)
    check(body, _JOB, required=("model", "training_file"))
    file = _file(body, "training_file", "fine-tune")
    model = find(body["model"], call.key, call.project, "text")
    limits.refuse_spenders(call)
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


def _file(body: Mapping[str, str], param: str, purpose: str) -> File:
    file = find_file(body[param])
    if file.purpose != purpose:
        raise INVALID_VALUE(f"The purpose of '{file.id}' is not '{purpose}'.", param)
    return file
