"""Evidence per assertion and endpoint: gathered in any order, read as it was written, and tags that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.check.asserting import wrong_tags
from catalog.evidence.same_drift import ABSENT
from catalog.model import Outcome, Record, Tag
from catalog.model.look import Look
from catalog.reading.assertions import assertions
from catalog.reading.cells import Cell, cells_of, settled_of
from catalog.reading.last_seen import is_expired
from catalog.writeback.canonical import canonical_text
from catalog.writeback.planner import Kept, Patch, Policy, plan
from catalog.writeback.seen import Sighting
from tests.unit.catalog.catalog_making import ENDPOINT_ADDRESS, ERROR_ADDRESS, drift, exchange, record, sighting

if TYPE_CHECKING:
    from catalog.model.assertion import Assertion

ELSEWHERE = "pa/endpoints/messages/count_tokens"
TODAY = date(2026, 11, 30)
POLICY = Policy(refresh_after=7)


def nowhere(address: str) -> Record:
    raise KeyError(address)


def stated_by(of: Record) -> tuple[Assertion, ...]:
    return assertions(of, nowhere)


KEYS = tuple(each.key.within for each in stated_by(record()))
DOCUMENTED = {str(each.key) for each in stated_by(record()) if not each.assumed}
"""What a tag waits for: what the record's surface assumes settles, however it was seen."""


def seen_as_stated(endpoint: str = ENDPOINT_ADDRESS, without: tuple[str, ...] = (), **otherwise: str) -> Look:
    unseen = dict.fromkeys(without, "no-body")
    as_stated = tuple(key for key in KEYS if key not in without and key not in otherwise)
    return Look(endpoint, "answer", as_stated, otherwise, unseen)


def night(day: str, *looks: Look, outcome: Outcome = Outcome.CONFORMS, run: str = "r1") -> Sighting:
    plain = sighting(outcome, day, run)
    return Sighting(plain.run, replace(plain.result, looks=looks))


def after(before: Record, *nights: Sighting, policy: Policy = POLICY) -> Record:
    made = plan(before, nights, policy, TODAY, stated_by(before))
    return made.record if isinstance(made, Patch) else before


@st.composite
def looks(draw: st.DrawFn) -> Look:
    fates = draw(
        st.lists(st.sampled_from(["stated", "absent", "403", "unseen"]), min_size=len(KEYS), max_size=len(KEYS))
    )
    by_key = dict(zip(KEYS, fates, strict=True))
    return Look(
        draw(st.sampled_from([ENDPOINT_ADDRESS, ELSEWHERE, ""])),
        "answer",
        tuple(key for key, fate in by_key.items() if fate == "stated"),
        {key: fate for key, fate in by_key.items() if fate in ("absent", "403")},
        {key: "no-body" for key, fate in by_key.items() if fate == "unseen"},
    )


@st.composite
def nights(draw: st.DrawFn) -> list[Sighting]:
    return [
        night(
            f"2026-11-{draw(st.integers(1, 30)):02}",
            *draw(st.lists(looks(), min_size=1, max_size=3)),
            outcome=draw(st.sampled_from([Outcome.CONFORMS, Outcome.DRIFTED, Outcome.INCONCLUSIVE, Outcome.FLAKY])),
            run=draw(st.sampled_from(["r1", "r2", "r3"])),
        )
        for _ in range(draw(st.integers(0, 5)))
    ]


@given(nights(), st.randoms(use_true_random=False))
def test_evidence_is_the_same_in_whatever_order_the_runs_come(seen: list[Sighting], random: Random) -> None:
    shuffled = list(seen)
    random.shuffle(shuffled)
    assert after(record(), *shuffled).data == after(record(), *seen).data


