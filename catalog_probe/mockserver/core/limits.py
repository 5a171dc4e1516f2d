"""Charging several limits at once: all of them, or none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.buckets import TokenBucket

Limit = TypeVar("Limit")


@dataclass(frozen=True, slots=True)
class Charge(Generic[Limit]):
    """What a request takes of one limit; `limit` is the provider's row of it."""

    limit: Limit
    bucket: TokenBucket
    amount: float


@dataclass(frozen=True, slots=True)
class Excess(Generic[Limit]):
    """A charge that cannot be taken, and in how many seconds it could be."""

    charge: Charge[Limit]
    wait_s: float


def take_all(charges: Iterable[Charge[Limit]], now: float) -> list[Excess[Limit]]:
    """Take all charges, or none; return those that cannot be taken, in order."""
    wanted = list(charges)
    waits = [(charge, charge.bucket.seconds_until(charge.amount, now)) for charge in wanted]
    excesses = [Excess(charge, wait_s) for charge, wait_s in waits if wait_s > 0]
    if not excesses:
        for charge in wanted:
            charge.bucket.charge(charge.amount, now)
    return excesses
