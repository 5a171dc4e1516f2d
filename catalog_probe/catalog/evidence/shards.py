"""Shards of a selection: which ones a run holds, and which ones are missing. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Json

SHARD = "shard"  # policy field: `2/3`; merged runs have several, with a blank between them

_SHARD = re.compile(r"([0-9]+)/([0-9]+)")


def list_shards(policy: Mapping[str, Json]) -> tuple[str, ...]:
    """List the shards that a run holds, in order; empty if it holds the whole selection."""
    return tuple(f"{number}/{total}" for total, number in _parse_shards(policy))


def list_missing_shards(policy: Mapping[str, Json]) -> tuple[str, ...]:
    """List the shards that a run does not hold; empty if it holds the whole selection."""
    return tuple(f"{number}/{total}" for total, number in _missing_shards(_parse_shards(policy)))


def merge_shards(policies: Iterable[Mapping[str, Json]]) -> str | None:
    """Return the SHARD field of merged runs; None if one of them, or all together, are the whole selection."""
    shards_by_run = [_parse_shards(policy) for policy in policies]
    shards = sorted({shard for run_shards in shards_by_run for shard in run_shards})
    totals = {total for total, _ in shards}
    incomplete_totals = {total for total, _ in _missing_shards(shards)}
    if not all(shards_by_run) or incomplete_totals != totals:
        return None
    return " ".join(f"{number}/{total}" for total, number in shards)


def _parse_shards(policy: Mapping[str, Json]) -> list[tuple[int, int]]:
    """Return (total, number) for each shard."""
    return [(int(total), int(number)) for number, total in _SHARD.findall(str(policy.get(SHARD) or ""))]


def _missing_shards(shards: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    present = set(shards)
    totals = sorted({total for total, _ in present})
    return [(total, number) for total in totals for number in range(1, total + 1) if (total, number) not in present]