@st.composite
def nights_of_other_days(draw: st.DrawFn) -> list[Sighting]:
    """Nights of a record some of which is assumed, a day each, with every outcome that leaves something behind."""
    days = draw(st.lists(st.integers(1, 29), max_size=4, unique=True))
    outcomes = [Outcome.CONFORMS, Outcome.DRIFTED, Outcome.RESTRICTED, Outcome.INCONCLUSIVE]
    found = []
    for day in days:
        answered = exchange(draw(st.sampled_from([403, 429])), draw(st.sampled_from(["Slow.", "Wait.", ""])))
        one = sighting(draw(st.sampled_from(outcomes)), f"2026-11-{day:02}", f"r{day}", seen=answered)
        one_a_cell = st.lists(looks(), max_size=2, unique_by=lambda look: (look.label, look.endpoint))
        found.append(Sighting(one.run, replace(one.result, looks=tuple(draw(one_a_cell)))))
    return found


def one_after_the_other(before: Record, nights: Sequence[Sighting], policy: Policy) -> Record:
    for each in nights:
        before = after(before, each, policy=policy)
    return before


@given(nights_of_other_days(), st.booleans(), st.data())
def test_updates_one_after_the_other_in_whatever_order_leave_the_same_record(
    seen: list[Sighting], assumes: bool, data: st.DataObject
) -> None:
    """To the letter where each date is the newest. Of more than two looks that go back and forth the marks of headers,
    which have no date of their own, are those of one of them, and so is the day since which something is settled.
    """
    before, exact = record(**(ASSUMED if assumes else {})), Policy(refresh_after=0)
    at_once = after(before, *seen, policy=exact)
    shuffled = one_after_the_other(before, data.draw(st.permutations(seen)), exact)
    if max(len(seen), sum(len(each.result.looks) for each in seen)) <= 2:
        assert shuffled.data == at_once.data
    assert without_marks_and_days(shuffled) == without_marks_and_days(at_once)
    assert turned_out(shuffled) == turned_out(at_once)


@given(nights_of_other_days(), st.booleans())
def test_a_date_that_was_fresh_enough_to_stand_is_all_that_the_order_of_updates_decides(
    seen: list[Sighting], assumes: bool
) -> None:
    """Two runs within the week, either first: the same cells, tags and words, under dates of the one or the other."""
    two = sorted(seen, key=lambda each: each.day)[:2]
    before = record(**(ASSUMED if assumes else {}))
    first, second = (one_after_the_other(before, order, POLICY) for order in (two, two[::-1]))
    cells, others = (cells_of(each, stated_by(each)) for each in (first, second))
    assert {at: cell.differs for at, cell in cells.items()} == {at: cell.differs for at, cell in others.items()}
    assert turned_out(first) == turned_out(second)
    assert first.data["status"] == second.data["status"]
    assert first.data.get("live_messages") == second.data.get("live_messages")


def turned_out(of: Record) -> dict[str, str]:
    return {key: each.seen for key, each in settled_of(of, stated_by(of)).items()}


def without_marks_and_days(of: Record) -> dict[str, Any]:
    evidence = {key: each for key, each in of.data.get("evidence", {}).items() if key != "settled"}
    return {**of.data, "evidence": evidence, "response_headers": None}


@given(nights())
def test_the_same_runs_again_change_nothing(seen: list[Sighting]) -> None:
    once = after(record(), *seen)
    assert isinstance(plan(once, seen, POLICY, TODAY, stated_by(once)), Kept)


@given(nights())
def test_what_is_written_is_read_as_what_was_seen_last(seen: list[Sighting]) -> None:
    once = after(record(), *seen, policy=Policy(refresh_after=0))
    cells = cells_of(once, stated_by(once))
    last: dict[tuple[str, str], Cell] = {}
    telling = [each for each in seen if each.result.outcome in (Outcome.CONFORMS, Outcome.DRIFTED)]
    for each in sorted(telling, key=lambda each: (each.day, each.at, each.run.run)):
        for look in each.result.looks:
            for key, differs in [*((key, "") for key in look.as_stated), *look.otherwise.items()]:
                last[look.endpoint or ERROR_ADDRESS, f"answer/{key}"] = Cell(each.day, differs)
    days = {place: cell.on for place, cell in last.items()}
    assert {place: cells[place].on for place in last} == days
    assert all(cell.on is None for place, cell in cells.items() if place not in last)


