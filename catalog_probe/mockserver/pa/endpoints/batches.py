"""Message batches: create, list, retrieve, cancel, results, delete. Paths not shown (1:4.1); assumed as usual."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.shelves import Shelf
from catalog_probe.mockserver.pa import fields
from catalog_probe.mockserver.pa.call import MB, Call, read_object
from catalog_probe.mockserver.pa.causes import raise_billable_failure
from catalog_probe.mockserver.pa.endpoints.messages import compose
from catalog_probe.mockserver.pa.errors import CONFLICT, PaError, invalid, not_found
from catalog_probe.mockserver.pa.generation.message_request import check_message, refuse_sampling
from catalog_probe.mockserver.pa.generation.prompt_cache import measure
from catalog_probe.mockserver.pa.limits import rates
from catalog_probe.mockserver.pa.limits.spending import refuse_spenders
from catalog_probe.mockserver.pa.paging import page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.mockserver.pa.auth.keys import Organization

MAX_BODY = 256 * MB
"""2:8.1"""
MAX_REQUESTS = 100_000
"""2:8.2"""
PROCESSING_S = 60
"""How long a batch takes here; a client that will not wait says `X-Mock-Clock: +2m`."""
LIFETIME_S = 24 * 3600

_FIELDS: Mapping[str, fields.Check] = {"requests": fields.array}
_REQUEST_FIELDS: Mapping[str, fields.Check] = {"custom_id": fields.string, "params": fields.dictionary}


@dataclass
class Batch:
    """A batch. How far it has got is a matter of the clock alone."""

    id: str
    requests: list[dict[str, Any]]
    created_at: float
    cancelled_at: float | None = None
    results: list[dict[str, Any]] | None = None

    @property
    def ends_at(self) -> float:
        """When all its requests are done or given up."""
        return self.created_at + PROCESSING_S if self.cancelled_at is None else self.cancelled_at + PROCESSING_S

    def status(self, now: float) -> str:
        """`in_progress`, `canceling` or `ended`."""
        if now >= self.ends_at:
            return "ended"
        return "in_progress" if self.cancelled_at is None else "canceling"


@dataclass
class Batches:
    """The batches of one session, by organization."""

    by_organization: dict[str, Shelf[str, Batch]] = field(default_factory=dict)

    def of(self, organization: Organization) -> Shelf[str, Batch]:
        """The batches of an organization, by id."""
        return self.by_organization.setdefault(organization.id, Shelf())


async def create(call: Call) -> Response:
    """Take a batch of message requests; each is judged when it is processed, not here."""
    rates.admit_request(call, "batches")
    body = await read_object(call, MAX_BODY)
    fields.check_fields(body, _FIELDS, ("requests",))
    check_requests(body["requests"])
    raise_billable_failure(call)
    refuse_spenders(call.key.standing, call.now, call.real_now)
    waiting = sum(len(each.requests) for each in _mine(call).newest_first() if each.status(call.now) != "ended")
    rates.admit_batch(call, waiting, len(body["requests"]))
    batch = Batch(call.session.new_id("msgbatch_"), body["requests"], call.now)
    _mine(call)[batch.id] = batch
    return JSONResponse(_described(call, batch))


async def list_batches(call: Call) -> Response:
    """One page of the batches, newest first."""
    rates.admit_request(call, "batches")
    return JSONResponse(page(call, [_described(call, batch) for batch in _mine(call).newest_first()]))


async def retrieve(call: Call) -> Response:
    """One batch."""
    rates.admit_request(call, "batches")
    return JSONResponse(_described(call, _find(call)))


async def cancel(call: Call) -> Response:
    """Stop a batch; 409 once it has ended, since there is nothing left to stop."""
    rates.admit_request(call, "batches")
    batch = _find(call)
    if batch.status(call.now) == "ended":
        raise PaError(CONFLICT, f"Message Batch {batch.id} has already ended.")
    batch.cancelled_at = batch.cancelled_at or call.now
    return JSONResponse(_described(call, batch))


async def results(call: Call) -> Response:
    """The results, one JSON object a line; 404 until the batch has ended."""
    rates.admit_request(call, "batches")
    batch = _find(call)
    if batch.status(call.now) != "ended":
        raise not_found(f"Message Batch {batch.id} has no available results.")
    lines = "".join(json.dumps(result) + "\n" for result in _results(call, batch))
    return Response(lines, media_type="application/x-jsonl")


async def delete(call: Call) -> Response:
    """Forget a batch; 409 while it is being processed."""
    rates.admit_request(call, "batches")
    batch = _find(call)
    if batch.status(call.now) != "ended":
        raise PaError(CONFLICT, f"Message Batch {batch.id} cannot be deleted while it is {batch.status(call.now)}.")
    del _mine(call)[batch.id]
    return JSONResponse({"id": batch.id, "type": "message_batch_deleted"})


def _mine(call: Call) -> Shelf[str, Batch]:
    return call.session.state(Batches).of(call.key.organization)


def _find(call: Call) -> Batch:
    batch = _mine(call).get(call.params["batch_id"])
    if batch is None:
        raise not_found(f"Message Batch {call.params['batch_id']} not found.")
    return batch


def check_requests(requests: list[Any]) -> None:
    if not requests:
        raise invalid("requests: at least one request is required")
    if len(requests) > MAX_REQUESTS:
        raise invalid(f"requests: a batch has at most {MAX_REQUESTS} requests")
    seen: set[str] = set()
    for index, request in enumerate(requests):
        if not isinstance(request, dict):
            raise invalid(f"requests.{index}: Input should be a valid dictionary")
        fields.check_fields(request, _REQUEST_FIELDS, ("custom_id", "params"), at=f"requests.{index}.")
        if request["custom_id"] in seen:
            raise invalid(f"requests.{index}.custom_id: must be unique within the batch")
        seen.add(request["custom_id"])


def _described(call: Call, batch: Batch) -> dict[str, Any]:
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


def _counts(call: Call, batch: Batch, ended: bool) -> dict[str, int]:
    counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
    if not ended:
        return {**counts, "processing": len(batch.requests)}
    for result in _results(call, batch):
        counts[result["result"]["type"]] += 1
    return counts


def _results(call: Call, batch: Batch) -> list[dict[str, Any]]:
    """Processed when first looked at after the end: nobody can tell the difference."""
    if batch.results is None:
        batch.results = list(_process(call, batch))
    return batch.results


def _process(call: Call, batch: Batch) -> Iterator[dict[str, Any]]:
    for request in batch.requests:
        result = {"type": "canceled"} if batch.cancelled_at is not None else _one_result(call, request["params"])
        yield {"custom_id": request["custom_id"], "result": result}


def _one_result(call: Call, params: dict[str, Any]) -> dict[str, Any]:
    try:
        refuse_sampling(params, call.version)
        model, input_tokens = check_message(params, extra=call.has_other_betas)
    except PaError as error:
        return {"type": "errored", "error": {**error.envelope(), "request_id": call.session.new_id("req_")}}
    message = compose(call, params, model, measure(call.session, params, input_tokens))
    message["usage"]["service_tier"] = "batch"
    return {"type": "succeeded", "message": message}
