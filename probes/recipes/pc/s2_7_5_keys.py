"""2:7.5 PC errors, what is refused for whose key it is, from where and for whom: the rows 401, 403, 404 and 429."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.probes.calls import post
from catalog_probe.probes.recipes.minimal_requests import (
    changed_request,
    same_change,
    same_recipe,
    with_headers,
    with_key,
)
from catalog_probe.probes.recipes.rate_limits import send_one_more_than, send_until_refused
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import Cost

from .requests import (
    EXTERNAL_STORAGE,
    MODELS,
    OTHER_METHOD,
    OTHER_PATH,
    TOKENS,
    create_completion,
    create_response,
    send_in_chat,
    wrong_key,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.recipes.probe import Probe

ERRORS = Family("pc/errors")
AUTHENTICATION = Family("pc/errors/authentication")
PERMISSION = Family("pc/errors/permission")
RATE_LIMIT = Family("pc/errors/rate_limit")

MAX_REQUESTS = 10
"""Most requests sent to use up the minute of the tight key."""


PROJECT_TOKENS = 100_000
"""Tokens that a project with a limit of its own may ask for in a minute; few of them are generated."""


def request_limit_recipe(path: str, optional: Mapping[str, Recipe] = MappingProxyType({})) -> Recipe:
    """Use up the request limit with failing requests, which count too (2:7.5); the last answer is judged."""

    async def steps(probe: Probe) -> None:
        await send_until_refused(
            probe, post(path, {}, credential="tight"), MAX_REQUESTS, ordinary=400, label="requests"
        )

    return RATE_LIMIT.recipe(
        "rate_limit_exceeded",
        steps=steps,
        labels=("requests",),
        requests=MAX_REQUESTS,
        cost=Cost.DISRUPTIVE,
        roles={"tight"},
        optional=optional,
        other_endpoints=same_recipe(lambda request: request_limit_recipe(request.path)),
    )


def token_limit_part() -> Recipe:
    """Ask for all tokens of a minute in one request: the larger of max_tokens and the prompt counts (2:8.4)."""

    async def steps(probe: Probe) -> None:
        ask = create_response(max_output_tokens=PROJECT_TOKENS).replace(credential="project_limit")
        await send_one_more_than(probe, ask, 1, label="tokens")

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
"""Twice this in a minute exceeds the 1M tokens above which usage may grow only slowly (2:8.4)."""


RECIPES: tuple[Recipe, ...] = (
    # 401 invalid_api_key: "incorrect key; type is invalid_request_error, not an authentication type"
    changed_request(AUTHENTICATION, "invalid_api_key", MODELS, wrong_key),
    # 401 none: "not an organization member, revoked key, or key from another organization"
    changed_request(AUTHENTICATION, "not_a_member", MODELS, with_key("not_a_member")),
    changed_request(AUTHENTICATION, "revoked_key", MODELS, with_key("revoked")),
    changed_request(AUTHENTICATION, "foreign_key", MODELS, with_key("foreign")),
    # 401 mismatched_organization: "organization header differs from the key's organization"
    changed_request(
        AUTHENTICATION,
        "mismatched_organization",
        MODELS,
        with_headers(pc_organization="org-not-the-keys-own"),
    ),
    # 401 invalid_project: "project header names no project of the key"; 1:5.3 "only meaningful for legacy user keys"
    changed_request(
        AUTHENTICATION,
        "invalid_project",
        MODELS,
        lambda call: call.with_headers(pc_project="proj_none_of_the_keys").replace(credential="legacy_user"),
    ),
    # 401 ip_not_authorized: "address outside the allowlist"; 1:5.3 "at project or organization level"
    AUTHENTICATION.recipe(
        "ip_not_authorized",
        {"project": MODELS.replace(credential="fenced")},
        optional=AUTHENTICATION.optional_calls(
            "ip_not_authorized", {"organization": MODELS.replace(credential="fenced_organization")}
        ),
        other_endpoints=same_change(with_key("fenced")),
    ),
    # 403 insufficient_permissions: "missing scope"
    PERMISSION.recipe("insufficient_permissions", EXTERNAL_STORAGE),
    # 403 none (type null): "mutual-TLS host: any method or path except exact POST /oauth/token"
    PERMISSION.recipe(
        "mutual_tls_host",
        {"method": OTHER_METHOD, "path": OTHER_PATH, "below": OTHER_PATH.replace(path="/oauth/token/again")},
        endpoint="pc/endpoints/oauth/exchange_token",
    ),
    # 404 model_not_found: "model absent, denied by project permissions, or not enabled for the organization"
    changed_request(
        ERRORS,
        "not_found/model",
        create_response(),
        {
            "absent": lambda call: call.with_fields(model="no-such-model"),
            "denied_by_project": lambda call: call.with_fields(model="{denied_model}").replace(credential="narrow"),
            "not_enabled": lambda call: call.with_fields(model="{not_enabled_model}"),
        },
        tokens=TOKENS,
    ),
    # 429 insufficient_quota: "quota or billing exhausted"
    RATE_LIMIT.recipe(
        "insufficient_quota",
        {"quota": create_response().replace(credential="quota")},
        tokens=TOKENS,
        optional=RATE_LIMIT.optional_calls(
            "insufficient_quota", {"billing": create_response().replace(credential="billing")}, tokens=TOKENS
        ),
        other_endpoints=same_change(with_key("quota")),
    ),
    # 429 credit_balance_exhausted: "prepaid balance depleted"
    changed_request(RATE_LIMIT, "credit_balance_exhausted", create_response(), with_key("credit"), tokens=TOKENS),
    # 429 organization_spend_limit_exceeded, project_spend_limit_exceeded: "monthly hard spend limit"
    changed_request(
        RATE_LIMIT,
        "organization_spend_limit_exceeded",
        create_response(),
        with_key("organization_spend"),
        tokens=TOKENS,
    ),
    changed_request(
        RATE_LIMIT, "project_spend_limit_exceeded", create_response(), with_key("project_spend"), tokens=TOKENS
    ),
    # 429 organization_usage_limit_exceeded: "provider-assigned monthly usage limit"
    changed_request(
        RATE_LIMIT, "organization_usage_limit_exceeded", create_response(), with_key("usage"), tokens=TOKENS
    ),
    # 429 billing_hard_limit_reached (legacy, unverified): "old hard-limit name"
    changed_request(RATE_LIMIT, "billing_hard_limit_reached", create_response(), with_key("hard_limit"), tokens=TOKENS),
    # 429 rate_limit_exceeded: "request or token rate exhausted; … failed requests still count"
    request_limit_recipe("/v1/responses", optional={"tokens": token_limit_part()}),
)


# 429 slow_down: "traffic ramped too fast"
@RATE_LIMIT.stepwise(
    requests=2,
    tokens=2 * RAMP_TOKENS,
    cost=Cost.DISRUPTIVE,
    needs={"verbose_model"},
    other_endpoints=send_in_chat(create_completion(model="{verbose_model}", max_tokens=RAMP_TOKENS)),
)
async def slow_down(probe: Probe) -> None:
    """Ask for many tokens and generate few: the larger of max_tokens and the prompt counts (2:8.4)."""
    await send_one_more_than(probe, create_response(model="{verbose_model}", max_output_tokens=RAMP_TOKENS), 1)