@given(nights())
def test_nothing_is_verified_that_was_not_seen(seen: list[Sighting]) -> None:
    """Both ways: the tag stands exactly where every documented assertion was last seen as stated."""
    once = after(record(), *seen)
    cells = cells_of(once, stated_by(once))
    whole = {key for (_, key), cell in cells.items() if cell.on and not cell.differs} >= DOCUMENTED
    # nothing at a place that is assumed settles where it stands, and differs from no row
    places = {str(each.key) for each in stated_by(once) if each.place_alone}
    differs = any(
        cell.differs and (key in DOCUMENTED or (key in places and cell.differs != ABSENT))
        for (_, key), cell in cells.items()
    )
    assert (Tag.LIVE_VERIFIED in once.tags) == (bool(cells) and whole and not differs)
    assert (Tag.UNVERIFIED in once.tags) == differs


@given(nights(), st.integers(0, 40))
def test_what_nobody_renewed_is_unverified_and_stays_readable(seen: list[Sighting], days: int) -> None:
    """Both ways: an expiry takes the tag exactly where some documented assertion was not seen as stated since."""
    kept = after(record(), *seen, policy=Policy(refresh_after=0))
    once = after(record(), *seen, policy=Policy(refresh_after=0, expire_after=days))
    cells = cells_of(once, stated_by(once))
    assert cells == cells_of(kept, stated_by(kept))
    current = {key for (_, key), cell in cells.items() if cell.on and (TODAY - cell.on).days <= days}
    expired = Tag.LIVE_VERIFIED in kept.tags and not current >= DOCUMENTED
    assert (Tag.LIVE_VERIFIED in once.tags) == (Tag.LIVE_VERIFIED in kept.tags and not expired)
    assert (Tag.UNVERIFIED in once.tags) == (Tag.UNVERIFIED in kept.tags or expired)
    assert is_expired(once) == expired
    assert list(wrong_tags(once, stated_by(once))) == []


def test_one_assertion_that_was_not_renewed_is_enough_and_a_look_at_it_mends_it() -> None:
    policy = Policy(refresh_after=0, expire_after=20)
    old, without = night("2026-11-01", seen_as_stated()), seen_as_stated(without=("type",))
    stale = after(record(), old, night("2026-11-29", without, run="r2"), policy=policy)
    assert Tag.UNVERIFIED in stale.tags
    told = "expired: last seen 2026-11-01, which was not renewed within 20 days"
    assert stale.data["observed"]["note"] == told
    assert stale.data["evidence"]["seen"] == {
        ENDPOINT_ADDRESS: {"on": "2026-11-29", "unseen": {"answer/type": "2026-11-01"}}
    }
    fresh = after(stale, night("2026-11-30", seen_as_stated(), run="r3"), policy=policy)
    assert Tag.LIVE_VERIFIED in fresh.tags
    assert not is_expired(fresh)


@pytest.mark.parametrize(
    "unsure", [{"out_of_reach": {"answer/type": "only-the-provider"}}, {"assumed": {"answer/type": "not shown"}}]
)
def test_what_no_tag_waits_for_neither_renews_nor_holds_up_an_expiry(unsure: dict[str, Any]) -> None:
    before = record(**unsure)
    nights = (
        night("2026-11-01", seen_as_stated(without=("type",))),
        night("2026-11-29", seen_as_stated(without=("type", "status")), run="r2"),
    )
    stale = after(before, *nights, policy=Policy(refresh_after=0, expire_after=20))
    assert Tag.UNVERIFIED in stale.tags
    assert stale.data["observed"]["note"].startswith("expired: last seen 2026-11-01,")


