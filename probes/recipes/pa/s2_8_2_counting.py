"""2:8.2 PA rate limits: who shares them and what counts toward them, with tight keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import SUCCESS
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import Call, delete, get
from catalog_probe.probes.recipes.minimal_requests import with_scenario
from catalog_probe.probes.recipes.rate_limits import use_up_limit
from catalog_probe.probes.recipes.recipe import Family, Recipe, declare_steps
from catalog_probe.probes.targets.target import Cost

from .compliance_requests import (
    LOCAL_SESSIONS,
    ORGANIZATIONS,
    REMOTE_SESSIONS,
    UNKNOWN_CHAT,
    delete_resource,
    list_activities,
    list_chats,
)
from .requests import BATCHES, CREATE_BATCH, FAST, FILES, MESSAGE, UNKNOWN_FILE, UPLOAD, create_message
from .s2_7_2_steps import NARROW_ROLE
from .s2_8_2_rate_limits import BOUND, REMAINING
from .s2_8_2_tiers import INVALID_AGENT, LISTED_AGENTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pa/endpoints/limits")
TIGHT, OTHER_TIGHT = "tight", "tight_too"
"""Roles: two keys of one organization, in two workspaces, with very small limits."""
TIGHT_WORKSPACE = "slow_workspace"
"""Role: a key of a workspace whose own limit is one message a minute, far below its organization's."""
OTHER_NARROW, NARROW_ORGANIZATION = "compliance_narrow_other", "compliance_narrow_too"
"""Roles: another key of the narrow key's organization, and a key of another organization of the same parent."""
NARROW_DELETE = "compliance_narrow_delete"
"""Role: a key of the narrow key's organization that may delete."""

NEEDS_TINY_TOKEN_LIMIT = (
    ReasonCode.NO_DOCUMENTED_SETUP,
    "it takes an organization that may use hardly any tokens, and minutes of waiting",
)


def exhaustion_recipe(
    slug: str,
    call: Call,
    refused_calls: Mapping[str, Call],
) -> Recipe:
    """An ordinary answer; then use up the limit of the tight key with `call`, and send `refused_calls`."""
    tight_calls = {
        label: refused_call if isinstance(refused_call.credential, str) else refused_call.replace(credential=TIGHT)
        for label, refused_call in refused_calls.items()
    }

    calls = [call, *tight_calls.values()]

    @declare_steps(
        SUCCESS,
        *refused_calls,
        requests=BOUND + len(calls),
        needs=frozenset().union(*(sent.placeholders for sent in calls)),
        roles={TIGHT, *(refused_call.credential_role(TIGHT) or TIGHT for refused_call in tight_calls.values())},
    )
    async def steps(probe: Probe) -> None:
        await probe.send(call.replace(credential=TIGHT), SUCCESS)
        await use_up_limit(probe, call.replace(credential=TIGHT), BOUND, REMAINING)
        for label, refused_call in tight_calls.items():
            await probe.send(refused_call, label)

    return FAMILY.recipe(slug, steps, tokens=100, cost=Cost.DISRUPTIVE)


def simulated_recipe(slug: str, call: Call, label: str) -> Recipe:
    """An ordinary answer, and the refusal that the mock gives under a scenario."""
    calls = {SUCCESS: call, label: with_scenario("rate_limited")(call)}
    return FAMILY.recipe(slug, calls, cost=Cost.BILLABLE, tokens=4, not_live=NEEDS_TINY_TOKEN_LIMIT)


async def use_up(probe: Probe, call: Call) -> None:
    """Send a call until the limit of its key is used up; see `use_up_limit`."""
    await use_up_limit(probe, call, BOUND, REMAINING)


@declare_steps(
    *(SUCCESS, "burst", "exhausted", "other_class", "other_key", "other_organization", "other_geo", "other_generation"),
    *("workspace", "workspace_exhausted", "other_workspace"),
    requests=3 * BOUND + 12,
    roles={TIGHT, OTHER_TIGHT, TIGHT_WORKSPACE},
    needs={"small_model", "retired_model", "geo_model", "newest_large_model", "earlier_newest_large_model"},
)
async def scope(probe: Probe) -> None:
    """Use up one model class of an organization, and find who else finds it used up; then a workspace's own limit."""
    tight = create_message().replace(credential=TIGHT)
    await probe.send(tight, SUCCESS)
    await probe.send(tight, "burst")
    await use_up(probe, tight)
    await probe.send(tight, "exhausted")
    await probe.send(tight.with_fields(model="{retired_model}"), "other_class")
    await probe.send(create_message().replace(credential=OTHER_TIGHT), "other_key")
    await probe.send(create_message(), "other_organization")

    by_geo = create_message(model="{geo_model}").replace(credential=TIGHT)
    await use_up(probe, by_geo.with_fields(inference_geo="us"))
    await probe.send(by_geo.with_fields(inference_geo="global"), "other_geo")

    await use_up(probe, tight.with_fields(model="{newest_large_model}"))
    await probe.send(tight.with_fields(model="{earlier_newest_large_model}"), "other_generation")

    await probe.send(create_message().replace(credential=TIGHT_WORKSPACE), "workspace")
    await probe.send(create_message().replace(credential=TIGHT_WORKSPACE), "workspace_exhausted")
    await probe.send(create_message(), "other_workspace")


