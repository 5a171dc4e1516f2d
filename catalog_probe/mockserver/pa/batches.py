"""Message batches: create, list, retrieve, cancel, results (1:4.1; paths assumed)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.pa.call import BATCH_BODY, Resources, check_fields, read_object
from catalog_probe.mockserver.pa.conversation import measure
from catalog_probe.mockserver.pa.errors import BATCH_ENDED, DUPLICATE_CUSTOM_ID, NO_BATCH, NO_RESULTS, make_envelope
from catalog_probe.mockserver.pa.fields import BATCH
from catalog_probe.mockserver.pa.limits import admit_batch
from catalog_probe.mockserver.pa.messages import check_message, compose, refuse_sampling
from catalog_probe.mockserver.pa.scenarios import raise_billable_failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.mockserver.pa.call import Call


PROCESSING_S = 60  # ours; a client that will not wait says `X-Mock-Clock: +2m`
LIFETIME_S = 24 * 3600


@dataclass
class Batch:
    """A batch; its status follows from the clock alone."""

    id: str
    requests: list[dict[str, Any]]
    created_at: float
    cancelled_at: float | None = None
    results: list[dict[str, Any]] | None = None

    @property
    def ends_at(self) -> float:
        """When all its requests are done or cancelled."""
        return self.created_at + PROCESSING_S if self.cancelled_at is None else self.cancelled_at + PROCESSING_S

    def status(self, now: float) -> str:
        """Return `in_progress`, `canceling` or `ended`."""
        if now >= self.ends_at:
            return "ended"
        return "in_progress" if self.cancelled_at is None else "canceling"


async def create_batch(call: Call) -> Response:
    """Create a batch; its requests are checked only when they are processed."""
    body = await read_object(call, BATCH_BODY)
    check_fields(body, BATCH)
    refuse_duplicates(body["requests"])
    raise_billable_failure(call)
    waiting = sum(len(batch.requests) for batch in BATCHES.of(call).values() if batch.status(call.now) != "ended")
    admit_batch(call, waiting, len(body["requests"]))
    batch = Batch(call.session.new_id("msgbatch_"), body["requests"], call.now)
    BATCHES.of(call)[batch.id] = batch
    return JSONResponse(describe_batch(call, batch))


async def cancel(call: Call) -> Response:
    """Cancel a batch; 409 once it has ended."""
    batch = BATCHES.find(call)
    if batch.status(call.now) == "ended":
        raise BATCH_ENDED(id=batch.id)
    batch.cancelled_at = batch.cancelled_at or call.now
    return JSONResponse(describe_batch(call, batch))


async def results(call: Call) -> Response:
    """Answer with the results, one JSON object a line; 404 until the batch has ended."""
    batch = BATCHES.find(call)
    if batch.status(call.now) != "ended":
        raise NO_RESULTS(id=batch.id)
    lines = "".join(json.dumps(result) + "\n" for result in _find_results(call, batch))
    return Response(lines, media_type="application/x-jsonl")


def refuse_duplicates(requests: Sequence[dict[str, Any]]) -> None:
    """Refuse two requests with one custom id: clients find their results by it."""
    custom_ids: set[str] = set()
    for index, request in enumerate(requests):
        if request["custom_id"] in custom_ids:
            raise DUPLICATE_CUSTOM_ID(path=f"requests.{index}.custom_id")
        custom_ids.add(request["custom_id"])


def describe_batch(call: Call, batch: Batch) -> dict[str, Any]:
    """Return a batch as it is at the time of the call."""
    status = batch.status(call.now)
    ended = status == "ended"
    base = str(call.request.url.replace(path=call.request.scope["root_path"], query=""))
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": status,
        "request_counts": _counts(call, batch, ended),
        "created_at": rfc3339(batch.created_at),
        "expires_at": rfc3339(batch.created_at + LIFETIME_S),
        "cancel_initiated_at": rfc3339(batch.cancelled_at) if batch.cancelled_at is not None else None,
        "ended_at": rfc3339(batch.ends_at) if ended else None,
        "archived_at": None,
        "results_url": f"{base}/v1/messages/batches/{batch.id}/results" if ended else None,
    }


BATCHES = Resources(Batch, "{batch_id}", NO_BATCH, describe_batch, "message_batch")


def _counts(call: Call, batch: Batch, ended: bool) -> dict[str, int]:
    counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
    if not ended:
        return {**counts, "processing": len(batch.requests)}
    for result in _find_results(call, batch):
        counts[result["result"]["type"]] += 1
    return counts


def _find_results(call: Call, batch: Batch) -> list[dict[str, Any]]:
    """Return the results, made when a client first asks for them after the end."""
    if batch.results is None:
        batch.results = list(_process(call, batch))
    return batch.results


def _process(call: Call, batch: Batch) -> Iterator[dict[str, Any]]:
    for request in batch.requests:
        result = {"type": "canceled"} if batch.cancelled_at is not None else _make_result(call, request["params"])
        yield {"custom_id": request["custom_id"], "result": result}


def _make_result(call: Call, params: dict[str, Any]) -> dict[str, Any]:
    try:
        refuse_sampling(params, call.version)
        model, input_tokens = check_message(params, ignore_unknown=call.has_other_betas)
    except Refusal as refusal:
        return {"type": "errored", "error": {**make_envelope(refusal), "request_id": call.session.new_id("req_")}}
    message = compose(call, params, model, measure(call.session, params, input_tokens))
    message["usage"]["service_tier"] = "batch"
    return {"type": "succeeded", "message": message}
