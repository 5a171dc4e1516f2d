"""Nights of a record of one endpoint and another, and what they leave in it: made for tests."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import Outcome, Record
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.writeback.planner import Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.sightings import Sighting
from tests.unit.catalog.catalog_making import ENDPOINT_ADDRESS, record, sighting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.model.assertion import Assertion

ELSEWHERE = "pa/endpoints/messages/count_tokens"
TODAY = date(2026, 11, 30)
POLICY = UpdatePolicy(refresh_after=7)
ASSUMED: dict[str, Any] = {"assumed": {"answer/status": "not shown"}}


def nowhere(address: str) -> Record:
    raise KeyError(address)


def stated_by(of: Record) -> tuple[Assertion, ...]:
    return assertions(of, nowhere)


KEYS = tuple(each.key.local_key for each in stated_by(record()))
DOCUMENTED = {str(each.key) for each in stated_by(record()) if not each.assumed}
"""What a tag waits for: what the record's surface assumes settles, however it was seen."""


def seen_as_stated(endpoint: str = ENDPOINT_ADDRESS, without: tuple[str, ...] = (), **otherwise: str) -> Observation:
    unseen = dict.fromkeys(without, "no-body")
    as_stated = tuple(key for key in KEYS if key not in without and key not in otherwise)
    return Observation(endpoint, "answer", as_stated, otherwise, unseen)


def night(day: str, *observations: Observation, outcome: Outcome = Outcome.CONFORMS, run: str = "r1") -> Sighting:
    plain = sighting(outcome, day, run)
    return Sighting(plain.run, replace(plain.result, observations=observations))


def after(before: Record, *nights: Sighting, policy: UpdatePolicy = POLICY) -> Record:
    made = plan_patch(before, nights, policy, TODAY, stated_by(before))
    return made.record if isinstance(made, Patch) else before


def one_after_the_other(before: Record, nights: Sequence[Sighting], policy: UpdatePolicy) -> Record:
    for each in nights:
        before = after(before, each, policy=policy)
    return before
