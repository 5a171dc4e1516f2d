"""What PA's tiers may spend a month, which tier a history leads to, and when a reached cap is lifted (1:3, 2:8.2)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from catalog.model.codes import ReasonCode
from catalog.model.labels import SUCCESS
from probes.elicit.recipe import Family, Recipe
from probes.recipes.moments import moment_of
from probes.recipes.pa.requests import message
from probes.target.target import Cost

if TYPE_CHECKING:
    from datetime import datetime

    from probes.elicit.probe import Probe

FAMILY = Family("pa/endpoints/limits")
SPENT = message().but(credential="spend_cap").still()

CAPS: Mapping[str, tuple[str, str, str]] = {
    "start": ("tier_start", "499.99", "500"),
    "build": ("tier_build", "999.99", "1000"),
    "scale": ("tier_scale", "199999.99", "200000"),
}
"""Tier -> the role of a key in it; USD spent this month when it is served last, and when it is refused (2:8.2)."""
GROWN: Mapping[str, str] = {"start": "50", "build": "500", "scale": "5000"}
"""Tier -> USD used in all by an organization that has moved to it: the documents show no numbers (1:3)."""
ENDLESS = "999999999"


def spending(label: str, role: str, **history: str) -> tuple[str, Recipe]:
    """A message of an organization with this history."""
    said = ";".join(f"{name}={usd}" for name, usd in history.items())
    call = message().but(credential=role).befallen(f"usage_history;{said}")
    return label, FAMILY.recipe("spend_cap", call, label=label, cost=Cost.BILLABLE, tokens=4)


LOOKS: dict[str, Recipe] = dict(
    [
        *(
            spending(f"{tier}_cap_{ending}", role, this_month=usd)
            for tier, (role, within, reached) in CAPS.items()
            for ending, usd in (("within", within), ("reached", reached))
        ),
        spending("custom_without_cap", "tier_custom", this_month=ENDLESS),
        spending("evaluation_cap_reached", "newcomer", in_all="0", this_month=CAPS["start"][1]),
        *(spending(f"grown_to_{tier}", "newcomer", in_all=usd) for tier, usd in GROWN.items()),
    ]
)


def until_next_month(now: datetime) -> int:
    """Seconds from a moment to the first day of the next month, 00:00 UTC."""
    following = now.replace(day=1) + timedelta(days=32)
    return int((following.replace(day=1, hour=0, minute=0, second=0) - now).total_seconds())


async def reached_and_lifted(probe: Probe) -> None:
    """Refused until the month ends or the tier is raised, and served from then on."""
    left = until_next_month(moment_of(await probe.send(SPENT, "now")))
    await probe.send(SPENT.later(f"+{left // 2}s").still(), "next_day")
    await probe.send(SPENT.later(f"+{left - 1}s").still(), "last_minute")
    await probe.send(SPENT.befallen("tier_increased"), "tier_increased")
    await probe.send(SPENT.later(f"+{left}s").still(), SUCCESS)


RECIPES = (
    FAMILY.recipe(
        "spend_cap",
        steps=reached_and_lifted,
        labels=(SUCCESS, "now", "next_day", "last_minute", "tier_increased"),
        requests=5,
        tokens=20,
        needs={"small_model"},
        roles={"spend_cap"},
        cost=Cost.BILLABLE,
        live=(ReasonCode.NO_DOCUMENTED_SETUP, "a spend cap is lifted when the month ends, which no probe waits for"),
        optional=LOOKS,
    ),
)
