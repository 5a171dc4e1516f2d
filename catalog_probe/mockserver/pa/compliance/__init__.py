"""PA's compliance API: what a parent organization can read and delete of its people's work (1:4.1, 2:7.2)."""

from __future__ import annotations

from catalog_probe.mockserver.pa.compliance.causes import SCENARIOS
from catalog_probe.mockserver.pa.compliance.routes import ROUTES

__all__ = ["ROUTES", "SCENARIOS"]
