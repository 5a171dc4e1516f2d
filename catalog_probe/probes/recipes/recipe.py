"""A recipe: how one record's behaviour is provoked, at what cost, and with which key.

A table of recipes reads as "this call, spoiled thus". The rest is derived from the calls: labels, requests, values of
the target, and whether only a mock can cause it. Example, for the record `pa/errors/general/key_revoked`:

    FAMILY = Family("pa/errors/general")
    RECIPES = (FAMILY.recipe("key_revoked", get("/v1/models"), with_key("revoked")),)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Address
from catalog_probe.catalog.model.exchange import ANSWER, SETUP
from catalog_probe.probes.calls import Call
from catalog_probe.probes.targets.target import WRONG_KEY, Cost

if TYPE_CHECKING:
    from collections.abc import Collection

    from catalog_probe.catalog.model import Reason
    from catalog_probe.probes.recipes.probe import Probe

# Sends calls by a probe, in an order of its own.
Run = Callable[["Probe"], Awaitable[None]]

# Spoils one thing in a call, such as its key.
Change = Callable[[Call], Call]

# (address of an endpoint, its minimal request or None) -> what is sent there: one call, which is the `answer`; calls by
# label; or a recipe, for all else. The result is None where nothing provokes the behaviour.
OtherEndpoints = Callable[[str, "Call | None"], "Call | Mapping[str, Call] | Recipe | None"]


@dataclass(frozen=True, slots=True)
class Steps:
    """A coroutine that sends calls, and what cannot be read off a coroutine. `declare_steps` makes such steps.

    Attributes:
        run: sends the calls.
        labels: the labels of its requests that are judged; a setup is not.
        requests: the most requests that it sends in one attempt.
        needs: values of the target that its calls need, e.g. `small_model`.
        roles: credentials that its calls take besides the recipe's own.
        services: addresses that its calls ask besides that of the control.
        waits_s: the most seconds that it waits in one attempt on a live provider.
    """

    run: Run
    labels: tuple[str, ...] = (ANSWER,)
    requests: int = 0
    needs: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    services: frozenset[str] = frozenset()
    waits_s: float = 0.0


def declare_steps(
    *labels: str,
    requests: int,
    needs: Iterable[str] = (),
    roles: Iterable[str] = (),
    services: Iterable[str] = (),
    waits_s: float = 0.0,
) -> Callable[[Run], Steps]:
    """Make steps of the decorated coroutine; without labels, its one judged call is the `answer`.

    Example:
        @declare_steps("deleted", "listed", requests=3, needs={"small_model"})
        async def delete_response(probe: Probe) -> None: ...
    """

    def decorate(run: Run) -> Steps:
        return Steps(
            run, labels or (ANSWER,), requests, frozenset(needs), frozenset(roles), frozenset(services), waits_s
        )

    return decorate


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one record is provoked: calls by label, then steps where order or state matters.

    A recipe must send every label that its record documents, else its result is `recipe-incomplete`. A family makes
    recipes: see `Family.recipe`.

    Attributes:
        address: the address of the record.
        calls: label -> call, in the order in which they are sent.
        steps: what is sent after the calls.
        cost: what the calls may do to the account.
        tokens: the most tokens that one attempt takes.
        credential: role of the key that a call sends if it names none. All recipes of one role share its rate limit:
            they are one lane.
        not_live: reason code and detail, if the recipe is never sent to a live provider.
        control: shows that key and host work, in place of the lane's control.
        endpoint: address of the endpoint that the steps ask, where method and path do not tell.
        optional: name -> part that is sent if the target allows its cost and has its values and keys. A mock has a
            session for each part, so no part meets what another one leaves behind.
        other_endpoints: provokes the same on the record's other endpoints.
        variants: the labels of the calls that vary the `answer`; a live night sends a share of them.
    """

    address: str
    calls: Mapping[str, Call] = field(default_factory=dict)
    steps: Steps | None = None
    cost: Cost = Cost.FREE
    tokens: int = 0
    credential: str = "inference"
    not_live: tuple[str, str] | None = None
    control: Call | None = None
    endpoint: str = ""
    optional: Mapping[str, Recipe] = field(default_factory=dict)
    other_endpoints: OtherEndpoints | None = None
    variants: frozenset[str] = frozenset()

    @property
    def provider(self) -> str:
        return Address.parse(self.address).provider

    @property
    def lane(self) -> str:
        return f"{self.provider}:{self.credential}"

    @property
    def labels(self) -> frozenset[str]:
        """The labels of all that is sent, optional parts included."""
        return self.own_labels | self.optional_labels

    @property
    def own_labels(self) -> frozenset[str]:
        """The labels of calls and steps, without those of the optional parts."""
        return frozenset(self.calls).union(self.steps.labels if self.steps else ())

    @property
    def optional_labels(self) -> frozenset[str]:
        return frozenset(label for part in self.optional.values() for label in part.own_labels)

    @property
    def requests(self) -> int:
        """The most requests of one attempt, without optional parts."""
        return len(self.calls) + (self.steps.requests if self.steps else 0)

    @property
    def needs(self) -> frozenset[str]:
        """The values of the target that calls and steps need, e.g. `small_model`."""
        needs_of_steps = self.steps.needs if self.steps else frozenset()
        return needs_of_steps.union(*(call.placeholders for call in self.calls.values()))

    @property
    def roles(self) -> frozenset[str]:
        """The credentials of the steps, besides the recipe's own. Each call has its own in `Call.credential`."""
        return self.steps.roles if self.steps else frozenset()

    @property
    def services(self) -> frozenset[str]:
        """The addresses that the steps ask. Each call has its own in `Call.service`."""
        return self.steps.services if self.steps else frozenset()

    @property
    def waits_s(self) -> float:
        """The most seconds that one attempt waits on a live provider, without optional parts."""
        return self.steps.waits_s if self.steps else 0.0

    @property
    def costs(self) -> tuple[Cost, ...]:
        """The cost classes that must be allowed: its own, and `slow` if it waits."""
        return (self.cost, Cost.SLOW) if self.waits_s and self.cost is not Cost.SLOW else (self.cost,)

    @property
    def needs_scenario(self) -> bool:
        """Whether a call names a scenario of the mock: no request alone provokes the behaviour."""
        return any(call.mock.scenario for call in self.calls.values())

    @property
    def trigger(self) -> str:
        """`scenario` where only a scenario of the mock provokes it, else `request`."""
        return "scenario" if self.needs_scenario else "request"

    @property
    def is_disruptive(self) -> bool:
        """Whether any part uses up something that fills again with time.

        The mock's clock stands still while such a recipe is sent. Else the result would depend on how much of a limit
        has filled again, and so on how busy the machine is.
        """
        return Cost.DISRUPTIVE in (self.cost, *(part.cost for part in self.optional.values()))

    @property
    def uses_lane_key(self) -> bool:
        """Whether a call takes the lane's key. Steps cannot be read, so they always do."""
        calls = self.calls.values()
        return self.steps is not None or any(call.credential_role(self.credential) == self.credential for call in calls)

    def restrict_to(self, labels: Collection[str]) -> Recipe:
        """Return a copy that sends these labels alone, and what they rely on.

        A call relies on the setup, steps rely on every call, and an optional part is sent whole. Calls without a key of
        the account cost the account nothing. Example: of a billable recipe with the labels `success` and
        `missing_credential`, the latter alone is free.
        """
        sends_steps = self.steps is not None and any(label in labels for label in self.steps.labels)
        sends_calls = sends_steps or any(label in labels for label in self.calls.keys() - {SETUP})
        needed = self.calls.keys() if sends_steps else {SETUP, *labels} if sends_calls else frozenset()
        own_calls = {label: call for label, call in self.calls.items() if label in needed}
        uses_account = sends_steps or any(call.credential not in (None, WRONG_KEY) for call in own_calls.values())
        is_free = not uses_account and self.cost is not Cost.DISRUPTIVE
        return replace(
            self,
            calls=own_calls,
            steps=self.steps if sends_steps else None,
            optional={name: part for name, part in self.optional.items() if not part.labels.isdisjoint(labels)},
            cost=Cost.FREE if is_free else self.cost,
            tokens=0 if is_free else self.tokens,
        )

    def step_for_label(self, label: str) -> Recipe:
        """Return what one label takes as a recipe of its own: the optional part that sends it, or a restricted copy."""
        part = next((part for part in self.optional.values() if label in part.labels), None)
        return part if part is not None else replace(self.restrict_to({label}), other_endpoints=None)

    def with_optional(
        self,
        *groups: Mapping[str, Call | Mapping[str, Call]] | Steps,
        cost: Cost | None = None,
        tokens: int | None = None,
        not_live: tuple[str, str] | None = None,
    ) -> Recipe:
        """Return a copy with more optional parts, at the recipe's own cost and tokens unless the arguments say others.

        Each call is a part with its label as the name. Calls that rely on each other are one part, as a mapping. Steps
        are one part too, with their first label as the name. This example has two parts:
        `{"signed": SIGNED, "marketplace": {"marketplace": FIRST, "marketplace_again": SECOND}}`.
        """
        usual = replace(
            self,
            calls={},
            steps=None,
            optional={},
            other_endpoints=None,
            cost=self.cost if cost is None else cost,
            tokens=self.tokens if tokens is None else tokens,
            not_live=not_live or self.not_live,
        )
        parts = dict(self.optional)
        for group in groups:
            if isinstance(group, Steps):
                parts[group.labels[0]] = replace(usual, steps=group)
                continue
            for name, sent in group.items():
                parts[name] = replace(usual, calls={name: sent} if isinstance(sent, Call) else sent)
        return replace(self, optional=parts)