def test_a_part_that_was_never_seen_keeps_a_record_from_being_verified() -> None:
    once = after(record(), night("2026-11-01", seen_as_stated(without=("type",))))
    assert not {Tag.LIVE_VERIFIED, Tag.UNVERIFIED} & once.tags
    assert once.data["evidence"]["seen"] == {ENDPOINT_ADDRESS: {"on": "2026-11-01", "unseen": {"answer/type": None}}}
    twice = after(once, night("2026-11-02", seen_as_stated(ELSEWHERE)))
    assert Tag.LIVE_VERIFIED in twice.tags


def test_one_endpoint_that_differs_is_enough_to_be_unverified() -> None:
    fine, wrong = seen_as_stated(), seen_as_stated(ELSEWHERE, status="403")
    once = after(record(), night("2026-11-01", fine, wrong, outcome=Outcome.DRIFTED))
    assert Tag.UNVERIFIED in once.tags
    assert once.data["evidence"]["seen"][ELSEWHERE]["differs"] == {"answer/status": "403"}
    assert "differs" not in once.data["evidence"]["seen"][ENDPOINT_ADDRESS]


def test_a_quiet_week_leaves_the_line_to_the_letter_and_an_old_date_is_renewed() -> None:
    once = after(record(), night("2026-11-01", seen_as_stated()))
    assert after(once, night("2026-11-08", seen_as_stated())).data["evidence"] == once.data["evidence"]
    later = after(once, night("2026-11-09", seen_as_stated())).data["evidence"]["seen"]
    assert later == {ENDPOINT_ADDRESS: {"on": "2026-11-09"}}


def test_editing_what_a_record_states_voids_its_evidence() -> None:
    once = after(record(), night("2026-11-01", seen_as_stated()))
    assert cells_of(once, stated_by(once))
    edited = Record(once.address, {**once.data, "http_status": 430})
    assert cells_of(edited, stated_by(edited)) == {}


ASSUMED: dict[str, Any] = {"assumed": {"answer/status": "not shown"}}


def test_an_assumption_is_unverified_until_it_is_settled() -> None:
    open_question = record(**ASSUMED)
    unseen = after(open_question, night("2026-11-01", seen_as_stated(without=("status",))))
    assert Tag.UNVERIFIED not in unseen.tags  # all that is documented was seen
    partly = after(open_question, night("2026-11-01", seen_as_stated(without=("status", "type"))))
    assert Tag.UNVERIFIED in partly.tags
    settled = after(partly, night("2026-11-02", seen_as_stated(without=("type",))))
    assert Tag.UNVERIFIED not in settled.tags
    assert settled.data["evidence"]["settled"] == {"answer/status": {"seen": "as assumed", "on": "2026-11-02"}}
    assert Tag.LIVE_DISCOVERED not in settled.tags


def test_an_assumption_that_reality_corrects_is_written_down_once() -> None:
    once = after(record(**ASSUMED), night("2026-11-01", seen_as_stated(status="430")))
    assert {Tag.LIVE_VERIFIED, Tag.LIVE_DISCOVERED} <= once.tags
    told = {"answer/status": {"seen": "430", "on": "2026-11-01"}}
    assert once.data["evidence"]["settled"] == told
    again = after(once, night("2026-11-20", seen_as_stated(status="430")))
    assert again.data["evidence"]["settled"] == told
    assert settled_of(again, stated_by(again))["answer/status"].seen == "430"


@pytest.mark.parametrize("order", [1, -1])
def test_what_differs_on_one_endpoint_settles_an_assumption_in_whatever_order_they_are_looked_at(order: int) -> None:
    both = [seen_as_stated(), seen_as_stated(ELSEWHERE, status="430")]
    once = after(record(**ASSUMED), night("2026-11-01", *both[::order]))
    told = {"answer/status": {"seen": "430", "on": "2026-11-01"}}
    assert once.data["evidence"]["settled"] == told
    assert Tag.LIVE_DISCOVERED in once.tags
    drawn = after(once, night("2026-11-02", seen_as_stated(), run="r2"))  # a night that does not look elsewhere
    assert drawn.data["evidence"]["settled"] == told
    mended = after(drawn, night("2026-11-03", seen_as_stated(ELSEWHERE), run="r3"))
    assert mended.data["evidence"]["settled"] == {"answer/status": {"seen": "as assumed", "on": "2026-11-01"}}
    assert Tag.LIVE_DISCOVERED not in mended.tags


