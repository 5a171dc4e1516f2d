"""Factories of nights that observe one record on two endpoints, and of the record that they leave."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import Outcome, Record
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.writeback.planner import Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.record_evidence import Sighting
from tests.unit.catalog.catalog_factories import ENDPOINT_ADDRESS, make_record, make_sighting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.model.assertion import Assertion

OTHER_ENDPOINT = "pa/endpoints/messages/count_tokens"
TODAY = date(2026, 11, 30)
POLICY = UpdatePolicy(refresh_after=7)
ASSUMED: dict[str, Any] = {"assumed": {"answer/status": "not shown"}}


def find_no_record(address: str) -> Record:
    """Look up a record in an empty catalog."""
    raise KeyError(address)


def list_assertions(record: Record) -> tuple[Assertion, ...]:
    """List the assertions of a record without those that it takes from other records."""
    return assertions(record, find_no_record)


LOCAL_KEYS = tuple(assertion.key.local_key for assertion in list_assertions(make_record()))
# The tag LIVE_VERIFIED waits for these only: an assumed assertion is resolved by whatever is observed.
DOCUMENTED_KEYS = {str(assertion.key) for assertion in list_assertions(make_record()) if not assertion.assumed}


def make_observation(
    endpoint: str = ENDPOINT_ADDRESS, not_observed: tuple[str, ...] = (), **mismatched: str
) -> Observation:
    """Make an observation that matches every assertion but those given, which have the observed class as value."""
    matched = tuple(key for key in LOCAL_KEYS if key not in not_observed and key not in mismatched)
    return Observation(endpoint, "answer", matched, mismatched, dict.fromkeys(not_observed, "no-body"))


def make_night(day: str, *observations: Observation, outcome: Outcome = Outcome.CONFORMS, run: str = "r1") -> Sighting:
    """Make the sighting of one night with exactly these observations."""
    sighting = make_sighting(outcome, day, run)
    return Sighting(sighting.run, replace(sighting.result, observations=observations))


def apply_nights(record: Record, *nights: Sighting, policy: UpdatePolicy = POLICY) -> Record:
    """Write some nights back in one update."""
    plan = plan_patch(record, nights, policy, TODAY, list_assertions(record))
    return plan.record if isinstance(plan, Patch) else record


def apply_nights_one_by_one(record: Record, nights: Sequence[Sighting], policy: UpdatePolicy) -> Record:
    """Write some nights back, an update for each."""
    for night in nights:
        record = apply_nights(record, night, policy=policy)
    return record
