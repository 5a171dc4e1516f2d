"""PB's batch jobs, and their limits (2:8.1, 2:8.3).

The documents show no path and no body (1:4); these are the ones that official clients use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.generation import BYTES_PER_TOKEN
from catalog_probe.mockserver.pb.call import AsciiJsonResponse, Resources, check_object, encode_json, read_object
from catalog_probe.mockserver.pb.errors import INPUT_FILE_TOO_LARGE, MISSING_FIELD, NO_RESOURCE, make_rpc
from catalog_probe.mockserver.pb.fields import BATCH_CREATION, BATCH_REQUEST, GENERATION
from catalog_probe.mockserver.pb.files import FILES
from catalog_probe.mockserver.pb.generate import describe_answer, read_prompt
from catalog_probe.mockserver.pb.generation import complete
from catalog_probe.mockserver.pb.limits import EXHAUSTIBLE_QUOTAS, MAX_ACTIVE_JOBS, TIERS, make_quota_refusal
from catalog_probe.mockserver.pb.models import BATCH, find_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.models import Model


MAX_INPUT_BYTES = 2 * 1_000**3  # 2 GB (2:8.1); the documents do not say whether that is 10^9 or 2^30 bytes each

# Seconds after creation. The documents name only the turnaround target of 24 hours (2:8.1).
RUNS_AFTER_S, DONE_AFTER_S = 1.0, 60.0


@dataclass(frozen=True)
class Job:
    """A batch job, and the answers that it has when it is done."""

    name: str
    model: Model
    tokens: int
    display_name: str
    created_at: float
    answers: Sequence[Mapping[str, Any]]

    def is_active(self, now: float) -> bool:
        """Return whether it has not ended."""
        return now < self.created_at + DONE_AFTER_S


async def create_batch(call: Call) -> Response:
    """Create a job. One that reads a file has no answers: no content is kept."""
    model = find_model(call.params["model"], call.version, call.project, BATCH)
    batch = (await read_object(call, BATCH_CREATION))["batch"]
    source = batch["inputConfig"]
    if "requests" in source:
        requests = source["requests"]["requests"]
        size = sum(len(encode_json(request)) for request in requests)
    elif "fileName" in source:
        requests, size = [], FILES.of(call).find(source["fileName"], NO_RESOURCE).size
    else:
        raise MISSING_FIELD(path="batch.inputConfig.fileName")
    if size > MAX_INPUT_BYTES:
        raise INPUT_FILE_TOO_LARGE(size=size, most=MAX_INPUT_BYTES)
    tokens = size // BYTES_PER_TOKEN
    admit_job(call, model, tokens)
    job = Job(
        name=call.session.new_id("batches/", 20),
        model=model,
        tokens=tokens,
        display_name=batch.get("displayName", ""),
        created_at=call.now,
        answers=[_answer(call, model, request) for request in requests],
    )
    JOBS.of(call)[job.name] = job
    return AsciiJsonResponse(describe_job(call, job))


def admit_job(call: Call, model: Model, tokens: int) -> None:
    """Refuse a job beyond the project's limits of active jobs or tokens."""
    active_jobs = [job for job in JOBS.of(call).values() if job.is_active(call.now)]
    if len(active_jobs) >= MAX_ACTIVE_JOBS:
        raise make_quota_refusal(model.id, EXHAUSTIBLE_QUOTAS["concurrent_batches"])
    ceiling: int = getattr(TIERS[call.project.tier], model.kind)
    if sum(job.tokens for job in active_jobs if job.model.id == model.id) + tokens > ceiling:
        raise make_quota_refusal(model.id, replace(EXHAUSTIBLE_QUOTAS["enqueued_tokens"], limit=ceiling))


def describe_job(call: Call, job: Job) -> dict[str, Any]:
    """Describe a job as an operation whose metadata have its state."""
    done = not job.is_active(call.now)
    running = "RUNNING" if call.now >= job.created_at + RUNS_AFTER_S else "PENDING"
    metadata = {
        "model": f"models/{job.model.id}",
        "displayName": job.display_name,
        "name": job.name,
        "createTime": rfc3339(job.created_at),
        "state": f"BATCH_STATE_{'SUCCEEDED' if done else running}",
    }
    operation = {"name": job.name, "metadata": metadata, "done": done}
    if not done:
        return operation
    output = {"inlinedResponses": {"inlinedResponses": job.answers}}
    return {**operation, "metadata": {**metadata, "output": output}, "response": output}


JOBS = Resources(Job, "batches/{batch}", NO_RESOURCE, describe_job, "batches")


def _answer(call: Call, model: Model, request: Any) -> Mapping[str, Any]:
    """Answer a request, without quotas: batches have their own (2:8.3)."""
    fields = request if isinstance(request, dict) else {}
    label = {name: fields[name] for name in ("key", "metadata") if name in fields}
    try:
        body = check_object(check_object(fields, BATCH_REQUEST)["request"], GENERATION)
        prompt = read_prompt(call, body, model)
        return {**label, "response": describe_answer(call, prompt, complete(call, prompt), "batch")}
    except Refusal as refusal:
        return {**label, **make_rpc(refusal)}