def test_what_a_person_tagged_as_discovered_stays_where_all_turned_out_as_assumed() -> None:
    once = after(record(**ASSUMED), night("2026-11-01", seen_as_stated()))
    tagged = Record(once.address, {**once.data, "status": [*once.data["status"], str(Tag.LIVE_DISCOVERED)]})
    assert Tag.LIVE_DISCOVERED in after(tagged, night("2026-11-12", seen_as_stated(), run="r2")).tags


@pytest.mark.parametrize("endpoint", [ENDPOINT_ADDRESS, ELSEWHERE])
def test_an_assumption_is_settled_by_the_first_day_and_the_endpoint_that_differs(endpoint: str) -> None:
    other = ELSEWHERE if endpoint == ENDPOINT_ADDRESS else ENDPOINT_ADDRESS
    looks = seen_as_stated(other), seen_as_stated(endpoint, status="430")
    once = after(record(**ASSUMED), *(night(f"2026-11-0{day}", *looks, run=f"r{day}") for day in (1, 2, 3)))
    assert once.data["evidence"]["settled"] == {"answer/status": {"seen": "430", "on": "2026-11-01"}}


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_runs_of_one_day_the_later_stands_in_whatever_order_they_are_merged(order: int) -> None:
    def at(hour: int, run: str, *, status: str = "") -> Sighting:
        plain = sighting(Outcome.DRIFTED if status else Outcome.CONFORMS, "2026-11-02", run, hour)
        look = seen_as_stated(status=status) if status else seen_as_stated()
        return Sighting(plain.run, replace(plain.result, looks=(look,)))

    earlier, later = at(5, "r1"), at(7, "r2", status="403")
    merged = one_after_the_other(record(), (earlier, later)[::order], POLICY)
    assert merged.data["evidence"]["seen"][ENDPOINT_ADDRESS]["differs"] == {"answer/status": "403"}
    assert Tag.UNVERIFIED in merged.tags


def test_whoever_got_through_on_the_day_of_a_refusal_is_not_restricted() -> None:
    refused = night("2026-11-02", outcome=Outcome.RESTRICTED, run="r1")
    through = night("2026-11-02", seen_as_stated(), run="r2")
    assert "restricted" not in after(record(), refused, through).data["evidence"]
    assert Tag.ACCOUNT_RESTRICTED not in after(record(), through, refused).tags


def test_an_endpoint_of_which_nothing_was_seen_leaves_no_line() -> None:
    blind = Look(ELSEWHERE, "answer", unseen=dict.fromkeys(KEYS, "no-answer"))
    once = after(record(), night("2026-11-01", seen_as_stated(), blind))
    assert once.data["evidence"]["seen"] == {ENDPOINT_ADDRESS: {"on": "2026-11-01"}}
    assert "evidence" not in after(record(), night("2026-11-01", blind)).data
    by_hand = {ELSEWHERE: {"on": "2026-10-01", "unseen": {"answer/*": None}}, **once.data["evidence"]["seen"]}
    before = Record(once.address, {**once.data, "evidence": {**once.data["evidence"], "seen": by_hand}})
    renewed = after(before, night("2026-11-09", seen_as_stated(), run="r2"))
    assert renewed.data["evidence"]["seen"] == {ENDPOINT_ADDRESS: {"on": "2026-11-09"}}


