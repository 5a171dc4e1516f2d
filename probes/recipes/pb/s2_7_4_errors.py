"""2:7.4 PB errors: each row of the table but 429, with the request that one change makes provoke it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import BytesBody, Call, Removal, delete, get, post
from catalog_probe.probes.recipes.minimal_requests import same_recipe, with_key
from catalog_probe.probes.recipes.recipe import Family, Recipe, declare_steps, same_change
from catalog_probe.probes.targets.target import WRONG_KEY, Cost

from .requests import (
    MODELS,
    NO_UNSUPPORTED_FEATURE,
    TOKEN,
    TOKEN_WAIT_S,
    complete_chat,
    generate,
    in_both_versions,
    make_short_lived_token,
    user_turn,
    with_file,
    with_oauth_token,
    with_token,
)

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

ERRORS = Family("pb/errors/general")
COMPATIBILITY = Family("pb/errors/compatibility")
TOKENS = 4
"""Most tokens of a request that should be refused, if the provider accepts it."""

NO_PATH_OF_STORES = (ReasonCode.NO_DOCUMENTED_SETUP, "the documents show no path of stores and documents (1:4)")
ABSENT_OR_NOT_OWNED = (
    ReasonCode.NO_DOCUMENTED_SETUP,
    "2:7.4 names no resource that can be absent; a file that the account lacks may be absent (404) or not owned (403)",
)
TOKEN_OR_KEY = (
    ReasonCode.NO_DOCUMENTED_SETUP,
    "2:7.4 has the 401 for a missing token; a request without any credential lacks an API key as well (1:5.2)",
)
STORE_REMOVAL = Removal("file_search_store", delete("/v1beta/fileSearchStores/{id}"), id_pointer="/name")


def with_short_deadline(call: Call) -> Call:
    """Have the mock's provider allow the call one second."""
    return call.with_scenario("short_deadline;deadline=1s")


def expired_token_recipe(call: Call) -> Recipe:
    """A request with an ephemeral token that has expired: after a minute live, after a day on a mock.

    More (slow): "expired OAuth or ephemeral token" gives 401, and 1:4.2 "creates short-lived ephemeral tokens" for any
    key. That the token has expired by then is assumed: "Token lifetime … not shown" (1:5.2).
    """

    @declare_steps(requests=2, needs=call.placeholders, waits_s=TOKEN_WAIT_S)
    async def steps(probe: Probe) -> None:
        token = await probe.setup(make_short_lived_token())
        await probe.wait(TOKEN_WAIT_S)
        await probe.send(with_token(token.body["name"])(call).with_clock("+1d"))

    return ERRORS.recipe(
        "expired_ephemeral_token", steps, cost=Cost.SLOW, other_endpoints=same_recipe(expired_token_recipe)
    )


def oversized_context_recipe(version: str) -> Recipe:
    """A prompt with more words than the model's listing allows tokens."""

    @declare_steps(requests=2, needs={"small_context_model"})
    async def steps(probe: Probe) -> None:
        model = await probe.setup(get("/v1beta/models/{small_context_model}"))
        words = "word " * (model.body["inputTokenLimit"] + 100)
        await probe.send(generate("{small_context_model}", version=version, contents=user_turn(words)))

    return ERRORS.recipe(
        "oversized_context",
        steps,
        cost=Cost.BILLABLE,
        tokens=1_100_000,
        other_endpoints=lambda *_: oversized_context_recipe("v1"),
    )


def with_preview_model(call: Call) -> Call:
    return call.replace(path=call.path.replace("{small_model}", "{preview_model}"))


# 1:5.2 "Ephemeral tokens: created at POST /v1beta/auth_tokens, live API only"
@declare_steps(requests=2)
async def ephemeral_token_elsewhere(probe: Probe) -> None:
    """A valid ephemeral token, used outside the live API."""
    token = await probe.setup(TOKEN)
    await probe.send(with_token(token.body["name"])(MODELS))


# 409 ALREADY_EXISTS "duplicate store or document name"
@declare_steps(requests=4)
async def document_already_exists(probe: Probe) -> None:
    """A second document of the same name in a store."""
    await probe.setup(post("/v1beta/fileSearchStores", {"name": "catalog-probe-documents"}, removal=STORE_REMOVAL))
    document = post("/v1beta/fileSearchStores/catalog-probe-documents/documents", {"name": "catalog-probe"})
    await probe.setup(document)
    await probe.send(document)


@declare_steps(requests=3)
async def already_exists(probe: Probe) -> None:
    """A second store of the same name."""
    make = post("/v1beta/fileSearchStores", {"name": "catalog-probe"})
    await probe.setup(make.replace(removal=STORE_REMOVAL))
    await probe.send(make)