@dataclass(frozen=True, slots=True)
class EndpointPlan:
    """What a plan decides for the other endpoints of a record, by address."""

    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    """What is sent."""
    left_out: Mapping[str, Reason] = field(default_factory=dict)
    """Why nothing can be sent."""
    not_drawn: tuple[str, ...] = ()
    """Endpoints that are left to another night: a night asks only a share of them (`--depth rotate`)."""


NO_OTHER_ENDPOINTS = EndpointPlan()


@dataclass(frozen=True, kw_only=True)
class PlannedRecipe(Recipe):
    """A recipe as a run sends it: the steps that the target allows, on the lane that they share, and other endpoints.

    Here `requests` and `tokens` are the bounds of all that is sent, the parts and other endpoints included. Without
    `slots`, because these would break `super()` in its properties.

    Attributes:
        left_out: label -> why it is not sent.
        endpoint_plan: what is sent to the record's other endpoints.
        variants_not_drawn: labels of variants that tonight's depth leaves to another night.
    """

    left_out: Mapping[str, Reason] = field(default_factory=dict)
    endpoint_plan: EndpointPlan = NO_OTHER_ENDPOINTS
    variants_not_drawn: tuple[str, ...] = ()

    @classmethod
    def from_recipe(
        cls,
        recipe: Recipe,
        left_out: Mapping[str, Reason],
        endpoint_plan: EndpointPlan = NO_OTHER_ENDPOINTS,
    ) -> PlannedRecipe:
        """Plan a recipe of which nothing but these labels is left out, with all of its variants."""
        written = {item.name: getattr(recipe, item.name) for item in fields(recipe)}
        added = (*recipe.optional.values(), *endpoint_plan.recipes.values())
        tokens = recipe.tokens + sum(part.tokens for part in added)
        planned = {"tokens": tokens, "left_out": left_out, "endpoint_plan": endpoint_plan}
        return cls(**{**written, **planned})

    @property
    def labels(self) -> frozenset[str]:
        """The labels of all steps, those that are left out or not drawn included."""
        return super().labels.union(self.left_out, self.variants_not_drawn)

    @property
    def requests(self) -> int:
        """The most requests of one attempt, with optional parts and other endpoints."""
        return super().requests + sum(part.requests for part in self.added_parts)

    @property
    def waits_s(self) -> float:
        """The most seconds that one attempt waits, with optional parts and other endpoints."""
        return super().waits_s + sum(part.waits_s for part in self.added_parts)

    @property
    def added_parts(self) -> tuple[Recipe, ...]:
        """The optional parts, and what is sent to other endpoints."""
        return (*self.optional.values(), *self.endpoint_plan.recipes.values())