def test_a_label_that_was_never_seen_is_one_entry_and_one_that_was_names_each_part() -> None:
    grouped = record(http_status="429/503", causes=None)
    first = tuple(each.key.within for each in stated_by(grouped) if each.key.label == "429")
    once = after(grouped, night("2026-11-01", Look(ENDPOINT_ADDRESS, "429", first)))
    assert once.data["evidence"]["seen"][ENDPOINT_ADDRESS] == {"on": "2026-11-01", "unseen": {"503/*": None}}
    other = tuple(each.key.within for each in stated_by(grouped) if each.key.label == "503")
    twice = after(once, night("2026-11-12", Look(ENDPOINT_ADDRESS, "503", other), run="r2"))
    line = twice.data["evidence"]["seen"][ENDPOINT_ADDRESS]
    assert line == {"on": "2026-11-12", "unseen": {f"429/{within}": "2026-11-01" for within in first}}


def test_an_endpoint_that_differs_later_settles_anew_what_was_as_assumed() -> None:
    once = after(record(**ASSUMED), night("2026-11-01", seen_as_stated()))
    assert Tag.LIVE_DISCOVERED not in once.tags
    twice = after(once, night("2026-11-02", seen_as_stated(ELSEWHERE, status="430"), run="r2"))
    assert twice.data["evidence"]["settled"] == {"answer/status": {"seen": "430", "on": "2026-11-02"}}
    assert Tag.LIVE_DISCOVERED in twice.tags


def test_what_a_whole_surface_assumes_is_settled_by_a_difference_alone_and_the_same_runs_again_change_nothing() -> None:
    fine, wrong = seen_as_stated(), seen_as_stated(ENDPOINT_ADDRESS, (), **{"body:/request_id": "absent"})
    assert "settled" not in after(record(), night("2026-11-01", fine)).data["evidence"]
    same_day = [night("2026-11-01", fine, run="r1"), night("2026-11-01", wrong, run="r2")]
    once = after(record(), *same_day)
    assert once.data["evidence"]["settled"] == {"answer/body:/request_id": {"seen": "absent", "on": "2026-11-01"}}
    assert isinstance(plan(once, same_day, POLICY, TODAY, stated_by(once)), Kept)


def test_one_endpoint_is_one_line_of_the_file() -> None:
    once = after(record(), night("2026-11-01", seen_as_stated(), seen_as_stated(ELSEWHERE, without=("type",))))
    text = canonical_text({"rate_limit_error": once.data}, "errors")
    lines = [line.strip().rstrip(",") for line in text.splitlines() if line.strip().startswith('"pa/endpoints')]
    assert f'"{ENDPOINT_ADDRESS}": {{"on": "2026-11-01"}}' in lines
    assert f'"{ELSEWHERE}": {{"on": "2026-11-01", "unseen": {{"answer/type": null}}}}' in lines


def test_a_result_of_a_version_that_kept_no_looks_says_by_its_outcome_what_it_saw() -> None:
    once = after(record(), sighting(Outcome.CONFORMS, "2026-11-01"))
    assert Tag.LIVE_VERIFIED in once.tags
    assert once.data["evidence"]["seen"] == {ERROR_ADDRESS: {"on": "2026-11-01"}}


def test_so_does_its_drift_of_each_label_apart() -> None:
    grouped = record(http_status="429/503", causes=None)
    stated = stated_by(grouped)
    assert {each.key.label for each in stated} == {"429", "503"}
    finding = drift(label="503", assertion="503/status", observed=500)
    drifted = sighting(Outcome.DRIFTED, "2026-11-01", findings=(finding,))
    line = after(grouped, drifted).data["evidence"]["seen"][ERROR_ADDRESS]
    assert line == {"on": "2026-11-01", "differs": {"503/status": "500"}}


def test_a_quiet_week_leaves_a_line_that_differs_to_the_letter_and_another_difference_rewrites_it() -> None:
    def drifting(day: str, status: str) -> Sighting:
        return night(day, seen_as_stated(status=status), outcome=Outcome.DRIFTED)

    once = after(record(), drifting("2026-11-01", "403"))
    assert after(once, drifting("2026-11-08", "403")).data["evidence"] == once.data["evidence"]
    line = after(once, drifting("2026-11-02", "404")).data["evidence"]["seen"][ENDPOINT_ADDRESS]
    assert line == {"on": "2026-11-02", "differs": {"answer/status": "404"}}
    mended = after(once, night("2026-11-02", seen_as_stated())).data["evidence"]["seen"][ENDPOINT_ADDRESS]
    assert mended == {"on": "2026-11-02"}


