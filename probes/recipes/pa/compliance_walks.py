"""The lists of chats and of local sessions of PA's compliance API: their filters, and the walks through their pages.

1:2.5, 1:4.1; the list of activities has a module of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import SETUP
from catalog_probe.probes.calls.call import Call, get
from catalog_probe.probes.recipes.recipe import Family, Recipe, Steps

from .compliance_requests import (
    CHATS,
    EARLY,
    LATE,
    LOCAL_SESSIONS,
    READ,
    SINCE,
    UNTIL,
    chats,
    labelled,
    session_messages,
)
from .requests import UNKNOWN_ID
from .walking import AFTER, BEFORE, END, FIRST, MOST, PAGE, WHOLE, by_ends, by_page, cursor, to_the_end

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.recipes.probe import Probe

CHAT_LISTS = Family("pa/endpoints/compliance_chats")
SESSIONS = Family("pa/endpoints/compliance_sessions")

LISTED, TRANSCRIPT = get(LOCAL_SESSIONS), session_messages("{local_session}")
USERS, PROJECTS = "user_ids[]", "project_ids[]"
TOO_MANY, NO_NUMBER = ("limit", "1000000"), ("limit", "many")
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
        page = session_messages("{local_session}", ("limit", "1"))
        token = cursor(await probe.send(page.still(), SETUP), "next_page")
        await probe.send(page.but(query=(*page.query, (PAGE, token))).later(clock).still(), label)

    look = SESSIONS.recipe(
        "list_local_session_messages",
        steps=steps,
        label=label,
        requests=2,
        needs={"local_session"},
        credential=READ,
        live=(ReasonCode.NO_DOCUMENTED_SETUP, "a cursor expires after 24 h, which no probe waits for"),
    )
    return {label: look}


def behind_the_last(slug: str, listing: Call) -> dict[str, Recipe]:
    """The page behind the last entry of a list, where so many pages reach it."""

    async def steps(probe: Probe) -> None:
        await to_the_end(probe, listing)

    return {END: CHAT_LISTS.recipe(slug, steps=steps, label=END, requests=MOST + 1, credential=READ, control=CHATS)}


RECIPES: tuple[Recipe, ...] = (
    walked(
        CHAT_LISTS,
        "list_chats",
        labelled(
            chats(),
            user_ids=chats((USERS, "{user}")),
            project_ids=chats((PROJECTS, "{project}")),
            limit=chats(("limit", "1")),
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
