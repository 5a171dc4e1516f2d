"""1:2.5 PA compliance query parameters and paging fields: the filters of lists, and the walks through their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import SETUP
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import Call, get
from catalog_probe.probes.recipes.recipe import Family, Recipe, Run, Steps, declare_steps

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
    list_activities,
    list_chats,
    list_session_messages,
    with_query,
    with_refusals,
)
from .requests import UNKNOWN_ID
from .walking import (
    AFTER,
    BEFORE,
    END_LABEL,
    FIRST_LABEL,
    MAX_PAGES,
    PAGE,
    WHOLE_LABEL,
    read_cursor,
    read_field,
    walk_by_ids,
    walk_by_pages,
    walk_to_end,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.recipes.probe import Probe

ACTIVITIES = Family("pa/endpoints/compliance_activities", credential=READ)
CHAT_LISTS = Family("pa/endpoints/compliance_chats", credential=READ)
SESSIONS = Family("pa/endpoints/compliance_sessions", credential=READ)

ALL_ACTIVITIES = get(f"{BASE}/activities")
LOCAL_SESSION_LIST, SESSION_MESSAGES = get(LOCAL_SESSIONS), list_session_messages("{local_session}")
TYPES, USERS, PROJECTS = "activity_types[]", "user_ids[]", "project_ids[]"
FROM_NOW_ON, BEFORE_THEN = "since", "until"
LIMIT_ONE, LIMIT_TOO_LARGE, LIMIT_NO_INTEGER = ("limit", "1"), ("limit", "1000000"), ("limit", "many")


def walk_recipe(
    family: Family,
    slug: str,
    rules: Mapping[str, Call],
    walk: Run,
    labels: tuple[str, ...],
) -> Recipe:
    """A list, its rules, and a walk through its pages."""
    requests = len(labels) + (MAX_PAGES if END_LABEL in labels else 0)
    return family.recipe(slug, rules, then=declare_steps(*labels, requests=requests)(walk), control=CHATS)


def use_cursor_later(label: str, clock: str) -> Steps:
    """A cursor of a local session's messages, used at a later time of the mock's clock."""

    @declare_steps(label, requests=2, needs={"local_session"})
    async def steps(probe: Probe) -> None:
        page = list_session_messages("{local_session}", LIMIT_ONE)
        token = read_cursor(await probe.send(page.with_stopped_clock(), SETUP), "next_page")
        await probe.send(with_query(page, (PAGE, token)).with_clock(clock).with_stopped_clock(), label)

    return steps


def find_last_page(listing: Call) -> Steps:
    """The empty page behind the last entry of a list, if few enough pages reach it."""

    @declare_steps(END_LABEL, requests=MAX_PAGES + 1)
    async def steps(probe: Probe) -> None:
        await walk_to_end(probe, listing)

    return steps


@declare_steps(WHOLE_LABEL, FIRST_LABEL, AFTER, BEFORE, FROM_NOW_ON, BEFORE_THEN, END_LABEL, requests=9 + 6)
async def walk_activities(probe: Probe) -> None:
    """Walk by pages; then list activities since the third one's time, before it, and walk that window to its end."""
    await walk_by_ids(ALL_ACTIVITIES)(probe)
    then = read_field((await probe.setup(with_query(ALL_ACTIVITIES, ("limit", "3")))).body, 2, "created_at")
    await probe.send(list_activities((SINCE, then)), FROM_NOW_ON)
    await probe.send(list_activities((UNTIL, then)), BEFORE_THEN)
    await walk_to_end(probe, list_activities((SINCE, then), ("limit", "2")))


