"""PC's embeddings; an older model takes no `dimensions` (1:4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.echo import count_tokens
from catalog_probe.mockserver.pc.bodies import check_object
from catalog_probe.mockserver.pc.errors import NO_DIMENSIONS
from catalog_probe.mockserver.pc.fields import EMBEDDING
from catalog_probe.mockserver.pc.limits import rates
from catalog_probe.mockserver.pc.models import find_model
from catalog_probe.mockserver.pc.scenarios import raise_generation_failure

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.call import Call

DEFAULT_DIMENSIONS = 8


async def create_embeddings(call: Call) -> Response:
    """Embed one text or several."""
    body = check_object(await rates.read_counted(call), EMBEDDING)
    model = find_model(call, body["model"], "embedding")
    if "dimensions" in body and not model.dimensions:
        raise NO_DIMENSIONS()
    inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
    prompt = count_tokens(" ".join(map(str, inputs)))
    rates.admit_tokens(call, model, prompt, 0)
    raise_generation_failure(call.context)
    vector = [0.5] * body.get("dimensions", DEFAULT_DIMENSIONS)
    return JSONResponse(
        {
            "object": "list",
            "data": [{"object": "embedding", "index": index, "embedding": vector} for index in range(len(inputs))],
            "model": model.id,
            "usage": {"prompt_tokens": prompt, "total_tokens": prompt},
        }
    )
