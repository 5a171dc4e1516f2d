"""Discoveries: one candidate per undocumented value, independent of the order of runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.earlier_runs import EarlierOutcome
from catalog_probe.catalog.model import Aspect, Finding, Json, Outcome, Severity
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.writeback.discoveries import Candidates, collect_discoveries, merge_candidates
from tests.unit.catalog.catalog_factories import ERROR_ADDRESS, make_record, make_sighting

if TYPE_CHECKING:
    from catalog_probe.catalog.writeback.record_evidence import Sighting


def make_discovery_sighting(
    code: FindingCode, location: str, observed: Json, *, probed: dict[str, Any], day: str = "2026-11-20"
) -> Sighting:
    finding = Finding(code, Aspect.BODY, Severity.INFO, "", "answer", location, None, observed)
    plain = make_sighting(Outcome.CONFORMS, day)
    return replace(plain, result=replace(plain.result, findings=(finding,), probed_record=probed))


PROBED = dict(make_record(ERROR_ADDRESS).data)
WITHOUT_SURFACE = {name: value for name, value in PROBED.items() if name != "surface"}


def test_a_candidate_has_the_name_of_its_discovery() -> None:
    cases: list[tuple[FindingCode, str, dict[str, Any], str]] = [
        (FindingCode.UNDOCUMENTED_HEADER, "x-new", PROBED, "header/x-new"),
        (FindingCode.UNDOCUMENTED_FIELD, "/error/new", PROBED, f"field/{PROBED['surface']}/error/new"),
        (FindingCode.UNDOCUMENTED_FIELD, "/new", WITHOUT_SURFACE, "field/unknown/new"),
        (FindingCode.UNDOCUMENTED_CODE, "code", PROBED, "error/code/seen"),
    ]
    for code, at, probed, name in cases:
        discoveries = collect_discoveries([make_discovery_sighting(code, at, "seen", probed=probed)])
        assert discoveries == {
            "pa": {
                name: {
                    "status": ["LIVE_DISCOVERED"],
                    "example": "seen",
                    "first_seen": "2026-11-20",
                    "last_seen": "2026-11-20",
                    "target": "live",
                    "records": [ERROR_ADDRESS],
                }
            }
        }, (code, at)


def test_a_documented_value_is_no_discovery() -> None:
    assert collect_discoveries([make_discovery_sighting(FindingCode.HEADER_MISSING, "x", "y", probed=PROBED)]) == {}


def candidate(first: str, last: str, example: str = "a", *records: str) -> Candidates:
    return {
        "header/x": {
            "status": ["LIVE_DISCOVERED"],
            "example": example,
            "first_seen": first,
            "last_seen": last,
            "target": "live",
            "records": list(records or (ERROR_ADDRESS,)),
        }
    }


OLD = candidate("2026-11-01", "2026-11-02", "b", "pa/errors/a/b")


def test_a_repeated_discovery_is_renewed_after_a_week() -> None:
    cases: list[tuple[Candidates, tuple[str, str]]] = [
        # within a week
        (candidate("2026-11-09", "2026-11-09"), ("2026-11-01", "2026-11-02")),
        # after a week
        (candidate("2026-11-10", "2026-11-10"), ("2026-11-01", "2026-11-10")),
        # seen before
        (candidate("2026-10-31", "2026-11-02"), ("2026-10-31", "2026-11-02")),
        # seen before and not since
        (candidate("2026-10-31", "2026-10-31"), ("2026-10-31", "2026-11-02")),
        # since the same day
        (candidate("2026-11-01", "2026-11-09"), ("2026-11-01", "2026-11-02")),
    ]
    for new, dates in cases:
        merged = merge_candidates(OLD, new, 7)["header/x"]
        assert (merged["first_seen"], merged["last_seen"]) == dates, new
        changed = merged != OLD["header/x"]
        assert merged["example"] == ("a" if changed else "b"), new
        assert merged["records"] == (["pa/errors/a/b", ERROR_ADDRESS] if changed else ["pa/errors/a/b"]), new


def test_a_drift_that_was_not_drawn_since_is_one_still_and_begins_where_it_began() -> None:
    day = date(2026, 11, 20)
    assert EarlierOutcome(day, Outcome.DRIFTED).drifts
    assert EarlierOutcome(day, Outcome.CONFORMS, {"since": "2026-11-18"}).drifts
    assert not EarlierOutcome(day, Outcome.CONFORMS).drifts
    assert not EarlierOutcome(day, Outcome.INCONCLUSIVE, {"since": "2026-11-18"}).drifts
    assert EarlierOutcome(day, Outcome.DRIFTED, {"since": "2026-11-18"}).since == date(2026, 11, 18)
    assert EarlierOutcome(day, Outcome.DRIFTED).since == day
