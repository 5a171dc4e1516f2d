"""What happens to a socket without its client's doing: time that passes."""

from __future__ import annotations

from catalog_probe.mockserver.core.scenarios import Scenario, duration

SESSION_AGE = "session_age"

SCENARIOS = (
    Scenario(
        SESSION_AGE,
        "The socket has been open for so long; opening a WebSocket.",
        (duration("age", "How long, as in 59m59s."),),
    ),
)
