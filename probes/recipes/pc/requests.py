"""The smallest valid requests to PC."""

from __future__ import annotations

from probes.call import get

MODELS = get("/v1/models")
