"""1:2.5 PA compliance query parameters and paging fields: the filters of lists, and the walks through their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import SETUP
from catalog_probe.probes.calls.call import Call, get
from catalog_probe.probes.recipes.recipe import Family, Recipe, Steps

from .compliance_requests import (
    ACTIVITY_TYPES,
    BASE,
    CHATS,
    EARLY,
    JUST_LATER,
    LATE,
    LOCAL_SESSIONS,
    READ,
    SINCE,
    UNTIL,
    activities,
    chats,
    labelled,
    session_messages,
)
from .requests import UNKNOWN_ID
from .walking import (
    AFTER,
    BEFORE,
    END,
    FIRST,
    MOST,
    PAGE,
    WHOLE,
    by_ends,
    by_page,
    cursor,
    newest,
    to_the_end,
    with_query,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.recipes.probe import Probe

ACTIVITIES = Family("pa/endpoints/compliance_activities")
CHAT_LISTS = Family("pa/endpoints/compliance_chats")
SESSIONS = Family("pa/endpoints/compliance_sessions")

ALL_ACTIVITIES = get(f"{BASE}/activities")
LISTED, TRANSCRIPT = get(LOCAL_SESSIONS), session_messages("{local_session}")
TYPES, USERS, PROJECTS = "activity_types[]", "user_ids[]", "project_ids[]"
FROM_NOW_ON, BEFORE_THEN = "since", "until"
ONE, TOO_MANY, NO_NUMBER = ("limit", "1"), ("limit", "1000000"), ("limit", "many")
A_DAY = {"within_a_day": "+23h59m59s", "after_a_day": "+24h1s"}
"""When a cursor of local-session messages is used, by label: it expires after 24 h (2:8.1)."""


def walked(
    family: Family,
    slug: str,
    rules: Mapping[str, Call],
    walk: Steps,
    labels: tuple[str, ...],
    *,
    optional: Mapping[str, Recipe] | None = None,
) -> Recipe:
    """A row: a list, its rules, and a walk through its pages."""
    return family.recipe(
        slug,
        rules,
        steps=walk,
        labels=labels,
        requests=len(labels) + (MOST if END in labels else 0),
        credential=READ,
        control=CHATS,
        optional=optional or {},
    )


def chats_of(label: str, array: str, *values: str) -> dict[str, Recipe]:
    """The chats of other users or projects, where the target names them."""
    call = chats(*((array, value) for value in values))
    return {label: CHAT_LISTS.recipe("list_chats", call, label=label, credential=READ)}


def a_day_later(label: str, clock: str) -> dict[str, Recipe]:
    """A cursor of a local session's messages that is used after a while."""

    async def steps(probe: Probe) -> None:
        page = session_messages("{local_session}", ONE)
        token = cursor(await probe.send(page.with_stopped_clock(), SETUP), "next_page")
        await probe.send(page.replace(query=(*page.query, (PAGE, token))).with_clock(clock).with_stopped_clock(), label)

    look = SESSIONS.recipe(
        "list_local_session_messages",
        steps=steps,
        label=label,
        requests=2,
        needs={"local_session"},
        credential=READ,
        not_live=(ReasonCode.NO_DOCUMENTED_SETUP, "a cursor expires after 24 h, which no probe waits for"),
    )
    return {label: look}


def behind_the_last(slug: str, listing: Call) -> dict[str, Recipe]:
    """The page behind the last entry of a list, where so many pages reach it."""

    async def steps(probe: Probe) -> None:
        await to_the_end(probe, listing)

    return {END: CHAT_LISTS.recipe(slug, steps=steps, label=END, requests=MOST + 1, credential=READ, control=CHATS)}


async def walk_activities(probe: Probe) -> None:
    """By pages on and back; then from the third activity's time on, before it, and through that window to its end."""
    await by_ends(ALL_ACTIVITIES)(probe)
    then = newest((await probe.setup(with_query(ALL_ACTIVITIES, (("limit", "3"),)))).body, 2, "created_at")
    await probe.send(activities((SINCE, then)), FROM_NOW_ON)
    await probe.send(activities((UNTIL, then)), BEFORE_THEN)
    await to_the_end(probe, activities((SINCE, then), ("limit", "2")))


