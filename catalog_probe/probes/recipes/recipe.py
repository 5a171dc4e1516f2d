"""A recipe: how one record's behaviour is provoked, at what cost, and with which key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypedDict, Unpack

from catalog_probe.catalog.model import Address
from catalog_probe.catalog.model.exchange import ANSWER, SETUP
from catalog_probe.probes.calls import Call
from catalog_probe.probes.targets.target import Cost

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Reason
    from catalog_probe.probes.recipes.probe import Probe

Steps = Callable[["Probe"], Awaitable[None]]

# (address of an endpoint, its minimal request or None) -> what is sent there: a call, calls by label, or a recipe;
# None where nothing provokes the behaviour.
OtherEndpoints = Callable[[str, "Call | None"], "Call | Mapping[str, Call] | Recipe | None"]


@dataclass(frozen=True, slots=True)
class EndpointPlan:
    """What a plan decides for the other endpoints of a record, by address."""

    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    """What is sent."""
    left_out: Mapping[str, Reason] = field(default_factory=dict)
    """Why nothing can be sent."""
    not_drawn: tuple[str, ...] = ()
    """Endpoints that tonight's depth leaves to another night."""


NO_OTHER_ENDPOINTS = EndpointPlan()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one record is provoked: calls by label, then steps where order or state matters.

    Every step that the record documents is sent under its label. `requests` and `tokens` are upper bounds for one
    attempt, for plan and budgets. A reason is a reason code and its detail.

    Attributes:
        credential: role of the key whose rate limit the probe shares: its lane.
        needs: values of the target.
        roles: credentials besides those of the calls.
        services: addresses besides those of the calls and the control.
        needs_scenario: whether only a mock, told to by a scenario, provokes it.
        not_live: why it is never probed live, or None.
        control: what shows that key and host work, if it is not the lane's control.
        optional: further parts by name, each with labels of its own, sent where the target allows it and has what it
            takes.
        left_out: why parts of `optional` are not sent, by label.
        endpoint: address of the endpoint that the steps ask, where method and path do not tell.
        other_endpoints: provokes the same on the record's other endpoints. A plan makes `endpoint_plan` of it.
        mock_session: the session of a mock in which a part or another endpoint is sent, so that it does not meet what
            the rest leaves behind; only parts of the same name share it. Empty for the session of the attempt.
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
    needs_scenario: bool = False
    not_live: tuple[str, str] | None = None
    control: Call | None = None
    optional: Mapping[str, Recipe] = field(default_factory=dict)
    left_out: Mapping[str, Reason] = field(default_factory=dict)
    endpoint: str = ""
    other_endpoints: OtherEndpoints | None = None
    endpoint_plan: EndpointPlan = NO_OTHER_ENDPOINTS
    mock_session: str = ""

    @property
    def provider(self) -> str:
        return Address.parse(self.address).provider

    @property
    def lane(self) -> str:
        return f"{self.provider}:{self.credential}"

    @property
    def optional_labels(self) -> frozenset[str]:
        return frozenset(label for part in self.optional.values() for label in part.labels)

    def part_for_label(self, label: str) -> Recipe:
        """Return what is sent under this label: one of the optional parts, or the recipe itself."""
        return next((part for part in self.optional.values() if label in part.labels), self)

    @property
    def trigger(self) -> str:
        """`scenario` where only a scenario of the mock provokes it, else `request`."""
        return "scenario" if self.needs_scenario else "request"

    @property
    def is_disruptive(self) -> bool:
        """Whether any part uses up something that fills again with time.

        A mock's clock stands still for it: else the result would depend on how busy the machine is.
        """
        return Cost.DISRUPTIVE in (self.cost, *(part.cost for part in self.optional.values()))

    def for_endpoint(self, endpoint: str, provoked: Call | Mapping[str, Call] | Recipe) -> Recipe:
        """Return the same at the same cost on another endpoint, with these calls instead of calls, steps and parts.

        The calls have a mock session of their own, unless they may rely on what the recipe's steps or setup did.
        """
        if isinstance(provoked, Recipe):
            return replace(provoked, endpoint=endpoint)
        own_labels = self.labels - self.optional_labels
        calls = {min(own_labels): provoked} if isinstance(provoked, Call) else dict(provoked)
        endpoint_recipe = recipe(
            self.address,
            calls,
            cost=self.cost,
            credential=self.credential,
            tokens=self.tokens,
            not_live=self.not_live,
            control=self.control,
        )
        is_independent = self.steps is None and SETUP not in self.calls
        return replace(endpoint_recipe, endpoint=endpoint, mock_session=endpoint if is_independent else "")


