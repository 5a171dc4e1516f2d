"""What PC refuses because of whose key it is, from where and for whom it is used (2:7.5 rows 401, 403, 429)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probes.calls.call import Call, get, post
from probes.elicit.recipe import Family, Recipe
from probes.recipes.exhausting import one_more_than, until_refused
from probes.recipes.pc.requests import MODELS, TOKENS, response, wrong_key
from probes.target.target import Cost

if TYPE_CHECKING:
    from probes.elicit.probe import Probe

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


def elsewhere(method: str, path: str) -> Call:
    """A request to the mutual-TLS host that is not the token exchange."""
    return Call(method, path, credential=None, service="mtls_auth_url")


OTHER_METHOD = elsewhere("GET", "/oauth/token")
OTHER_PATH = elsewhere("POST", "/oauth/tokens")

RECIPES: tuple[Recipe, ...] = (
    AUTHENTICATION.recipe("invalid_api_key", wrong_key(MODELS)),
    AUTHENTICATION.recipe("not_a_member", MODELS.but(credential="not_a_member")),
    AUTHENTICATION.recipe("revoked_key", MODELS.but(credential="revoked")),
    AUTHENTICATION.recipe("foreign_key", MODELS.but(credential="foreign")),
    AUTHENTICATION.recipe("mismatched_organization", MODELS.with_headers(pc_organization="org-not-the-keys-own")),
    AUTHENTICATION.recipe(
        "invalid_project",
        MODELS.with_headers(pc_project="proj_none_of_the_keys").but(credential="legacy_user"),
    ),
    AUTHENTICATION.recipe(
        "ip_not_authorized",
        {"project": MODELS.but(credential="fenced")},
        optional={
            "organization": AUTHENTICATION.recipe(
                "ip_not_authorized", MODELS.but(credential="fenced_organization"), label="organization"
            )
        },
    ),
    PERMISSION.recipe("insufficient_permissions", EXTERNAL_STORAGE),
    PERMISSION.recipe(
        "mutual_tls_host",
        {"method": OTHER_METHOD, "path": OTHER_PATH, "below": elsewhere("POST", "/oauth/token/again")},
    ),
    Family("pc/errors/not_found").recipe(
        "model",
        {
            "absent": response(model="no-such-model"),
            "denied_by_project": response(model="{denied_model}").but(credential="narrow"),
            "not_enabled": response(model="{not_enabled_model}"),
        },
        tokens=TOKENS,
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
    ),
    *(RATE_LIMIT.recipe(slug, response().but(credential=role), tokens=TOKENS) for slug, role in STANDING.items()),
)

TRIES = 10
"""A key of role `tight` may send fewer requests a minute than this."""


PROJECT_TOKENS = 100_000
"""What a project with a limit of its own may ask for in a minute; little is generated of it."""


async def requests_used_up(probe: Probe) -> None:
    """Failed requests count too (2:7.5), so nothing needs to be generated; the last answer is judged."""
    await until_refused(probe, post("/v1/responses", {}, credential="tight"), TRIES, ordinary=400, label="requests")


async def tokens_used_up(probe: Probe) -> None:
    """The larger of max_tokens and the prompt counts (2:8.4), so one request can ask for all of a minute's tokens."""
    ask = response(max_output_tokens=PROJECT_TOKENS).but(credential="project_limit")
    await one_more_than(probe, ask, 1, label="tokens")


RECIPES += (
    RATE_LIMIT.recipe(
        "rate_limit_exceeded",
        steps=requests_used_up,
        labels=("requests",),
        requests=TRIES,
        cost=Cost.DISRUPTIVE,
        roles={"tight"},
        optional={
            "tokens": RATE_LIMIT.recipe(
                "rate_limit_exceeded",
                steps=tokens_used_up,
                label="tokens",
                requests=2,
                tokens=2 * PROJECT_TOKENS,
                cost=Cost.DISRUPTIVE,
                roles={"project_limit"},
                needs={"small_model"},
            )
        },
    ),
)


RAMP_TOKENS = 600_000
"""Twice this in a minute is more than the 1M tokens above which usage may grow only slowly (2:8.4)."""


@RATE_LIMIT.stepwise(
    requests=2,
    tokens=2 * RAMP_TOKENS,
    cost=Cost.DISRUPTIVE,
    needs={"verbose_model"},
)
async def slow_down(probe: Probe) -> None:
    """The larger of max_tokens and the prompt counts, so little is generated while much is asked for."""
    ask = response(model="{verbose_model}", max_output_tokens=RAMP_TOKENS)
    await one_more_than(probe, ask, 1)
