"""A night of providers in the field: exactly the known contradictions are found, and nothing of the edges is told."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from catalog.model import Outcome
from mockserver.field import PROFILES
from tests.harness import field


def test_exactly_what_is_known_is_found(tmp_path: Path) -> None:
    with field.served("field") as addresses:
        ran = field.night(tmp_path, addresses)
    assert field.found(ran.lines) == field.known().keys()
    outcomes = Counter(result.outcome for result in ran.results.values())
    assert set(outcomes) == {Outcome.CONFORMS, Outcome.DRIFTED, Outcome.NOT_PROBED}, "no edge made anything unclear"
    assert outcomes[Outcome.CONFORMS] > 200


def test_what_is_known_is_of_the_profile() -> None:
    there = {(provider, each.name) for provider, table in PROFILES["field"].contradictions.items() for each in table}
    assert {(told.provider, name) for told, name in field.known().items()} <= there
