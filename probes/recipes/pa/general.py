"""The general errors of PA by status and cause (2:7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probes.calls.body import Declared
from probes.calls.call import delete, get, post
from probes.elicit.recipe import Family, Recipe
from probes.recipes.exhausting import exhaust
from probes.recipes.pa.requests import MB, MODELS, UNKNOWN_ID, count, message, message_without
from probes.target.target import WRONG, Cost

if TYPE_CHECKING:
    from probes.elicit.probe import Probe

FAMILY = Family("pa/errors/general")


def too_large(slug: str, path: str, limit_mb: int, content_type: str = "application/json") -> Recipe:
    """A request whose declared body is one byte longer than the endpoint takes (2:7.3)."""
    call = post(path, Declared(limit_mb * MB + 1), headers={"content-type": content_type})
    return FAMILY.recipe(slug, call, cost=Cost.DISRUPTIVE)


RECIPES: tuple[Recipe, ...] = (
    FAMILY.recipe("malformed_request", message_without("messages")),
    FAMILY.recipe(
        "spend_limit_reached",
        {
            "organization": message().but(credential="organization_limit"),
            "workspace": message().but(credential="workspace_limit"),
        },
        tokens=4,
    ),
    FAMILY.recipe("other_unlisted_4xx", delete("/v1/models")),
    FAMILY.recipe("unsupported_parameter", message(model="{no_speed_model}", speed="fast"), tokens=2),
    FAMILY.recipe("key_malformed", MODELS.but(credential=WRONG)),
    FAMILY.recipe("key_revoked", MODELS.but(credential="revoked")),
    FAMILY.recipe("key_expired", MODELS.but(credential="expired")),
    FAMILY.recipe("payment_problem", message().but(credential="payment_problem"), tokens=2),
    FAMILY.recipe("permission_error", message().but(credential="restricted"), tokens=2),
    FAMILY.recipe("unknown_path", get("/v1/no-such-path")),
    FAMILY.recipe("unknown_resource", get(f"/v1/messages/batches/msgbatch_{UNKNOWN_ID}")),
    FAMILY.recipe("unknown_model", get("/v1/models/no-such-model")),
    too_large("too_large_messages", "/v1/messages", 32),
    too_large("too_large_count_tokens", "/v1/messages/count_tokens", 32),
    too_large("too_large_batches", "/v1/messages/batches", 256),
    too_large("too_large_files", "/v1/files", 500, "multipart/form-data; boundary=x"),
    FAMILY.recipe("spend_cap", message().but(credential="spend_cap"), tokens=2),
    FAMILY.recipe("acceleration_limit", message().befallen("acceleration_limit")),
    FAMILY.recipe("coding_assistant_limit", message().but(credential="coding_assistant"), tokens=2),
    FAMILY.recipe("internal_error", message().befallen("internal_error")),
    FAMILY.recipe("timeout", message().befallen("upstream_timeout")),
    FAMILY.recipe("overloaded", message().befallen("overloaded")),
)

CREATE_AGENT = post(
    "/v1/agents",
    {"name": "catalog probe", "model": "{small_model}"},
    removal=lambda agent: post(f"/v1/agents/{agent['id']}/archive"),
)
"""The documents show no way to remove an agent; real clients archive it (path assumed, as those of 1:4.1)."""


@FAMILY.stepwise(requests=2, cost=Cost.DESTRUCTIVE, needs={"small_model"})
async def conflict_uniqueness(probe: Probe) -> None:
    """A second agent of the same name."""
    await probe.setup(CREATE_AGENT)
    await probe.send(CREATE_AGENT)


@FAMILY.stepwise(requests=3, cost=Cost.DESTRUCTIVE, needs={"small_model"})
async def conflict_concurrent(probe: Probe) -> None:
    """Two changes of the version that both have read: the second comes too late."""
    agent = (await probe.setup(CREATE_AGENT)).body
    change = post(f"/v1/agents/{agent['id']}", {"version": agent["version"], "description": "changed"})
    await probe.setup(change)
    await probe.send(change)


@FAMILY.stepwise(requests=8, cost=Cost.DISRUPTIVE, roles={"tight"}, needs={"small_model"})
async def rate_limit(probe: Probe) -> None:
    """Count tokens, which is free, until the limit of a key with a tiny one answers."""
    await exhaust(probe, count().but(credential="tight"), 7, remaining="pa-ratelimit-requests-remaining")
