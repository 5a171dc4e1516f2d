"""A recipe: how one record's behaviour is provoked, at what cost, and with which key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog.model import Address
from probes.calls.call import Call
from probes.target.target import Cost

if TYPE_CHECKING:
    from catalog.model import Reason
    from probes.elicit.probe import Probe

Steps = Callable[["Probe"], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one record is elicited: a table of calls by label, or steps where their order or state matters.

    `requests` and `tokens` are upper bounds for one attempt, used by `--plan` and by the budgets. `credential` is the
    role of the key whose rate budget the probe uses: its lane. `needs` names values of the target beyond the
    placeholders of the calls, `roles` credentials beyond those of the calls. `live` is why it is never probed live
    (a reason code and its detail), or None. `optional` holds, by label, what is looked at besides where a target
    allows it and has what it takes; `left_out` says of the others why not.
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
    scenario: bool = False
    live: tuple[str, str] | None = None
    control: Call | None = None
    optional: Mapping[str, Recipe] = field(default_factory=dict)
    left_out: Mapping[str, Reason] = field(default_factory=dict)

    @property
    def provider(self) -> str:
        return Address.parse(self.address).provider

    @property
    def lane(self) -> str:
        return f"{self.provider}:{self.credential}"

    @property
    def elicited(self) -> str:
        """`scenario` where only a cause named to the mock provokes it, else `request`."""
        return "scenario" if self.scenario else "request"


def recipe(
    address: str, call: Call | Mapping[str, Call] | None = None, *, label: str = "answer", **options: Any
) -> Recipe:
    """A row of a recipe table: one call (judged as `label`), or calls by label, sent in order."""
    calls = {label: call} if isinstance(call, Call) else dict(call or {})
    if calls:
        options.setdefault("requests", len(calls))
        options.setdefault("scenario", any(each.mock.scenario for each in calls.values()))
        options["needs"] = frozenset(options.get("needs", ())).union(*(each.placeholders for each in calls.values()))
    labels = frozenset(calls) | frozenset(options.pop("labels", ())) | frozenset(options.get("optional", ()))
    return Recipe(address=address, calls=calls, labels=labels, **options)


def stepwise(
    address: str, *, labels: Iterable[str] = ("answer",), requests: int, **options: Any
) -> Callable[[Steps], Recipe]:
    """Make a recipe of a coroutine that sends its calls in its own order; `requests` bounds how many."""

    def decorate(steps: Steps) -> Recipe:
        needs = frozenset(options.pop("needs", ()))
        return Recipe(address=address, steps=steps, labels=frozenset(labels), requests=requests, needs=needs, **options)

    return decorate
