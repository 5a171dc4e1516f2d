"""A recipe: how one record's behaviour is provoked, at what cost, and with which key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypedDict, Unpack

from catalog_probe.catalog.model import Address
from catalog_probe.catalog.model.labels import ANSWER, SETUP
from catalog_probe.probes.calls.call import Call
from catalog_probe.probes.targets.target import Cost

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Reason
    from catalog_probe.probes.recipes.probe import Probe

Steps = Callable[["Probe"], Awaitable[None]]

Elsewhere = Callable[[str, "Call | None"], "Call | Mapping[str, Call] | Recipe | None"]
"""The address of an endpoint and its shape, if it has one -> what is sent there: a call, calls by label, or a recipe of
its own; None where nothing provokes it."""


@dataclass(frozen=True, slots=True)
class Spread:
    """What a plan makes of a record's other endpoints, by address: sent, not sent and why, not drawn tonight."""

    cells: Mapping[str, Recipe] = field(default_factory=dict)
    left_out: Mapping[str, Reason] = field(default_factory=dict)
    not_drawn: tuple[str, ...] = ()


NOWHERE = Spread()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one record is elicited: a table of calls by label, or steps where their order or state matters.

    Where it has both, the calls come first. `requests` and `tokens` are upper bounds for one attempt, used by `--plan`
    and by the budgets. `credential` is the role of the key whose rate budget the probe uses: its lane. `needs` names
    values of the target, `roles` credentials beyond those of the calls, `services` addresses beyond those of the calls
    and the control. `live` is why it is never probed live (a reason code and its detail), or None. `optional` holds, by
    a name, what is looked at besides, under one label or several, where a target allows it and has what it takes;
    `left_out` says of the labels of the others why not. `unsent` is why nothing is sent under the record's other
    labels, which only recorded traffic can show (a reason code and its detail), or None where every label is sent.
    `endpoint` is the address of the endpoint that its steps ask,
    where method and path do not tell. `elsewhere` provokes the same on the record's other endpoints; a plan makes
    `spread` of it: what is sent there tonight.

    Looks and other endpoints that are `apart`, under a name, rest on nothing that the record sends besides, nor may it
    meet what they leave behind; only those of the same name may. A mock has a session for each name.
    """

    address: str
    calls: Mapping[str, Call] = field(default_factory=dict)
    steps: Steps | None = None
    labels: frozenset[str] = frozenset()
    cost: Cost = Cost.FREE
    credential: str = "inference"
    requests: int = 0
    tokens: int = 0
    needs: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    services: frozenset[str] = frozenset()
    scenario: bool = False
    live: tuple[str, str] | None = None
    unsent: tuple[str, str] | None = None
    control: Call | None = None
    optional: Mapping[str, Recipe] = field(default_factory=dict)
    left_out: Mapping[str, Reason] = field(default_factory=dict)
    endpoint: str = ""
    elsewhere: Elsewhere | None = None
    spread: Spread = NOWHERE
    apart: str = ""

    @property
    def provider(self) -> str:
        return Address.parse(self.address).provider

    @property
    def lane(self) -> str:
        return f"{self.provider}:{self.credential}"

    def look_under(self, label: str) -> Recipe:
        """What is sent under this label: one of its optional looks, or itself."""
        return next((look for look in self.optional.values() if label in look.labels), self)

    @property
    def trigger(self) -> str:
        """`scenario` where only a cause named to the mock provokes it, else `request`."""
        return "scenario" if self.scenario else "request"

    @property
    def uses_up(self) -> bool:
        """Whether it uses something up that fills again meanwhile. On a mock time stands still for it: else what it
        sees would hang on how busy the machine is.
        """
        return Cost.DISRUPTIVE in (self.cost, *(look.cost for look in self.optional.values()))

    def at(self, endpoint: str, provoked: Call | Mapping[str, Call] | Recipe) -> Recipe:
        """The same on another endpoint, at the same cost: these calls instead of its own calls, steps and looks.

        Calls are apart from its own, unless what its steps or its setup did may be what they meet.
        """
        if isinstance(provoked, Recipe):
            return replace(provoked, endpoint=endpoint)
        beside = frozenset(label for look in self.optional.values() for label in look.labels)
        calls = {min(self.labels - beside): provoked} if isinstance(provoked, Call) else dict(provoked)
        own = recipe(
            self.address,
            calls,
            cost=self.cost,
            credential=self.credential,
            tokens=self.tokens,
            live=self.live,
            control=self.control,
        )
        alone = self.steps is None and SETUP not in self.calls
        return replace(own, endpoint=endpoint, apart=endpoint if alone else "")


@dataclass(frozen=True, slots=True)
class Unfinished:
    """In the place of a recipe that is still to be written: its record is not probed, and the check says why."""

    address: str


class RecipeOptions(TypedDict, total=False):
    """What may be said of any recipe and is kept as it is said; `Recipe` tells what each of them means."""

    cost: Cost
    credential: str
    tokens: int
    live: tuple[str, str] | None
    unsent: tuple[str, str] | None
    control: Call | None
    endpoint: str
    elsewhere: Elsewhere | None


class StepOptions(RecipeOptions, total=False):
    """What may be said of a recipe with steps; `labels` and `requests` are those of the steps."""

    labels: Iterable[str]
    requests: int
    needs: Iterable[str]
    roles: Iterable[str]
    services: Iterable[str]


class RowOptions(StepOptions, total=False):
    """What may be said of a row of a table; `label` is that of its only call, or of all that its steps send."""

    label: str
    steps: Steps | None
    scenario: bool | None
    optional: Mapping[str, Recipe]


def recipe(
    address: str,
    calls: Call | Mapping[str, Call] | None = None,
    *,
    label: str = ANSWER,
    steps: Steps | None = None,
    labels: Iterable[str] = (),
    requests: int = 0,
    needs: Iterable[str] = (),
    roles: Iterable[str] = (),
    services: Iterable[str] = (),
    scenario: bool | None = None,
    optional: Mapping[str, Recipe] | None = None,
    **options: Unpack[RecipeOptions],
) -> Recipe:
    """A row of a recipe table: one call, or calls by label, sent in order; then steps, where it has any.

    Whether it needs a scenario, and which values of the target, is read off the calls unless told.
    """
    by_label = {label: calls} if isinstance(calls, Call) else dict(calls or {})
    looks = optional or {}
    judged = frozenset((*by_label, *labels)).union(*(each.labels for each in looks.values()))
    return Recipe(
        address=address,
        calls=by_label,
        steps=steps,
        labels=judged or frozenset({label}),
        requests=len(by_label) + requests,
        needs=frozenset(needs).union(*(each.placeholders for each in by_label.values())),
        roles=frozenset(roles),
        services=frozenset(services),
        scenario=any(each.mock.scenario for each in by_label.values()) if scenario is None else scenario,
        optional=looks,
        **options,
    )


def each_apart(looks: Mapping[str, Recipe]) -> dict[str, Recipe]:
    """Looks of which each is apart from all others."""
    return {name: replace(look, apart=name) for name, look in looks.items()}


@dataclass(frozen=True, slots=True)
class Family:
    """Where the addresses of some recipes begin, `pa/errors/general`: a row adds its slug, steps their own name."""

    prefix: str

    def recipe(
        self, slug: str, calls: Call | Mapping[str, Call] | None = None, **options: Unpack[RowOptions]
    ) -> Recipe:
        """A row of the family's table, as `recipe` makes it."""
        return recipe(f"{self.prefix}/{slug}", calls, **options)

    def unfinished(self, slug: str) -> Unfinished:
        """A row that is still to be written: what a scaffold leaves, so that nothing passes unseen."""
        return Unfinished(f"{self.prefix}/{slug}")

    def stepwise(self, slug: str = "", **options: Unpack[StepOptions]) -> Callable[[Steps], Recipe]:
        """Make a recipe of a coroutine that sends its calls in its own order; `requests` bounds how many.

        The slug is the coroutine's name unless told.
        """

        def decorate(steps: Steps) -> Recipe:
            return recipe(f"{self.prefix}/{slug or steps.__name__}", steps=steps, **options)

        return decorate
