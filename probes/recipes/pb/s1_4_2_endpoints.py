"""1:4.2 PB endpoints: each row of the table, with what 1:5.2 says of its credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import Call, Removal, delete, get
from catalog_probe.probes.recipes.minimal_requests import BOTH_REFUSALS, Refusals
from catalog_probe.probes.recipes.probe import require_text
from catalog_probe.probes.recipes.recipe import Family, Recipe, declare_steps
from catalog_probe.probes.targets.target import Cost

from .requests import (
    MODELS,
    TOKEN,
    as_stream,
    complete_chat,
    create_interaction,
    generate,
    stream_generate,
    with_oauth_token,
)
from .s2_7_4_interactions import FUNCTION, TOO_MANY_CALLS
from .s2_7_4_outcomes import NUMBER_UNDOCUMENTED

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

ENDPOINTS = Family("pb/endpoints")
NEEDS_TIME = (ReasonCode.NO_DOCUMENTED_SETUP, "the documents do not say how long work in the background takes (1:4.2)")
with_refusals, with_missing_key_refusal = BOTH_REFUSALS.label_calls, Refusals(wrong=False).label_calls
VERSIONS = ("v1beta", "v1")
INTERACTION_REMOVALS = {
    name: Removal(f"interaction_{name}", delete(f"/{name}/interactions/{{id}}")) for name in VERSIONS
}
LENIENT = {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_ONLY_HIGH"}


def _generation_recipe(version: str) -> Recipe:
    def generate_with(model: str = "{small_model}", **config: object) -> Call:
        return generate(model, version=version, config=config)

    def think_with(**config: object) -> Call:
        return generate_with("{reasoning_model}", thinkingConfig=config)

    not_on_every_account = {
        "image_temperature_at_maximum": generate_with("{image_model}", temperature=1),
        "image_temperature_above_maximum": generate_with("{image_model}", temperature=1.01),
        "image_temperature_zero": generate_with("{image_model}", temperature=0),
        "image_temperature_below_zero": generate_with("{image_model}", temperature=-0.01),
        # "thinking_level and thinking_budget (mutually exclusive)"
        "thinking_level_alone": think_with(thinkingLevel="low"),
        "thinking_budget_alone": think_with(thinkingBudget=1),
        "thinking_level_with_budget": think_with(thinkingLevel="low", thinkingBudget=1),
        # 1:5.2 "OAuth tokens and ephemeral tokens are also accepted"
        "oauth_token": with_oauth_token("oauth")(generate(version=version)),
        # 2:9 "Preview model ids exist only in v1beta"
        "preview_model": generate_with("{preview_model}"),
    }
    return ENDPOINTS.recipe(
        f"generation/generate_content_{version}",
        with_refusals(
            generate_with(maxOutputTokens=64),  # one token is too few: a reasoning model spends it on thought
            # 2:7.4 "unknown field"
            unknown_field=generate(version=version, noSuchField=True),
            # "temperature (0 to the model maxTemperature; 2 for most models, 1 for image models)"
            temperature_at_maximum=generate_with(temperature=2),
            temperature_above_maximum=generate_with(temperature=2.01),
            temperature_zero=generate_with(temperature=0),
            temperature_below_zero=generate_with(temperature=-0.01),
            # "topP (0 to 1)"
            top_p_zero=generate_with(topP=0),
            top_p_below_zero=generate_with(topP=-0.01),
            top_p_one=generate_with(topP=1),
            top_p_above_one=generate_with(topP=1.01),
            # "candidateCount (1 to 8)"
            candidate_count_one=generate_with(candidateCount=1),
            candidate_count_zero=generate_with(candidateCount=0),
            candidate_count_eight=generate_with(candidateCount=8),
            candidate_count_above_eight=generate_with(candidateCount=9),
            safety_settings=generate(version=version, safetySettings=[LENIENT]),
        ),
        cost=Cost.BILLABLE,
        tokens=200,
    ).with_optional(not_on_every_account, tokens=20)


def _interaction_recipe(version: str) -> Recipe:
    def in_background() -> Call:
        return create_interaction(version=version, background=True, store=True).replace(
            removal=INTERACTION_REMOVALS[version]
        )

    @declare_steps("background_under_way", "background_result", requests=2, needs={"small_model"})
    async def wait_for_result(probe: Probe) -> None:
        """Start work in the background, and fetch its result a minute later."""
        exchange = await probe.send(in_background(), "background_under_way")
        body = exchange.response.body if exchange.response is not None else None
        name = require_text(body, "id", "the interaction under way")
        await probe.send(get(f"/{version}/interactions/{name}").with_clock("+1m"), "background_result")

    return ENDPOINTS.recipe(
        f"interactions/create_interaction_{version}",
        with_missing_key_refusal(create_interaction(version=version), background=in_background()),
        cost=Cost.BILLABLE,
        tokens=20,
    ).with_optional(wait_for_result, not_live=NEEDS_TIME)


def _streamed_interaction_recipe(version: str) -> Recipe:
    failing = as_stream(create_interaction(version=version, input=TOO_MANY_CALLS, tools=[FUNCTION]))
    return ENDPOINTS.recipe(
        f"interactions/stream_interaction_{version}",
        with_missing_key_refusal(as_stream(create_interaction(version=version))),
        cost=Cost.BILLABLE,
        tokens=20,
    ).with_optional({"error_event": failing}, tokens=2_000, not_live=NUMBER_UNDOCUMENTED)


RECIPES: tuple[Recipe, ...] = (
    # GET {base_url}/v1beta/models: "model listing; model ids are checked against it"
    # 1:5.2 "OAuth tokens and ephemeral tokens are also accepted"
    ENDPOINTS.recipe("models/list_models", with_refusals(MODELS)).with_optional(
        {"oauth_token": with_oauth_token("oauth")(MODELS)}
    ),
    ENDPOINTS.recipe(
        "models/get_model",
        with_refusals(
            get("/v1beta/models/{small_model}"),
            unknown_model=get("/v1beta/models/no-such-model"),
            listed=get("/v1beta/models", query=(("pageSize", "1000"),)),
        ),
        # 2:9 "Older models may stop being available to new users while still listable"
    ).with_optional({"closed_model": get("/v1beta/models/{closed_model}").replace(credential="newcomer")}),
    # POST "generateContent operation under the models collection, for both v1 and v1beta"
    *(_generation_recipe(version) for version in VERSIONS),
    *(
        ENDPOINTS.recipe(
            f"generation/stream_generate_content_{version}",
            with_refusals(stream_generate(version)),
            cost=Cost.BILLABLE,
            tokens=40,
        )
        for version in VERSIONS
    ),
    # POST and SSE {base_url}/v1beta/interactions and {base_url}/v1/interactions: "streams an error event;
    # `background=true` runs in background"
    *(_interaction_recipe(version) for version in VERSIONS),
    *(_streamed_interaction_recipe(version) for version in VERSIONS),
    # POST {base_url}/v1beta/openai/*: "unknown parameters are ignored; needs an Authorization bearer header"
    ENDPOINTS.recipe(
        "compatibility/openai",
        with_refusals(
            complete_chat(),
            unknown_parameter=complete_chat(no_such_parameter=True),
            wrong_auth_header=complete_chat().replace(key_header=None),
        ),
        cost=Cost.BILLABLE,
        tokens=20,
    ),
    # POST {base_url}/v1beta/auth_tokens: "creates short-lived ephemeral tokens for the live API"
    ENDPOINTS.recipe("auth_tokens/create_auth_token", with_refusals(TOKEN)),
)
