"""PB's errors by status and cause (2:7.4), and those of the compatibility layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.calls.body import Content
from catalog_probe.probes.calls.call import Call, Removal, delete, get, post
from catalog_probe.probes.recipes.other_endpoints import spoilt
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.recipes.shapes import with_key
from catalog_probe.probes.targets.target import WRONG, Cost

from .requests import BEARER, MODELS, TOKEN, chat, generate, said, with_file
from .versions import in_both

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.other_endpoints import Change
    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pb/errors/general")
COMPATIBILITY = Family("pb/errors/compatibility")
TOKENS = 4
"""An upper bound for a negative request where the provider accepts it."""

NO_PATH_OF_STORES = (ReasonCode.NO_DOCUMENTED_SETUP, "the documents show no path of stores and documents (1:4)")
STORE_REMOVAL = Removal("file_search_store", delete("/v1beta/fileSearchStores/{id}"), id_at="/name")
NO_TOKEN_LIFETIME = (ReasonCode.NO_DOCUMENTED_SETUP, "the documents show no lifetime of an ephemeral token (1:5.2)")


def befallen(slug: str, scenario: str) -> Recipe:
    """A small generation that suffers what only the provider can cause."""
    return FAMILY.recipe(slug, generate().befallen(scenario))


def hurried(call: Call) -> Call:
    """The same call where the provider gives it a second."""
    return call.befallen("short_deadline;deadline=1s")


def refused(slug: str, spoil: Change) -> Recipe:
    """A free request with a key that may not make it, and every other request with that key."""
    return FAMILY.recipe(slug, spoil(MODELS), elsewhere=spoilt(spoil))


def bearing(role: str) -> Change:
    """An OAuth token in place of the key."""
    return lambda call: call.but(credential=role, key_in=BEARER)


def with_token(name: str) -> Change:
    """An ephemeral token in place of the key."""
    return lambda call: call.but(credential=None, headers={**call.headers, "authorization": f"Token {name}"})


def a_day_later(call: Call) -> Recipe:
    """A request with a token of one's own, a day after that was made."""

    async def steps(probe: Probe) -> None:
        made = await probe.setup(TOKEN)
        await probe.send(with_token(made.body["name"])(call).later("+1d"))

    return FAMILY.recipe(
        "expired_ephemeral_token",
        steps=steps,
        requests=2,
        needs=call.placeholders,
        live=NO_TOKEN_LIFETIME,
        elsewhere=lambda _, shape: a_day_later(shape) if shape is not None else None,
    )


def oversized(version: str) -> Recipe:
    """A prompt of more words than the model's listing says that it takes tokens."""

    async def steps(probe: Probe) -> None:
        model = await probe.setup(get("/v1beta/models/{small_context_model}"))
        words = "word " * (model.body["inputTokenLimit"] + 100)
        contents = [{"role": "user", "parts": [{"text": words}]}]
        await probe.send(generate("{small_context_model}", version=version, contents=contents))

    return FAMILY.recipe(
        "oversized_context",
        steps=steps,
        requests=2,
        cost=Cost.BILLABLE,
        tokens=1_100_000,
        needs={"small_context_model"},
        elsewhere=lambda *_: oversized("v1"),
    )


