"""What a run rests on that has an end: values of an account, such as models that are retired."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.probes.planning.look_ups import values_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.look_ups import LookedUp
    from catalog_probe.probes.targets.target import Target


@dataclass(frozen=True, slots=True)
class Expiration:
    """Something that will not be there from a day on, and how many records would then go blind."""

    provider: str
    what: str
    on: date
    records: int
    mend: str

    def to_json(self) -> dict[str, Json]:
        return {
            "provider": self.provider,
            "what": self.what,
            "on": self.on.isoformat(),
            "records": self.records,
            "mend": self.mend,
        }


def find_expirations(target: Target, looked_up: Sequence[LookedUp], recipes: Iterable[Recipe]) -> list[Expiration]:
    """Whatever these recipes rest on that tells its end, the nearest first; what nothing rests on is left out."""
    chosen = list(recipes)
    found = [each for told in looked_up for each in _of_values(target, told, chosen)]
    return sorted((each for each in found if each.records), key=lambda each: (each.on, each.provider, each.what))


def _of_values(target: Target, told: LookedUp, recipes: Sequence[Recipe]) -> Iterator[Expiration]:
    provider = target.providers[told.provider]
    for name, day in told.expirations.items():
        records = sum(each.provider == told.provider and name in values_of(each) for each in recipes)
        variable = provider.variables.get(f"values.{name}")
        mend = f"name another in {variable}" if variable else f"name another in providers.{provider.name}.values"
        if name in told.values:
            mend = provider.missing(f"values.{name}", target.name)
        yield Expiration(told.provider, f"`{name}` ({provider.values.get(name, '')})", day, records, mend)
