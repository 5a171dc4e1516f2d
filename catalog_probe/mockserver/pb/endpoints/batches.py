"""Batch jobs: how many run at once, how much they may read, and how many tokens may wait (2:8.1, 2:8.3).

The documents show no path and no body (1:4); these are the ones that official clients use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.echo import BYTES_PER_TOKEN
from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.pb.bodies import JsonAnswer, as_json, check_object, read_object
from catalog_probe.mockserver.pb.endpoints.files import File, find_file, keep
from catalog_probe.mockserver.pb.endpoints.generate import describe_answer
from catalog_probe.mockserver.pb.errors import INPUT_FILE_TOO_LARGE, MISSING_FIELD, NO_RESOURCE, make_rpc
from catalog_probe.mockserver.pb.fields import BATCH_CREATION, BATCH_REQUEST, GENERATION
from catalog_probe.mockserver.pb.generation.contents import read_prompt
from catalog_probe.mockserver.pb.generation.generator import complete
from catalog_probe.mockserver.pb.limits import MOST_JOBS, TIERS, USED_UP
from catalog_probe.mockserver.pb.models import BATCH, find_model
from catalog_probe.mockserver.pb.paging import cut_page
from catalog_probe.mockserver.pb.quotas import make_quota_refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.responses import Response

    from catalog_probe.mockserver.core.stores import BoundedStore
    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.models import Model

MOST_INPUT_BYTES = 2 * 1_000**3
"""2 GB (2:8.1); whether of 10^9 or 2^30 bytes is not told."""

BEGINS_AFTER_S, TAKES_S = 1.0, 60.0
"""When a job runs, and is done; the documents name 24 hours as what is aimed at (2:8.1)."""


@dataclass
class Job:
    """One job: what it asks of its model, and what becomes of it."""

    name: str
    model: Model
    tokens: int
    display_name: str
    created_at: float
    requests: Sequence[Any]
    reads_file: bool
    cancelled: bool = False
    output: dict[str, Any] | None = None
    """Written when it is first seen done."""

    def is_active(self, now: float) -> bool:
        """Whether it has not ended."""
        return not self.cancelled and now < self.created_at + TAKES_S


async def create(call: Call) -> Response:
    """Enqueue a job that reads a file, or has its requests with it."""
    model = find_model(call.params["model"], call.version, call.project, BATCH)
    batch = (await read_object(call, BATCH_CREATION))["batch"]
    source = batch["inputConfig"]
    if "requests" in source:
        requests = source["requests"]["requests"]
        size = sum(len(as_json(request)) for request in requests)
    elif "fileName" in source:
        file = find_file(call, source["fileName"])
        requests, size = [_read_line(line) for line in file.content.splitlines()], file.size
    else:
        raise MISSING_FIELD(path="batch.inputConfig.fileName")
    if size > MOST_INPUT_BYTES:
        raise INPUT_FILE_TOO_LARGE(size=size, most=MOST_INPUT_BYTES)
    admit(call, model, size // BYTES_PER_TOKEN)
    job = Job(
        name=call.session.new_id("batches/", 20),
        model=model,
        tokens=size // BYTES_PER_TOKEN,
        display_name=batch.get("displayName", ""),
        created_at=call.now,
        requests=requests,
        reads_file="fileName" in source,
    )
    _jobs(call)[job.name] = job
    return JsonAnswer(_describe(call, job))


def admit(call: Call, model: Model, tokens: int) -> None:
    """The limits that all active jobs of a project share, and its ceiling for each model."""
    active = [job for job in _jobs(call).values() if job.is_active(call.now)]
    if len(active) >= MOST_JOBS:
        raise make_quota_refusal(model.id, USED_UP["concurrent_batches"])
    ceiling: int = getattr(TIERS[call.project.tier], model.kind)
    if sum(job.tokens for job in active if job.model.id == model.id) + tokens > ceiling:
        raise make_quota_refusal(model.id, replace(USED_UP["enqueued_tokens"], limit=ceiling))


def _read_line(line: bytes) -> Any:
    """The request in a line of a file; what is none is answered as such."""
    try:
        return strict_json.loads(line)
    except ValueError:
        return None


async def list_jobs(call: Call) -> Response:
    """The jobs of the project, the last first."""
    return JsonAnswer(cut_page(call, "operations", [_describe(call, job) for job in _jobs(call).newest_first()]))


async def retrieve(call: Call) -> Response:
    """One job, with its answers once it is done."""
    return JsonAnswer(_describe(call, _find(call)))


async def cancel(call: Call) -> Response:
    """End a job that has not ended; it is active no longer."""
    job = _find(call)
    job.cancelled = job.cancelled or job.is_active(call.now)
    return JsonAnswer({})


async def delete(call: Call) -> Response:
    """End a job and forget it."""
    del _jobs(call)[_find(call).name]
    return JsonAnswer({})


def _jobs(call: Call) -> BoundedStore[str, Job]:
    return call.session.store(Job, call.project.id)


def _find(call: Call) -> Job:
    return _jobs(call).find(f"batches/{call.params['batch']}", NO_RESOURCE)


def _describe(call: Call, job: Job) -> dict[str, Any]:
    """A job as an operation, whose metadata say how far it is."""
    done = not job.cancelled and not job.is_active(call.now)
    if done and job.output is None:
        job.output = _write_output(call, job)
    running = "RUNNING" if call.now >= job.created_at + BEGINS_AFTER_S else "PENDING"
    state = "SUCCEEDED" if done else "CANCELLED" if job.cancelled else running
    metadata = {
        "model": f"models/{job.model.id}",
        "displayName": job.display_name,
        "name": job.name,
        "createTime": rfc3339(job.created_at),
        "state": f"BATCH_STATE_{state}",
    }
    operation = {"name": job.name, "metadata": metadata, "done": done or job.cancelled}
    return {**operation, "metadata": {**metadata, "output": job.output}, "response": job.output} if done else operation


def _write_output(call: Call, job: Job) -> dict[str, Any]:
    """The answers: a file of lines where the requests came in one, else beside each other."""
    answers = [_answer(call, job, request) for request in job.requests]
    if not job.reads_file:
        return {"inlinedResponses": {"inlinedResponses": answers}}
    content = b"".join(as_json(answer) + b"\n" for answer in answers)
    name = call.session.new_id("files/batch-", 12).lower()
    keep(call, File(name, call.project, len(content), call.now, mime_type="application/jsonl", content=content))
    return {"responsesFile": name}


def _answer(call: Call, job: Job, request: Any) -> Mapping[str, Any]:
    """What one request comes to: made, or refused, as it would be alone; batches have quotas of their own (2:8.3)."""
    fields = request if isinstance(request, dict) else {}
    label = {name: fields[name] for name in ("key", "metadata") if name in fields}
    try:
        body = check_object(check_object(fields, BATCH_REQUEST)["request"], GENERATION)
        prompt = read_prompt(call, body, job.model)
        return {**label, "response": describe_answer(call, prompt, complete(call, prompt), "batch")}
    except Refusal as refusal:
        return {**label, **make_rpc(refusal)}