RECIPES: tuple[Recipe, ...] = (
    ACTIVITIES.recipe(
        "list_activities",
        labelled(
            activities(),
            # "created_at.gte, created_at.lt: timestamp, RFC 3339 with explicit UTC offset; lt must be strictly after
            # gte. Range filters use dot notation, not brackets"
            window=activities((SINCE, EARLY), (UNTIL, LATE)),
            invalid_datetime=activities((SINCE, "yesterday")),
            lt_invalid_datetime=activities((UNTIL, "tomorrow")),
            missing_timezone=activities((SINCE, "2026-01-01T00:00:00")),
            lt_missing_timezone=activities((UNTIL, "2026-01-01T00:00:00")),
            lt_not_after_gte=activities((SINCE, EARLY), (UNTIL, EARLY)),
            lt_before_gte=activities((SINCE, LATE), (UNTIL, EARLY)),
            lt_just_after_gte=activities((SINCE, EARLY), (UNTIL, JUST_LATER)),
            bracketed_range=activities(("created_at[gte]", EARLY)),
            # "activity_types[]: array; each entry from an enumerated set; suffix `[]` for arrays"
            activity_types=activities(*((TYPES, kind) for kind in ACTIVITY_TYPES)),
            **{kind.removeprefix("pa_"): activities((TYPES, kind)) for kind in ACTIVITY_TYPES},
            type_outside_the_set=activities((TYPES, "no_such_activity")),
            array_without_suffix=activities(("activity_types", ACTIVITY_TYPES[0])),
            # "limit: integer; per-endpoint maximum (one endpoint rejects values above 1000)"
            limit=activities(ONE),
            limit_1000=activities(("limit", "1000")),
            limit_1001=activities(("limit", "1001")),
            limit_above_maximum=activities(TOO_MANY),
            limit_not_integer=activities(NO_NUMBER),
            # 2:7.2 "bad activity id format"
            malformed_after_id=activities((AFTER, "no-activity-id")),
            malformed_before_id=activities((BEFORE, "no-activity-id")),
        ),
        steps=walk_activities,
        labels=(WHOLE, FIRST, AFTER, BEFORE, FROM_NOW_ON, BEFORE_THEN, END),
        requests=9 + 6,
        credential=READ,
        optional={
            # 1:5.1 "Compliance access keys never expire."
            "in_ten_years": ACTIVITIES.recipe(
                "list_activities",
                activities().with_clock("+3650d"),
                label="in_ten_years",
                credential=READ,
                not_live=(ReasonCode.NO_DOCUMENTED_SETUP, "no probe waits for so long"),
            )
        },
    ),
    # "user_ids[], project_ids[]: arrays used to list chats", "after_id, before_id: opaque cursors (chats, activities)"
    walked(
        CHAT_LISTS,
        "list_chats",
        labelled(
            chats(),
            user_ids=chats((USERS, "{user}")),
            project_ids=chats((PROJECTS, "{project}")),
            limit=chats(ONE),
            limit_above_maximum=chats(TOO_MANY),
            limit_not_integer=chats(NO_NUMBER),
            array_without_suffix=chats(("user_ids", "{user}")),
            bad_after_id=chats((AFTER, "no-cursor")),
        ),
        by_ends(chats()),
        (WHOLE, FIRST, AFTER, BEFORE),
        optional={
            **behind_the_last("list_chats", chats()),
            **chats_of("other_user", USERS, "{user_of_deleted_chat}"),
            **chats_of("two_users", USERS, "{user}", "{user_of_deleted_chat}"),
            **chats_of("other_project", PROJECTS, "{project_without_chats}"),
            **chats_of("two_projects", PROJECTS, "{project}", "{project_without_chats}"),
        },
    ),
    # "page: opaque cursor (local sessions)", "next_page: cursor fields returned in a page; copied back unchanged"
    walked(
        SESSIONS,
        "list_local_sessions",
        labelled(
            LISTED,
            window=get(LOCAL_SESSIONS, query=((SINCE, EARLY), (UNTIL, LATE))),
            limit_above_maximum=get(LOCAL_SESSIONS, query=(TOO_MANY,)),
            limit_not_integer=get(LOCAL_SESSIONS, query=(NO_NUMBER,)),
            malformed_page=get(LOCAL_SESSIONS, query=((PAGE, "no-cursor"),)),
        ),
        by_page(LISTED, 1),
        (WHOLE, FIRST, PAGE, END),
    ),
    walked(
        SESSIONS,
        "list_local_session_messages",
        labelled(
            TRANSCRIPT,
            limit_above_maximum=session_messages("{local_session}", TOO_MANY),
            limit_not_integer=session_messages("{local_session}", NO_NUMBER),
            unknown_session=session_messages(f"clls_{UNKNOWN_ID}"),
            malformed_id=session_messages("no-session"),
            malformed_page=session_messages("{local_session}", (PAGE, "no-cursor")),
        ),
        by_page(TRANSCRIPT, 2),
        (WHOLE, FIRST, PAGE, END),
        optional={name: look for label, clock in A_DAY.items() for name, look in a_day_later(label, clock).items()},
    ),
)
