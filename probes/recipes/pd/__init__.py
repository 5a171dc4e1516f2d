"""How PD is provoked."""

from __future__ import annotations

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.recipes.fault_free import MADE_FIRST

from . import accounts, deferred, endpoints, over_grpc, rate_limits, refusals
from .shapes import SHAPES

__all__ = ["FAMILIES", "SHAPES", "UNPROBED"]

FAMILIES = (endpoints, deferred, refusals, accounts, over_grpc, rate_limits)

UNPROBED: dict[str, tuple[str, str]] = {
    "pd/errors/outcomes/violation_still_charged": (
        ReasonCode.NOT_ON_THE_WIRE,
        "the charge stands on the invoice; the documents show no answer by which a client could tell",
    ),
    "pd/errors/outcomes/violation_before_generation": (
        ReasonCode.NOT_ON_THE_WIRE,
        "the flat fee stands on the invoice; the documents show no answer by which a client could tell",
    ),
}

TWINS = over_grpc.TWINS

NO_TWIN: dict[str, str] = {"pd/endpoints/chat/get_deferred_completion": MADE_FIRST}
