"""generateContent and streamGenerateContent, in v1 and v1beta (1:4.2); the latter's path is as such APIs have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import StreamingResponse

from catalog_probe.mockserver.pb.call import JsonAnswer, as_json, read_object
from catalog_probe.mockserver.pb.causes import mid_stream, refuse_late
from catalog_probe.mockserver.pb.generation.generation_request import prompt_of
from catalog_probe.mockserver.pb.generation.generator import PIXEL, Candidate, Completion, complete
from catalog_probe.mockserver.pb.generation.tokens import PER_MEDIA
from catalog_probe.mockserver.pb.limits import quotas
from catalog_probe.mockserver.pb.limits.billing import refuse_unpaid
from catalog_probe.mockserver.pb.models import GENERATE, find_model

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.errors import PbError
    from catalog_probe.mockserver.pb.generation.prompt import Prompt

READING_S, THINKING_S = 0.001, 0.1
"""For one token; the documents tell none of these."""

CHUNK = 24
"""Characters a chunk; small enough that a short answer comes in several."""


async def generate(call: Call) -> Response:
    """Generate, whole."""
    prompt = await _read(call)
    completion, service_tier = run(call, prompt)
    return JsonAnswer(answered(call, prompt, completion, service_tier))


async def stream(call: Call) -> Response:
    """Generate, in chunks: events with `?alt=sse`, else one JSON array."""
    prompt = await _read(call)
    completion, service_tier = run(call, prompt)
    chunks = list(_chunks(answered(call, prompt, completion, service_tier)))
    failure = mid_stream(call)
    if failure is not None:
        chunks = [_unfinished(chunks[0])]
    if call.request.query_params.get("alt") != "sse":
        return JsonAnswer([*chunks, failure.rpc()] if failure else chunks)
    return StreamingResponse(_sse(chunks, failure), media_type="text/event-stream")


def run(call: Call, prompt: Prompt) -> tuple[Completion, str]:
    """The model's work and the service tier of it, within what the project may do. Every surface comes by here."""
    refuse_unpaid(call.project, prompt.model, prompt.service_tier)
    images = prompt.settings.candidate_count if prompt.model.draws else 0
    service_tier = quotas.admit(call, prompt.model, prompt.tokens, images, prompt.service_tier)
    completion = complete(call, prompt)
    refuse_late(call, _work_s(prompt, completion, service_tier))
    quotas.settle(call, prompt.tokens + completion.tokens + completion.thought_tokens)
    return completion, service_tier


def _work_s(prompt: Prompt, completion: Completion, service_tier: str) -> float:
    """How long a generation would take: to read the prompt, to think, and to wait for flex capacity (2:7.4, 2:8.3)."""
    queueing_s = quotas.FLEX_DELAY_S if service_tier == "flex" else 0.0
    return prompt.tokens * READING_S + completion.thought_tokens * THINKING_S + queueing_s


async def _read(call: Call) -> Prompt:
    model = find_model(call.params["model"], call.version, call.project, GENERATE)
    return prompt_of(call, await read_object(call), model)


def answered(call: Call, prompt: Prompt, completion: Completion, service_tier: str) -> dict[str, Any]:
    """The answer: candidates, or why the prompt was blocked (1:4.2, 2:7.4)."""
    answer: dict[str, Any] = {}
    if completion.block is not None:
        answer["promptFeedback"] = {"blockReason": completion.block.reason, "safetyRatings": []}
    else:
        answer["candidates"] = [
            {**described(candidate, completion, prompt), "index": index}
            for index, candidate in enumerate(completion.candidates)
        ]
    return {
        **answer,
        "usageMetadata": usage(prompt, completion, service_tier),
        "modelVersion": prompt.model.id,
        "responseId": call.session.new_id("", 22),
    }


def described(candidate: Candidate, completion: Completion, prompt: Prompt) -> dict[str, Any]:
    """A candidate (1:2.6)."""
    parts: list[dict[str, Any]] = []
    if completion.thought and prompt.settings.include_thoughts:
        parts.append({"text": completion.thought, "thought": True})
    if candidate.text:
        parts.append({"text": candidate.text})
    if candidate.image:
        parts.append({"inlineData": {"mimeType": "image/png", "data": PIXEL}})
    for call in candidate.calls:
        signed = {"thoughtSignature": call.signature} if call.signature else {}
        parts.append({"functionCall": {"name": call.name, "args": dict(call.args)}, **signed})
    content = {"parts": parts, "role": "model"} if parts else {"role": "model"}
    return {"content": content, "finishReason": candidate.ending.finish_reason, "safetyRatings": []}


def usage(prompt: Prompt, completion: Completion, service_tier: str) -> dict[str, Any]:
    """The token counts (1:2.6), thoughts only where the model reasoned; that the total is their sum is our choice."""
    media = min(prompt.tokens, PER_MEDIA * sum(turn.media for turn in prompt.turns))
    by_modality = {"TEXT": prompt.tokens - media, "IMAGE": media}
    reasoned = {"thoughtsTokenCount": completion.thought_tokens} if completion.thought else {}
    return {
        "promptTokenCount": prompt.tokens,
        "candidatesTokenCount": completion.tokens,
        "totalTokenCount": prompt.tokens + completion.tokens + completion.thought_tokens,
        "promptTokensDetails": [{"modality": name, "tokenCount": n} for name, n in by_modality.items() if n],
        **reasoned,
        "serviceTier": service_tier,
    }


def _chunks(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The answer as chunks of the same shape: text in pieces, why it ended and the final counts in the last."""
    candidates = answer.get("candidates", [])
    texts = [part["text"] for each in candidates[:1] for part in each["content"].get("parts", ()) if "text" in part]
    if len(candidates) != 1 or len(texts) != 1 or len(candidates[0]["content"]["parts"]) != 1:
        yield answer
        return
    part = candidates[0]["content"]["parts"][0]
    pieces = [texts[0][start : start + CHUNK] for start in range(0, len(texts[0]), CHUNK)]
    for piece in pieces[:-1]:
        content = {"parts": [{**part, "text": piece}], "role": "model"}
        yield {**answer, "candidates": [{"content": content, "index": 0}]}
    last = {**candidates[0], "content": {"parts": [{**part, "text": pieces[-1]}], "role": "model"}}
    yield {**answer, "candidates": [last]}


def _unfinished(chunk: dict[str, Any]) -> dict[str, Any]:
    """A chunk that more would have followed: no reason to end yet, for STOP means that the output is whole (2:7.4)."""
    open_ended = [
        {name: value for name, value in candidate.items() if name != "finishReason"}
        for candidate in chunk.get("candidates", ())
    ]
    return {**chunk, "candidates": open_ended} if open_ended else chunk


async def _sse(chunks: list[dict[str, Any]], failure: PbError | None) -> AsyncIterator[bytes]:
    """Each chunk as `data: ` and an empty line; a failure after 200 is a chunk whose first key is `error`."""
    for chunk in chunks:
        yield b"data: " + as_json(chunk) + b"\r\n\r\n"
    if failure is not None:
        yield b"data: " + as_json(failure.rpc()) + b"\r\n\r\n"
