"""Which probes must share a process, and which of them a machine of several takes. Pure.

A lane's probes share one credential and so one rate; they are never split. Where a provider has a budget, all its
lanes draw on it and stay together too; so they do on a live target, for limits hold for an organization (2:8.2).
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
    """One of several machines that probe the same selection between them."""

    number: int
    total: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read `2/3`.

        Raises:
            ValueError: it is not of that form, or its number is above the total.
        """
        found = _SHARD.fullmatch(text)
        if found is None or int(found[1]) > int(found[2]):
            raise ValueError(f"{text!r} is no shard; write 1/3, 2/3 or 3/3 for three machines")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


def lane_of(address: str) -> str:
    """The lane of a record; records without a recipe wait in one that sends nothing."""
    provider = Address.parse(address).provider
    recipe = book.recipe_book(provider).recipes.get(address)
    return recipe.lane if recipe else f"{provider}:none"


def group_of(address: str, target: Target) -> str:
    """What an address is kept together with in one process: its lane, or its provider where its lanes share a limit."""
    provider = Address.parse(address).provider
    return provider if target.shares_limits(provider) else lane_of(address)


def share(shard: Shard, addresses: Iterable[str], target: Target) -> frozenset[str]:
    """The addresses that a shard probes: whole groups, the heaviest first onto the machine with the least to do."""
    groups = _groups(addresses, target)
    loads = dict.fromkeys(range(1, shard.total + 1), 0)
    mine: set[str] = set()
    for members in groups.values():
        number = min(loads, key=lambda each: (loads[each], each))
        loads[number] += _weight(members)
        if number == shard.number:
            mine.update(members)
    return frozenset(mine)


def lead(provider: str, addresses: Iterable[str], target: Target) -> str:
    """The address by which it is known which shard answers for a provider of which nothing can be probed."""
    members = next(iter(_groups((each for each in addresses if each.startswith(f"{provider}/")), target).values()))
    return members[0]


def _groups(addresses: Iterable[str], target: Target) -> Mapping[str, list[str]]:
    """Groups by weight. What has no recipe joins its provider's heaviest group: alone it would look like blindness."""
    groups: dict[str, list[str]] = {}
    for address in sorted(addresses):
        groups.setdefault(group_of(address, target), []).append(address)
    ordered = dict(sorted(groups.items(), key=lambda item: (-_weight(item[1]), item[0])))
    for name in [each for each in ordered if each.endswith(":none")]:
        provider = name.partition(":")[0]
        host = next((each for each in ordered if each != name and each.partition(":")[0] == provider), None)
        if host is not None:
            ordered[host].extend(ordered.pop(name))
    return ordered


def _weight(addresses: Iterable[str]) -> int:
    """How many requests they take; each record counts at least once, for its own line in the results."""
    total = 0
    for address in addresses:
        recipe = book.recipe_book(Address.parse(address).provider).recipes.get(address)
        total += max(1, recipe.requests if recipe else 0)
    return total
