"""Which shares of a selection a run holds, and which are missing: a shard's verdict speaks of its own alone. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Json

SHARD = "shard"
"""Where a run's policy has its shares, as `2/3`; those of merged runs have a blank between them."""

_SHARE = re.compile(r"([0-9]+)/([0-9]+)")


def list_shards(policy: Mapping[str, Json]) -> tuple[str, ...]:
    """The shares that a run holds, in their order; none where it is the whole."""
    return tuple(f"{number}/{total}" for total, number in _of(policy))


def list_missing_shards(policy: Mapping[str, Json]) -> tuple[str, ...]:
    """The shares that a run does not hold; none where it is the whole."""
    return tuple(f"{number}/{total}" for total, number in _rest(_of(policy)))


def merge_shards(policies: Iterable[Mapping[str, Json]]) -> str | None:
    """What the policy of merged runs has under SHARD; None where they are the whole, or one of them is."""
    each = [_of(policy) for policy in policies]
    shares = sorted({share for of_one in each for share in of_one})
    totals = {total for total, _ in shares}
    is_whole = not all(each) or len({total for total, _ in _rest(shares)}) < len(totals)
    return None if is_whole else " ".join(f"{number}/{total}" for total, number in shares)


def _of(policy: Mapping[str, Json]) -> list[tuple[int, int]]:
    """Total and number of each share."""
    return [(int(total), int(number)) for number, total in _SHARE.findall(str(policy.get(SHARD) or ""))]


def _rest(shares: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    there = set(shares)
    totals = sorted({total for total, _ in there})
    return [(total, each) for total in totals for each in range(1, total + 1) if (total, each) not in there]
