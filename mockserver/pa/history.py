"""What an organization has used, and what follows from it: its tier where it is new, and its spend cap (1:3, 2:8.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mockserver.scenarios import Scenario, amount

if TYPE_CHECKING:
    from mockserver.pa.call import Call
    from mockserver.scenarios import ActiveScenario

USAGE_HISTORY = "usage_history"

SCENARIO = Scenario(
    USAGE_HISTORY,
    "What the organization has used so far; messages and batch creation.",
    (
        amount("in_all", "USD since it began: the tier of a new organization follows from it."),
        amount("this_month", "USD since the month began: at its tier's spend cap requests fail."),
    ),
)

EVALUATION = "evaluation"
"""The tier of an organization that is new or has hardly used anything."""

FROM_USED_USD: Mapping[str, float] = {EVALUATION: 0, "start": 5, "build": 100, "scale": 1_000}
"""Tier -> what must have been used for it, ascending. "As usage history allows" (1:3): the numbers are the mock's."""

CAPS_USD: Mapping[str, float] = {EVALUATION: 100, "start": 500, "build": 1_000, "scale": 200_000}
"""Tier -> what may be spent in a month; any other has no cap. Of Evaluation it is known that it is below Start."""


def tier_of(call: Call) -> str:
    """The usage tier of whoever calls; one that began in Evaluation has moved on as its history allows (1:3)."""
    tier = call.key.organization.tier
    told = _told(call) if tier == EVALUATION else None
    if told is None:
        return tier
    return next(each for each, used in reversed([*FROM_USED_USD.items()]) if told.params["in_all"] >= used)


def reached_the_cap(call: Call) -> bool:
    """Whether the organization has spent this month what its tier may."""
    told = _told(call)
    cap = CAPS_USD.get(tier_of(call))
    return told is not None and cap is not None and told.params["this_month"] >= cap


def _told(call: Call) -> ActiveScenario | None:
    return call.context.take(USAGE_HISTORY)