@declare_steps(SUCCESS, "read_by_other_key", "created_by_other_key", requests=2 * BOUND + 4, roles={TIGHT, OTHER_TIGHT})
async def agent_requests(probe: Probe) -> None:
    """Use up the reads, then the creations of one key, and find another key of the organization refused."""
    await probe.send(LISTED_AGENTS.replace(credential=TIGHT), SUCCESS)
    await use_up(probe, LISTED_AGENTS.replace(credential=TIGHT))
    await probe.send(LISTED_AGENTS.replace(credential=OTHER_TIGHT), "read_by_other_key")
    await use_up(probe, INVALID_AGENT.replace(credential=TIGHT))
    await probe.send(INVALID_AGENT.replace(credential=OTHER_TIGHT), "created_by_other_key")


@declare_steps("across_models", requests=BOUND + 2, needs={"small_model", "retired_model"}, roles={TIGHT})
async def batch_two_models(probe: Probe) -> None:
    """Use up the limit of batches with those for one model, and find one for another model refused."""
    await use_up(probe, CREATE_BATCH.replace(credential=TIGHT))
    await probe.send(BATCH_OF_RETIRED.replace(credential=TIGHT), "across_models")


NARROW = list_activities().replace(credential=NARROW_ROLE)


SHARING = {
    "other_key": NARROW.replace(credential=OTHER_NARROW),
    "other_organization": NARROW.replace(credential=NARROW_ORGANIZATION),
    "other_endpoint": ORGANIZATIONS.replace(credential=NARROW_ROLE),
}
"""Label -> a call that counts toward the budget of the narrow key."""

SPENT_FOR = {
    **SHARING,
    "chats": list_chats().replace(credential=NARROW_ROLE),
    "local_sessions": get(LOCAL_SESSIONS, credential=NARROW_ROLE),
    "delete": delete_resource(UNKNOWN_CHAT).replace(credential=NARROW_DELETE),
}
"""Label -> a call that is refused once the budget is spent."""


@declare_steps(
    *(SUCCESS, *SHARING, "spent"),
    *(f"spent_for_{label}" for label in SPENT_FOR),
    requests=BOUND + 11,
    roles={NARROW_ROLE, NARROW_DELETE, OTHER_NARROW, NARROW_ORGANIZATION},
)
async def share_compliance_budget(probe: Probe) -> None:
    """Send by three keys and to two endpoints within a parent organization's budget, and once it is spent."""
    await probe.send(NARROW, SUCCESS)
    for label, call in SHARING.items():
        await probe.send(call, label)
    await use_up(probe, NARROW)
    await probe.send(NARROW, "spent")
    for label, call in SPENT_FOR.items():
        await probe.send(call, f"spent_for_{label}")


@declare_steps("remote_spent", "remote_spent_alone", requests=BOUND + 2, roles={NARROW_ROLE})
async def spend_remote_budget(probe: Probe) -> None:
    """Use up the second budget, of remote sessions alone, and find the first one left."""
    remote = get(REMOTE_SESSIONS, credential=NARROW_ROLE)
    await use_up(probe, remote)
    await probe.send(remote, "remote_spent")
    await probe.send(NARROW, "remote_spent_alone")


FILE_CALLS = {
    "list": FILES,
    "upload": UPLOAD,
    "retrieve": get(UNKNOWN_FILE),
    "download": get(f"{UNKNOWN_FILE}/content"),
    "delete": delete(UNKNOWN_FILE),
}
BATCH_OF_RETIRED = CREATE_BATCH.with_fields(
    requests=[{"custom_id": "probe", "params": {**MESSAGE, "model": "{retired_model}"}}]
)
COMMITTED = create_message().replace(credential="priority")
COMMITMENT = {
    SUCCESS: COMMITTED,
    "auto": COMMITTED.with_fields(service_tier="auto"),
    "by_default": COMMITTED,
    "standard_only": COMMITTED.with_fields(service_tier="standard_only"),
    "model_without": COMMITTED.with_fields(model="{newest_large_model}"),
}
"""Label -> a message that a commitment covers, or does not cover (2:8.2)."""

RECIPES: tuple[Recipe, ...] = (
    # "Limits are per organization, may be enforced in shorter intervals, per model class, shared across inference_geo"
    FAMILY.recipe("scope", scope, tokens=100, cost=Cost.DISRUPTIVE),
    # "Managed agents per organization: create endpoints 300 RPM; read endpoints 1200 RPM."
    FAMILY.recipe("agent_requests", agent_requests, tokens=100, cost=Cost.DISRUPTIVE),
    # "RPM applies to all batch endpoints"
    exhaustion_recipe("batch_requests", BATCHES, {"all_batch_endpoints": CREATE_BATCH}).with_optional(batch_two_models),
    # "shared across upload, list, retrieve, download and delete"
    exhaustion_recipe("file_requests", FILES, {**FILE_CALLS, "other_key": FILES.replace(credential=OTHER_TIGHT)}),
    # "Compliance API: 600 requests per minute per parent organization (7.2)."
    FAMILY.recipe("compliance", share_compliance_budget, credential="compliance", cost=Cost.DISRUPTIVE).with_optional(
        spend_remote_budget
    ),
    # "ITPM counts input_tokens and cache_creation_input_tokens"
    simulated_recipe("token_counting_rules", create_message(), "input_tokens_count"),
    # "exceeding gives 429 with retry-after"
    simulated_recipe("fast_mode", FAST, "fast_exhausted"),
    # "service_tier `auto` uses priority when ITPM and OTPM capacity both suffice; `standard_only` opts out"
    FAMILY.recipe("priority", COMMITMENT, cost=Cost.BILLABLE, tokens=20),
    # "Tier spend caps per month in USD: Start 500; Build 1000; Scale 200000; Custom none."
    FAMILY.recipe(
        "spend_cap",
        {SUCCESS: create_message(), "now": create_message().replace(credential="spend_cap")},
        cost=Cost.BILLABLE,
        tokens=4,
    ),
)
