"""The plan: which records and endpoints a run probes, within which budget.

A live night asks the first endpoint of each record, endpoints that differed before, and those that are due: crc32 of
record and endpoint, modulo 28, is the day's ordinal modulo 28. So no endpoint's day depends on what else exists.
The variants of a request rotate by the same rule, each by its label, but a live night sends none of a record that
differs. *Not drawn*: a night leaves an endpoint or variant to another night. *Left out*: an obstacle, such as a missing
key, keeps an endpoint or label from being sent. *Not probed*: nothing of a record is sent. Words: docs/concepts.md.
"""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.exchange import ANSWER, SETUP
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.observed import differing_endpoints
from catalog_probe.catalog.reading.assertions import asserted_expectations, assertions
from catalog_probe.catalog.reading.expectations import expectations
from catalog_probe.catalog.reading.facts import Wire, documents_something, load_fact_checks
from catalog_probe.catalog.reading.record_fields import claimed_endpoints, documented_status, own_row
from catalog_probe.catalog.recognition.endpoints import EndpointIndex
from catalog_probe.probes.calls import Call
from catalog_probe.probes.planning.reach import NOTHING_DOCUMENTED, choose_lane, find_obstacle, list_obstacles
from catalog_probe.probes.recipes import book
from catalog_probe.probes.recipes.book import recipes_path
from catalog_probe.probes.recipes.recipe import NO_OTHER_ENDPOINTS, EndpointPlan, PlannedRecipe, Recipe
from catalog_probe.probes.targets.target import Cost

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.probes.recipes.minimal_requests import MinimalRequests
    from catalog_probe.probes.targets.target import Provider, Target


AnyRecipe = TypeVar("AnyRecipe", bound=Recipe)

ROUND_DAYS = 28  # in which every endpoint of every record is asked once


class Depth(StrEnum):
    """Which of a record's endpoints are asked: the first, also a share of the others each night, or all."""

    QUICK = "quick"
    ROTATE = "rotate"
    FULL = "full"


def default_depth(target: Target) -> Depth:
    """Return the depth of a run that names none: `rotate` for a live provider, to save its budget, else `full`."""
    return Depth.ROTATE if target.live and not target.is_compatible else Depth.FULL


@dataclass(frozen=True, slots=True)
class Rotation:
    """Which endpoints a run of this depth asks on this day, and which variants of a request it sends."""

    depth: Depth
    day: date

    def includes(self, record: Record, endpoint: str) -> bool:
        """Whether the run asks this endpoint of a record, which is not the record's first endpoint."""
        if self.depth is not Depth.ROTATE:
            return self.depth is Depth.FULL
        return is_due(str(record.address), endpoint, self.day) or endpoint in differing_endpoints(record)

    def includes_variant(self, record: Record, label: str) -> bool:
        """Whether the run sends this variant of a record's request, e.g. `put` of the 405 of a wrong method.

        A rotating run sends no variant of a record that differs. The variant would show the same drift as `answer`, but
        as `put/status`: an accepted difference of `answer/status` does not cover that key.
        """
        if self.depth is not Depth.ROTATE:
            return self.depth is Depth.FULL
        return is_due(str(record.address), label, self.day) and not differing_endpoints(record)


ALL_ENDPOINTS = Rotation(Depth.FULL, date.min)


def is_due(address: str, name: str, day: date) -> bool:
    """Whether this endpoint (its address) or variant (its label) of a record is due: on one day in `ROUND_DAYS`."""
    return zlib.crc32(f"{address}{name}".encode()) % ROUND_DAYS == day.toordinal() % ROUND_DAYS


def plan_endpoints(
    others: dict[str, Recipe], record: Record, target: Target, allow: frozenset[Cost], rotation: Rotation
) -> EndpointPlan:
    """Decide which of a record's other endpoints a run asks; each recipe of `others` has a label besides `setup`.

    Example: an endpoint whose recipe needs `values.small_model`, which the target lacks, is left out with that reason.
    """
    if not others:
        return NO_OTHER_ENDPOINTS
    sent: dict[str, Recipe] = {}
    left_out: dict[str, Reason] = {}
    not_drawn: list[str] = []
    for endpoint, recipe in others.items():
        if not rotation.includes(record, endpoint):
            not_drawn.append(endpoint)
            continue
        obstacles = list_obstacles(recipe, target, allow)
        sent_labels = recipe.labels - obstacles.keys()
        if sent_labels - {SETUP}:
            sent[endpoint] = recipe.restrict_to(sent_labels)
        else:
            left_out[endpoint] = obstacles[min(obstacles)]  # by label, so that each night tells the same reason
    return EndpointPlan(sent, left_out, tuple(not_drawn))


