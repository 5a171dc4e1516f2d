"""PC's images, speech and live sessions (2:7.5, 2:8.4)."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.echo import count_tokens
from catalog_probe.mockserver.core.streams import encode_typed, event_stream
from catalog_probe.mockserver.pc.bodies import check_object
from catalog_probe.mockserver.pc.fields import IMAGE, LIVE_SESSION, SPEECH
from catalog_probe.mockserver.pc.limits import rates
from catalog_probe.mockserver.pc.limits.spending import check_spending
from catalog_probe.mockserver.pc.models import find_model
from catalog_probe.mockserver.pc.pages import make_page
from catalog_probe.mockserver.pc.scenarios import moderate, raise_generation_failure

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.call import Call

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
SILENCE = b"ID3\x04\x00\x00\x00\x00\x00\x00"  # the header of an empty MP3 file


async def generate_images(call: Call) -> Response:
    """Generate images; a stream has one event for each."""
    body = check_object(await rates.read_counted(call), IMAGE)
    model, number = find_model(call, body.get("model", "mock-image"), "image"), body.get("n", 1)
    rates.admit_tokens(call, model, count_tokens(body["prompt"]), 0)
    rates.admit_images(call, model, number)
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
    body = check_object(await rates.read_counted(call), SPEECH)
    model = find_model(call, body["model"], "speech")
    rates.admit_tokens(call, model, count_tokens(body["input"]), 0)
    raise_generation_failure(call.context)
    return Response(SILENCE, media_type="audio/mpeg")


async def list_live_sessions(call: Call) -> Response:
    """List no session: the documents show no body for this path."""
    return make_page([])


async def open_live_session(call: Call) -> Response:
    """Open a session. WebRTC or SIP would carry it; the mock speaks neither."""
    body = check_object(await rates.read_counted(call), LIVE_SESSION)
    model = find_model(call, body["model"])
    check_spending(call)
    rates.admit_live_session(call)
    return JSONResponse({"id": call.session.new_id("sess_"), "object": "live.session", "model": model.id})
