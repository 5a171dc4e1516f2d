"""PD's scenarios: what only the provider can bring about (2:7.6)."""

from __future__ import annotations

from dataclasses import replace

from catalog_probe.mockserver.core.faults import RATE_LIMITED
from catalog_probe.mockserver.core.scenarios import Scenario
from catalog_probe.mockserver.pd.errors import DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE, USED_UP_BY_OTHERS

CUT_MID_STREAM = "connection_lost_mid_stream"

DECLARED = (
    Scenario("internal_error", "Something breaks inside the provider; any call.", row=INTERNAL),
    Scenario(
        "service_unavailable",
        "The service is down or overloaded; any call. 503 is documented for gRPC alone.",
        row=UNAVAILABLE,
    ),
    Scenario(
        "took_too_long",
        "The provider ran out of time; any call. 504 is documented for gRPC alone.",
        row=DEADLINE_EXCEEDED,
    ),
    Scenario(CUT_MID_STREAM, "The connection breaks after the stream began; streams over HTTP."),
)

SCENARIOS = (*DECLARED, replace(RATE_LIMITED, row=USED_UP_BY_OTHERS))
"""Those of any call, the one that every provider suffers among them."""
