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
    "insufficient_quota": "quota",
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
    AUTHENTICATION.recipe("ip_not_authorized", MODELS.but(credential="fenced")),
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
    *(RATE_LIMIT.recipe(slug, response().but(credential=role), tokens=TOKENS) for slug, role in STANDING.items()),
)

TRIES = 10
"""A key of role `tight` may send fewer requests a minute than this."""


@RATE_LIMIT.stepwise(requests=TRIES, cost=Cost.DISRUPTIVE, roles={"tight"})
async def rate_limit_exceeded(probe: Probe) -> None:
    """Failed requests count too (2:7.5), so nothing needs to be generated; the last answer is judged."""
    await until_refused(probe, post("/v1/responses", {}, credential="tight"), TRIES, ordinary=400)


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