ROWS: tuple[Recipe, ...] = (
    FAMILY.recipe(
        "malformed_body",
        generate().but(body=Content(b'{"contents": ['), headers={"content-type": "application/json"}),
    ),
    FAMILY.recipe("unknown_field", generate(noSuchField=True), tokens=TOKENS),
    FAMILY.recipe(
        "thinking_level_with_thinking_budget",
        generate("{reasoning_model}", config={"thinkingConfig": {"thinkingLevel": "low", "thinkingBudget": 1}}),
        tokens=TOKENS,
    ),
    FAMILY.recipe("temperature_out_of_range", generate(config={"temperature": 2.1}), tokens=TOKENS),
    refused("invalid_api_key", with_key(WRONG)),
    FAMILY.recipe("billing_off", generate("{paid_only_model}").but(credential="billing_off"), tokens=TOKENS),
    FAMILY.recipe("free_tier_region", generate().but(credential="region"), tokens=TOKENS),
    refused("missing_token", with_key(None)),
    refused("invalid_oauth_token", bearing(WRONG)),
    refused("expired_oauth_token", bearing("oauth_expired")),
    refused("invalid_ephemeral_token", with_token("auth_tokens/no-such-token")),
    a_day_later(MODELS),
    FAMILY.recipe(
        "missing_oauth_or_ephemeral_token",
        {
            "oauth_token": MODELS.but(credential=None, headers={"authorization": "Bearer"}),
            "ephemeral_token": MODELS.but(credential=None, headers={"authorization": "Token"}),
        },
    ),
    refused("api_not_enabled", with_key("api_not_enabled")),
    refused("key_restricted", with_key("restricted")),
    refused("key_leaked", with_key("leaked")),
    refused("key_blocked", with_key("blocked")),
    FAMILY.recipe("resource_not_owned", with_file("{foreign_file}"), tokens=TOKENS),
    FAMILY.recipe("model_not_found", generate("no-such-model")),
    FAMILY.recipe(
        "preview_model_outside_v1beta",
        generate("{preview_model}", version="v1"),
        tokens=TOKENS,
        elsewhere=spoilt(lambda call: call.but(path=call.path.replace("{small_model}", "{preview_model}"))),
    ),
    FAMILY.recipe("resource_not_found", with_file("files/no-such-file"), tokens=TOKENS),
    FAMILY.recipe("model_closed_to_new_users", generate("{closed_model}").but(credential="newcomer"), tokens=TOKENS),
    befallen("aborted", "concurrency_conflict"),
    FAMILY.recipe("out_of_range", generate(config={"topP": 1.1}), tokens=TOKENS),
    oversized("v1beta"),
    befallen("internal_error", "internal_error"),
    FAMILY.recipe("unsupported_feature", generate(config={"responseModalities": ["AUDIO"]}), tokens=TOKENS),
    befallen("overloaded", "overloaded"),
    FAMILY.recipe(
        "flex_capacity_unavailable",
        generate(serviceTier="flex").befallen("flex_capacity_unavailable"),
    ),
    befallen("deadline_exceeded", "deadline_exceeded"),
    FAMILY.recipe(
        "deadline_exceeded_by_work",
        {
            "long_prompt": hurried(generate(contents=said("word " * 2_000))),
            "thinking": hurried(generate("{reasoning_model}", config={"maxOutputTokens": 100})),
            "flex_queueing": hurried(generate(serviceTier="flex")),
        },
    ),
    FAMILY.recipe("unknown_path", get("/v1beta/no-such-path")),
    COMPATIBILITY.recipe("missing_authorization", chat().but(credential=None)),
    COMPATIBILITY.recipe("wrong_auth_header", chat().but(key_in=None)),
    COMPATIBILITY.recipe("invalid_api_key", chat().but(credential=WRONG)),
)

RECIPES = in_both(ROWS)


@FAMILY.stepwise(requests=2)
async def ephemeral_token_elsewhere(probe: Probe) -> None:
    """A good token of one's own, for something else than the live API."""
    made = await probe.setup(TOKEN)
    await probe.send(with_token(made.body["name"])(MODELS))


@FAMILY.stepwise(requests=4, cost=Cost.DESTRUCTIVE, live=NO_PATH_OF_STORES)
async def document_already_exists(probe: Probe) -> None:
    """A second document of the same name in a store."""
    await probe.setup(post("/v1beta/fileSearchStores", {"name": "catalog-probe-documents"}, removal=STORE_REMOVAL))
    document = post("/v1beta/fileSearchStores/catalog-probe-documents/documents", {"name": "catalog-probe"})
    await probe.setup(document)
    await probe.send(document)


@FAMILY.stepwise(requests=3, cost=Cost.DESTRUCTIVE, live=NO_PATH_OF_STORES)
async def already_exists(probe: Probe) -> None:
    """A second store of the same name."""
    make = post("/v1beta/fileSearchStores", {"name": "catalog-probe"})
    await probe.setup(make.but(removal=STORE_REMOVAL))
    await probe.send(make)
