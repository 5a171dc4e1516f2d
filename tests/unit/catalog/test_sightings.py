"""Which field of each kind of record holds the evidence, and how it expires."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from catalog_probe.catalog.evidence.results import RECORDED
from catalog_probe.catalog.model import Outcome, Record
from catalog_probe.catalog.observed.last_seen import LastSeen
from catalog_probe.catalog.writeback.sightings import Sighting, add_evidence, expire_evidence, mark_headers_seen
from tests.unit.catalog.catalog_factories import (
    ENDPOINT_ADDRESS,
    ERROR_ADDRESS,
    LIMITS_ADDRESS,
    make_record,
    make_sighting,
)

WHERE = {ENDPOINT_ADDRESS: "verification", ERROR_ADDRESS: "observed", LIMITS_ADDRESS: "observed_for_this_key"}


def add_conforming_evidence(before: Record, *differences: str, **extra: object) -> Record:
    return Record(before.address, add_evidence(before, make_sighting(Outcome.CONFORMS), differences, extra))


def test_a_new_look_leaves_nothing_of_an_expiry_and_of_an_older_look() -> None:
    for address in WHERE:
        once = add_conforming_evidence(make_record(address), "a difference", headers={"x": "1"})
        expired = Record(once.address, expire_evidence(once, "expired: last seen long ago"))
        assert "expired" in str(expired.data[WHERE[address]])
        assert "a difference" in str(once.data[WHERE[address]])
        again = add_conforming_evidence(expired)
        assert again.data == add_conforming_evidence(make_record(address)).data
        assert not {"expired", "reason", "headers"} & again.data[WHERE[address]].keys()


def test_fields_written_by_hand_in_the_limits_stay() -> None:
    by_hand = make_record(LIMITS_ADDRESS, observed_for_this_key={"tier": "start", "result": "drifted", "reason": "old"})
    block = add_conforming_evidence(by_hand).data["observed_for_this_key"]
    assert block["tier"] == "start"
    assert block["result"] == "conforms"
    assert "reason" not in block


def test_a_sighting_is_older_than_evidence_of_a_later_day() -> None:
    look: Sighting = make_sighting(Outcome.CONFORMS, "2026-11-10")
    cases: list[tuple[str | None, bool]] = [
        ("2026-11-01", False),
        ("2026-11-20", True),
        ("2026-11-10", False),
        (None, False),
    ]
    for day, older in cases:
        last = LastSeen(date.fromisoformat(day), None) if day else None
        assert look.is_older_than(last) is older, day


def test_a_look_is_not_older_than_itself() -> None:
    look = make_sighting(Outcome.CONFORMS, "2026-11-10", hour=6)
    assert not look.is_older_than(LastSeen(look.day, look.at))
    assert look.is_older_than(LastSeen(look.day, look.at + timedelta(milliseconds=1)))


def test_a_recording_has_the_date_of_its_recording() -> None:
    judged = make_sighting(Outcome.CONFORMS, "2026-11-20")
    recorded = replace(judged.result, trigger=RECORDED, observed_at="2026-11-12T23:59:59Z")
    assert replace(judged, result=recorded).day == date(2026, 11, 12)
    assert judged.day == date(2026, 11, 20)


def test_expired_evidence_has_no_differences() -> None:
    for address in WHERE:
        once = add_conforming_evidence(make_record(address), "a difference")
        assert "seen" not in expire_evidence(once, "expired")[WHERE[address]]


def test_headers_are_marked_in_their_rules_and_an_older_sighting_adds_no_mark() -> None:
    before = make_record(ERROR_ADDRESS)
    rules = before.data["response_headers"]
    name = next(iter(rules))
    marked = mark_headers_seen(before, before.data, {name: "present", "x-of-nobody": "present"}, older=False)
    assert marked["response_headers"][name] == {**rules[name], "seen": "present"}
    assert marked["response_headers"].keys() == rules.keys()
    marked_headers = mark_headers_seen(before, marked, {name: "absent"}, older=True)
    assert marked_headers["response_headers"][name]["seen"] == "present"
    newer = mark_headers_seen(before, marked, {name: "absent"}, older=False)
    assert newer["response_headers"][name]["seen"] == "absent"
    assert mark_headers_seen(before, before.data, {}, older=False) is before.data
