"""Billing and region: what a project may not ask for whatever its quota (2:7.4, 400 FAILED_PRECONDITION)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.pb.auth.keys import Billing
from catalog_probe.mockserver.pb.errors import PRECONDITION, PbError

if TYPE_CHECKING:
    from catalog_probe.mockserver.pb.auth.keys import Project
    from catalog_probe.mockserver.pb.models import Model

FREE_SERVICE_TIERS = frozenset({"standard"})


def refuse_unpaid(project: Project, model: Model, service_tier: str) -> None:
    """Raise what stands between the project and this generation."""
    if project.billing is Billing.NONE and not project.free_tier_region:
        raise PbError(
            PRECONDITION, "The free tier is not available in your region. Please enable billing on your project."
        )
    if project.billing is Billing.OFF and (model.paid_only or service_tier not in FREE_SERVICE_TIERS):
        raise PbError(PRECONDITION, "Billing is not active for this project, and this is a paid feature.")