def test_what_was_not_renewed_within_the_week_is_no_news_and_what_was_never_seen_is() -> None:
    once = after(record(), night("2026-11-01", seen_as_stated()))
    assert after(once, night("2026-11-05", seen_as_stated(without=("type",)))).data["evidence"] == once.data["evidence"]
    part = after(record(), night("2026-11-01", seen_as_stated(without=("type",))))
    assert after(part, night("2026-11-03", seen_as_stated(without=("type",)))).data["evidence"] == part.data["evidence"]
    whole = after(part, night("2026-11-02", seen_as_stated())).data["evidence"]["seen"][ENDPOINT_ADDRESS]
    assert whole == {"on": "2026-11-02"}


def test_an_older_run_that_renews_a_part_within_the_week_leaves_the_line_to_the_letter() -> None:
    once = after(record(), night("2026-11-01", seen_as_stated()))
    stale = after(once, night("2026-11-09", seen_as_stated(without=("type",)), run="r2"))
    line = {"on": "2026-11-09", "unseen": {"answer/type": "2026-11-01"}}
    assert stale.data["evidence"]["seen"] == {ENDPOINT_ADDRESS: line}
    within, beyond = Policy(refresh_after=7), Policy(refresh_after=6)
    older = night("2026-11-08", seen_as_stated(), run="r3")
    assert after(stale, older, policy=within).data["evidence"]["seen"] == {ENDPOINT_ADDRESS: line}
    renewed = after(stale, older, policy=beyond).data["evidence"]["seen"][ENDPOINT_ADDRESS]
    assert renewed == {**line, "unseen": {"answer/type": "2026-11-08"}}


def test_of_a_value_whose_place_alone_is_assumed_only_the_place_is_settled() -> None:
    """Another value there is a difference from the documents, which state the value."""
    key = "body:/error/kind"
    unsure = record(fields={"/error/kind": {"const": "x"}}, assumed={f"answer/{key}": "where it stands is not shown"})
    outcomes = {"": Outcome.CONFORMS, "absent": Outcome.DRIFTED, "y": Outcome.DRIFTED}
    settled = {}
    for differs, outcome in outcomes.items():
        look = Look(ENDPOINT_ADDRESS, "answer", () if differs else (key,), {key: differs} if differs else {})
        once = after(unsure, night("2026-11-01", look, outcome=outcome))
        settled[differs] = once.data["evidence"].get("settled", {}).get(f"answer/{key}", {}).get("seen")
    assert settled == {"": "as assumed", "absent": "absent", "y": None}


def test_the_day_of_a_refusal_stays_while_it_is_fresh() -> None:
    before = after(record(), night("2026-11-18", outcome=Outcome.RESTRICTED))
    assert before.data["evidence"]["restricted"] == "2026-11-18"
    fresh = after(before, night("2026-11-25", outcome=Outcome.RESTRICTED, run="r2"))
    assert fresh.data["evidence"]["restricted"] == "2026-11-18"
    renewed = after(before, night("2026-11-26", outcome=Outcome.RESTRICTED, run="r3"))
    assert renewed.data["evidence"]["restricted"] == "2026-11-26"


def test_what_is_seen_again_is_not_said_to_be_unseen() -> None:
    gone = KEYS[-1]
    before = after(record(), night("2026-11-01", seen_as_stated()))
    missed = after(before, night("2026-11-12", seen_as_stated(without=(gone,)), run="r2"))
    line = missed.data["evidence"]["seen"][ENDPOINT_ADDRESS]
    assert line["unseen"] == {f"answer/{gone}": "2026-11-01"}
    again = after(missed, night("2026-11-13", seen_as_stated(), run="r3"))
    assert "unseen" not in again.data["evidence"]["seen"][ENDPOINT_ADDRESS]