def draw_variants(planned: PlannedRecipe, record: Record, rotation: Rotation) -> PlannedRecipe:
    """Return the planned recipe without the variants that are not drawn; `variants_not_drawn` keeps their labels."""
    sent = planned.calls.keys() & set(planned.variants)
    not_drawn = {label for label in sent if not rotation.includes_variant(record, label)}
    if not not_drawn:
        return planned
    endpoint_plan = planned.endpoint_plan
    recipes = {endpoint: _leave_out(recipe, not_drawn) for endpoint, recipe in endpoint_plan.recipes.items()}
    return replace(
        _leave_out(planned, not_drawn),
        endpoint_plan=replace(endpoint_plan, recipes=recipes),
        variants_not_drawn=tuple(sorted(not_drawn)),
    )


def _leave_out(recipe: AnyRecipe, labels: Set[str]) -> AnyRecipe:
    """Return the recipe without the calls of these labels."""
    return replace(recipe, calls={label: call for label, call in recipe.calls.items() if label not in labels})


def list_other_endpoints(
    recipe: Recipe, record: Record, catalog: Catalog, minimal_requests: MinimalRequests
) -> dict[str, Recipe]:
    """Return endpoint -> recipe, for endpoints of the record that `other_endpoints` can ask and no own call asks."""
    if recipe.other_endpoints is None:
        return {}
    claimed = claimed_endpoints(record)
    own = own_endpoints(recipe, claimed, catalog)
    recipes = {}
    for endpoint in claimed:
        if endpoint in own:
            continue
        provoked = recipe.other_endpoints(endpoint, minimal_requests.get(endpoint))
        if provoked is not None:
            recipes[endpoint] = adapt_to_endpoint(recipe, endpoint, provoked)
    return recipes


def adapt_to_endpoint(recipe: Recipe, endpoint: str, provoked: Call | Mapping[str, Call] | Recipe) -> Recipe:
    """Return the recipe of another endpoint: what `other_endpoints` gave, at the same cost and with the same key.

    Example: a call for the recipe `key_revoked`, which sends `answer`, is the `answer` of the other endpoint.
    """
    if isinstance(provoked, Recipe):
        return replace(provoked, endpoint=endpoint)
    label = ANSWER if ANSWER in recipe.own_labels else min(recipe.own_labels)
    calls = {label: provoked} if isinstance(provoked, Call) else provoked
    return replace(recipe, calls=calls, steps=None, optional={}, endpoint=endpoint, other_endpoints=None)


def own_endpoints(recipe: Recipe, claimed: Sequence[str], catalog: Catalog) -> frozenset[str]:
    """Return the endpoints that the recipe's own calls ask, by method and path.

    Steps cannot be read, so they ask the endpoint that the recipe names, or else the first one of the record.
    """
    if recipe.endpoint:
        return frozenset({recipe.endpoint})
    index = EndpointIndex.from_records(catalog[endpoint] for endpoint in claimed)
    endpoints = {
        index.find_by_request(call.method, call.path, claimed, streamed=call.stream) for call in recipe.calls.values()
    }
    if recipe.steps is not None:
        endpoints.update(claimed[:1])
    return frozenset(endpoints - {""})


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """The order in which recipes draw on a budget, and which do not fit if each is sent once."""

    order: tuple[str, ...]
    """All addresses, the first to draw on the budget first."""
    left_out: tuple[str, ...] = ()
    """The addresses of `order` that do not fit, the last of `order` first."""

    @property
    def ranks(self) -> Mapping[str, int]:
        return {address: rank for rank, address in enumerate(self.order)}


