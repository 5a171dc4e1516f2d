"""Batch jobs: how many run at once, how much they may read, and how many tokens may wait (2:8.1, 2:8.3).

The documents show no path and no body (1:4); these are as such APIs have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mockserver.pb import fields, files
from mockserver.pb.call import JsonAnswer, read_object
from mockserver.pb.catalogue import BATCH, find_model
from mockserver.pb.errors import NOT_FOUND, QUOTA, PbError, invalid
from mockserver.pb.quotas import Excess, quota_refusal
from mockserver.pb.tokens import BYTES_PER_TOKEN
from mockserver.shelves import Shelf

if TYPE_CHECKING:
    from starlette.responses import Response

    from mockserver.pb.call import Call
    from mockserver.pb.catalogue import Model

MAX_JOBS = 100
MAX_INPUT_BYTES = 2 * 1_000**3
"""2 GB (2:8.1); whether of 10^9 or 2^30 bytes is not told."""

BODY: fields.Fields = {"batch": fields.mapping}
BATCH_FIELDS: fields.Fields = {"displayName": fields.string, "inputConfig": fields.mapping}
INPUT: fields.Fields = {"fileName": fields.string}

ENQUEUED_TOKENS: dict[str, dict[str, int]] = {
    "tier1": {"speech": 25_000, "embedding": 500_000, "other": 10_000_000},
    "tier2": {"speech": 100_000, "embedding": 5_000_000, "other": 1_000_000_000},
    "tier3": {"speech": 1_000_000, "embedding": 10_000_000, "other": 5_000_000_000},
}
"""By tier and kind of model, from the lowest ceiling to the highest (2:8.3); which models lie between is not told."""


@dataclass(frozen=True)
class Job:
    """One job that has not ended."""

    project: str
    model: str
    tokens: int


@dataclass
class _Jobs:
    active: Shelf[str, Job] = field(default_factory=Shelf)


async def create(call: Call) -> Response:
    """Enqueue a job that reads a file."""
    model = find_model(call.params["model"], call.version, call.project, BATCH)
    given = fields.read(fields.require(fields.read(await read_object(call), BODY), "batch"), BATCH_FIELDS, "batch")
    source = fields.read(fields.require(given, "inputConfig", "batch"), INPUT, "batch.input_config")
    size = files.size_of(call, fields.require(source, "fileName", "batch.input_config"))
    if size > MAX_INPUT_BYTES:
        raise invalid(f"batch.input_config: the input file has {size} bytes, and {MAX_INPUT_BYTES} are the most.")
    job = Job(call.project.id, model.id, size // BYTES_PER_TOKEN)
    admit(call, model, job)
    name = call.session.new_id("batches/", 20)
    call.session.state(_Jobs).active[name] = job
    return JsonAnswer({"name": name, "metadata": {"model": f"models/{model.id}", "state": "BATCH_STATE_PENDING"}})


async def cancel(call: Call) -> Response:
    """End a job; it is active no longer."""
    name = f"batches/{call.params['batch']}"
    job = call.session.state(_Jobs).active.get(name)
    if job is None or job.project != call.project.id:
        raise PbError(NOT_FOUND, f"{name} is not found.")
    del call.session.state(_Jobs).active[name]
    return JsonAnswer({})


def admit(call: Call, model: Model, job: Job) -> None:
    """The limits that all active jobs of a project share, and its ceiling for each model."""
    own = [each for each in call.session.state(_Jobs).active.values() if each.project == call.project.id]
    if len(own) + call.history.jobs >= MAX_JOBS:
        raise quota_refusal(model, Excess(QUOTA, "concurrent_batch_requests", "ConcurrentBatches", MAX_JOBS, 60))
    ceilings = ENQUEUED_TOKENS.get(call.project.tier, ENQUEUED_TOKENS["tier1"])
    ceiling = ceilings[model.kind]
    if enqueued_tokens(call, model, own) + job.tokens > ceiling:
        raise quota_refusal(model, Excess(QUOTA, "batch_enqueued_tokens", "BatchEnqueuedTokens", ceiling, 60))


def enqueued_tokens(call: Call, model: Model, active: Sequence[Job]) -> int:
    """What all active jobs of a model have enqueued (2:8.3)."""
    return sum(job.tokens for job in active if job.model == model.id) + call.history.enqueued
