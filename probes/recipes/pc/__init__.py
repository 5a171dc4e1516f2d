"""How PC is provoked."""

from __future__ import annotations

from probes.recipes.pc import client, websocket
from probes.recipes.pc.requests import MODELS

FAMILIES = (client, websocket)

CONTROLS = {"inference": MODELS}

UNPROBED: dict[str, tuple[str, str]] = {}
