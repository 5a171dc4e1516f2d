"""The general errors of PA by status and cause (2:7.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.calls.body import Declared
from catalog_probe.probes.calls.call import Removal, delete, get, post
from catalog_probe.probes.recipes.exhausting import once_limited, use_up
from catalog_probe.probes.recipes.other_endpoints import spoilt, spoilt_by_label
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.recipes.shapes import as_it_is, befallen, with_key
from catalog_probe.probes.targets.target import WRONG, Cost

from .requests import MB, MODELS, UNKNOWN_ID, as_agents, count, message, message_without

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pa/errors/general")


def too_large(slug: str, path: str, limit_mb: int, content_type: str = "application/json") -> Recipe:
    """A request whose declared body is one byte longer than the endpoint takes (2:7.3)."""
    call = post(path, Declared(limit_mb * MB + 1), headers={"content-type": content_type})
    return FAMILY.recipe(slug, call, cost=Cost.DISRUPTIVE)


def by_key(slug: str, call: Call, role: str, tokens: int = 0) -> Recipe:
    """A request with a key that is refused, whatever it asks for, and so before anything is made or generated."""
    refused = with_key(role)
    return FAMILY.recipe(slug, refused(call), tokens=tokens, elsewhere=spoilt(refused))


def by_the_provider(slug: str, cause: str) -> Recipe:
    """A request that suffers what only the provider can cause."""
    return FAMILY.recipe(slug, message().befallen(cause), elsewhere=spoilt(befallen(cause)))


MOST = 8
"""So many requests at most, to use up a limit of a key with tiny ones."""

LIST_AGENTS = as_agents(get("/v1/agents"))
SHARED = {"batches": get("/v1/messages/batches"), "files": get("/v1/files"), "agents": LIST_AGENTS}
"""What draws on the same limit and costs nothing, by family (2:8.2: all batch endpoints, all of files, agents read)."""

NOT_FOR_FREE = (
    ReasonCode.NO_DOCUMENTED_SETUP,
    "to use this limit up is to generate or to make something, for nothing says that refused requests count",
)


def used_up(endpoint: str, shape: Call | None) -> Recipe | None:
    """The limit of another endpoint, used up with what is free where that draws on it."""
    if shape is None:
        return None
    family, slug = endpoint.split("/")[2:]
    shared = SHARED.get(family) if slug != "create_agent" else None
    used = limited(shape, shared or shape, live=None if shared else NOT_FOR_FREE)
    return replace(used, apart=family if shared else endpoint)


def limited(judged: Call, sent: Call, live: tuple[str, str] | None = None) -> Recipe:
    """A call with a key that has tiny limits, once they are used up."""

    async def steps(probe: Probe) -> None:
        by_key = with_key("tight")
        await use_up(probe, by_key(sent), MOST, remaining="pa-ratelimit-requests-remaining")
        await once_limited(probe, by_key(judged), MOST)

    return FAMILY.recipe(
        "rate_limit",
        steps=steps,
        requests=2 * MOST,
        cost=Cost.DISRUPTIVE,
        roles={"tight"},
        needs=judged.placeholders | sent.placeholders,
        live=live,
        endpoint="pa/endpoints/messages/count_tokens",
        elsewhere=used_up,
    )


RECIPES: tuple[Recipe, ...] = (
    FAMILY.recipe(
        "malformed_request", message_without("messages"), elsewhere=spoilt(lambda call: call.without_fields("messages"))
    ),
    FAMILY.recipe(
        "spend_limit_reached",
        {
            "organization": message().but(credential="organization_limit"),
            "workspace": message().but(credential="workspace_limit"),
        },
        tokens=4,
        elsewhere=spoilt_by_label(organization=with_key("organization_limit"), workspace=with_key("workspace_limit")),
    ),
    FAMILY.recipe("other_unlisted_4xx", delete("/v1/models")),
    FAMILY.recipe("unsupported_parameter", message(model="{no_speed_model}", speed="fast"), tokens=2),
    by_key("key_malformed", MODELS, WRONG),
    by_key("key_revoked", MODELS, "revoked"),
    by_key("key_expired", MODELS, "expired"),
    by_key("payment_problem", message(), "payment_problem", tokens=2),
    by_key("permission_error", message(), "restricted", tokens=2),
    FAMILY.recipe("unknown_path", get("/v1/no-such-path")),
    FAMILY.recipe("unknown_resource", get(f"/v1/messages/batches/msgbatch_{UNKNOWN_ID}"), elsewhere=spoilt(as_it_is)),
    FAMILY.recipe(
        "unknown_model",
        get("/v1/models/no-such-model"),
        elsewhere=spoilt(lambda call: call.with_fields(model="no-such-model")),
    ),
    too_large("too_large_messages", "/v1/messages", 32),
    too_large("too_large_count_tokens", "/v1/messages/count_tokens", 32),
    too_large("too_large_batches", "/v1/messages/batches", 256),
    too_large("too_large_files", "/v1/files", 500, "multipart/form-data; boundary=x"),
    by_key("spend_cap", message(), "spend_cap", tokens=2),
    by_the_provider("acceleration_limit", "acceleration_limit"),
    by_key("coding_assistant_limit", message(), "coding_assistant", tokens=2),
    limited(count(), count()),
    by_the_provider("internal_error", "internal_error"),
    by_the_provider("timeout", "upstream_timeout"),
    by_the_provider("overloaded", "overloaded"),
)

AGENT_REMOVAL = Removal("agent", as_agents(post("/v1/agents/{id}/archive")))
CREATE_AGENT = as_agents(
    post(
        "/v1/agents",
        {"name": "{own_name}", "model": "{small_model}"},
        removal=AGENT_REMOVAL,
    )
)
"""There may be one of a name (2:7.3). The documents show no way to remove it; real clients archive it (path assumed, as
those of 1:4.1)."""


@FAMILY.stepwise(requests=2, cost=Cost.DESTRUCTIVE, needs={"small_model", "agents_beta"})
async def conflict_uniqueness(probe: Probe) -> None:
    """A second agent of the same name."""
    await probe.setup(CREATE_AGENT)
    await probe.send(CREATE_AGENT)


@FAMILY.stepwise(requests=3, cost=Cost.DESTRUCTIVE, needs={"small_model", "agents_beta"})
async def conflict_concurrent(probe: Probe) -> None:
    """Two changes of the version that both have read: the second comes too late."""
    agent = (await probe.setup(CREATE_AGENT)).body
    change = as_agents(post(f"/v1/agents/{agent['id']}", {"version": agent["version"], "description": "changed"}))
    await probe.setup(change)
    await probe.send(change)
