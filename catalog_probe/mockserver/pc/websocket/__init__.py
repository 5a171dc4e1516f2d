"""PC's responses WebSocket mode: responses created, steered and injected into over one socket (1:4.3, 1:6, 2:7.5)."""

from __future__ import annotations

from catalog_probe.mockserver.pc.websocket.causes import SCENARIOS
from catalog_probe.mockserver.pc.websocket.door import ResponsesDoor

__all__ = ["SCENARIOS", "ResponsesDoor"]