class RecipeOptions(TypedDict, total=False):
    """Options of any recipe; `Recipe` explains them."""

    cost: Cost
    credential: str
    tokens: int
    not_live: tuple[str, str] | None
    control: Call | None
    endpoint: str
    other_endpoints: OtherEndpoints | None


class StepOptions(RecipeOptions, total=False):
    """Options of a recipe with steps; `labels` and `requests` are those of the steps."""

    labels: Iterable[str]
    requests: int
    needs: Iterable[str]
    roles: Iterable[str]
    services: Iterable[str]


class RowOptions(StepOptions, total=False):
    """Options of a row of a table; `label` is that of its only call, or of all that its steps send."""

    label: str
    steps: Steps | None
    needs_scenario: bool | None
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
    needs_scenario: bool | None = None,
    optional: Mapping[str, Recipe] | None = None,
    **options: Unpack[RecipeOptions],
) -> Recipe:
    """Make a row of a recipe table: one call, or calls by label in order; then steps, if any.

    The calls tell whether it needs a scenario and which values of the target, unless the options say so.
    """
    calls_by_label = {label: calls} if isinstance(calls, Call) else dict(calls or {})
    parts = optional or {}
    judged_labels = frozenset((*calls_by_label, *labels)).union(*(part.labels for part in parts.values()))
    if needs_scenario is None:
        needs_scenario = any(call.mock.scenario for call in calls_by_label.values())
    return Recipe(
        address=address,
        calls=calls_by_label,
        steps=steps,
        labels=judged_labels or frozenset({label}),
        requests=len(calls_by_label) + requests,
        needs=frozenset(needs).union(*(call.placeholders for call in calls_by_label.values())),
        roles=frozenset(roles),
        services=frozenset(services),
        needs_scenario=needs_scenario,
        optional=parts,
        **options,
    )


def isolate_each(parts: Mapping[str, Recipe]) -> dict[str, Recipe]:
    """Return the parts, each in a mock session of its own."""
    return {name: replace(part, mock_session=name) for name, part in parts.items()}


@dataclass(frozen=True, slots=True)
class Family:
    """The prefix of the addresses of some recipes, `pa/errors/general`; each recipe adds its slug.

    `credential` is the role of the key of all its recipes, unless a recipe names another.
    """

    prefix: str
    credential: str = "inference"

    def recipe(
        self, slug: str, calls: Call | Mapping[str, Call] | None = None, **options: Unpack[RowOptions]
    ) -> Recipe:
        """Make a row of the family's table; see `recipe`."""
        options.setdefault("credential", self.credential)
        return recipe(f"{self.prefix}/{slug}", calls, **options)

    def optional_calls(
        self, slug: str, calls: Mapping[str, Call], **options: Unpack[RecipeOptions]
    ) -> dict[str, Recipe]:
        """Make an optional part of each call, by its label: sent where the target has what the call takes."""
        return {label: self.recipe(slug, call, label=label, **options) for label, call in calls.items()}

    def stepwise(self, slug: str = "", **options: Unpack[StepOptions]) -> Callable[[Steps], Recipe]:
        """Make a recipe of a coroutine that sends calls in an order of its own, at most `requests`.

        The slug is the coroutine's name by default.
        """

        def decorate(steps: Steps) -> Recipe:
            return self.recipe(slug or steps.__name__, steps=steps, **options)

        return decorate
