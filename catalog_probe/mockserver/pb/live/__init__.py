"""PB's live API: one WebSocket a connection, sessions that outlive it, and closes that say why (1:4.2, 1:3, 2:7.4)."""

from __future__ import annotations

from catalog_probe.mockserver.pb.live.causes import SCENARIOS
from catalog_probe.mockserver.pb.live.door import LiveDoor

__all__ = ["SCENARIOS", "LiveDoor"]
