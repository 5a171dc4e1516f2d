"""How PD is provoked."""

from __future__ import annotations

from probes.recipes.pd import accounts, deferred, endpoints, over_grpc, rate_limits, refusals

FAMILIES = (endpoints, deferred, refusals, accounts, over_grpc, rate_limits)

UNPROBED: dict[str, tuple[str, str]] = {
    "pd/errors/outcomes/violation_still_charged": (
        "not-on-the-wire",
        "the charge stands on the invoice; the documents show no answer by which a client could tell",
    ),
    "pd/errors/outcomes/violation_before_generation": (
        "not-on-the-wire",
        "the flat fee stands on the invoice; the documents show no answer by which a client could tell",
    ),
}
