"""The errors of PA's compliance API that take steps: cursors, retention, spent budgets (2:7.2)."""

from __future__ import annotations

from catalog.model import Reason
from probes.calls.call import get
from probes.elicit.probe import Probe, Stopped
from probes.elicit.recipe import Family
from probes.recipes.exhausting import exhaust
from probes.recipes.pa.compliance_requests import (
    CHAT,
    CHATS,
    READ,
    REMOTE_SESSIONS,
    activities,
    messages,
    session_messages,
)
from probes.target.target import Cost

FAMILY = Family("pa/errors/compliance")

TOO_LONG = "no-documented-setup"
"""A state that only time makes: the mock's clock can be moved, a provider's cannot."""


@FAMILY.stepwise(
    labels=("other_session", "other_order"),
    requests=3,
    credential=READ,
    control=CHATS,
    needs={"local_session", "other_local_session"},
)
async def page_not_valid_for_request(probe: Probe) -> None:
    """A cursor of one session's walk, used on another session and in the other order."""
    page = await next_page(probe)
    await probe.send(session_messages("{other_local_session}", ("limit", "1"), ("page", page)), "other_session")
    other_order = session_messages("{local_session}", ("limit", "1"), ("order", "desc"), ("page", page))
    await probe.send(other_order, "other_order")


@FAMILY.stepwise(
    requests=3,
    credential=READ,
    control=CHATS,
    needs={"local_session"},
    live=(TOO_LONG, "a cursor expires after 24 h, which no probe waits for"),
)
async def page_cursor_expired(probe: Probe) -> None:
    """A cursor that still works within a day, and no more the day after."""
    walk = session_messages("{local_session}", ("limit", "1"), ("page", await next_page(probe)))
    await probe.setup(walk.later("+23h"))
    await probe.send(walk.later("+25h"))


async def next_page(probe: Probe) -> str:
    """The cursor to the second page of a local session's messages.

    Raises:
        Stopped: there is only one page.
    """
    first = await probe.setup(session_messages("{local_session}", ("limit", "1")))
    page = first.body.get("next_page") if isinstance(first.body, dict) else None
    if not isinstance(page, str):
        raise Stopped(Reason("setup-failed", "values.local_session has no second page of messages"))
    return page


@FAMILY.stepwise(
    requests=2,
    credential=READ,
    control=CHATS,
    needs={"chat"},
    live=(TOO_LONG, "a chat's retention lasts longer than any probe waits"),
)
async def chat_retention_expired(probe: Probe) -> None:
    await probe.setup(messages(CHAT))
    await probe.send(messages(CHAT).later("+400d"))


@FAMILY.stepwise(
    requests=2,
    credential=READ,
    control=CHATS,
    needs={"local_session"},
    live=(TOO_LONG, "a local session ages out later than any probe waits for"),
)
async def local_session_aged_out(probe: Probe) -> None:
    await probe.setup(session_messages("{local_session}"))
    await probe.send(session_messages("{local_session}").later("+60d"))


NARROW = "compliance_narrow"
"""The role of a key whose parent organization has budgets of a handful of requests."""
MOST = 8


@FAMILY.stepwise(
    requests=MOST + 1,
    credential=READ,
    roles={NARROW},
    cost=Cost.DISRUPTIVE,
)
async def compliance_rate_limit_exceeded(probe: Probe) -> None:
    await exhaust(probe, activities().but(credential=NARROW), MOST)


@FAMILY.stepwise(
    requests=MOST + 1,
    credential=READ,
    roles={NARROW},
    cost=Cost.DISRUPTIVE,
)
async def remote_session_rate_limit_exceeded(probe: Probe) -> None:
    await exhaust(probe, get(REMOTE_SESSIONS, credential=NARROW), MOST)
