"""Which probes must share a process, and which of them one machine of several takes. Pure.

A lane's probes share one credential and its rate limit, so a lane is never split. All lanes of a provider stay together
if it has a budget, and on a live target, where limits hold for an organization (2:8.2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Address
from catalog_probe.probes.recipes import book

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.probes.targets.target import Target

_SHARD = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several machines that divide a selection among them."""

    number: int
    total: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read `2/3`.

        Raises:
            ValueError: it is not of that form, or its number is above the total.
        """
        match = _SHARD.fullmatch(text)
        if match is None or int(match[1]) > int(match[2]):
            raise ValueError(f"{text!r} is no shard; write 1/3, 2/3 or 3/3 for three machines")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


def find_lane(address: str) -> str:
    """Return the lane of a record; records without a recipe have one that sends nothing."""
    provider = Address.parse(address).provider
    recipe = book.recipe_book(provider).recipes.get(address)
    return recipe.lane if recipe else f"{provider}:none"


def find_group(address: str, target: Target) -> str:
    """Return what an address must share a process with: its lane, or its provider if the lanes share a limit.

    Example: `pa:admin` on a mock, `pa` on a live target.
    """
    provider = Address.parse(address).provider
    return provider if target.shares_limits(provider) else find_lane(address)


def select_addresses(shard: Shard, addresses: Iterable[str], target: Target) -> frozenset[str]:
    """Return the addresses that a shard probes: whole groups, the heaviest first onto the least loaded machine."""
    loads = dict.fromkeys(range(1, shard.total + 1), 0)
    selected: set[str] = set()
    for members in _group_addresses(addresses, target).values():
        number = min(loads, key=lambda machine: (loads[machine], machine))
        loads[number] += _weigh(members)
        if number == shard.number:
            selected.update(members)
    return frozenset(selected)


def lead_address(provider: str, addresses: Iterable[str], target: Target) -> str:
    """Return the address whose shard answers for a provider of which nothing can be probed."""
    own = (address for address in addresses if address.startswith(f"{provider}/"))
    return next(iter(_group_addresses(own, target).values()))[0]


def _group_addresses(addresses: Iterable[str], target: Target) -> Mapping[str, list[str]]:
    """Return the groups, the heaviest first."""
    groups: dict[str, list[str]] = {}
    for address in sorted(addresses):
        groups.setdefault(find_group(address, target), []).append(address)
    ordered = dict(sorted(groups.items(), key=lambda item: (-_weigh(item[1]), item[0])))
    # Records without a recipe join their provider's heaviest group: a shard of only those would look blind.
    for name in [name for name in ordered if name.endswith(":none")]:
        provider = name.partition(":")[0]
        heaviest = next((other for other in ordered if other != name and other.partition(":")[0] == provider), None)
        if heaviest is not None:
            ordered[heaviest].extend(ordered.pop(name))
    return ordered


def _weigh(addresses: Iterable[str]) -> int:
    """Count the requests of these records; each counts at least once, for its own line in the results."""
    total = 0
    for address in addresses:
        recipe = book.recipe_book(Address.parse(address).provider).recipes.get(address)
        total += max(1, recipe.requests if recipe else 0)
    return total
