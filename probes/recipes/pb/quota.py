"""PB's 429 by the quota that is used up (2:7.1, 2:7.4, 2:8.3): with a key whose project has hardly any.

The documents publish none of the numbers, so a target names for each dimension a model and how much of it is enough.
"""

from __future__ import annotations

from probes.calls.call import Call
from probes.elicit.probe import Probe
from probes.elicit.recipe import Recipe, recipe, stepwise
from probes.recipes.pb.requests import generate, said
from probes.target.target import Cost

FAMILY = "pb/errors/quota"
MOST = 20
"""More requests than a target may ask for before a quota is used up."""

RECIPES: tuple[Recipe, ...] = (
    recipe(f"{FAMILY}/flex_capacity_shed", generate(serviceTier="flex").befallen("flex_capacity_shed")),
    recipe(f"{FAMILY}/free_tier_limit_zero", generate("{paid_only_model}").but(credential="free"), tokens=4),
)


async def exhaust(probe: Probe, call: Call, times: str) -> None:
    """Send the call as often as the target says is allowed, then once more."""
    for _ in range(min(int(probe.values[times]), MOST - 1)):
        await probe.setup(call)
    await probe.send(call)


def words(count: str) -> list[dict[str, object]]:
    """Contents of at least so many tokens."""
    return said("word " * int(count))


@stepwise(
    f"{FAMILY}/requests_per_minute",
    requests=MOST,
    tokens=MOST * 4,
    cost=Cost.DISRUPTIVE,
    roles={"tight"},
    needs={"minute_quota_model", "minute_quota"},
)
async def requests_per_minute(probe: Probe) -> None:
    """One request more than a minute allows."""
    await exhaust(probe, generate("{minute_quota_model}").but(credential="tight"), "minute_quota")


@stepwise(
    f"{FAMILY}/requests_per_day",
    requests=MOST,
    tokens=MOST * 4,
    cost=Cost.DISRUPTIVE,
    roles={"tight"},
    needs={"day_quota_model", "day_quota"},
)
async def requests_per_day(probe: Probe) -> None:
    """One request more than a day allows."""
    await exhaust(probe, generate("{day_quota_model}").but(credential="tight"), "day_quota")


@stepwise(
    f"{FAMILY}/images_per_minute",
    requests=MOST,
    tokens=MOST * 2_000,
    cost=Cost.DISRUPTIVE,
    roles={"tight"},
    needs={"image_quota_model", "image_quota"},
)
async def images_per_minute(probe: Probe) -> None:
    """One image more than a minute allows."""
    draw = generate("{image_quota_model}", contents=said("a dot"), config={"maxOutputTokens": 2_000})
    await exhaust(probe, draw.but(credential="tight"), "image_quota")


@stepwise(
    f"{FAMILY}/tokens_per_minute",
    requests=2,
    tokens=100_000,
    cost=Cost.DISRUPTIVE,
    roles={"tight"},
    needs={"token_quota_model", "token_quota"},
)
async def tokens_per_minute(probe: Probe) -> None:
    """Two prompts, the first of which uses up the tokens of a minute."""
    prompt = generate("{token_quota_model}", contents=words(probe.values["token_quota"])).but(credential="tight")
    await probe.setup(prompt)
    await probe.send(prompt)


@stepwise(
    f"{FAMILY}/spend_per_ten_minutes",
    requests=2,
    tokens=100_000,
    cost=Cost.DISRUPTIVE,
    roles={"thrifty"},
    needs={"small_model", "spend_quota_tokens"},
)
async def spend_per_ten_minutes(probe: Probe) -> None:
    """Two prompts, the first of which costs what ten minutes allow."""
    prompt = generate(contents=words(probe.values["spend_quota_tokens"])).but(credential="thrifty")
    await probe.setup(prompt)
    await probe.send(prompt)