def plan_budget(recipes: Sequence[Recipe], provider: Provider, catalog: Catalog) -> BudgetPlan:
    """Decide in which order these recipes draw on a provider's budget, and which do not fit.

    If all fit, the given order stays. If not, the recipes that show most facts for their share of the budget come
    first. Example: of two recipes with 10 tokens each and a budget of 15, the one that checks fewer facts is left out.

    Raises:
        CatalogError: the facts of the provider cannot be read.
    """
    tokens, requests = sum(recipe.tokens for recipe in recipes), sum(recipe.requests for recipe in recipes)
    if _fits(provider, tokens, requests):
        return BudgetPlan(tuple(recipe.address for recipe in recipes))
    facts = count_facts(provider.name, catalog)
    ordered = sorted(recipes, key=lambda recipe: (-_facts_per_share(recipe, facts, provider), recipe.address))
    spent_tokens = spent_requests = 0
    left_out = []
    for recipe in ordered:
        if _fits(provider, spent_tokens + recipe.tokens, spent_requests + recipe.requests):
            spent_tokens, spent_requests = spent_tokens + recipe.tokens, spent_requests + recipe.requests
        else:
            left_out.append(recipe.address)
    return BudgetPlan(tuple(recipe.address for recipe in ordered), tuple(reversed(left_out)))


def count_facts(provider: str, catalog: Catalog) -> Mapping[str, int]:
    """Return address of a record -> how many facts with an effect on the wire the record checks."""
    checks = load_fact_checks(provider, catalog)
    counts: Counter[str] = Counter()
    for fact in checks.facts:
        if fact.wire is Wire.YES:
            counts.update({assertion.address for assertion in checks.assertions_for(fact)})
    return counts


def _facts_per_share(recipe: Recipe, facts: Mapping[str, int], provider: Provider) -> float:
    """Return the facts of a recipe, and 1, for the share of the budget that it takes; infinite if it takes nothing."""
    limits = provider.limits
    share = max(_share(recipe.tokens, limits.max_tokens), _share(recipe.requests, limits.max_requests))
    return (1 + facts.get(recipe.address, 0)) / share if share else float("inf")


def _share(amount: int, limit: int | None) -> float:
    return 0.0 if limit is None or not amount else amount / max(1, limit)


