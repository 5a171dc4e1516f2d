"""`--plan`: lists what a run would send at most, and sends nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Address, Reason
from catalog_probe.catalog.reading.record_fields import claimed_endpoints
from catalog_probe.catalog.text.readable_text import format_count
from catalog_probe.probes.judging.attempts import MAX_ATTEMPTS
from catalog_probe.probes.judging.inconclusive.one_answer import MAX_REQUESTS, MIN_FAULTS
from catalog_probe.probes.planning.look_ups import distinct_requests, list_look_ups
from catalog_probe.probes.planning.plan import plan_budget
from catalog_probe.probes.planning.reach import find_obstacle
from catalog_probe.probes.recipes import book
from catalog_probe.probes.recipes.book import fault_free_request
from catalog_probe.probes.targets.target import Cost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.planning.plan import Plan
    from catalog_probe.probes.recipes.recipe import PlannedRecipe, Recipe
    from catalog_probe.probes.targets.look_ups import LookUpRule
    from catalog_probe.probes.targets.target import Provider, Target


def list_fault_free_requests(
    probed: Mapping[str, PlannedRecipe], catalog: Catalog, target: Target, allow: frozenset[Cost]
) -> list[Recipe]:
    """List the fault-free requests that may be needed, each as often as it may be sent.

    For each endpoint and credential there is one for every `MIN_FAULTS` different faults, and one more if its answer
    gets lost.
    """
    fault_counts = Counter(key for recipe in probed.values() for key in _list_refusals(recipe, catalog))
    return [
        recipe
        for (role, endpoint), count in sorted(fault_counts.items())
        for recipe in _list_allowed(endpoint, role, target, allow)
        for _ in range(count // MIN_FAULTS * MAX_REQUESTS)
    ]


def _list_refusals(recipe: PlannedRecipe, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """Yield credential and endpoint of each label that may be refused."""
    record = catalog[recipe.address]
    own = (recipe.address,) if record.kind == "endpoints" else claimed_endpoints(record)
    first = recipe.endpoint or next(iter(own), "")
    for endpoint in filter(None, (first, *recipe.endpoint_plan.recipes)):
        yield from ((recipe.credential, endpoint) for _ in recipe.labels)


def _list_allowed(endpoint: str, role: str, target: Target, allow: frozenset[Cost]) -> Iterable[Recipe]:
    """List the fault-free request of an endpoint with this role's key, if it may be sent here."""
    recipe = fault_free_request(endpoint)
    if isinstance(recipe, Reason):
        return ()
    lane_recipe = replace(recipe, credential=role)
    is_allowed = all(find_obstacle(request, target, allow) is None for request in (recipe, lane_recipe))
    return (lane_recipe,) if is_allowed else ()


def format_plan(plan: Plan, target: Target, catalog: Catalog, fault_free: Sequence[Recipe] = ()) -> list[str]:
    """Format a plan as lines: each request, the bounds of each provider, and what is not probed."""
    recipes_by_provider = sorted(_group_by_provider(plan.recipes).items())
    lines = [f"plan for target {target.name}: nothing is sent"]
    for provider, recipes in recipes_by_provider:
        lines += format_requests(target.providers[provider], recipes, target)
    for provider, recipes in recipes_by_provider:
        lines += format_provider_bounds(target.providers[provider], recipes, target, catalog, fault_free)
    for code, addresses in sorted(_group_by_code(plan.not_probed).items()):
        lines.append(f"not probed, {code}: {len(addresses)} ({_list_first(addresses, 3)})")
    lines += (line for name in _list_providers(plan) for line in _format_withheld_addresses(name, target))
    return lines


def _list_providers(plan: Plan) -> list[str]:
    return sorted({Address.parse(address).provider for address in (*plan.probed, *plan.not_probed)})


def _format_withheld_addresses(name: str, target: Target) -> Iterator[str]:
    """Yield a line for each default address of a provider that is not asked."""
    provider = target.providers.get(name)
    if provider is None:
        return
    for service in sorted(provider.variables.withheld):
        yield f"not asked, {name} {service}: {provider.advise_missing(service, target.name)}"


def format_requests(provider: Provider, recipes: Sequence[PlannedRecipe], target: Target) -> Iterator[str]:
    """Yield every request once: provider, method, path, label, cost, credential, record. Steps have a bound."""
    name = provider.name
    for rule in distinct_requests(_list_look_ups(provider, recipes, target)):
        pages = f", at most {rule.requests} requests" if rule.requests > 1 else ""
        yield f"{name} GET {rule.ask} look-up free {rule.role}{pages}"
    for rule in _list_look_ups(provider, recipes, target):
        if rule.value not in provider.values:
            yield f"{name} value {rule.value}: looked up, {rule.describe_choice()}"
    for role, method, path in sorted({control for recipe in recipes for control in _list_controls(recipe)}):
        yield f"{name} {method} {path} control free {role}"
    for recipe in recipes:
        parts = (recipe, *recipe.added_parts)
        for part in parts:
            for label, call in part.calls.items():
                key = call.credential_role(part.credential) or "no key"
                yield f"{name} {call.method} {call.path} {label} {part.cost} {key} {recipe.address}"
        for part in parts:
            if part.steps is None:
                continue
            labels = ",".join(sorted(part.labels - part.calls.keys()))
            number = part.requests - len(part.calls)
            waits = f", waiting up to {part.steps.waits_s:g} s" if part.steps.waits_s else ""
            bound = f"steps, at most {number} requests{waits}"
            yield f"{name} {bound} {labels} {part.cost} {part.credential} {recipe.address}"


