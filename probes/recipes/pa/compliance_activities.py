"""PA's audit activities: the window, the types, the bounds of a page and the walk through its pages (1:4.1, 1:2.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.calls.call import get
from catalog_probe.probes.recipes.recipe import Family, Recipe

from .compliance_requests import (
    ACTIVITY_TYPES,
    BASE,
    EARLY,
    JUST_LATER,
    LATE,
    READ,
    SINCE,
    UNTIL,
    activities,
    labelled,
)
from .walking import AFTER, BEFORE, END, FIRST, WHOLE, asked, by_ends, newest, to_the_end

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pa/endpoints/compliance_activities")
TYPES = "activity_types[]"
LISTED = get(f"{BASE}/activities")
FROM_NOW_ON, BEFORE_THEN = "since", "until"


def of_type(kind: str) -> Call:
    """The activities of one type."""
    return activities((TYPES, kind))


async def walk(probe: Probe) -> None:
    """By pages on and back; then from the third activity's time on, before it, and through that window to its end."""
    await by_ends(LISTED)(probe)
    then = newest((await probe.setup(asked(LISTED, (("limit", "3"),)))).body, 2, "created_at")
    await probe.send(activities((SINCE, then)), FROM_NOW_ON)
    await probe.send(activities((UNTIL, then)), BEFORE_THEN)
    await to_the_end(probe, activities((SINCE, then), ("limit", "2")))


AGES = {"in_ten_years": activities().later("+3650d")}
"""What no probe waits for: compliance access keys never expire (1:5.1)."""

RECIPES: tuple[Recipe, ...] = (
    FAMILY.recipe(
        "list_activities",
        labelled(
            activities(),
            window=activities((SINCE, EARLY), (UNTIL, LATE)),
            activity_types=activities(*((TYPES, kind) for kind in ACTIVITY_TYPES)),
            **{kind.removeprefix("pa_"): of_type(kind) for kind in ACTIVITY_TYPES},
            limit=activities(("limit", "1")),
            limit_1000=activities(("limit", "1000")),
            limit_1001=activities(("limit", "1001")),
            limit_above_maximum=activities(("limit", "1000000")),
            limit_not_integer=activities(("limit", "many")),
            invalid_datetime=activities((SINCE, "yesterday")),
            lt_invalid_datetime=activities((UNTIL, "tomorrow")),
            missing_timezone=activities((SINCE, "2026-01-01T00:00:00")),
            lt_missing_timezone=activities((UNTIL, "2026-01-01T00:00:00")),
            type_outside_the_set=of_type("no_such_activity"),
            lt_not_after_gte=activities((SINCE, EARLY), (UNTIL, EARLY)),
            lt_before_gte=activities((SINCE, LATE), (UNTIL, EARLY)),
            lt_just_after_gte=activities((SINCE, EARLY), (UNTIL, JUST_LATER)),
            bracketed_range=activities(("created_at[gte]", EARLY)),
            array_without_suffix=activities(("activity_types", ACTIVITY_TYPES[0])),
            malformed_after_id=activities((AFTER, "no-activity-id")),
            malformed_before_id=activities((BEFORE, "no-activity-id")),
        ),
        steps=walk,
        labels=(WHOLE, FIRST, AFTER, BEFORE, FROM_NOW_ON, BEFORE_THEN, END),
        requests=9 + 6,
        credential=READ,
        optional={
            label: FAMILY.recipe(
                "list_activities",
                call,
                label=label,
                credential=READ,
                live=(ReasonCode.NO_DOCUMENTED_SETUP, "no probe waits for so long"),
            )
            for label, call in AGES.items()
        },
    ),
)
