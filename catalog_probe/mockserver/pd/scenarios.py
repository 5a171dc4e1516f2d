"""PD's scenarios: what only the provider can cause (2:7.6)."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.generation import event_stream
from catalog_probe.mockserver.core.scenarios import Scenario
from catalog_probe.mockserver.core.world import RATE_LIMITED
from catalog_probe.mockserver.pd.errors import DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE, USED_UP_BY_OTHERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.responses import Response

    from catalog_probe.mockserver.core.gateway import Call

CUT_MID_STREAM = "connection_lost_mid_stream"
EVENTS_BEFORE_CUT = 2

SCENARIOS = (
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

FAILURES = (*SCENARIOS, replace(RATE_LIMITED, row=USED_UP_BY_OTHERS))
"""Scenarios that refuse any call with their row, if they have one."""


def make_stream(call: Call, events: Iterable[bytes]) -> Response:
    """Stream the events, or break the connection after the first ones."""
    if call.context.take(CUT_MID_STREAM) is not None:
        return event_stream(islice(events, EVENTS_BEFORE_CUT), call.abort_connection)
    return event_stream(events)
