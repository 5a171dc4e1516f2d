"""What only the provider can do to a compliance request: upstream trouble, and parts of the local sessions failing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse

from catalog_probe.mockserver.core.scenarios import Scenario, choice
from catalog_probe.mockserver.pa.compliance.refusals import unavailable

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call

TROUBLE = {"bad_gateway": 502, "down": 503, "slow": 504, "overloaded": 529}
"""Kinds of transient trouble upstream, and the statuses of their row (2:7.2)."""

PARTS = {
    "local_sessions_index_down": "The index of local sessions is",
    "captured_content_down": "Captured content is",
    "retention_overrides_down": "Retention overrides for this page or session are",
}

SCENARIOS = (
    Scenario(
        "upstream_trouble",
        "Something behind the compliance API fails for a moment; any compliance call.",
        (choice("kind", TROUBLE, "What fails.", default="down"),),
    ),
    Scenario("local_sessions_index_down", "The index of local sessions is down; local sessions."),
    Scenario("captured_content_down", "The store of captured content is down; local sessions."),
    Scenario("retention_overrides_down", "Retention overrides cannot be evaluated; local sessions."),
)


def raise_local_sessions_failure(call: Call) -> None:
    """Raise the failure of a part that local sessions need, if any."""
    scenario = call.context.take(*PARTS)
    if scenario is not None:
        raise unavailable(PARTS[scenario.name])


def upstream_trouble(call: Call) -> Response | None:
    """The answer of whatever fails upstream: it has no envelope, for the row names neither type nor code."""
    scenario = call.context.take("upstream_trouble")
    if scenario is None:
        return None
    return PlainTextResponse("upstream trouble", TROUBLE[scenario.params["kind"]])
