"""Agents, behind the beta header, and live sessions (1:4.3). The documents show no body of either."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from catalog_probe.mockserver.pc.fields import ANY, check, string
from catalog_probe.mockserver.pc.limits import rates
from catalog_probe.mockserver.pc.models import find

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pc.call import Call

BETA = "agents=v1"


async def list_agents(call: Call) -> Response:
    """GET /v1/agents."""
    return JSONResponse({"object": "list", "data": [], "has_more": False})


async def list_live_sessions(call: Call) -> Response:
    """GET /v1/live/sessions."""
    return JSONResponse({"object": "list", "data": [], "has_more": False})


@dataclass
class LiveSessions:
    """The live sessions that are open, by organization; the documents show nothing that ends one."""

    opened: Counter[str] = field(default_factory=Counter)


async def open_live_session(call: Call) -> Response:
    """POST /v1/live/sessions: the session itself is carried by WebRTC or SIP, which the mock does not speak."""
    body = await rates.read_counted(call)
    check(body, {"model": string(), "sdp": ANY, "session": ANY}, required=("model",))
    model = find(body["model"], call.key, call.project)
    rates.refuse_spenders(call)
    organization = call.key.organization
    opened = call.session.state(LiveSessions).opened
    rates.admit_live_session(call, opened[organization.id])
    opened[organization.id] += 1
    return JSONResponse({"id": call.session.new_id("sess_"), "object": "live.session", "model": model.id})
