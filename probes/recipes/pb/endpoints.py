"""The endpoints of PB (1:4.2): the success, the credential rules, the request rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.calls.call import Call, Removal, delete, get
from catalog_probe.probes.recipes.credential_rules import BOTH, Refusals
from catalog_probe.probes.recipes.probe import Stopped
from catalog_probe.probes.recipes.recipe import Family, Recipe, each_apart
from catalog_probe.probes.targets.target import Cost

from .interactions import FUNCTION, TOO_MANY_CALLS
from .outcomes import NO_NUMBER
from .requests import (
    BEARER,
    MODELS,
    TOKEN,
    chat,
    generate,
    interaction,
    stream_generate,
    streamed,
)

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pb/endpoints")
ONLY_TIME = (ReasonCode.NO_DOCUMENTED_SETUP, "the documents do not say how long work in the background takes (1:4.2)")
labelled, of_interaction = BOTH.labelled, Refusals(wrong=False).labelled
VERSIONS = ("v1beta", "v1")
INTERACTION_REMOVALS = {
    name: Removal(f"interaction_{name}", delete(f"/{name}/interactions/{{id}}")) for name in VERSIONS
}
CHAT = chat()
LENIENT = {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_ONLY_HIGH"}
"""One safety setting, as clients send them."""


def _generate_content(version: str) -> Recipe:
    def asked(model: str = "{small_model}", **config: object) -> Call:
        return generate(model, version=version, config=config)

    def thinking(**config: object) -> Call:
        return asked("{reasoning_model}", thinkingConfig=config)

    def beside(**calls: Call) -> dict[str, Recipe]:
        """What not every account has a key or a model for."""
        slug = f"generation/generate_content_{version}"
        return {
            label: FAMILY.recipe(slug, call, label=label, cost=Cost.BILLABLE, tokens=20)
            for label, call in calls.items()
        }

    return FAMILY.recipe(
        f"generation/generate_content_{version}",
        labelled(
            asked(maxOutputTokens=64),  # a model that thinks has spent one token before it says a word
            unknown_field=generate(version=version, noSuchField=True),
            temperature_at_maximum=asked(temperature=2),
            temperature_above_maximum=asked(temperature=2.01),
            temperature_zero=asked(temperature=0),
            temperature_below_zero=asked(temperature=-0.01),
            top_p_zero=asked(topP=0),
            top_p_below_zero=asked(topP=-0.01),
            top_p_one=asked(topP=1),
            top_p_above_one=asked(topP=1.01),
            candidate_count_one=asked(candidateCount=1),
            candidate_count_zero=asked(candidateCount=0),
            candidate_count_eight=asked(candidateCount=8),
            candidate_count_above_eight=asked(candidateCount=9),
            safety_settings=generate(version=version, safetySettings=[LENIENT]),
        ),
        cost=Cost.BILLABLE,
        tokens=200,
        optional=each_apart(
            beside(
                image_temperature_at_maximum=asked("{image_model}", temperature=1),
                image_temperature_above_maximum=asked("{image_model}", temperature=1.01),
                image_temperature_zero=asked("{image_model}", temperature=0),
                image_temperature_below_zero=asked("{image_model}", temperature=-0.01),
                thinking_level_alone=thinking(thinkingLevel="low"),
                thinking_budget_alone=thinking(thinkingBudget=1),
                thinking_level_with_budget=thinking(thinkingLevel="low", thinkingBudget=1),
                oauth_token=generate(version=version).but(credential="oauth", key_in=BEARER),
                preview_model=asked("{preview_model}"),
            )
        ),
    )


def _create_interaction(version: str) -> Recipe:
    def in_background() -> Call:
        return interaction(version=version, background=True, store=True).but(removal=INTERACTION_REMOVALS[version])

    async def until_its_result(probe: Probe) -> None:
        """What is answered at once, and what stands there a while later."""
        made = await probe.send(in_background(), "background_under_way")
        body = made.response.body if made.response is not None else None
        name = body.get("id") if isinstance(body, dict) else None
        if not isinstance(name, str):
            raise Stopped(Reason(ReasonCode.SETUP_FAILED, "the interaction under way was answered without an id"))
        await probe.send(get(f"/{version}/interactions/{name}").later("+1m"), "background_result")

    slug = f"interactions/create_interaction_{version}"
    return FAMILY.recipe(
        slug,
        of_interaction(interaction(version=version), background=in_background()),
        cost=Cost.BILLABLE,
        tokens=20,
        optional={
            "background": FAMILY.recipe(
                slug,
                steps=until_its_result,
                labels=("background_under_way", "background_result"),
                requests=2,
                tokens=20,
                cost=Cost.BILLABLE,
                needs={"small_model"},
                live=ONLY_TIME,
            )
        },
    )


def _stream_interaction(version: str) -> Recipe:
    slug = f"interactions/stream_interaction_{version}"
    failing = streamed(interaction(version=version, input=TOO_MANY_CALLS, tools=[FUNCTION]))
    return FAMILY.recipe(
        slug,
        of_interaction(streamed(interaction(version=version))),
        cost=Cost.BILLABLE,
        tokens=20,
        optional={
            "error": FAMILY.recipe(slug, failing, label="error_event", cost=Cost.BILLABLE, tokens=2_000, live=NO_NUMBER)
        },
    )


RECIPES: tuple[Recipe, ...] = (
    FAMILY.recipe("models/list_models", labelled(MODELS)),
    FAMILY.recipe(
        "models/get_model",
        labelled(
            get("/v1beta/models/{small_model}"),
            unknown_model=get("/v1beta/models/no-such-model"),
            listed=get("/v1beta/models", query=(("pageSize", "1000"),)),
        ),
        optional={
            "closed_model": FAMILY.recipe(
                "models/get_model",
                get("/v1beta/models/{closed_model}").but(credential="newcomer"),
                label="closed_model",
            )
        },
    ),
    *(_generate_content(version) for version in VERSIONS),
    *(
        FAMILY.recipe(
            f"generation/stream_generate_content_{version}",
            labelled(stream_generate(version)),
            cost=Cost.BILLABLE,
            tokens=40,
        )
        for version in VERSIONS
    ),
    *(_create_interaction(version) for version in VERSIONS),
    *(_stream_interaction(version) for version in VERSIONS),
    FAMILY.recipe(
        "compatibility/openai",
        labelled(
            CHAT,
            unknown_parameter=chat(no_such_parameter=True),
            wrong_auth_header=CHAT.but(key_in=None),
        ),
        cost=Cost.BILLABLE,
        tokens=20,
    ),
    FAMILY.recipe("auth_tokens/create_auth_token", labelled(TOKEN)),
)
