"""2:8.2 PA rate limits: who shares them and what counts toward them, with tight keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import SUCCESS
from catalog_probe.probes.calls.call import Call, delete, get
from catalog_probe.probes.recipes.exhausting import use_up_limit
from catalog_probe.probes.recipes.minimal_requests import with_scenario
from catalog_probe.probes.recipes.recipe import Family
from catalog_probe.probes.targets.target import Cost

from .compliance_requests import ORGANIZATIONS, list_activities
from .requests import BATCHES, CREATE_BATCH, FAST, FILES, UNKNOWN_FILE, UPLOAD, create_message
from .s2_7_2_steps import NARROW_ROLE
from .s2_8_2_rate_limits import BOUND, REMAINING
from .s2_8_2_tiers import LISTED_AGENTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.recipes.probe import Probe
    from catalog_probe.probes.recipes.recipe import Recipe

FAMILY = Family("pa/endpoints/limits")
TIGHT, OTHER_TIGHT = "tight", "tight_too"
"""Roles: two keys of one organization, in two workspaces, with very small limits."""

NEEDS_TINY_TOKEN_LIMIT = (
    ReasonCode.NO_DOCUMENTED_SETUP,
    "it takes an organization that may use hardly any tokens, and minutes of waiting",
)
NEEDS_TIME = (ReasonCode.NO_DOCUMENTED_SETUP, "it takes minutes of waiting, or limits that no organization need have")
NEEDS_SPENDING = (
    ReasonCode.NO_DOCUMENTED_SETUP,
    "it takes an organization that spends up to a cap, or a month of waiting",
)


def exhaustion_recipe(
    slug: str,
    call: Call,
    refused_calls: Mapping[str, Call],
    *,
    role: str = TIGHT,
    credential: str = "inference",
    not_sent: tuple[str, str] | None = None,
) -> Recipe:
    """An ordinary answer; then use up the limit of the role's key with `call`, and send `refused_calls`."""
    tight_calls = {
        label: refused_call if isinstance(refused_call.credential, str) else refused_call.replace(credential=role)
        for label, refused_call in refused_calls.items()
    }

    async def steps(probe: Probe) -> None:
        await probe.send(call.replace(credential=role), SUCCESS)
        await use_up_limit(probe, call.replace(credential=role), BOUND, REMAINING)
        for label, refused_call in tight_calls.items():
            await probe.send(refused_call, label)

    calls = [call, *tight_calls.values()]
    return FAMILY.recipe(
        slug,
        steps=steps,
        labels=(SUCCESS, *refused_calls),
        requests=BOUND + len(calls),
        tokens=100,
        needs=frozenset().union(*(sent.placeholders for sent in calls)),
        roles={role, *(refused_call.credential_role(role) or role for refused_call in tight_calls.values())},
        credential=credential,
        cost=Cost.DISRUPTIVE,
        not_sent=not_sent,
    )


def simulated_recipe(slug: str, call: Call, label: str) -> Recipe:
    """An ordinary answer, and the refusal that the mock gives under a scenario."""
    calls = {SUCCESS: call, label: with_scenario("rate_limited")(call)}
    return FAMILY.recipe(
        slug, calls, cost=Cost.BILLABLE, tokens=4, not_live=NEEDS_TINY_TOKEN_LIMIT, not_sent=NEEDS_TINY_TOKEN_LIMIT
    )


FILE_CALLS = {
    "list": FILES,
    "upload": UPLOAD,
    "retrieve": get(UNKNOWN_FILE),
    "download": get(f"{UNKNOWN_FILE}/content"),
    "delete": delete(UNKNOWN_FILE),
}
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
    # "Limits are per organization, …, per model class"
    exhaustion_recipe(
        "scope",
        create_message(),
        {
            "exhausted": create_message(),
            "other_class": create_message(model="{retired_model}"),
            "other_key": create_message().replace(credential=OTHER_TIGHT),
            "other_organization": create_message().replace(credential="inference"),
        },
        not_sent=NEEDS_TIME,
    ),
    # "RPM applies to all batch endpoints"
    exhaustion_recipe("batch_requests", BATCHES, {"all_batch_endpoints": CREATE_BATCH}, not_sent=NEEDS_TIME),
    # "shared across upload, list, retrieve, download and delete"
    exhaustion_recipe("file_requests", FILES, {**FILE_CALLS, "other_key": FILES.replace(credential=OTHER_TIGHT)}),
    # "Managed agents per organization"
    exhaustion_recipe(
        "agent_requests",
        LISTED_AGENTS,
        {"read_by_other_key": LISTED_AGENTS.replace(credential=OTHER_TIGHT)},
        not_sent=NEEDS_TIME,
    ),
    # "Compliance API: 600 requests per minute per parent organization (7.2)."
    exhaustion_recipe(
        "compliance",
        list_activities(),
        {"spent": list_activities(), "spent_for_other_endpoint": ORGANIZATIONS},
        role=NARROW_ROLE,
        credential="compliance",
        not_sent=NEEDS_TIME,
    ),
    # "ITPM counts input_tokens and cache_creation_input_tokens"
    simulated_recipe("token_counting_rules", create_message(), "input_tokens_count"),
    # "exceeding gives 429 with retry-after"
    simulated_recipe("fast_mode", FAST, "fast_exhausted"),
    # "service_tier `auto` uses priority when ITPM and OTPM capacity both suffice; `standard_only` opts out"
    FAMILY.recipe("priority", COMMITMENT, cost=Cost.BILLABLE, tokens=20, not_sent=NEEDS_TINY_TOKEN_LIMIT),
    # "Tier spend caps per month in USD: Start 500; Build 1000; Scale 200000; Custom none."
    FAMILY.recipe(
        "spend_cap",
        {SUCCESS: create_message(), "now": create_message().replace(credential="spend_cap")},
        cost=Cost.BILLABLE,
        tokens=4,
        not_sent=NEEDS_SPENDING,
    ),
)
