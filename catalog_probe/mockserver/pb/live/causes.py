"""What happens to a live connection without its client's doing: time that passes, and a network that breaks."""

from __future__ import annotations

from catalog_probe.mockserver.core.scenarios import Scenario, duration

SESSION_AGE = "session_age"
CONNECTION_AGE = "connection_age"
CONNECTION_RESET = "connection_reset"

LIVE_SCENARIOS = (
    Scenario(
        SESSION_AGE,
        "The live session has been in use for so long; opening a live connection.",
        (duration("age", "How long, as in 14m59s."),),
    ),
    Scenario(
        CONNECTION_AGE,
        "The live connection has been open for so long; opening a live connection.",
        (duration("age", "How long, as in 9m59s."),),
    ),
    Scenario(CONNECTION_RESET, "The connection breaks in the middle of the first turn; opening a live connection."),
)