RECIPES: tuple[Recipe, ...] = (
    ACTIVITIES.recipe(
        "list_activities",
        with_refusals(
            list_activities(),
            # "created_at.gte, created_at.lt: timestamp, RFC 3339 with explicit UTC offset; lt must be strictly after
            # gte. Range filters use dot notation, not brackets"
            window=list_activities((SINCE, EARLY), (UNTIL, LATE)),
            invalid_datetime=list_activities((SINCE, "yesterday")),
            lt_invalid_datetime=list_activities((UNTIL, "tomorrow")),
            missing_timezone=list_activities((SINCE, "2026-01-01T00:00:00")),
            lt_missing_timezone=list_activities((UNTIL, "2026-01-01T00:00:00")),
            lt_not_after_gte=list_activities((SINCE, EARLY), (UNTIL, EARLY)),
            lt_before_gte=list_activities((SINCE, LATE), (UNTIL, EARLY)),
            lt_just_after_gte=list_activities((SINCE, EARLY), (UNTIL, JUST_LATER)),
            bracketed_range=list_activities(("created_at[gte]", EARLY)),
            # "activity_types[]: array; each entry from an enumerated set; suffix `[]` for arrays"
            activity_types=list_activities(*((TYPES, kind) for kind in ACTIVITY_TYPES)),
            **{kind.removeprefix("pa_"): list_activities((TYPES, kind)) for kind in ACTIVITY_TYPES},
            type_outside_the_set=list_activities((TYPES, "no_such_activity")),
            array_without_suffix=list_activities(("activity_types", ACTIVITY_TYPES[0])),
            # "limit: integer; per-endpoint maximum (one endpoint rejects values above 1000)"
            limit=list_activities(LIMIT_ONE),
            limit_1000=list_activities(("limit", "1000")),
            limit_1001=list_activities(("limit", "1001")),
            limit_above_maximum=list_activities(LIMIT_TOO_LARGE),
            limit_not_integer=list_activities(LIMIT_NO_INTEGER),
            # 2:7.2 "bad activity id format"
            malformed_after_id=list_activities((AFTER, "no-activity-id")),
            malformed_before_id=list_activities((BEFORE, "no-activity-id")),
        ),
        then=walk_activities,
    ).with_optional(
        # 1:5.1 "Compliance access keys never expire."
        {"in_ten_years": list_activities().with_clock("+3650d")},
        not_live=(ReasonCode.NO_DOCUMENTED_SETUP, "no probe waits for so long"),
    ),
    # "user_ids[], project_ids[]: arrays used to list chats", "after_id, before_id: opaque cursors (chats, activities)"
    walk_recipe(
        CHAT_LISTS,
        "list_chats",
        with_refusals(
            list_chats(),
            user_ids=list_chats((USERS, "{user}")),
            project_ids=list_chats((PROJECTS, "{project}")),
            limit=list_chats(LIMIT_ONE),
            limit_above_maximum=list_chats(LIMIT_TOO_LARGE),
            limit_not_integer=list_chats(LIMIT_NO_INTEGER),
            array_without_suffix=list_chats(("user_ids", "{user}")),
            bad_after_id=list_chats((AFTER, "no-cursor")),
        ),
        walk_by_ids(list_chats()),
        (WHOLE_LABEL, FIRST_LABEL, AFTER, BEFORE),
    ).with_optional(
        find_last_page(list_chats()),
        {
            "other_user": list_chats((USERS, "{user_of_deleted_chat}")),
            "two_users": list_chats((USERS, "{user}"), (USERS, "{user_of_deleted_chat}")),
            "other_project": list_chats((PROJECTS, "{project_without_chats}")),
            "two_projects": list_chats((PROJECTS, "{project}"), (PROJECTS, "{project_without_chats}")),
        },
    ),
    # "page: opaque cursor (local sessions)", "next_page: cursor fields returned in a page; copied back unchanged"
    walk_recipe(
        SESSIONS,
        "list_local_sessions",
        with_refusals(
            LOCAL_SESSION_LIST,
            window=get(LOCAL_SESSIONS, query=((SINCE, EARLY), (UNTIL, LATE))),
            limit_above_maximum=get(LOCAL_SESSIONS, query=(LIMIT_TOO_LARGE,)),
            limit_not_integer=get(LOCAL_SESSIONS, query=(LIMIT_NO_INTEGER,)),
            malformed_page=get(LOCAL_SESSIONS, query=((PAGE, "no-cursor"),)),
        ),
        walk_by_pages(LOCAL_SESSION_LIST, 1),
        (WHOLE_LABEL, FIRST_LABEL, PAGE, END_LABEL),
    ),
    walk_recipe(
        SESSIONS,
        "list_local_session_messages",
        with_refusals(
            SESSION_MESSAGES,
            limit_above_maximum=list_session_messages("{local_session}", LIMIT_TOO_LARGE),
            limit_not_integer=list_session_messages("{local_session}", LIMIT_NO_INTEGER),
            unknown_session=list_session_messages(f"clls_{UNKNOWN_ID}"),
            malformed_id=list_session_messages("no-session"),
            malformed_page=list_session_messages("{local_session}", (PAGE, "no-cursor")),
        ),
        walk_by_pages(SESSION_MESSAGES, 2),
        (WHOLE_LABEL, FIRST_LABEL, PAGE, END_LABEL),
    ).with_optional(
        # 2:8.1 "PA local-session message cursor | expires after 24 h"
        use_cursor_later("within_a_day", "+23h59m59s"),
        use_cursor_later("after_a_day", "+24h1s"),
        not_live=(ReasonCode.NO_DOCUMENTED_SETUP, "a cursor expires after 24 h, which no probe waits for"),
    ),
)
