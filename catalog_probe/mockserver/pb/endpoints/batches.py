"""Batch jobs: how many run at once, how much they may read, and how many tokens may wait (2:8.1, 2:8.3).

The documents show no path and no body (1:4); these are as such APIs have them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.shelves import Shelf
from catalog_probe.mockserver.pb import fields
from catalog_probe.mockserver.pb.call import JsonAnswer, as_json, read_object
from catalog_probe.mockserver.pb.endpoints import files
from catalog_probe.mockserver.pb.endpoints.generate import answered
from catalog_probe.mockserver.pb.errors import NOT_FOUND, QUOTA, PbError, invalid
from catalog_probe.mockserver.pb.generation.generation_request import prompt_of
from catalog_probe.mockserver.pb.generation.generator import complete
from catalog_probe.mockserver.pb.generation.tokens import BYTES_PER_TOKEN
from catalog_probe.mockserver.pb.limits.quotas import Excess, quota_refusal
from catalog_probe.mockserver.pb.models import BATCH, find_model
from catalog_probe.mockserver.pb.paging import page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.models import Model

MAX_JOBS = 100
MAX_INPUT_BYTES = 2 * 1_000**3
"""2 GB (2:8.1); whether of 10^9 or 2^30 bytes is not told."""

BATCH_S = 60.0
"""How long a job takes; the documents name 24 hours as what is aimed at (2:8.1)."""

BODY: fields.Fields = {"batch": fields.mapping}
BATCH_FIELDS: fields.Fields = {"displayName": fields.string, "inputConfig": fields.mapping}
INPUT: fields.Fields = {"fileName": fields.string, "requests": fields.mapping}
REQUESTS: fields.Fields = {"requests": fields.objects}
REQUEST: fields.Fields = {"key": fields.string, "request": fields.mapping, "metadata": fields.mapping}

ENQUEUED_TOKENS: dict[str, dict[str, int]] = {
    "tier1": {"speech": 25_000, "embedding": 500_000, "other": 10_000_000},
    "tier2": {"speech": 100_000, "embedding": 5_000_000, "other": 1_000_000_000},
    "tier3": {"speech": 1_000_000, "embedding": 10_000_000, "other": 5_000_000_000},
}
"""By tier and kind of model, from the lowest ceiling to the highest (2:8.3); which models lie between is not told."""


@dataclass
class Job:
    """One job: what it asks of its model, and what becomes of it."""

    name: str
    project: str
    model: Model
    tokens: int
    display_name: str
    created_at: float
    requests: Sequence[Mapping[str, Any]] = ()
    file: str = ""
    """The file that it reads, where it does."""
    cancelled: bool = False
    output: dict[str, Any] | None = None
    """Written when it is first seen done."""

    def is_active(self, now: float) -> bool:
        """Whether it has not ended."""
        return not self.cancelled and now < self.created_at + BATCH_S


@dataclass
class _Jobs:
    made: Shelf[str, Job] = field(default_factory=Shelf)


async def create(call: Call) -> Response:
    """Enqueue a job that reads a file, or has its requests with it."""
    model = find_model(call.params["model"], call.version, call.project, BATCH)
    given = fields.read(fields.require(fields.read(await read_object(call), BODY), "batch"), BATCH_FIELDS, "batch")
    source = fields.read(fields.require(given, "inputConfig", "batch"), INPUT, "batch.input_config")
    if "requests" in source:
        inline = fields.read(source["requests"], REQUESTS, "batch.input_config.requests")
        requests = fields.require(inline, "requests", "batch.input_config.requests")
        size = sum(len(as_json(each)) for each in requests)
    else:
        file = files.find(call, fields.require(source, "fileName", "batch.input_config"))
        requests, size = _lines(file.content), file.size
    if size > MAX_INPUT_BYTES:
        raise invalid(f"batch.input_config: the input file has {size} bytes, and {MAX_INPUT_BYTES} are the most.")
    name = call.session.new_id("batches/", 20)
    job = Job(name, call.project.id, model, size // BYTES_PER_TOKEN, given.get("displayName", ""), call.now, requests)
    job.file = source.get("fileName", "")
    admit(call, model, job)
    call.session.state(_Jobs).made[name] = job
    return JsonAnswer(_operation(call, job))


def _lines(content: bytes) -> list[Mapping[str, Any]]:
    """The requests of a file, a line each; what is none is answered as such."""
    requests: list[Mapping[str, Any]] = []
    for line in content.splitlines():
        try:
            given = strict_json.loads(line)
        except ValueError:
            given = {}
        requests.append(given if isinstance(given, dict) else {})
    return requests


async def list_jobs(call: Call) -> Response:
    """The jobs of the project, the last first."""
    made = call.session.state(_Jobs).made.newest_first()
    return JsonAnswer(
        page(call, "operations", [_operation(call, job) for job in made if job.project == call.project.id])
    )


async def retrieve(call: Call) -> Response:
    """One job, with its answers once it is done."""
    return JsonAnswer(_operation(call, _job(call)))


async def cancel(call: Call) -> Response:
    """End a job that has not ended; it is active no longer."""
    job = _job(call)
    job.cancelled = job.cancelled or job.is_active(call.now)
    return JsonAnswer({})


async def delete(call: Call) -> Response:
    """End a job and forget it."""
    del call.session.state(_Jobs).made[_job(call).name]
    return JsonAnswer({})


def _job(call: Call) -> Job:
    name = f"batches/{call.params['batch']}"
    job = call.session.state(_Jobs).made.get(name)
    if job is None or job.project != call.project.id:
        raise PbError(NOT_FOUND, f"{name} is not found.")
    return job


def _operation(call: Call, job: Job) -> dict[str, Any]:
    """A job as such APIs tell of it: an operation, whose metadata say how far it is."""
    state = "CANCELLED" if job.cancelled else "RUNNING" if call.now >= job.created_at + 1 else "PENDING"
    metadata: dict[str, Any] = {
        "model": f"models/{job.model.id}",
        "displayName": job.display_name,
        "name": job.name,
        "createTime": rfc3339(job.created_at),
        "updateTime": rfc3339(call.now),
        "batchStats": {"requestCount": str(len(job.requests))},
    }
    if job.cancelled or job.is_active(call.now):
        metadata["state"] = f"BATCH_STATE_{state}"
        return {"name": job.name, "metadata": metadata, "done": job.cancelled}
    if job.output is None:
        job.output = _written(call, job)
        call.session.state(_Jobs).made[job.name] = job  # which weighs more now
    metadata |= {"state": "BATCH_STATE_SUCCEEDED", "endTime": rfc3339(job.created_at + BATCH_S), "output": job.output}
    return {"name": job.name, "metadata": metadata, "done": True, "response": job.output}


def _written(call: Call, job: Job) -> dict[str, Any]:
    """The answers: a file of lines where the requests came in one, else beside each other."""
    answers = [_answered(call, job, each) for each in job.requests]
    if not job.file:
        return {"inlinedResponses": {"inlinedResponses": answers}}
    content = b"".join(as_json(each) + b"\n" for each in answers)
    name = call.session.new_id("files/batch-", 12).lower()
    files.keep(call, files.File(name, call.project, len(content), call.now, mime_type="application/jsonl"), content)
    return {"responsesFile": name}


def _answered(call: Call, job: Job, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What one request comes to: made, or refused, as it would be alone; batches have quotas of their own (2:8.3)."""
    kept = {name: asked[name] for name in ("key", "metadata") if name in asked}
    try:
        given = fields.read(asked, REQUEST, "request")
        prompt = prompt_of(call, fields.require(given, "request"), job.model)
        return {**kept, "response": answered(call, prompt, complete(call, prompt), "batch")}
    except PbError as error:
        return {**kept, **error.rpc()}


def admit(call: Call, model: Model, job: Job) -> None:
    """The limits that all active jobs of a project share, and its ceiling for each model."""
    made = call.session.state(_Jobs).made.values()
    own = [each for each in made if each.project == call.project.id and each.is_active(call.now)]
    if len(own) >= MAX_JOBS:
        raise quota_refusal(model, Excess(QUOTA, "concurrent_batch_requests", "ConcurrentBatches", MAX_JOBS, 60))
    ceilings = ENQUEUED_TOKENS.get(call.project.tier, ENQUEUED_TOKENS["tier1"])
    ceiling = ceilings[model.kind]
    if enqueued_tokens(call, model, own) + job.tokens > ceiling:
        raise quota_refusal(model, Excess(QUOTA, "batch_enqueued_tokens", "BatchEnqueuedTokens", ceiling, 60))


def enqueued_tokens(call: Call, model: Model, active: Sequence[Job]) -> int:
    """What all active jobs of a model have enqueued (2:8.3)."""
    return sum(job.tokens for job in active if job.model.id == model.id)
