"""2:7.5 PC errors, what is refused for whose key it is, from where and for whom: the rows 401, 403, 404 and 429."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.calls import post
from catalog_probe.probes.recipes.minimal_requests import by_method, same_recipe, with_headers, with_key
from catalog_probe.probes.recipes.rate_limits import send_one_more_than, send_until_refused
from catalog_probe.probes.recipes.recipe import Family, Recipe, declare_steps, same_change, vary
from catalog_probe.probes.targets.target import Cost

from .requests import (
    MODELS,
    OTHER_METHOD,
    OTHER_PATH,
    TOKENS,
    WITHOUT_SCOPE,
    create_completion,
    create_response,
    send_in_chat,
    wrong_key,
)

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

ERRORS = Family("pc/errors")
AUTHENTICATION = Family("pc/errors/authentication")
PERMISSION = Family("pc/errors/permission")
RATE_LIMIT = Family("pc/errors/rate_limit")

MAX_REQUESTS = 10
"""Most requests sent to use up the minute of the tight key."""


PROJECT_TOKENS = 100_000
"""Tokens that a project with a limit of its own may ask for in a minute; few of them are generated."""


def request_limit_recipe(path: str) -> Recipe:
    """Use up the request limit with failing requests, which count too (2:7.5); the last answer is judged."""

    @declare_steps("requests", requests=MAX_REQUESTS, roles={"tight"})
    async def steps(probe: Probe) -> None:
        await send_until_refused(
            probe, post(path, {}, credential="tight"), MAX_REQUESTS, ordinary=400, label="requests"
        )

    return RATE_LIMIT.recipe(
        "rate_limit_exceeded",
        steps,
        cost=Cost.DISRUPTIVE,
        other_endpoints=same_recipe(lambda request: request_limit_recipe(request.path)),
    )


@declare_steps("tokens", requests=2, needs={"small_model"}, roles={"project_limit"})
async def use_up_tokens(probe: Probe) -> None:
    """Ask for all tokens of a minute in one request: the larger of max_tokens and the prompt counts (2:8.4)."""
    ask = create_response(max_output_tokens=PROJECT_TOKENS).replace(credential="project_limit")
    await send_one_more_than(probe, ask, 1, label="tokens")


RAMP_TOKENS = 600_000
"""Twice this in a minute exceeds the 1M tokens above which usage may grow only slowly (2:8.4)."""


# 429 slow_down: "traffic ramped too fast"
@declare_steps(requests=2, needs={"verbose_model"})
async def slow_down(probe: Probe) -> None:
    """Ask for many tokens and generate few: the larger of max_tokens and the prompt counts (2:8.4)."""
    await send_one_more_than(probe, create_response(model="{verbose_model}", max_output_tokens=RAMP_TOKENS), 1)


RECIPES: tuple[Recipe, ...] = (
    # 401 invalid_api_key: "incorrect key; type is invalid_request_error, not an authentication type"
    AUTHENTICATION.recipe("invalid_api_key", MODELS, wrong_key),
    # 401 none: "not an organization member, revoked key, or key from another organization"
    AUTHENTICATION.recipe("not_a_member", MODELS, with_key("not_a_member")),
    AUTHENTICATION.recipe("revoked_key", MODELS, with_key("revoked")),
    AUTHENTICATION.recipe("foreign_key", MODELS, with_key("foreign")),
    # 401 mismatched_organization: "organization header differs from the key's organization"
    AUTHENTICATION.recipe(
        "mismatched_organization",
        MODELS,
        with_headers(pc_organization="org-not-the-keys-own"),
    ),
    # 401 invalid_project: "project header names no project of the key"; 1:5.3 "only meaningful for legacy user keys"
    AUTHENTICATION.recipe(
        "invalid_project",
        MODELS,
        lambda call: call.with_headers(pc_project="proj_none_of_the_keys").replace(credential="legacy_user"),
    ),
    # 401 ip_not_authorized: "address outside the allowlist"; 1:5.3 "at project or organization level"
    AUTHENTICATION.recipe(
        "ip_not_authorized",
        {"project": MODELS.replace(credential="fenced")},
        other_endpoints=same_change(with_key("fenced")),
    ).with_optional({"organization": MODELS.replace(credential="fenced_organization")}),
    # 403 insufficient_permissions: "missing scope"
    PERMISSION.recipe("insufficient_permissions", WITHOUT_SCOPE),
    # 403 none (type null): "mutual-TLS host: any method or path except exact POST /oauth/token"
    PERMISSION.recipe(
        "mutual_tls_host",
        {
            "method": OTHER_METHOD,
            **vary(OTHER_METHOD, by_method("PUT", "PATCH", "DELETE")),
            "path": OTHER_PATH,
            "below": OTHER_PATH.replace(path="/oauth/token/again"),
            "with_a_slash": OTHER_PATH.replace(path="/oauth/token/"),
            "of_the_other_host": OTHER_METHOD.replace(path="/v1/models"),
        },
        endpoint="pc/endpoints/oauth/exchange_token",
    ),
    # 404 model_not_found: "model absent, denied by project permissions, or not enabled for the organization"
    # One key, for `absent`: the row's "model absent", which is so for every account.
    ERRORS.recipe(
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
        other_endpoints=same_change(with_key("quota")),
    ).with_optional({"billing": create_response().replace(credential="billing")}),
    # 429 credit_balance_exhausted: "prepaid balance depleted"
    RATE_LIMIT.recipe("credit_balance_exhausted", create_response(), with_key("credit"), tokens=TOKENS),
    # 429 organization_spend_limit_exceeded, project_spend_limit_exceeded: "monthly hard spend limit"
    RATE_LIMIT.recipe(
        "organization_spend_limit_exceeded",
        create_response(),
        with_key("organization_spend"),
        tokens=TOKENS,
    ),
    RATE_LIMIT.recipe("project_spend_limit_exceeded", create_response(), with_key("project_spend"), tokens=TOKENS),
    # 429 organization_usage_limit_exceeded: "provider-assigned monthly usage limit"
    RATE_LIMIT.recipe("organization_usage_limit_exceeded", create_response(), with_key("usage"), tokens=TOKENS),
    # 429 billing_hard_limit_reached (legacy, unverified): "old hard-limit name"
    RATE_LIMIT.recipe("billing_hard_limit_reached", create_response(), with_key("hard_limit"), tokens=TOKENS),
    # 429 rate_limit_exceeded: "request or token rate exhausted; … failed requests still count"
    request_limit_recipe("/v1/responses").with_optional(use_up_tokens, tokens=2 * PROJECT_TOKENS),
    RATE_LIMIT.recipe(
        "slow_down",
        slow_down,
        tokens=2 * RAMP_TOKENS,
        cost=Cost.DISRUPTIVE,
        other_endpoints=send_in_chat(create_completion(model="{verbose_model}", max_tokens=RAMP_TOKENS)),
    ),
)
