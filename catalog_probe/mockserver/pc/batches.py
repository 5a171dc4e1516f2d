"""PC's batches and fine-tuning jobs, which never run (1:1, 2:8.4).

The documents show neither paths nor bodies; these are the ones that official clients use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.pc import limits
from catalog_probe.mockserver.pc.call import read_object
from catalog_probe.mockserver.pc.fields import BATCH, EMBEDDINGS_PATH, FINE_TUNING_JOB
from catalog_probe.mockserver.pc.files import find_file
from catalog_probe.mockserver.pc.limits import check_spending
from catalog_probe.mockserver.pc.models import find_model

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.call import Call


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
