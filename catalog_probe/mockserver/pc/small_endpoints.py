"""PC's small lists, embeddings, images, speech and live sessions (1:4.3, 2:8.4)."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NoReturn

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.generation import count_tokens, encode_typed, event_stream
from catalog_probe.mockserver.pc import limits
from catalog_probe.mockserver.pc.call import check_object, make_page, read_object
from catalog_probe.mockserver.pc.errors import NO_DIMENSIONS
from catalog_probe.mockserver.pc.fields import EMBEDDING, IMAGE, LIVE_SESSION, SPEECH, SPEND_LIMIT
from catalog_probe.mockserver.pc.limits import Spending, check_spending
from catalog_probe.mockserver.pc.models import find_model
from catalog_probe.mockserver.pc.scenarios import moderate, raise_generation_failure

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow
    from catalog_probe.mockserver.pc.call import Call


async def list_agents(call: Call) -> Response:
    """List no agent: the documents show no body for this path."""
    return make_page([])


async def list_external_storage(call: Call) -> Response:
    """List no storage: the documents show no body for this path."""
    return make_page([])


async def set_spend_limit(call: Call) -> Response:
    """Set the organization's hard spend limit; the documents show no fields."""
    body = await read_object(call, SPEND_LIMIT)
    call.session.state(Spending).limit_usd = body["limit_usd"]
    return JSONResponse({"object": "organization.spend_limit", "limit_usd": body["limit_usd"]})


def make_absent_handler(absent: ErrorRow) -> Callable[[Call], Awaitable[NoReturn]]:
    """Make the handler of a resource that the mock never has (2:7.5)."""

    async def refuse(call: Call) -> NoReturn:
        raise absent(id=next(iter(call.params.values())))

    return refuse


DEFAULT_DIMENSIONS = 8


async def create_embeddings(call: Call) -> Response:
    """Embed one text or several."""
    body = check_object(await limits.read_counted(call), EMBEDDING)
    model = find_model(call, body["model"], "embedding")
    if "dimensions" in body and not model.dimensions:
        raise NO_DIMENSIONS()
    inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
    prompt = count_tokens(" ".join(map(str, inputs)))
    limits.admit_tokens(call, model, prompt, 0)
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


PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
SILENCE = b"ID3\x04\x00\x00\x00\x00\x00\x00"  # the header of an empty MP3 file


async def generate_images(call: Call) -> Response:
    """Generate images; a stream has one event for each."""
    body = check_object(await limits.read_counted(call), IMAGE)
    model, number = find_model(call, body.get("model", "mock-image"), "image"), body.get("n", 1)
    limits.admit_tokens(call, model, count_tokens(body["prompt"]), 0)
    limits.admit_images(call, model, number)
    raise_generation_failure(call.context)
    moderate(call.context)
    if not body.get("stream"):
        return JSONResponse({"created": int(call.now), "data": [{"b64_json": PIXEL}] * number})
    completed = {"type": "image_generation.completed", "b64_json": PIXEL, "created_at": int(call.now)}
    settings = {"background": "auto", "output_format": "png", "quality": "auto", "size": "auto"}
    tokens = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    usage = {**tokens, "input_tokens_details": {"image_tokens": 0, "text_tokens": 0}}
    return event_stream([encode_typed({**completed, **settings, "usage": usage})] * number)


async def generate_speech(call: Call) -> Response:
    """Answer with silent speech."""
    body = check_object(await limits.read_counted(call), SPEECH)
    model = find_model(call, body["model"], "speech")
    limits.admit_tokens(call, model, count_tokens(body["input"]), 0)
    raise_generation_failure(call.context)
    return Response(SILENCE, media_type="audio/mpeg")


async def list_live_sessions(call: Call) -> Response:
    """List no session: the documents show no body for this path."""
    return make_page([])


async def open_live_session(call: Call) -> Response:
    """Open a session. WebRTC or SIP would carry it; the mock speaks neither."""
    body = check_object(await limits.read_counted(call), LIVE_SESSION)
    model = find_model(call, body["model"])
    check_spending(call)
    limits.admit_live_session(call)
    return JSONResponse({"id": call.session.new_id("sess_"), "object": "live.session", "model": model.id})
