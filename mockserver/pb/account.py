"""What an account has done so far makes its tier, and the caps of that tier (1:3, 2:8.3)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mockserver.pb.keys import Billing, Project
from mockserver.scenarios import Scenario, amount, choice, duration, whole_number

if TYPE_CHECKING:
    from mockserver.world import Context

DAY_S = 86_400.0
EFFECT_S = 300.0
"""How long a payment takes to raise the tier; the documents say "within about 10 minutes"."""

HISTORY = "account_history"

SCENARIOS = (
    Scenario(
        HISTORY,
        "The account that asks has this behind it; any authenticated call.",
        (
            choice("billing", ("linked", "none"), "Whether a billing account is linked.", default="linked"),
            amount("paid", "What it has paid in all."),
            duration("first_payment", "How long ago it paid first.", default=0.0),
            duration("since", "How long both have been so.", default=DAY_S),
            amount("spent", "What it spent in the last ten minutes."),
            amount("spent_in_all", "What it spent of its spend cap."),
            amount("cap", "Its own spend cap, where a tier has a range of them."),
            whole_number("enqueued", "Tokens in its active batch jobs of the model that it asks.", default=0),
            whole_number("jobs", "How many batch jobs it has running.", default=0),
            whole_number("stored", "Bytes of its stored files.", default=0),
            whole_number("searches", "Searches that grounded its generations today.", default=0),
        ),
    ),
)


@dataclass(frozen=True)
class History:
    """What an account has behind it, besides what the session saw it do."""

    spent: float = 0.0
    spent_in_all: float = 0.0
    cap: float = 0.0
    enqueued: int = 0
    jobs: int = 0
    stored: int = 0
    searches: int = 0


NO_HISTORY = History()


@dataclass(frozen=True)
class Tier:
    """What qualifies for a paid tier beyond linked billing: both must hold."""

    name: str
    paid: float
    days: float


TIERS = (Tier("tier3", 1_000, 30), Tier("tier2", 100, 3), Tier("tier1", 0, 0))
"""The highest first."""


def standing(context: Context, project: Project) -> tuple[Project, History]:
    """The project in the tier that its account's history makes, and the rest of that history."""
    scenario = context.take(HISTORY)
    if scenario is None:
        return project, NO_HISTORY
    given = dict(scenario.params)
    linked = given.pop("billing") == "linked"
    paid, first_payment_s, since_s = (given.pop(name) for name in ("paid", "first_payment", "since"))
    tier = tier_of(linked=linked, paid=paid, days=first_payment_s / DAY_S, effective=since_s >= EFFECT_S)
    billing = Billing.LINKED if linked else Billing.NONE
    return dataclasses.replace(project, tier=tier, billing=billing), History(**given)


def tier_of(*, linked: bool, paid: float, days: float, effective: bool) -> str:
    """The tier of an account: the first is had as soon as billing is linked, the others once they are effective."""
    if not linked:
        return "free"
    return next(tier.name for tier in TIERS if paid >= tier.paid and days >= tier.days and (effective or not tier.paid))
