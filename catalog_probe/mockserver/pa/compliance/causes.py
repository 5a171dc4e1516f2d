"""Scenarios of compliance requests: upstream trouble, and local sessions (2:7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse

from catalog_probe.mockserver.core.scenarios import Scenario, choice
from catalog_probe.mockserver.pa.compliance.errors import NO_CONTENT, NO_INDEX, NO_OVERRIDES

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call

TROUBLE = {"bad_gateway": 502, "down": 503, "slow": 504, "overloaded": 529}
"""The status of each kind of transient trouble upstream."""

OF_LOCAL_SESSIONS = (
    Scenario("local_sessions_index_down", "The index of local sessions is down; local sessions.", row=NO_INDEX),
    Scenario("captured_content_down", "The store of captured content is down; local sessions.", row=NO_CONTENT),
    Scenario("retention_overrides_down", "Retention overrides cannot be evaluated; local sessions.", row=NO_OVERRIDES),
)

SCENARIOS = (
    Scenario(
        "upstream_trouble",
        "Something behind the compliance API fails for a moment; any compliance call.",
        (choice("kind", TROUBLE, "What fails.", default="down"),),
    ),
    *OF_LOCAL_SESSIONS,
)


def raise_local_sessions_failure(call: Call) -> None:
    """Raise the failure of a part that local sessions need, if any."""
    call.context.raise_failure(OF_LOCAL_SESSIONS)


def take_upstream_trouble(call: Call) -> Response | None:
    """Return the answer of a failure upstream; its row has no type, so no envelope."""
    scenario = call.context.take("upstream_trouble")
    if scenario is None:
        return None
    return PlainTextResponse("upstream trouble", TROUBLE[scenario.params["kind"]])
