"""POST /v1/embeddings; an older model cannot be asked for fewer dimensions (1:4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.echo import count_tokens
from catalog_probe.mockserver.pc.bodies import check_object
from catalog_probe.mockserver.pc.causes import raise_generation_failure
from catalog_probe.mockserver.pc.errors import NO_DIMENSIONS
from catalog_probe.mockserver.pc.fields import EMBEDDING
from catalog_probe.mockserver.pc.limits import rates
from catalog_probe.mockserver.pc.models import find

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.gateway import Call

DIMENSIONS = 8


async def create(call: Call) -> Response:
    """Embed a text, or several."""
    return JSONResponse(embed(call, await rates.read_counted(call)))


def embed(call: Call, raw_body: Any) -> dict[str, Any]:
    """The embeddings that a body gets, once it is counted."""
    body = check_object(raw_body, EMBEDDING)
    model = find(call, body["model"], "embedding")
    if "dimensions" in body and not model.dimensions:
        raise NO_DIMENSIONS()
    inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
    prompt = count_tokens(" ".join(map(str, inputs)))
    rates.admit_tokens(call, model, prompt, 0)
    raise_generation_failure(call.context)
    vector = [0.5] * body.get("dimensions", DIMENSIONS)
    data = [{"object": "embedding", "index": index, "embedding": vector} for index in range(len(inputs))]
    usage = {"prompt_tokens": prompt, "total_tokens": prompt}
    return {"object": "list", "data": data, "model": model.id, "usage": usage}