def format_provider_bounds(
    provider: Provider,
    recipes: Sequence[PlannedRecipe],
    target: Target,
    catalog: Catalog,
    fault_free: Iterable[Recipe] = (),
) -> Iterator[str]:
    """Yield what probing these records of a provider may take, and what of it the budget does not hold.

    `fault_free` are the fault-free requests that may be needed as well.
    """
    own_fault_free = [recipe for recipe in fault_free if recipe.provider == provider.name]
    requests, tokens = upper_bounds(recipes, own_fault_free)
    requests += sum(rule.requests for rule in distinct_requests(_list_look_ups(provider, recipes, target)))
    cost_counts = Counter(str(recipe.cost) for recipe in recipes)
    costs = ", ".join(f"{number} {cost}" for cost, number in sorted(cost_counts.items()))
    sent = sum(len(recipe.endpoint_plan.recipes) for recipe in recipes)
    unsent = sum(len(recipe.endpoint_plan.not_drawn) + len(recipe.endpoint_plan.left_out) for recipe in recipes)
    yield (
        f"{provider.name}: {format_count(len(recipes), 'probe')} ({costs}); "
        f"at most {format_count(requests, 'request')}, {format_count(tokens, 'token')}{_count_unknown(recipes)}; "
        f"{sent} of {sent + unsent} other endpoints"
        f"{_format_variants(recipes)}"
    )
    yield from _format_budget(provider, recipes, (requests, tokens), catalog)


def _count_unknown(recipes: Iterable[PlannedRecipe]) -> str:
    """Say how many billable probes declare no tokens: what they take is unknown, and not nothing."""
    parts_by_recipe = ((recipe, *recipe.added_parts) for recipe in recipes)
    unknown = sum(any(part.cost is Cost.BILLABLE and not part.tokens for part in parts) for parts in parts_by_recipe)
    return f" and those of {format_count(unknown, 'billable probe')} that declare none" if unknown else ""


def _format_variants(recipes: Sequence[PlannedRecipe]) -> str:
    """Return how many of the variants are sent: `, 3 of 60 variants`; empty if there are none."""
    count = sum(len(recipe.variants) for recipe in recipes)
    sent = count - sum(len(recipe.variants_not_drawn) for recipe in recipes)
    return f", {sent} of {count} variants" if count else ""


def _format_budget(
    provider: Provider, recipes: Sequence[PlannedRecipe], bounds: tuple[int, int], catalog: Catalog
) -> Iterator[str]:
    sums = (sum(recipe.requests for recipe in recipes), sum(recipe.tokens for recipe in recipes))
    limits = (provider.limits.max_requests, provider.limits.max_tokens)
    for unit, limit, once, bound in zip(("requests", "tokens"), limits, sums, bounds, strict=True):
        if limit is not None and bound > limit:
            fits = "each probe once fits" if once <= limit else f"each probe once takes {once}"
            yield f"{provider.name}: at most {bound} {unit} exceed the budget max_{unit} = {limit}; {fits}"
    left_out = plan_budget(recipes, provider, catalog).left_out
    if left_out:
        why = "left out first, for they show fewest facts for what they take"
        yield f"{provider.name}: {why}: {len(left_out)} ({_list_first(left_out, 5)})"


def _list_first(addresses: Sequence[str], number: int) -> str:
    return f"{', '.join(addresses[:number])}{', …' if len(addresses) > number else ''}"


def _list_look_ups(provider: Provider, recipes: Sequence[PlannedRecipe], target: Target) -> tuple[LookUpRule, ...]:
    return list_look_ups(recipes, target).get(provider.name, ()) if target.live else ()


def _list_controls(recipe: Recipe) -> Iterator[tuple[str, str, str]]:
    call = book.find_control(recipe)
    if call is not None:
        yield call.credential_role(recipe.credential) or "no key", call.method, call.path


def upper_bounds(recipes: Iterable[Recipe], fault_free: Iterable[Recipe] = ()) -> tuple[int, int]:
    """Return the most requests and tokens that probing can take: every attempt, and each control of each lane once.

    `fault_free` are the fault-free requests that may be needed as well.
    """
    recipes, fault_free = list(recipes), list(fault_free)
    controls = len({(recipe.lane, recipe.control.path if recipe.control else "") for recipe in recipes})
    requests = controls + MAX_ATTEMPTS * sum(recipe.requests for recipe in recipes)
    tokens = MAX_ATTEMPTS * sum(recipe.tokens for recipe in recipes)
    return (
        requests + sum(recipe.requests for recipe in fault_free),
        tokens + sum(recipe.tokens for recipe in fault_free),
    )


def _group_by_provider(recipes: Iterable[PlannedRecipe]) -> dict[str, list[PlannedRecipe]]:
    groups: dict[str, list[PlannedRecipe]] = {}
    for recipe in recipes:
        groups.setdefault(recipe.provider, []).append(recipe)
    return groups


def _group_by_code(not_probed: Mapping[str, Reason]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for address, reason in not_probed.items():
        groups.setdefault(reason.code, []).append(address)
    return groups
