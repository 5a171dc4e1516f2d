"""By whom a record, and each of its statements, can be observed: from recipes, costs, keys and values. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import ANSWER
from catalog_probe.catalog.model.reach import Reach
from catalog_probe.catalog.reading.assertions import ANOTHER_REVISION, assertions
from catalog_probe.catalog.reading.facts import NOT_ON_THE_WIRE
from catalog_probe.probes.planning.obstacles import lacking, obstacle
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import Cost, Credential, Provider

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.probes.recipes.book import RecipeBook
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.target import Target


@dataclass(frozen=True, slots=True)
class Reached:
    """A reach, and why it is no better: what it takes besides, or why no client can bring it about."""

    reach: Reach
    why: str = ""

    @property
    def rank(self) -> int:
        """0 for the reach with the fewest needs."""
        return list(Reach).index(self.reach)


REACH_BY_REASON: Mapping[str, Reach] = {
    ReasonCode.NO_DOCUMENTED_SETUP: Reach.MOCK,
    ReasonCode.NOT_ON_THE_WIRE: Reach.OFF_WIRE,
    ReasonCode.INVISIBLE_TO_CLIENT: Reach.OFF_WIRE,
    ReasonCode.SURFACE_OUT_OF_REACH: Reach.OFF_WIRE,
}
"""Why nothing is ever sent to a live provider -> who can observe it then; for any other reason, traffic shows it."""

FLOORS: Mapping[str, Reached] = {
    "": Reached(Reach.ONE_KEY),
    "needs-an-account-state": Reached(Reach.MORE, "an account in that state"),
    "only-the-provider": Reached(Reach.TRAFFIC, "only the provider can cause it"),
    NOT_ON_THE_WIRE: Reached(Reach.OFF_WIRE, "it is not on the wire"),
    ANOTHER_REVISION: Reached(Reach.MORE, "another revision than the usual one"),
}
"""What a record says of a statement (`out_of_reach`) -> the best that its reach can be."""

NO_RECIPE = Reason(ReasonCode.NO_RECIPE, "no recipe provokes it")
ONLY_A_CAUSE = Reached(Reach.TRAFFIC, "no request can provoke it")


@dataclass(frozen=True, slots=True)
class Reaches:
    """The reach of everything that one provider's recipes look at.

    `plain` is the provider as a target has it with nothing but the first key.
    """

    book: RecipeBook
    plain: Provider

    @classmethod
    def of(cls, book: RecipeBook, name: str, target: Target) -> Reaches:
        """With the first key and its host, what can then be looked up on the account, and the target's own values."""
        provider = target.providers.get(name, Provider(name))
        keys = {role: Credential(role, "a key that is somebody's") for role in list(provider.credentials)[:1]}
        values = {each: text for each, text in provider.values.items() if _is_own(provider, f"values.{each}")}
        addresses = {each: text for each, text in provider.addresses.items() if _is_own(provider, each)}
        addresses["base_url"] = "the address that the key is of"
        plain = replace(provider, credentials=keys, values=values, addresses=addresses)
        return cls(book, replace(target, providers={name: plain}).before_look_ups().providers[name])

    def of_recipe(self, recipe: Recipe) -> Reached:
        """Who can send this, looks and other endpoints aside."""
        if recipe.not_live is not None:
            return _by_reason(Reason(*recipe.not_live))
        if recipe.needs_scenario:
            return ONLY_A_CAUSE
        needs = [] if recipe.cost is Cost.FREE else [f"cost {recipe.cost}"]
        needs += lacking(recipe, self.plain)
        return Reached(Reach.MORE, ", ".join(needs)) if needs else Reached(Reach.ONE_KEY)

    def of_label(self, address: str, label: str) -> Reached:
        """Who can observe what a record documents under one label."""
        recipe = self.book.recipes.get(address)
        if recipe is None:
            return _by_reason(self.book.unprobed.get(address, NO_RECIPE))
        if label not in recipe.labels:
            return Reached(Reach.TRAFFIC, recipe.not_sent[1] if recipe.not_sent else "nothing is sent under its label")
        return worst(self.of_recipe(recipe), self.of_recipe(recipe.part_for_label(label)))

    def of_assertion(self, assertion: Assertion) -> Reached:
        """Who can observe one statement: neither more than its recipe shows nor more than its record says."""
        labels = (assertion.key.label, *assertion.compared_labels)
        shown = (self.of_label(assertion.address, label) for label in labels)
        return worst(*shown, FLOORS[assertion.out_of_reach])

    def of_record(self, record: Record, catalog: Catalog) -> Reached:
        """Who can observe a record: whoever can observe any documented statement that its recipe asks for."""
        address = str(record.address)
        recipe = self.book.recipes.get(address)
        if recipe is None:
            return self.of_label(address, ANSWER)
        asked = [each for each in assertions(record, catalog.__getitem__) if each.key.label in recipe.labels]
        documented = [assertion for assertion in asked if assertion.basis is Basis.DOCUMENTED]
        return best(map(self.of_assertion, documented or asked)) if asked else self.of_recipe(recipe)

    def looks_at(self, assertion: Assertion) -> bool:
        """Whether something is sent under its label, or it is left to recorded traffic on purpose."""
        recipe = self.book.recipes.get(assertion.address)
        return recipe is not None and (assertion.key.label in recipe.labels or recipe.not_sent is not None)

    def can_observe(self, assertion: Assertion, target: Target) -> bool:
        """Whether a target, with its keys, its values and the costs that it allows, can ask for a statement."""
        recipe, labels = self.book.recipes.get(assertion.address), {assertion.key.label, *assertion.compared_labels}
        if recipe is None or not labels <= recipe.labels:
            return False
        parts = (recipe, *map(recipe.part_for_label, labels))
        return all(obstacle(part, target, target.allow) is None for part in parts)


def all_reaches(books: Mapping[str, RecipeBook], target: Target) -> dict[str, Reaches]:
    """The reaches of each provider; what one key has is read off the shipped live target where this one is a mock.

    Raises:
        TargetError: the shipped live target cannot be read.
    """
    live = target if target.live else targets.load("live", {})
    return {name: Reaches.of(book, name, live if name in live.providers else target) for name, book in books.items()}


def best(reached: Iterable[Reached]) -> Reached:
    """The one with the fewest needs; the first of several."""
    return min(reached, key=lambda one: one.rank)


def worst(*reached: Reached) -> Reached:
    """The one with the most needs; the first of several."""
    return max(reached, key=lambda one: one.rank)


def _is_own(provider: Provider, place: str) -> bool:
    """Whether what stands there is the target's own, and not somebody's variable."""
    return place not in provider.variables or place in provider.defaulted


def _by_reason(reason: Reason) -> Reached:
    return Reached(REACH_BY_REASON.get(reason.code, Reach.TRAFFIC), reason.detail)
