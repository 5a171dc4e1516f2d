"""The lists of PA's compliance API that are walked: their rules, then on by the cursors that were returned (1:4.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from catalog.model import Reason
from catalog.model.codes import ReasonCode
from catalog.model.labels import SUCCESS
from probes.calls.call import Call, get
from probes.elicit.probe import Probe, Stopped
from probes.elicit.recipe import Family, Recipe, Steps
from probes.recipes.pa.compliance_requests import (
    ACTIVITY_TYPES,
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
from probes.recipes.pa.requests import UNKNOWN_ID

ACTIVITIES = Family("pa/endpoints/compliance_activities")
CHAT_LISTS = Family("pa/endpoints/compliance_chats")
SESSIONS = Family("pa/endpoints/compliance_sessions")

AFTER, BEFORE, PAGE = "after_id", "before_id", "page"
"""The labels of the requests that go on, which are also the names of their cursors."""

SESSIONS_LISTED = get(LOCAL_SESSIONS, query=(("limit", "1"),))
SESSION_WALKED = session_messages("{local_session}", ("limit", "1"))
WINDOW = ((SINCE, EARLY), (UNTIL, LATE))
TYPES, USERS, PROJECTS = "activity_types[]", "user_ids[]", "project_ids[]"


def of_type(kind: str) -> Call:
    """The activities of one type."""
    return activities((TYPES, kind))


def walked(
    family: Family,
    slug: str,
    success: Call,
    walk: Steps,
    *onward: str,
    rules: Mapping[str, Call],
    control: Call | None = CHATS,
    optional: Mapping[str, Recipe] | None = None,
) -> Recipe:
    """A row: a list, its rules, and a walk whose requests are labelled `onward`."""
    return family.recipe(
        slug,
        labelled(success, **rules),
        steps=walk,
        labels=onward,
        requests=len(onward),
        credential=READ,
        control=control,
        optional=optional or {},
    )


def either_of(label: str, array: str, *values: str) -> dict[str, Recipe]:
    """The chats of several users or projects, where the target names several."""
    call = chats(*((array, value) for value in values))
    return {label: CHAT_LISTS.recipe("list_chats", call, label=label, credential=READ)}


def by_ends(listing: Callable[[tuple[str, str]], Call]) -> Steps:
    """On and back by the ids of the last and the first entry of the page."""

    async def walk(probe: Probe) -> None:
        page = first_page(probe)
        first, last = page.get("first_id"), page.get("last_id")
        if not isinstance(first, str) or not isinstance(last, str):
            raise Stopped(Reason(ReasonCode.SETUP_FAILED, "the first page has no first_id and last_id to walk by"))
        await probe.send(listing((AFTER, last)), AFTER)
        await probe.send(listing((BEFORE, first)), BEFORE)

    return walk


def by_page(listing: Call) -> Steps:
    """On by the cursor of the next page."""

    async def walk(probe: Probe) -> None:
        page = first_page(probe).get("next_page")
        if not isinstance(page, str):
            raise Stopped(Reason(ReasonCode.SETUP_FAILED, "the first page of one entry has no next_page to walk by"))
        await probe.send(listing.but(query=(*listing.query, (PAGE, page))), PAGE)

    return walk


def first_page(probe: Probe) -> Mapping[str, Any]:
    """The body of the answer labelled `success`; empty where it is no object."""
    response = next(each.response for each in probe.exchanges if each.label == SUCCESS)
    return response.body if response is not None and isinstance(response.body, dict) else {}


RECIPES: tuple[Recipe, ...] = (
    walked(
        ACTIVITIES,
        "list_activities",
        activities(),
        by_ends(activities),
        AFTER,
        BEFORE,
        control=None,
        rules={
            "window": activities(*WINDOW),
            "activity_types": activities(*((TYPES, kind) for kind in ACTIVITY_TYPES)),
            **{kind.removeprefix("pa_"): of_type(kind) for kind in ACTIVITY_TYPES},
            "limit": activities(("limit", "1")),
            "limit_1000": activities(("limit", "1000")),
            "limit_1001": activities(("limit", "1001")),
            "limit_above_maximum": activities(("limit", "1000000")),
            "limit_not_integer": activities(("limit", "many")),
            "invalid_datetime": activities((SINCE, "yesterday")),
            "lt_invalid_datetime": activities((UNTIL, "tomorrow")),
            "missing_timezone": activities((SINCE, "2026-01-01T00:00:00")),
            "lt_missing_timezone": activities((UNTIL, "2026-01-01T00:00:00")),
            "type_outside_the_set": of_type("no_such_activity"),
            "lt_not_after_gte": activities((SINCE, EARLY), (UNTIL, EARLY)),
            "lt_before_gte": activities((SINCE, LATE), (UNTIL, EARLY)),
            "lt_just_after_gte": activities((SINCE, EARLY), (UNTIL, JUST_LATER)),
            "bracketed_range": activities(("created_at[gte]", EARLY)),
            "array_without_suffix": activities(("activity_types", ACTIVITY_TYPES[0])),
            "malformed_after_id": activities((AFTER, "no-activity-id")),
            "malformed_before_id": activities((BEFORE, "no-activity-id")),
        },
    ),
    walked(
        CHAT_LISTS,
        "list_chats",
        chats(),
        by_ends(chats),
        AFTER,
        BEFORE,
        optional={
            **either_of("two_users", USERS, "{user}", "{user_of_deleted_chat}"),
            **either_of("two_projects", PROJECTS, "{project}", "{project_without_chats}"),
        },
        rules={
            "user_ids": chats((USERS, "{user}")),
            "project_ids": chats((PROJECTS, "{project}")),
            "array_without_suffix": chats(("user_ids", "{user}")),
            "bad_after_id": chats((AFTER, "no-cursor")),
        },
    ),
    walked(
        SESSIONS,
        "list_local_sessions",
        SESSIONS_LISTED,
        by_page(SESSIONS_LISTED),
        PAGE,
        rules={
            "window": get(LOCAL_SESSIONS, query=WINDOW),
            "malformed_page": get(LOCAL_SESSIONS, query=((PAGE, "no-cursor"),)),
        },
    ),
    walked(
        SESSIONS,
        "list_local_session_messages",
        SESSION_WALKED,
        by_page(SESSION_WALKED),
        PAGE,
        rules={
            "unknown_session": session_messages(f"clls_{UNKNOWN_ID}"),
            "malformed_id": session_messages("no-session"),
            "malformed_page": session_messages("{local_session}", (PAGE, "no-cursor")),
        },
    ),
)
