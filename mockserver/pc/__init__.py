"""Provider PC: a responses API with typed error codes (1:4.3, 2:7.5)."""

from __future__ import annotations

from mockserver.pc import websocket
from mockserver.pc.gateway import build
from mockserver.providers import Mount, Provider

PROVIDER = Provider("pc", (Mount("pc", ("base_url",), build, websocket.ResponsesDoor),), websocket.SCENARIOS)
