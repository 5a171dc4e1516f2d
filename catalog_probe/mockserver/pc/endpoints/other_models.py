"""Models, embeddings, images and speech (1:4.3, 2:7.5, 2:8.4); the paths of the last three are not in the documents."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.pc.causes import moderate, raise_generation_failure
from catalog_probe.mockserver.pc.errors import UNSUPPORTED_PARAMETER
from catalog_probe.mockserver.pc.fields import Field, check, integer, number, string
from catalog_probe.mockserver.pc.generation.echo import tokens
from catalog_probe.mockserver.pc.limits import rates
from catalog_probe.mockserver.pc.models import Model, available, find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.pc.call import Call

DIMENSIONS = 8
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()

_EMBEDDING: Mapping[str, Field] = {
    "model": string(),
    "input": Field(("string", "array"), max_items=2_048),
    "dimensions": integer(low=1),
    "encoding_format": string("float", "base64"),
    "user": string(),
}
_IMAGE: Mapping[str, Field] = {
    "model": string(),
    "prompt": string(max_length=32_000),
    "n": integer(1, 10),
    "size": string("auto", "1024x1024", "1024x1536", "1536x1024"),
    "quality": string("auto", "low", "medium", "high"),
    "background": string("auto", "opaque", "transparent"),
    "output_format": string("png", "jpeg", "webp"),
    "moderation": string("auto", "low"),
    "user": string(),
}
_SPEECH: Mapping[str, Field] = {
    "model": string(),
    "input": string(max_length=4_096),
    "voice": string(),
    "response_format": string("mp3", "opus", "aac", "flac", "wav", "pcm"),
    "instructions": string(),
    "speed": number(0.25, 4),
}
SILENCE = b"ID3\x04\x00\x00\x00\x00\x00\x00"
"""The head of an MP3 file that holds nothing."""


async def list_models(call: Call) -> Response:
    """GET /v1/models: those that the key may use."""
    models = [_described(model) for model in available(call.key, call.project)]
    return JSONResponse({"object": "list", "data": models})


async def get_model(call: Call) -> Response:
    """GET /v1/models/{model}."""
    return JSONResponse(_described(find(call.params["model"], call.key, call.project)))


async def embed(call: Call) -> Response:
    """POST /v1/embeddings; an older model cannot be asked for fewer dimensions (1:4.3)."""
    return JSONResponse(embedded(call, await rates.read_counted(call)))


def embedded(call: Call, body: dict[str, Any]) -> dict[str, Any]:
    """The embeddings that a body gets, once it is counted."""
    check(body, _EMBEDDING, required=("model", "input"))
    model = find(body["model"], call.key, call.project, "embedding")
    if body.get("dimensions") is not None and not model.dimensions:
        raise UNSUPPORTED_PARAMETER("This model does not support specifying dimensions.", "dimensions")
    inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
    prompt = tokens(" ".join(map(str, inputs)))
    rates.admit_tokens(call, model, prompt, 0)
    raise_generation_failure(call.context)
    vector = [0.5] * (body.get("dimensions") or DIMENSIONS)
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, _ in enumerate(inputs)]
    usage = {"prompt_tokens": prompt, "total_tokens": prompt}
    return {"object": "list", "data": data, "model": model.id, "usage": usage}


async def draw(call: Call) -> Response:
    """POST /v1/images/generations."""
    body = await rates.read_counted(call)
    check(body, _IMAGE, required=("prompt",))
    model = find(body.get("model") or "mock-image", call.key, call.project, "image")
    rates.admit_tokens(call, model, tokens(body["prompt"]), 0)
    rates.admit_images(call, model, body.get("n") or 1)
    raise_generation_failure(call.context)
    moderate(call.context)
    return JSONResponse({"created": int(call.now), "data": [{"b64_json": PIXEL}] * (body.get("n") or 1)})


async def speak(call: Call) -> Response:
    """POST /v1/audio/speech."""
    body = await rates.read_counted(call)
    check(body, _SPEECH, required=("model", "input", "voice"))
    model = find(body["model"], call.key, call.project, "speech")
    rates.admit_tokens(call, model, tokens(body["input"]), 0)
    raise_generation_failure(call.context)
    return Response(SILENCE, media_type="audio/mpeg")


def _described(model: Model) -> dict[str, Any]:
    return {"id": model.id, "object": "model", "created": model.created, "owned_by": "mock"}
