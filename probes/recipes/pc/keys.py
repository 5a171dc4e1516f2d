"""What PC refuses because of whose key it is, from where and for whom it is used (2:7.5 rows 401, 403, 429)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.probes.calls.call import Call, get, post
from catalog_probe.probes.recipes.exhausting import one_more_than, until_refused
from catalog_probe.probes.recipes.other_endpoints import listed, spoilt, spoilt_by_label
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.recipes.shapes import with_key
from catalog_probe.probes.targets.target import Cost

from .requests import MODELS, TOKENS, completion, response, wrong_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.recipes.other_endpoints import Change
    from catalog_probe.probes.recipes.probe import Probe

AUTHENTICATION = Family("pc/errors/authentication")
PERMISSION = Family("pc/errors/permission")
RATE_LIMIT = Family("pc/errors/rate_limit")

EXTERNAL_STORAGE = get("/v1/organization/external_storage")

STANDING = {
    "credit_balance_exhausted": "credit",
    "organization_spend_limit_exceeded": "organization_spend",
    "project_spend_limit_exceeded": "project_spend",
    "organization_usage_limit_exceeded": "usage",
    "billing_hard_limit_reached": "hard_limit",
}
"""Slug -> the role of a key whose owner may spend no more."""


def on_the_token_host(method: str, path: str) -> Call:
    """A request to the mutual-TLS host that is not the token exchange."""
    return Call(method, path, credential=None, service="mtls_auth_url")


OTHER_METHOD = on_the_token_host("GET", "/oauth/token")
OTHER_PATH = on_the_token_host("POST", "/oauth/tokens")


def everywhere(slug: str, refused: Change) -> Recipe:
    """A request that is refused for whose key it is, whatever it asks for."""
    return AUTHENTICATION.recipe(slug, refused(MODELS), elsewhere=spoilt(refused))


TRIES = 10
"""A key of role `tight` may send fewer requests a minute than this."""


PROJECT_TOKENS = 100_000
"""What a project with a limit of its own may ask for in a minute; little is generated of it."""


def requests_used_up(path: str, optional: Mapping[str, Recipe] = MappingProxyType({})) -> Recipe:
    """Failed requests count too (2:7.5), so nothing needs to be generated; the last answer is judged."""

    async def steps(probe: Probe) -> None:
        await until_refused(probe, post(path, {}, credential="tight"), TRIES, ordinary=400, label="requests")

    return RATE_LIMIT.recipe(
        "rate_limit_exceeded",
        steps=steps,
        labels=("requests",),
        requests=TRIES,
        cost=Cost.DISRUPTIVE,
        roles={"tight"},
        optional=optional,
        elsewhere=lambda _, shape: requests_used_up(shape.path) if shape is not None else None,
    )


def tokens_used_up() -> Recipe:
    """The larger of max_tokens and the prompt counts (2:8.4), so one request can ask for all of a minute's tokens."""

    async def steps(probe: Probe) -> None:
        ask = response(max_output_tokens=PROJECT_TOKENS).but(credential="project_limit")
        await one_more_than(probe, ask, 1, label="tokens")

    return RATE_LIMIT.recipe(
        "rate_limit_exceeded",
        steps=steps,
        label="tokens",
        requests=2,
        tokens=2 * PROJECT_TOKENS,
        cost=Cost.DISRUPTIVE,
        roles={"project_limit"},
        needs={"small_model"},
    )


RAMP_TOKENS = 600_000
"""Twice this in a minute is more than the 1M tokens above which usage may grow only slowly (2:8.4)."""


def ramped_up(ask: Call) -> Recipe:
    """The larger of max_tokens and the prompt counts, so little is generated while much is asked for."""

    async def steps(probe: Probe) -> None:
        await one_more_than(probe, ask, 1)

    return RATE_LIMIT.recipe(
        "slow_down",
        steps=steps,
        requests=2,
        tokens=2 * RAMP_TOKENS,
        cost=Cost.DISRUPTIVE,
        needs={"verbose_model"},
        elsewhere=listed(
            "pc/endpoints/chat", {"create_chat_completion": completion(model="{verbose_model}", max_tokens=RAMP_TOKENS)}
        ),
    )


RECIPES: tuple[Recipe, ...] = (
    everywhere("invalid_api_key", wrong_key),
    everywhere("not_a_member", with_key("not_a_member")),
    everywhere("revoked_key", with_key("revoked")),
    everywhere("foreign_key", with_key("foreign")),
    everywhere("mismatched_organization", lambda call: call.with_headers(pc_organization="org-not-the-keys-own")),
    everywhere(
        "invalid_project",
        lambda call: call.with_headers(pc_project="proj_none_of_the_keys").but(credential="legacy_user"),
    ),
    AUTHENTICATION.recipe(
        "ip_not_authorized",
        {"project": MODELS.but(credential="fenced")},
        optional={
            "organization": AUTHENTICATION.recipe(
                "ip_not_authorized", MODELS.but(credential="fenced_organization"), label="organization"
            )
        },
        elsewhere=spoilt(with_key("fenced")),
    ),
    PERMISSION.recipe("insufficient_permissions", EXTERNAL_STORAGE),
    PERMISSION.recipe(
        "mutual_tls_host",
        {"method": OTHER_METHOD, "path": OTHER_PATH, "below": on_the_token_host("POST", "/oauth/token/again")},
        endpoint="pc/endpoints/oauth/exchange_token",
    ),
    Family("pc/errors/not_found").recipe(
        "model",
        {
            "absent": response(model="no-such-model"),
            "denied_by_project": response(model="{denied_model}").but(credential="narrow"),
            "not_enabled": response(model="{not_enabled_model}"),
        },
        tokens=TOKENS,
        elsewhere=spoilt_by_label(
            absent=lambda call: call.with_fields(model="no-such-model"),
            denied_by_project=lambda call: call.with_fields(model="{denied_model}").but(credential="narrow"),
            not_enabled=lambda call: call.with_fields(model="{not_enabled_model}"),
        ),
    ),
    RATE_LIMIT.recipe(
        "insufficient_quota",
        {"quota": response().but(credential="quota")},
        tokens=TOKENS,
        optional={
            "billing": RATE_LIMIT.recipe(
                "insufficient_quota", response().but(credential="billing"), label="billing", tokens=TOKENS
            )
        },
        elsewhere=spoilt(with_key("quota")),
    ),
    *(
        RATE_LIMIT.recipe(slug, response().but(credential=role), tokens=TOKENS, elsewhere=spoilt(with_key(role)))
        for slug, role in STANDING.items()
    ),
    requests_used_up("/v1/responses", optional={"tokens": tokens_used_up()}),
    ramped_up(response(model="{verbose_model}", max_output_tokens=RAMP_TOKENS)),
)