def _fits(provider: Provider, tokens: int, requests: int) -> bool:
    return (provider.limits.max_tokens is None or tokens <= provider.limits.max_tokens) and (
        provider.limits.max_requests is None or requests <= provider.limits.max_requests
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """Address of a record -> what a run would send for it, or why the run would not probe it."""

    probed: Mapping[str, PlannedRecipe]
    not_probed: Mapping[str, Reason]

    @property
    def recipes(self) -> tuple[PlannedRecipe, ...]:
        """The recipes of what is probed, in the order of the records."""
        return tuple(self.probed.values())


def make_plan(
    catalog: Catalog,
    target: Target,
    allow: frozenset[Cost],
    addresses: Iterable[str],
    rotation: Rotation = ALL_ENDPOINTS,
) -> Plan:
    """Decide for every address whether it is probed, and on which endpoints; pure but for loading the recipes."""
    probed: dict[str, PlannedRecipe] = {}
    not_probed: dict[str, Reason] = {}
    for address in addresses:
        record = catalog[address]
        recipes = book.recipe_book(record.provider)
        recipe = recipes.recipes.get(address)
        if recipe is None:
            advice = f"add one in {recipes_path(record.provider)}, or a reason to UNPROBED"
            not_probed[address] = recipes.unprobed.get(address, Reason(ReasonCode.NO_RECIPE, advice))
            continue
        planned = fit_to_target(recipe, record, catalog, target, allow, rotation)
        if isinstance(planned, Reason):
            armed = arm_by_row(recipe, record, catalog, recipes.minimal_requests, planned) if target.upstream else None
            if armed is None or find_obstacle(armed, target, allow) is not None:
                not_probed[address] = planned
                continue
            planned = armed
        probed[address] = draw_variants(planned, record, rotation)
    return Plan(probed, not_probed)


def arm_by_row(
    recipe: Recipe, record: Record, catalog: Catalog, minimal_requests: MinimalRequests, obstacle: Reason
) -> PlannedRecipe | None:
    """Return a recipe that makes the mock behind a compatible server fail; None if the record is no 429 or 5xx.

    None as well if the recipe has several steps, or no endpoint of the record has a minimal request. The mock
    answers that request with the error of the record's row, so no account in a special state is needed. Example:
    `pc/errors/rate_limit/insufficient_quota` needs the key of an account without a quota. The armed recipe sends
    `POST /v1/responses` with the ordinary key and the scenario `2:7.5#insufficient_quota`.
    """
    endpoint = next((endpoint for endpoint in claimed_endpoints(record) if endpoint in minimal_requests), None)
    is_upstream_fault = any(status == 429 or status >= 500 for status in documented_status(record).members)
    has_one_step = len(recipe.own_labels) == 1
    if endpoint is None or not (is_upstream_fault and has_one_step):
        return None
    rules = [rule for step in asserted_expectations(record, catalog.__getitem__) for rule in step.headers]
    has_delay = any(rule.name == "retry-after" and rule.rule != "absent" and not rule.optional for rule in rules)
    fault = f"{own_row(record)};retry_after=1" if has_delay else own_row(record)
    armed = adapt_to_endpoint(recipe, endpoint, minimal_requests[endpoint].with_scenario(fault))
    # The mock fails for any key and at no cost, so the key, cost and control of the record's own recipe do not matter.
    armed = replace(armed, cost=Cost.FREE, credential="inference", not_live=None, control=None)
    return PlannedRecipe.from_recipe(armed, dict.fromkeys(recipe.optional_labels, obstacle))


def fit_to_target(
    recipe: Recipe,
    record: Record,
    catalog: Catalog,
    target: Target,
    allow: frozenset[Cost],
    rotation: Rotation = ALL_ENDPOINTS,
) -> PlannedRecipe | Reason:
    """Return what of a recipe a target can send, on its own and the record's other endpoints, or why nothing can be.

    Example: three steps need one key, and one step needs another, which is not set. Three of four steps are planned.
    """
    left_out = list_obstacles(recipe, target, allow)
    if left_out:
        left_out |= _list_dependent_obstacles(left_out, record, catalog)
    labels = recipe.labels - left_out.keys()
    if not labels - {SETUP}:
        return find_obstacle(recipe, target, allow) or left_out[min(left_out)]
    documented = list_documented_labels(record, catalog)
    if labels.isdisjoint(documented):
        reasons = [left_out[label] for label in sorted(documented & left_out.keys())]
        return reasons[0] if reasons else NOTHING_DOCUMENTED
    provider = target.providers[recipe.provider]
    sent = choose_lane(recipe.restrict_to(labels), provider)
    minimal_requests = book.recipe_book(record.provider).minimal_requests
    # A result has one reason for a label, so a label that is left out is left out on the other endpoints as well.
    others = {
        endpoint: other.restrict_to(other.labels - left_out.keys())
        for endpoint, other in list_other_endpoints(recipe, record, catalog, minimal_requests).items()
        if other.labels - left_out.keys() - {SETUP}
    }
    return PlannedRecipe.from_recipe(sent, left_out, plan_endpoints(others, record, target, allow, rotation))


def list_documented_labels(record: Record, catalog: Catalog) -> frozenset[str]:
    """Return the labels with a documented assertion; all that a record asserts under another label is assumed."""
    by_label: dict[str, list[Assertion]] = {}
    for assertion in assertions(record, catalog.__getitem__):
        by_label.setdefault(assertion.key.label, []).append(assertion)
    return frozenset(label for label, of_label in by_label.items() if documents_something(of_label))


def _list_dependent_obstacles(left_out: Mapping[str, Reason], record: Record, catalog: Catalog) -> dict[str, Reason]:
    """Return label -> reason, for labels that mean something only after a label that is left out for this reason.

    Example: `listed` depends on `created`, whose key is missing -> `{"listed": credential-missing}`.
    """
    dependent: dict[str, Reason] = {}
    for expectation in expectations(record, catalog.__getitem__):
        missing = sorted(label for label in expectation.depends_on if label in left_out or label in dependent)
        if missing and expectation.label not in left_out:
            dependent[expectation.label] = left_out.get(missing[0]) or dependent[missing[0]]
    return dependent


def controlled_lanes(plan: Plan) -> tuple[str, ...]:
    """Return the lanes of a plan in which each recipe has a control."""
    uncontrolled = {recipe.lane for recipe in plan.recipes if book.find_control(recipe) is None}
    return tuple(sorted({recipe.lane for recipe in plan.recipes} - uncontrolled))
