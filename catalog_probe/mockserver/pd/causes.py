"""PD's scenarios: what only the provider can bring about (2:7.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.faults import RATE_LIMITED
from catalog_probe.mockserver.core.scenarios import Scenario
from catalog_probe.mockserver.pd.errors import DEADLINE_EXCEEDED, EXHAUSTED, INTERNAL, UNAVAILABLE, Kind, PdError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.world import Context

FAILURES: Mapping[str, tuple[Kind, str]] = {
    "internal_error": (INTERNAL, "Internal server error"),
    "service_unavailable": (UNAVAILABLE, "The service is temporarily unavailable"),
    "took_too_long": (DEADLINE_EXCEEDED, "The request took too long"),
}
"""Causes of failure of any authenticated call, on HTTP and on gRPC."""

CUT_MID_STREAM = "connection_lost_mid_stream"
BEFORE_THE_CUT = 2
"""Events or messages that still arrive where the connection breaks in the middle of a stream."""

SCENARIOS = (
    Scenario("internal_error", "Something breaks inside the provider; any call."),
    Scenario("service_unavailable", "The service is down or overloaded; any call. 503 is documented for gRPC alone."),
    Scenario("took_too_long", "The provider ran out of time; any call. 504 is documented for gRPC alone."),
    Scenario(
        CUT_MID_STREAM,
        "The connection breaks after the stream began; streams, on gRPC as well.",
    ),
)


def raise_failure(context: Context) -> None:
    """Raise the failure that this call suffers, if any; after authentication, since the provider knows who asks."""
    scenario = context.take(*FAILURES)
    if scenario is not None:
        raise PdError(*FAILURES[scenario.name])
    limited = context.take(RATE_LIMITED.name)
    if limited is not None:  # no Retry-After (2:7.6): the message alone can tell when
        after_s = limited.params["retry_after"]
        raise PdError(EXHAUSTED, f"Your team has used up its rate limit. Try again in {after_s} s.")