ROWS: tuple[Recipe, ...] = (
    # 400 INVALID_ARGUMENT "malformed body, unknown field, invalid value (thinking_level with thinking_budget;
    # temperature out of range; invalid API key; compatibility layer without Authorization)"
    ERRORS.recipe(
        "malformed_body",
        generate().replace(body=BytesBody(b'{"contents": ['), headers={"content-type": "application/json"}),
    ),
    ERRORS.recipe("unknown_field", generate(noSuchField=True), tokens=TOKENS),
    ERRORS.recipe(
        "thinking_level_with_thinking_budget",
        generate("{reasoning_model}", config={"thinkingConfig": {"thinkingLevel": "low", "thinkingBudget": 1}}),
        tokens=TOKENS,
    ),
    ERRORS.recipe("temperature_out_of_range", generate(config={"temperature": 2.1}), tokens=TOKENS),
    ERRORS.recipe("invalid_api_key", MODELS, with_key(WRONG_KEY)),
    COMPATIBILITY.recipe("missing_authorization", complete_chat().replace(credential=None)),
    COMPATIBILITY.recipe("invalid_api_key", complete_chat().replace(credential=WRONG_KEY)),
    # 400 FAILED_PRECONDITION "billing off for a paid feature, or free tier unavailable in the region"
    ERRORS.recipe("billing_off", generate("{paid_only_model}").replace(credential="billing_off"), tokens=TOKENS),
    ERRORS.recipe("free_tier_region", generate().replace(credential="region"), tokens=TOKENS),
    # 401 UNAUTHENTICATED "missing, invalid or expired OAuth or ephemeral token"
    ERRORS.recipe("missing_token", MODELS, with_key(None), not_live=TOKEN_OR_KEY),
    ERRORS.recipe("invalid_oauth_token", MODELS, with_oauth_token(WRONG_KEY)),
    ERRORS.recipe("expired_oauth_token", MODELS, with_oauth_token("oauth_expired")),
    ERRORS.recipe("invalid_ephemeral_token", MODELS, with_token("auth_tokens/no-such-token")),
    expired_token_recipe(MODELS),
    ERRORS.recipe(
        "missing_oauth_or_ephemeral_token",
        {
            "oauth_token": MODELS.replace(credential=None, headers={"authorization": "Bearer"}),
            "ephemeral_token": MODELS.replace(credential=None, headers={"authorization": "Token"}),
        },
    ),
    # 403 PERMISSION_DENIED "API not enabled, key restricted, leaked or blocked key, resource not owned"
    ERRORS.recipe("api_not_enabled", MODELS, with_key("api_not_enabled")),
    ERRORS.recipe("key_restricted", MODELS, with_key("restricted")),
    ERRORS.recipe("key_leaked", MODELS, with_key("leaked")),
    ERRORS.recipe("key_blocked", MODELS, with_key("blocked")),
    ERRORS.recipe("resource_not_owned", with_file("{foreign_file}"), tokens=TOKENS),
    # 404 NOT_FOUND "model or resource absent for the API version (preview ids exist only in v1beta); model no longer
    # available to new users; wrong auth header on the compatibility layer"
    ERRORS.recipe("model_not_found", generate("no-such-model")),
    ERRORS.recipe("resource_not_found", with_file("files/no-such-file"), tokens=TOKENS, not_live=ABSENT_OR_NOT_OWNED),
    ERRORS.recipe(
        "preview_model_outside_v1beta",
        with_preview_model(generate(version="v1")),
        tokens=TOKENS,
        other_endpoints=same_change(with_preview_model),
    ),
    ERRORS.recipe(
        "model_closed_to_new_users", generate("{closed_model}").replace(credential="newcomer"), tokens=TOKENS
    ),
    COMPATIBILITY.recipe("wrong_auth_header", complete_chat().replace(key_header=None)),
    # 1:4 "An unknown path gives 404 on all providers"
    ERRORS.recipe("unknown_path", get("/v1beta/no-such-path")),
    # 409 ALREADY_EXISTS / ABORTED "duplicate store or document name [below], or concurrency conflict"
    ERRORS.recipe("aborted", generate().with_scenario("concurrency_conflict")),
    # 416 OUT_OF_RANGE "parameter outside valid range"
    ERRORS.recipe("out_of_range", generate(config={"topP": 1.1}), tokens=TOKENS),
    # 500 INTERNAL "server error, also for oversized contexts"
    ERRORS.recipe("internal_error", generate().with_scenario("internal_error")),
    oversized_context_recipe("v1beta"),
    # 501 UNIMPLEMENTED "unsupported feature"
    ERRORS.recipe(
        "unsupported_feature",
        generate(config={"responseModalities": ["AUDIO"]}),
        tokens=TOKENS,
        not_live=NO_UNSUPPORTED_FEATURE,
    ),
    # 503 UNAVAILABLE "overloaded or down; flex capacity unavailable"
    ERRORS.recipe("overloaded", generate().with_scenario("overloaded")),
    ERRORS.recipe("flex_capacity_unavailable", generate(serviceTier="flex").with_scenario("flex_capacity_unavailable")),
    # 504 DEADLINE_EXCEEDED "long prompts, thinking, flex queueing"
    ERRORS.recipe("deadline_exceeded", generate().with_scenario("deadline_exceeded")),
    ERRORS.recipe(
        "deadline_exceeded_by_work",
        {
            "long_prompt": with_short_deadline(generate(contents=user_turn("word " * 2_000))),
            "thinking": with_short_deadline(generate("{reasoning_model}", config={"maxOutputTokens": 100})),
            "flex_queueing": with_short_deadline(generate(serviceTier="flex")),
        },
    ),
    ERRORS.recipe("ephemeral_token_elsewhere", ephemeral_token_elsewhere),
    ERRORS.recipe(
        "document_already_exists", document_already_exists, cost=Cost.DESTRUCTIVE, not_live=NO_PATH_OF_STORES
    ),
    ERRORS.recipe("already_exists", already_exists, cost=Cost.DESTRUCTIVE, not_live=NO_PATH_OF_STORES),
)

RECIPES = in_both_versions(ROWS)
