"""PB's generateContent and streamGenerateContent, in v1 and v1beta (1:4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.generation import encode_event, event_stream, split_text
from catalog_probe.mockserver.pb.call import AsciiJsonResponse, read_object
from catalog_probe.mockserver.pb.errors import NO_RESOURCE, make_rpc
from catalog_probe.mockserver.pb.fields import GENERATION
from catalog_probe.mockserver.pb.files import check_readable
from catalog_probe.mockserver.pb.generation import (
    MEDIA_TOKENS,
    MODEL,
    PIXEL,
    USER,
    Candidate,
    Completion,
    FunctionCall,
    Prompt,
    Tools,
    Turn,
    choose_tools,
    complete,
    count_turns,
    count_value,
    read_settings,
)
from catalog_probe.mockserver.pb.limits import FLEX, FLEX_DELAY_S, admit_generation, check_billing, settle_generation
from catalog_probe.mockserver.pb.models import GENERATE, find_model
from catalog_probe.mockserver.pb.scenarios import check_deadline, find_stream_failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.models import Model


Json = dict[str, Any]


def read_prompt(call: Call, body: Json, model: Model) -> Prompt:
    """Read the prompt of a checked body."""
    if "cachedContent" in body:
        raise NO_RESOURCE(id=body["cachedContent"])  # the mock creates no cached content
    system = body.get("systemInstruction", {"parts": []})
    for content in (system, *body["contents"]):
        for part in content["parts"]:
            if "fileData" in part:
                check_readable(part["fileData"]["fileUri"], call.session, call.project)
    turns = tuple(read_turn(content) for content in body["contents"])
    return Prompt(
        model=model,
        turns=turns,
        tokens=count_turns((*turns, read_turn(system))) + count_value(body.get("tools")),
        settings=read_settings(body.get("generationConfig", {}), model),
        tools=read_tools(body.get("tools", ()), body.get("toolConfig", {})),
        service_tier=body.get("serviceTier", "standard").lower(),
    )


def read_turn(content: Json) -> Turn:
    """Read a content as a turn; any role but the model's is the user's."""
    parts = content["parts"]
    return Turn(
        role=MODEL if content.get("role") == MODEL else USER,
        text="\n".join(part["text"] for part in parts if "text" in part and not part.get("thought")),
        calls=tuple(_read_call(part) for part in parts if "functionCall" in part),
        results=tuple(part["functionResponse"]["name"] for part in parts if "functionResponse" in part),
        media=sum("inlineData" in part or "fileData" in part for part in parts),
    )


def _read_call(part: Json) -> FunctionCall:
    function_call = part["functionCall"]
    return FunctionCall(function_call["name"], function_call.get("args", {}), part.get("thoughtSignature"))


def read_tools(tools: Sequence[Json], config: Mapping[str, Any]) -> Tools:
    """Read the tools of a request, and which of them must be called."""
    functions = {
        function["name"]: function.get("parametersJsonSchema") or function.get("parameters") or {}
        for tool in tools
        for function in tool.get("functionDeclarations", ())
    }
    builtin = any(tool.keys() - {"functionDeclarations"} for tool in tools)
    calling = config.get("functionCallingConfig", {})
    mode = calling.get("mode", "auto").lower()
    return choose_tools(functions, mode, calling.get("allowedFunctionNames"), builtin=builtin)


READING_S, THINKING_S = 0.001, 0.1  # seconds per token; the mock's choice


async def generate(call: Call) -> Response:
    """Generate an answer as one body."""
    prompt = await _read_request(call)
    completion, service_tier = run_generation(call, prompt)
    return AsciiJsonResponse(describe_answer(call, prompt, completion, service_tier))


async def stream(call: Call) -> Response:
    """Generate an answer in chunks, as official clients ask for (`?alt=sse`)."""
    prompt = await _read_request(call)
    completion, service_tier = run_generation(call, prompt)
    chunks = [*_split_answer(describe_answer(call, prompt, completion, service_tier))]
    failure = find_stream_failure(call)
    if failure is not None:  # clients look for a chunk whose first key is `error`
        chunks = [_remove_finish_reason(chunks[0]), make_rpc(failure)]
    return event_stream(map(encode_event, chunks))


def run_generation(call: Call, prompt: Prompt) -> tuple[Completion, str]:
    """Generate within billing, limits and deadline; return also the service tier."""
    check_billing(call.project, prompt.model, prompt.service_tier)
    images = prompt.settings.candidate_count if prompt.model.draws else 0
    service_tier = admit_generation(call, prompt.model, prompt.tokens, images, prompt.service_tier)
    completion = complete(call, prompt)
    check_deadline(call, _estimate_work_s(prompt, completion, service_tier))
    settle_generation(call, prompt.tokens + completion.tokens + completion.thought_tokens)
    return completion, service_tier


def _estimate_work_s(prompt: Prompt, completion: Completion, service_tier: str) -> float:
    """Return the time to read the prompt, think and wait for flex capacity."""
    queueing_s = FLEX_DELAY_S if service_tier == FLEX else 0.0
    return prompt.tokens * READING_S + completion.thought_tokens * THINKING_S + queueing_s


async def _read_request(call: Call) -> Prompt:
    model = find_model(call.params["model"], call.version, call.project, GENERATE)
    return read_prompt(call, await read_object(call, GENERATION), model)


def describe_answer(call: Call, prompt: Prompt, completion: Completion, service_tier: str) -> dict[str, Any]:
    """Return the candidates, or why the prompt was blocked (1:4.2, 2:7.4)."""
    answer: dict[str, Any] = {}
    if completion.block is not None:
        answer["promptFeedback"] = {"blockReason": completion.block.reason, "safetyRatings": []}
    else:
        answer["candidates"] = [
            {**describe_candidate(candidate), "index": index} for index, candidate in enumerate(completion.candidates)
        ]
    return {
        **answer,
        "usageMetadata": describe_usage(prompt, completion, service_tier),
        "modelVersion": prompt.model.id,
        "responseId": call.session.new_id("", 22),
    }


def describe_candidate(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate (1:2.6)."""
    parts: list[dict[str, Any]] = []
    if candidate.text:
        parts.append({"text": candidate.text})
    if candidate.image:
        parts.append({"inlineData": {"mimeType": "image/png", "data": PIXEL}})
    for call in candidate.calls:
        signed = {"thoughtSignature": call.signature} if call.signature else {}
        parts.append({"functionCall": {"name": call.name, "args": dict(call.args)}, **signed})
    content = {"parts": parts, "role": "model"} if parts else {"role": "model"}
    return {"content": content, "finishReason": candidate.ending.finish_reason, "safetyRatings": []}


