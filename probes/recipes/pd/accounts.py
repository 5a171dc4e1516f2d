"""What PD refuses because of whose key it is: ACLs, blocks, restrictions, limits, credit (2:7.6 rows 403 and 429)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import ANSWER, SETUP
from catalog_probe.probes.recipes.exhausting import until_refused
from catalog_probe.probes.recipes.other_endpoints import spoilt
from catalog_probe.probes.recipes.probe import Probe, Stopped
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.recipes.shapes import with_key
from catalog_probe.probes.targets.target import Cost

from .requests import KEY_RECORD, MODELS, completion, response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.calls.call import Call

PERMISSION = Family("pd/errors/permission")
RATE_LIMIT = Family("pd/errors/rate_limit")

TRIES = 10
"""A key with a tiny limit may send fewer requests than this."""


def in_state(slug: str, role: str, field: str, call: Call = MODELS) -> Recipe:
    """A key in some state is refused. Where it may show its record, the record must confirm the state."""

    async def steps(probe: Probe) -> None:
        shown = (await probe.send(KEY_RECORD.but(credential=role), SETUP)).response
        body = shown.body if shown is not None and shown.status == 200 else None
        if isinstance(body, dict) and body.get(field) is not True:
            raise Stopped(Reason(ReasonCode.SETUP_FAILED, f"GET /v1/api-key says that {field} is {body.get(field)}"))
        await probe.send(call.but(credential=role))

    return PERMISSION.recipe(slug, steps=steps, requests=2, roles={role}, elsewhere=spoilt(with_key(role)))


def used_up(
    family: Family,
    slug: str,
    call: Call,
    role: str,
    control: Call | None = None,
    endpoint: str = "pd/endpoints/chat/create_chat_completion",
    label: str = ANSWER,
    optional: Mapping[str, Recipe] = MappingProxyType({}),
) -> Recipe:
    """A small completion with the key of a role that may have hardly any, until it is refused.

    The limit is the model's (2:8.5), or the key's: once it is used up, a response is refused as well.
    """

    async def steps(probe: Probe) -> None:
        await until_refused(probe, call.but(credential=role), TRIES, label=label)

    return family.recipe(
        slug,
        steps=steps,
        labels=(label,),
        requests=TRIES,
        tokens=TRIES * 100,
        cost=Cost.DISRUPTIVE,
        roles={role},
        needs=call.placeholders,
        control=control,
        endpoint=endpoint,
        optional=optional,
        elsewhere=lambda _, shape: used_up(family, slug, shape, role, control, label=label) if shape else None,
    )


def without_acl(endpoint: str, shape: Call | None) -> Mapping[str, Call] | None:
    """Each endpoint without its own ACL, and a response without that of its model."""
    if shape is None:
        return None
    lacking = {"endpoint_acl": shape.but(credential="no_acl")}
    if endpoint.endswith("/create_response"):
        lacking["model_acl"] = shape.but(credential="no_model_acl")
    return lacking


RECIPES: tuple[Recipe, ...] = (
    PERMISSION.recipe(
        "missing_acl",
        {
            "endpoint_acl": completion().but(credential="no_endpoint_acl"),
            "model_acl": completion().but(credential="no_model_acl"),
        },
        tokens=1_000,
        elsewhere=without_acl,
    ),
    PERMISSION.recipe(
        "zero_data_retention",
        completion(deferred=True).but(credential="zero_data_retention"),
        tokens=500,
    ),
    PERMISSION.recipe(
        "feature_restricted",
        response(tools=[{"type": "web_search"}]).but(credential="no_server_tools"),
        tokens=5_000,
    ),
    in_state("key_disabled", "disabled", "api_key_disabled"),
    in_state("key_blocked", "blocked", "api_key_blocked"),
    in_state("team_blocked", "team_blocked", "team_blocked"),
    RATE_LIMIT.recipe(
        "credit_depleted",
        completion().but(credential="depleted"),
        tokens=500,
        elsewhere=spoilt(with_key("depleted")),
    ),
    used_up(RATE_LIMIT, "model_rate_limit", completion(), "tight"),
    used_up(RATE_LIMIT, "model_token_limit", completion(max_tokens=16), "tight_tokens"),
    used_up(
        RATE_LIMIT,
        "key_cap",
        completion(max_tokens=16),
        "capped",
        label="queries_per_minute",
        optional={
            label: used_up(RATE_LIMIT, "key_cap", completion(max_tokens=16), role, label=label)
            for label, role in (("queries_per_second", "capped_second"), ("tokens_per_minute", "capped_tokens"))
        },
    ),
)
