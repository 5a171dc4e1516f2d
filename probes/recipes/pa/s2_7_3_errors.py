"""2:7.3 PA general errors: each row of the table, by the cause that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import DeclaredBody, delete, get, post
from catalog_probe.probes.recipes.minimal_requests import send_minimal_request, with_fields, with_key, with_scenario
from catalog_probe.probes.recipes.rate_limits import send_until_limited, use_up_limit
from catalog_probe.probes.recipes.recipe import Family, Recipe, declare_steps, same_change
from catalog_probe.probes.targets.target import WRONG_KEY, Cost

from .requests import (
    AGENTS,
    BATCHES,
    CREATE_AGENT,
    FILES,
    MB,
    MODELS,
    REFUSED,
    UNKNOWN_BATCH,
    count_tokens,
    create_message,
    sign,
    with_agents_beta,
)

if TYPE_CHECKING:
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pa/errors/general")

MAX_REQUESTS = 8
"""Most requests sent to use up a limit of the tight key."""

FREE_REQUESTS = {"batches": BATCHES, "files": FILES, "agents": AGENTS}
"""Family -> a free request that draws on the same limit (2:8.2: all batch endpoints, all of files, agents read)."""

EXHAUSTION_COSTS = (
    ReasonCode.NO_DOCUMENTED_SETUP,
    "to use this limit up is to generate or to make something, for nothing says that refused requests count",
)


def too_large_recipe(slug: str, path: str, limit_mb: int, content_type: str = "application/json") -> Recipe:
    """A request whose declared body is one byte longer than the endpoint allows."""
    call = post(path, DeclaredBody(limit_mb * MB + 1), headers={"content-type": content_type})
    return FAMILY.recipe(slug, call, cost=Cost.DISRUPTIVE)


def rate_limit_recipe(judged: Call, sent: Call, not_live: tuple[str, str] | None = None) -> Recipe:
    """Use up the limit of the tight key with `sent`, then judge the answer to `judged`."""
    of_tight_key = with_key("tight")

    @declare_steps(requests=2 * MAX_REQUESTS, needs=judged.placeholders | sent.placeholders, roles={"tight"})
    async def steps(probe: Probe) -> None:
        await use_up_limit(probe, of_tight_key(sent), MAX_REQUESTS, remaining="pa-ratelimit-requests-remaining")
        await send_until_limited(probe, of_tight_key(judged), MAX_REQUESTS)

    return FAMILY.recipe(
        "rate_limit",
        steps,
        cost=Cost.DISRUPTIVE,
        not_live=not_live,
        endpoint="pa/endpoints/messages/count_tokens",
        other_endpoints=rate_limit_of_endpoint,
    )


def rate_limit_of_endpoint(endpoint: str, request: Call | None) -> Recipe | None:
    """The limit of another endpoint, used up with a free request if one draws on it."""
    if request is None:
        return None
    family, slug = endpoint.split("/")[2:]
    shared = FREE_REQUESTS.get(family) if slug != "create_agent" else None
    return rate_limit_recipe(request, shared or request, not_live=None if shared else EXHAUSTION_COSTS)


# 409 "concurrent modification or uniqueness"
@declare_steps(requests=2, needs={"small_model", "agents_beta"})
async def conflict_uniqueness(probe: Probe) -> None:
    """A second agent of the same name."""
    await probe.setup(CREATE_AGENT)
    await probe.send(CREATE_AGENT)


@declare_steps(requests=3, needs={"small_model", "agents_beta"})
async def conflict_concurrent(probe: Probe) -> None:
    """Two changes of the same version of an agent: the second comes too late."""
    agent = (await probe.setup(CREATE_AGENT)).body
    change = with_agents_beta(
        post(f"/v1/agents/{agent['id']}", {"version": agent["version"], "description": "changed"})
    )
    await probe.setup(change)
    await probe.send(change)


RECIPES: tuple[Recipe, ...] = (
    # 400 "malformed request; other unlisted 4xx; organization or workspace self-set spend limit reached; …; parameter
    # unsupported for the model"
    FAMILY.recipe("malformed_request", create_message(), lambda call: call.without_fields("messages")),
    FAMILY.recipe("other_unlisted_4xx", delete("/v1/models")),
    FAMILY.recipe(
        "spend_limit_reached",
        create_message(),
        {"organization": with_key("organization_limit"), "workspace": with_key("workspace_limit")},
        tokens=4,
    ),
    # More, for the provider need not show it: as `speed_unsupported` of 2:7.3.
    FAMILY.recipe(
        "unsupported_parameter",
        create_message(model="{no_speed_model}", speed="fast").replace(may_not_come=REFUSED),
        tokens=2,
    ),
    # 401 "key malformed, revoked, expired, or bad request signing"
    FAMILY.recipe("key_malformed", MODELS, with_key(WRONG_KEY)),
    FAMILY.recipe("key_revoked", MODELS, with_key("revoked")),
    FAMILY.recipe("key_expired", MODELS, with_key("expired")),
    FAMILY.recipe("bad_request_signing", MODELS, lambda call: sign(call, "marketplace_bad_signature")),
    # 402 "payment problem"
    FAMILY.recipe("payment_problem", create_message(), with_key("payment_problem"), tokens=2),
    # 403 "key lacks permission for the resource"
    FAMILY.recipe("permission_error", create_message(), with_key("restricted"), tokens=2),
    # 404 "unknown path, resource id or model"
    FAMILY.recipe("unknown_path", get("/v1/no-such-path")),
    FAMILY.recipe("unknown_resource", get(UNKNOWN_BATCH), other_endpoints=send_minimal_request),
    FAMILY.recipe(
        "unknown_model",
        get("/v1/models/no-such-model"),
        other_endpoints=same_change(with_fields(model="no-such-model")),
    ),
    # 413 "body over size limit (section 8)"
    too_large_recipe("too_large_messages", "/v1/messages", 32),
    too_large_recipe("too_large_count_tokens", "/v1/messages/count_tokens", 32),
    too_large_recipe("too_large_batches", "/v1/messages/batches", 256),
    too_large_recipe("too_large_files", "/v1/files", 500, "multipart/form-data; boundary=x"),
    # 429 "rate limit, tier monthly spend cap, acceleration limit, or coding-assistant workspace spend limit"
    rate_limit_recipe(count_tokens(), count_tokens()),
    FAMILY.recipe("spend_cap", create_message(), with_key("spend_cap"), tokens=2),
    FAMILY.recipe("acceleration_limit", create_message(), with_scenario("acceleration_limit")),
    FAMILY.recipe("coding_assistant_limit", create_message(), with_key("coding_assistant"), tokens=2),
    # 500 "internal error", 504 "request timed out", 529 "temporary overload"
    FAMILY.recipe("internal_error", create_message(), with_scenario("internal_error")),
    FAMILY.recipe("timeout", create_message(), with_scenario("upstream_timeout")),
    FAMILY.recipe("overloaded", create_message(), with_scenario("overloaded")),
    FAMILY.recipe("conflict_uniqueness", conflict_uniqueness, cost=Cost.DESTRUCTIVE),
    FAMILY.recipe("conflict_concurrent", conflict_concurrent, cost=Cost.DESTRUCTIVE),
)
