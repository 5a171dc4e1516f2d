"""`--plan`: what a run would send, with upper bounds, without sending anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from catalog.model.labels import WRONG_CREDENTIAL
from probes.judging.attempts import MAX_ATTEMPTS
from probes.target.target import WRONG

if TYPE_CHECKING:
    from catalog.model import Reason
    from probes.elicit.recipe import Recipe
    from probes.planning.plan import Plan


def told(chosen: Plan, target: str, unfaulted: Sequence[Recipe] = ()) -> list[str]:
    """The plan as lines: an upper bound for each provider and cost, then what is left out and why."""
    lines = [f"plan for target {target}: nothing is sent"]
    for provider, recipes in sorted(_by_provider(chosen.probed).items()):
        lines.append(plan_line(provider, recipes, unfaulted))
    for reason, addresses in sorted(_by_reason(chosen.not_probed).items()):
        lines.append(
            f"not probed, {reason}: {len(addresses)} ({', '.join(addresses[:3])}{', …' * (len(addresses) > 3)})"
        )
    return lines


def plan_line(provider: str, recipes: Sequence[Recipe], unfaulted: Iterable[Recipe] = ()) -> str:
    """What probing these records of a provider may take, with the requests without a fault that may be needed."""
    requests, tokens = bounds(recipes, (each for each in unfaulted if each.provider == provider))
    costs = Counter(str(recipe.cost) for recipe in recipes)
    shares = ", ".join(f"{count} {cost}" for cost, count in sorted(costs.items()))
    told = f"{provider}: {len(recipes)} probes ({shares}); at most {requests} requests, {tokens} tokens"
    drawn = sum(len(recipe.spread.cells) for recipe in recipes)
    others = drawn + sum(len(recipe.spread.undrawn) + len(recipe.spread.left_out) for recipe in recipes)
    return f"{told}; {drawn} of {others} other endpoints; {invented_keys(recipes)} invented keys"


def invented_keys(recipes: Iterable[Recipe]) -> int:
    """How many requests show a key that nobody was given, if nothing is sent again: a provider may count them."""
    return sum(_invented(recipe) for recipe in recipes)


def _invented(recipe: Recipe) -> int:
    own = sum(call.credential == WRONG for call in recipe.calls.values())
    in_steps = recipe.steps is not None and WRONG_CREDENTIAL in recipe.labels - recipe.calls.keys()
    beside = invented_keys([*recipe.optional.values(), *recipe.spread.cells.values()])
    return own + int(in_steps) + beside


def bounds(recipes: Iterable[Recipe], unfaulted: Iterable[Recipe] = ()) -> tuple[int, int]:
    """The most requests and tokens that probing these can take: every attempt, and each control of each lane once.

    `unfaulted` are asked once each, by which it is known whether a refusal was about the fault at all.
    """
    chosen, once = list(recipes), list(unfaulted)
    controls = len({(recipe.lane, recipe.control.path if recipe.control else "") for recipe in chosen})
    requests = controls + MAX_ATTEMPTS * sum(recipe.requests for recipe in chosen)
    tokens = MAX_ATTEMPTS * sum(recipe.tokens for recipe in chosen)
    return requests + sum(each.requests for each in once), tokens + sum(each.tokens for each in once)


def _by_provider(probed: Mapping[str, Recipe]) -> dict[str, list[Recipe]]:
    groups: dict[str, list[Recipe]] = {}
    for recipe in probed.values():
        groups.setdefault(recipe.provider, []).append(recipe)
    return groups


def _by_reason(not_probed: Mapping[str, Reason]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for address, reason in not_probed.items():
        groups.setdefault(reason.code, []).append(address)
    return groups
