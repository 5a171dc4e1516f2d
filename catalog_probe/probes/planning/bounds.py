"""`--plan`: what a run would send, request by request and with upper bounds, without sending anything."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Address
from catalog_probe.catalog.model.reach import format_reach_counts
from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.probes.judging.verdicts.attempts import MAX_ATTEMPTS
from catalog_probe.probes.planning.budgeting import spending
from catalog_probe.probes.planning.look_ups import asked, look_ups
from catalog_probe.probes.planning.reach import all_reaches
from catalog_probe.probes.recipes import book

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Reason
    from catalog_probe.catalog.model.reach import Reach
    from catalog_probe.probes.planning.plan import Plan
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.look_ups import Rule
    from catalog_probe.probes.targets.target import Provider, Target


def told(chosen: Plan, target: Target, catalog: Catalog, unfaulted: Sequence[Recipe] = ()) -> list[str]:
    """The plan as lines: each request, an upper bound for each provider, what no budget holds, what is left out.

    Raises:
        TargetError: the shipped live target cannot be read.
    """
    by_provider = sorted(_by_provider(chosen.probed).items())
    lines = [f"plan for target {target.name}: nothing is sent"]
    for provider, recipes in by_provider:
        lines += requests(target.providers[provider], recipes, target)
    for provider, recipes in by_provider:
        lines += plan_lines(target.providers[provider], recipes, target, catalog, unfaulted)
    lines += by_reach(chosen, target, catalog)
    for reason, addresses in sorted(_by_reason(chosen.not_probed).items()):
        lines.append(
            f"not probed, {reason}: {len(addresses)} ({', '.join(addresses[:3])}{', …' * (len(addresses) > 3)})"
        )
    return lines


def by_reach(chosen: Plan, target: Target, catalog: Catalog) -> Iterator[str]:
    """Of each provider, by whom the records that would be probed and the others can be observed."""
    every = {address: Address.parse(address).provider for address in (*chosen.probed, *chosen.not_probed)}
    for name, own in all_reaches(
        {name: book.recipe_book(name) for name in sorted(set(every.values()))}, target
    ).items():
        counts: dict[bool, Counter[Reach]] = {True: Counter(), False: Counter()}
        for address in (address for address, provider in every.items() if provider == name):
            counts[address in chosen.probed][own.of_record(catalog[address], catalog).reach] += 1
        probed, others = (format_reach_counts(counts[which]) or "none" for which in (True, False))
        yield f"{name}: by reach, probed: {probed}; not probed: {others}"


def requests(provider: Provider, recipes: Sequence[Recipe], target: Target) -> Iterator[str]:
    """Every request once: provider, method, path, label, cost, credential, record. What steps decide is bounded."""
    name = provider.name
    for rule in asked(_look_ups(provider, recipes, target)):
        more = f", at most {rule.requests} requests" if rule.requests > 1 else ""
        yield f"{name} GET {rule.ask} look-up free {rule.role}{more}"
    for role, method, path in sorted({control for each in recipes for control in _controls(each)}):
        yield f"{name} {method} {path} control free {role}"
    for recipe in recipes:
        parts = list(_parts(recipe))
        for part in parts:
            for label, call in part.calls.items():
                key = call.credential_role(part.credential) or "no key"
                yield f"{name} {call.method} {call.path} {label} {part.cost} {key} {recipe.address}"
        for part in parts:
            if part.steps is None:
                continue
            labels = ",".join(sorted(part.labels - part.calls.keys()))
            number = part.requests - len(part.calls)
            yield f"{name} steps, at most {number} requests {labels} {part.cost} {part.credential} {recipe.address}"


def _parts(recipe: Recipe) -> Iterator[Recipe]:
    """The recipe, its looks besides, and what is sent on its other endpoints."""
    yield recipe
    for part in (*recipe.optional.values(), *recipe.endpoint_plan.recipes.values()):
        yield from _parts(part)


def plan_lines(
    provider: Provider,
    recipes: Sequence[Recipe],
    target: Target,
    catalog: Catalog,
    unfaulted: Iterable[Recipe] = (),
) -> Iterator[str]:
    """What probing these records of a provider may take, and what of it the budget does not hold.

    `unfaulted` are the requests without a fault that may be needed besides.
    """
    most, tokens = bounds(recipes, (each for each in unfaulted if each.provider == provider.name))
    most += sum(rule.requests for rule in asked(_look_ups(provider, recipes, target)))
    costs = Counter(str(recipe.cost) for recipe in recipes)
    shares = ", ".join(f"{number} {cost}" for cost, number in sorted(costs.items()))
    told = f"{provider.name}: {format_count(len(recipes), 'probe')} ({shares})"
    told = f"{told}; at most {format_count(most, 'request')}, {format_count(tokens, 'token')}"
    drawn = sum(len(recipe.endpoint_plan.recipes) for recipe in recipes)
    others = drawn + sum(len(recipe.endpoint_plan.not_drawn) + len(recipe.endpoint_plan.left_out) for recipe in recipes)
    yield f"{told}; {drawn} of {others} other endpoints"
    yield from _budget(provider, recipes, (most, tokens), catalog)


def _budget(provider: Provider, recipes: Sequence[Recipe], most: tuple[int, int], catalog: Catalog) -> Iterator[str]:
    once = (sum(each.requests for each in recipes), sum(each.tokens for each in recipes))
    limits = (provider.max_requests, provider.max_tokens)
    for what, limit, first, upper in zip(("requests", "tokens"), limits, once, most, strict=True):
        if limit is not None and upper > limit:
            fits = "each probe once fits" if first <= limit else f"each probe once takes {first}"
            yield f"{provider.name}: at most {upper} {what} exceed the budget max_{what} = {limit}; {fits}"
    left_out = spending(recipes, provider, catalog).left_out
    if left_out:
        named = f"{', '.join(left_out[:5])}{', …' * (len(left_out) > 5)}"
        told = "left out first, for they show fewest facts for what they take"
        yield f"{provider.name}: {told}: {len(left_out)} ({named})"


def _look_ups(provider: Provider, recipes: Sequence[Recipe], target: Target) -> tuple[Rule, ...]:
    return look_ups(recipes, target).get(provider.name, ()) if target.live else ()


def _controls(recipe: Recipe) -> Iterator[tuple[str, str, str]]:
    call = book.find_control(recipe)
    if call is not None:
        yield call.credential_role(recipe.credential) or "no key", call.method, call.path


def bounds(recipes: Iterable[Recipe], unfaulted: Iterable[Recipe] = ()) -> tuple[int, int]:
    """The most requests and tokens that probing these can take: every attempt, and each control of each lane once.

    `unfaulted` are asked besides, by which it is known whether a refusal was about the fault at all.
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
