"""Where each record stands: this run's outcome beside the earlier ones, and how old the evidence is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from catalog.evidence.results import Result, Run
from catalog.model import Outcome, Tag
from catalog.reading.last_seen import seen_on
from reports import history
from reports.history import Row


class Change(StrEnum):
    """What a result means beside the runs before it."""

    NEW = "new"
    DIFFERENT = "different"
    ONGOING = "ongoing"
    FIXED = "fixed"
    ACCEPTED = "accepted"
    STALE = "stale"
    FLAKY = "flaky"
    BROKEN = "broken"
    UNSEEN = "unseen"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Standing:
    """One record: its result and what is known of it over time."""

    result: Result
    change: Change
    strip: tuple[Outcome | None, ...]
    """The outcomes of the runs shown, oldest first, this run last; None where it was not in a run."""
    since: date | None = None
    """The first day of the drift that goes on, if it drifts."""
    day: int = 0
    evidence: date | None = None
    """The day on which its behaviour was last seen and judged."""
    age: int | None = None
    verified: bool = False
    """Whether it was as documented when it was last seen."""
    added: bool = False
    """Whether no earlier run knew it, though there were some."""
    conformed_before: str = ""
    """The day on which it was last seen to conform before this run, if it was."""

    @property
    def address(self) -> str:
        return self.result.record

    @property
    def outcome(self) -> Outcome:
        return self.result.outcome

    @property
    def is_finding(self) -> bool:
        """Whether a person has to read about it: a difference, a disagreement, or a fault of ours."""
        return self.outcome in FINDING_OUTCOMES or self.change is Change.STALE


FINDING_OUTCOMES = frozenset({Outcome.DRIFTED, Outcome.FLAKY, Outcome.HARNESS_ERROR})
_ORDER = tuple(Change)


def standings(run: Run, results: Sequence[Result]) -> list[Standing]:
    """Every record's standing, what needs attention first, otherwise by address."""
    earlier = history.rows(run)
    today = date.fromisoformat(run.today)
    found = [_standing(result, run, today, earlier) for result in results]
    return sorted(found, key=lambda each: (not each.is_finding, _ORDER.index(each.change), each.address))


def _standing(result: Result, run: Run, today: date, earlier: Sequence[Row]) -> Standing:
    address = result.record
    before = [(row, row.outcomes[address]) for row in earlier if address in row.outcomes]
    last = next(((row, outcome) for row, outcome in reversed(before) if outcome.conclusive), None)
    conformed = next((row for row, outcome in reversed(before) if outcome is Outcome.CONFORMS), None)
    since = _since(result, today, last) if result.outcome is Outcome.DRIFTED else None
    evidence, verified = _evidence(result, run, today, last)
    return Standing(
        result=result,
        change=_change(result, last),
        strip=(*(row.outcomes.get(address) for row in earlier), result.outcome),
        since=since,
        day=(today - since).days + 1 if since else 0,
        evidence=evidence,
        age=max(0, (today - evidence).days) if evidence else None,
        verified=verified,
        added=bool(earlier) and not before,
        conformed_before=_iso(conformed.today if conformed else _recorded(result, run)),
    )


def _change(result: Result, last: tuple[Row, Outcome] | None) -> Change:
    drifted_before = last is not None and last[1] is Outcome.DRIFTED
    state = (result.ledger or {}).get("state")
    if state == "stale":
        return Change.STALE
    match result.outcome:
        case Outcome.DRIFTED if state == "accounted":
            return Change.ACCEPTED
        case Outcome.DRIFTED if last is not None and drifted_before:
            codes = last[0].drifts.get(result.record, {}).get("codes")
            same = codes is None or list(codes) == history.fingerprint(result)
            return Change.ONGOING if same else Change.DIFFERENT
        case Outcome.DRIFTED:
            return Change.NEW
        case Outcome.CONFORMS:
            return Change.FIXED if drifted_before else Change.NONE
        case Outcome.FLAKY:
            return Change.FLAKY
        case Outcome.HARNESS_ERROR:
            return Change.BROKEN
        case Outcome.INCONCLUSIVE:
            return Change.UNSEEN
    return Change.NONE


def _since(result: Result, today: date, last: tuple[Row, Outcome] | None) -> date:
    if last is None or last[1] is not Outcome.DRIFTED:
        return today
    since = last[0].drifts.get(result.record, {}).get("since")
    return date.fromisoformat(since) if since else last[0].today


def _evidence(result: Result, run: Run, today: date, last: tuple[Row, Outcome] | None) -> tuple[date | None, bool]:
    """When the behaviour was last seen, and whether it was as documented then."""
    if result.outcome.conclusive:
        return _day(result.observed_at) or today, result.outcome is Outcome.CONFORMS
    recorded = _recorded(result, run)
    if last is not None and (recorded is None or last[0].today >= recorded):
        return last[0].today, last[1] is Outcome.CONFORMS
    return recorded, recorded is not None


def _recorded(result: Result, run: Run) -> date | None:
    """The day that write-back left in the record; it speaks of a live target, so it counts for live runs alone."""
    return seen_on(result.probed_record) if run.live and Tag.LIVE_VERIFIED in result.probed_record.tags else None


def _iso(day: date | None) -> str:
    return day.isoformat() if day is not None else ""


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text[:10]) if text else None
    except ValueError:
        return None
