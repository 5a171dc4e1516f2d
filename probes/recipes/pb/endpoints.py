"""The endpoints of PB (1:4.2): the success, the credential rules, the request rules."""

from __future__ import annotations

from probes.calls.call import Call, delete
from probes.elicit.recipe import Recipe, recipe
from probes.recipes.pb.requests import (
    BEARER,
    MODELS,
    TOKEN,
    chat,
    generate,
    interaction,
    labelled,
    stream_generate,
    streamed,
)
from probes.target.target import Cost

FAMILY = "pb/endpoints"
VERSIONS = ("v1beta", "v1")
CHAT = chat()


def _generate_content(version: str) -> Recipe:
    def spoiled(model: str = "{small_model}", **config: object) -> Call:
        return generate(model, version=version, config=config)

    return recipe(
        f"{FAMILY}/generation/generate_content_{version}",
        labelled(
            generate(version=version),
            unknown_field=generate(version=version, noSuchField=True),
            temperature_at_maximum=spoiled(temperature=2),
            temperature_above_maximum=spoiled(temperature=2.1),
            image_temperature_above_maximum=spoiled("{image_model}", temperature=1.1),
            temperature_below_zero=spoiled(temperature=-0.1),
            top_p_above_one=spoiled(topP=1.1),
            candidate_count_zero=spoiled(candidateCount=0),
            candidate_count_above_eight=spoiled(candidateCount=9),
            thinking_level_with_budget=spoiled(
                "{reasoning_model}", thinkingConfig={"thinkingLevel": "low", "thinkingBudget": 1}
            ),
            oauth_token=generate(version=version).but(credential="oauth", key_in=BEARER),
            preview_model=spoiled("{preview_model}"),
        ),
        cost=Cost.BILLABLE,
        tokens=100,
    )


def _interactions(version: str) -> tuple[Recipe, Recipe]:
    background = interaction(version=version, background=True, store=True).but(
        removal=lambda made: delete(f"/{version}/interactions/{made['id']}")
    )
    return (
        recipe(
            f"{FAMILY}/interactions/create_interaction_{version}",
            labelled(interaction(version=version), wrong=False, background=background),
            cost=Cost.BILLABLE,
            tokens=20,
        ),
        recipe(
            f"{FAMILY}/interactions/stream_interaction_{version}",
            labelled(streamed(interaction(version=version)), wrong=False),
            cost=Cost.BILLABLE,
            tokens=20,
        ),
    )


RECIPES: tuple[Recipe, ...] = (
    recipe(f"{FAMILY}/models/list_models", labelled(MODELS)),
    *(_generate_content(version) for version in VERSIONS),
    *(
        recipe(
            f"{FAMILY}/generation/stream_generate_content_{version}",
            labelled(stream_generate(version)),
            cost=Cost.BILLABLE,
            tokens=40,
        )
        for version in VERSIONS
    ),
    *(each for version in VERSIONS for each in _interactions(version)),
    recipe(
        f"{FAMILY}/compatibility/openai",
        labelled(
            CHAT,
            unknown_parameter=chat(no_such_parameter=True),
            wrong_auth_header=CHAT.but(key_in=None),
        ),
        cost=Cost.BILLABLE,
        tokens=20,
    ),
    recipe(f"{FAMILY}/auth_tokens/create_auth_token", labelled(TOKEN)),
)
