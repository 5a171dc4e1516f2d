"""2:7.2 PA compliance errors: those rows that take steps, for cursors, retention and used-up budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import SETUP
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import Call, get
from catalog_probe.probes.recipes.minimal_requests import same_recipe
from catalog_probe.probes.recipes.rate_limits import send_until_limited
from catalog_probe.probes.recipes.recipe import Family, OtherEndpoints, Recipe, declare_steps, same_change
from catalog_probe.probes.targets.target import Cost

from .compliance_requests import (
    CHAT,
    CHATS,
    READ,
    REMOTE_SESSIONS,
    delete_resource,
    list_activities,
    list_messages,
    list_session_messages,
    with_organization_key,
)
from .walking import read_cursor

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pa/errors/compliance", credential=READ)

NEEDS_TIME = ReasonCode.NO_DOCUMENTED_SETUP
"""Only time brings the state about: the mock's clock can be moved, a provider's cannot."""


NARROW_ROLE = "compliance_narrow"
"""Role: a key whose parent organization has a budget of a handful of requests."""
MAX_REQUESTS = 8


async def next_page(probe: Probe) -> str:
    """Fetch the cursor to the second page of a local session's messages."""
    first = list_session_messages("{local_session}", ("limit", "1")).with_stopped_clock()
    return read_cursor(await probe.send(first, SETUP), "next_page")


def expiry_recipe(
    slug: str, call: Call, clock: str, detail: str, other_endpoints: OtherEndpoints | None = None
) -> Recipe:
    """Read something now, and again when it has expired."""

    @declare_steps(requests=2, needs=call.placeholders)
    async def steps(probe: Probe) -> None:
        await probe.setup(call)
        await probe.send(call.with_clock(clock))

    return FAMILY.recipe(slug, steps, control=CHATS, not_live=(NEEDS_TIME, detail), other_endpoints=other_endpoints)


def exhaustion_recipe(slug: str, call: Call) -> Recipe:
    """Send a call until the budget of the key's parent organization, shared by all endpoints, is used up."""

    @declare_steps(
        requests=MAX_REQUESTS,
        needs=call.placeholders,
        roles={with_organization_key(NARROW_ROLE)(call).credential_role(READ) or READ},
    )
    async def steps(probe: Probe) -> None:
        await send_until_limited(probe, with_organization_key(NARROW_ROLE)(call), MAX_REQUESTS)

    return FAMILY.recipe(
        slug, steps, cost=Cost.DISRUPTIVE, other_endpoints=same_recipe(lambda request: exhaustion_recipe(slug, request))
    )


def sealed_content_recipe(slug: str, role: str) -> Recipe:
    """Read content whose customer-managed key is unusable, and again an hour later on a mock."""
    call = list_session_messages("{sealed_local_session}").replace(credential=role)

    @declare_steps(requests=2, needs=call.placeholders, roles={role})
    async def steps(probe: Probe) -> None:
        # Not judged: an answer that differs from the documented one and lasts is seen an hour later as well.
        await probe.send(call, SETUP)
        await probe.send(call.with_clock("+1h"))

    return FAMILY.recipe(slug, steps, control=CHATS)


# invalid_pagination_cursor: "page not valid for this request (local sessions: cursor is bound to session and order);
# page cursor expired after 24 h (local session messages)"
@declare_steps("other_session", "other_order", requests=3, needs={"local_session", "other_local_session"})
async def page_not_valid_for_request(probe: Probe) -> None:
    """Use a session's cursor on another session, and in the other order."""
    page = await next_page(probe)
    await probe.send(list_session_messages("{other_local_session}", ("limit", "1"), ("page", page)), "other_session")
    other_order = list_session_messages("{local_session}", ("limit", "1"), ("order", "desc"), ("page", page))
    await probe.send(other_order, "other_order")


@declare_steps(requests=3, needs={"local_session"})
async def page_cursor_expired(probe: Probe) -> None:
    """A cursor works just before 24 hours and no longer just after."""
    walk = list_session_messages("{local_session}", ("limit", "1"), ("page", await next_page(probe)))
    await probe.setup(walk.with_clock("+23h59m59s").with_stopped_clock())
    await probe.send(walk.with_clock("+24h1s").with_stopped_clock())


RECIPES: tuple[Recipe, ...] = (
    # chat_not_found: "retention-expired"
    expiry_recipe(
        "chat_retention_expired",
        list_messages(CHAT),
        "+400d",
        "a chat's retention lasts longer than any probe waits",
        other_endpoints=same_change(lambda _: delete_resource(CHAT).with_clock("+400d")),
    ),
    # local_sessions_captured_content_unavailable: "persistent for customer-managed-key organizations with a disabled,
    # revoked or unreachable key"
    sealed_content_recipe("captured_content_key_disabled", "compliance_sealed"),
    sealed_content_recipe("captured_content_key_revoked", "compliance_sealed_revoked"),
    sealed_content_recipe("captured_content_key_unreachable", "compliance_sealed_unreachable"),
    # local_session_not_found: "aged out"
    expiry_recipe(
        "local_session_aged_out",
        list_session_messages("{local_session}"),
        "+60d",
        "a local session ages out later than any probe waits for",
    ),
    # compliance_rate_limit_exceeded: "600 requests per minute per parent organization, shared by all keys, linked
    # organizations and endpoints; remote-session endpoints have a second budget whose 429 always has retry-after 1"
    exhaustion_recipe("compliance_rate_limit_exceeded", list_activities()),
    exhaustion_recipe("remote_session_rate_limit_exceeded", get(REMOTE_SESSIONS)),
    FAMILY.recipe("page_not_valid_for_request", page_not_valid_for_request, control=CHATS),
    FAMILY.recipe(
        "page_cursor_expired",
        page_cursor_expired,
        control=CHATS,
        not_live=(NEEDS_TIME, "a cursor expires after 24 h, which no probe waits for"),
    ),
)