def describe_usage(prompt: Prompt, completion: Completion, service_tier: str) -> dict[str, Any]:
    """Return the token counts (1:2.6); that the total is their sum is assumed."""
    media = min(prompt.tokens, MEDIA_TOKENS * sum(turn.media for turn in prompt.turns))
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


def _split_answer(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Split the text of an answer into chunks; the last one has the finish reason."""
    candidates = answer.get("candidates", [])
    parts = candidates[0]["content"].get("parts", []) if len(candidates) == 1 else []
    if len(parts) != 1 or "text" not in parts[0]:
        yield answer
        return
    *earlier, last = (
        {**candidates[0], "content": {"parts": [{**parts[0], "text": piece}], "role": "model"}}
        for piece in split_text(parts[0]["text"])
    )
    for candidate in earlier:
        yield _remove_finish_reason({**answer, "candidates": [candidate]})
    yield {**answer, "candidates": [last]}


def _remove_finish_reason(chunk: dict[str, Any]) -> dict[str, Any]:
    """Return a chunk without finish reason: STOP would end the output (2:7.4)."""
    if "candidates" not in chunk:
        return chunk
    candidates = [
        {name: value for name, value in candidate.items() if name != "finishReason"}
        for candidate in chunk["candidates"]
    ]
    return {**chunk, "candidates": candidates}
