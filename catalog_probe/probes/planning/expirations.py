"""Values of an account that will end, such as models that are retired, and the records that need them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.probes.planning.look_ups import list_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.look_ups import LookUpResult
    from catalog_probe.probes.targets.target import Target


@dataclass(frozen=True, slots=True)
class Expiration:
    """A value that ends on a day, and how many records then cannot be observed."""

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


def find_expirations(target: Target, looked_up: Sequence[LookUpResult], recipes: Iterable[Recipe]) -> list[Expiration]:
    """List the values with a known end that these recipes need, the nearest end first."""
    recipes = list(recipes)
    expirations = [
        expiration
        for found_values in looked_up
        for expiration in _list_expirations(target, found_values, recipes)
        if expiration.records
    ]
    return sorted(expirations, key=lambda expiration: (expiration.on, expiration.provider, expiration.what))


def _list_expirations(target: Target, looked_up: LookUpResult, recipes: Sequence[Recipe]) -> Iterator[Expiration]:
    provider = target.providers[looked_up.provider]
    for name, day in looked_up.expirations.items():
        records = sum(recipe.provider == looked_up.provider and name in list_values(recipe) for recipe in recipes)
        variable = provider.variables.get(f"values.{name}")
        mend = f"name another in {variable}" if variable else f"name another in providers.{provider.name}.values"
        if name in looked_up.values:
            mend = provider.advise_missing(f"values.{name}", target.name)
        yield Expiration(looked_up.provider, f"`{name}` ({provider.values.get(name, '')})", day, records, mend)