def same_change(change: Change | Mapping[str, Change]) -> OtherEndpoints:
    """Send each endpoint's minimal request with this change; with several changes, one request for each label.

    Example: `same_change(with_key(None))` sends `POST /v1/messages` without a key where that is the minimal request.
    """

    def change_request(_: str, request: Call | None) -> Call | Mapping[str, Call] | None:
        return apply_change(request, change) if request is not None else None

    return change_request


def apply_change(call: Call, change: Change | Mapping[str, Change]) -> Call | dict[str, Call]:
    """Return the changed call, or the changed calls by label: `{"absent": with_key(None)}` -> `{"absent": call}`."""
    return change(call) if callable(change) else vary(call, change)


def vary(call: Call, variants: Mapping[str, Change]) -> dict[str, Call]:
    """Return the call once for each variant, by label; a variant changes the call in one way.

    Example: `vary(get("/v1/models"), by_method("PUT"))` -> `{"put": PUT /v1/models}`.
    """
    return {label: change(call) for label, change in variants.items()}


@dataclass(frozen=True, slots=True)
class Family:
    """The prefix of the addresses of some recipes, `pa/errors/general`; each recipe adds its slug.

    `credential` is the role of the key of all its recipes, unless a recipe names another.
    """

    prefix: str
    credential: str = "inference"

    def recipe(
        self,
        slug: str,
        sent: Call | Mapping[str, Call] | Steps,
        change: Change | Mapping[str, Change] | None = None,
        *,
        variants: Mapping[str, Change] | None = None,
        then: Steps | None = None,
        cost: Cost = Cost.FREE,
        tokens: int = 0,
        credential: str = "",
        not_live: tuple[str, str] | None = None,
        control: Call | None = None,
        endpoint: str = "",
        other_endpoints: OtherEndpoints | None = None,
    ) -> Recipe:
        """Make a row of the family's table: a call, calls by label, or steps; `Recipe` explains the options.

        `change` spoils the call here, and the minimal request of the record's other endpoints likewise. Several changes
        by label make a call each, in place of the call itself. `then` are steps that follow the calls.

        `variants` are for a fact about a set, e.g. "any other method gives 405". The call is sent as the `answer`, and
        once more for each variant, under its label. Variants are sent to this endpoint alone: a set of five methods
        costs five more requests, and not five for each endpoint. A live night sends a share of them (`Rotation`).

        Examples, in `GENERAL = Family("pa/errors/general")`:
            GENERAL.recipe("unknown_path", get("/v1/no-such-path"))
            GENERAL.recipe("key_revoked", get("/v1/models"), with_key("revoked"))
            GENERAL.recipe("unknown_path", get("/v1/no-such-path"), variants=by_method("PUT", "DELETE"))
            GENERAL.recipe("conflict", create_twice, cost=Cost.DESTRUCTIVE)

        Raises:
            TypeError: a change or variants are given without a single call that they change; or steps after steps.
        """
        if change is not None:
            if not isinstance(sent, Call):
                raise TypeError(f"{self.prefix}/{slug}: a change needs one call that it changes")
            other_endpoints = other_endpoints or same_change(change)
            sent = apply_change(sent, change)
        if variants is not None:
            if not isinstance(sent, Call):
                raise TypeError(f"{self.prefix}/{slug}: variants need one call that they change")
            sent = {ANSWER: sent, **vary(sent, variants)}
        calls: Mapping[str, Call] = {}
        if isinstance(sent, Call):
            calls = {ANSWER: sent}
        elif not isinstance(sent, Steps):
            calls = dict(sent)
        elif then is not None:
            raise TypeError(f"{self.prefix}/{slug}: `then` follows calls; write one coroutine for all steps")
        else:
            then = sent
        return Recipe(
            address=f"{self.prefix}/{slug}",
            calls=calls,
            steps=then,
            cost=cost,
            tokens=tokens,
            credential=credential or self.credential,
            not_live=not_live,
            control=control,
            endpoint=endpoint,
            other_endpoints=other_endpoints,
            variants=frozenset(variants or ()),
        )
