"""What earlier runs saw: coverage lost, regressions, and drifts that are pending.

Lost coverage is reported before drift, because a record that nobody observes may do anything. A record that was not
meant to be probed (its cost is not allowed, its key is not configured, its endpoint was not drawn) has not lost its
coverage.

A drift of an assertion that a live run has confirmed is a regression. If none ever has, the fault may also lie in our
transcription, the document or this account. Such a drift is pending for some days from its first observation: it is
reported and fails no run. So the first night of a new user, or of a new record, is not red.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.completeness import is_unreported
from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.model import Json, Outcome
from catalog_probe.catalog.model.clock import add_days
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.observed import (
    confirmed_keys,
    is_not_from_provider,
    last_seen,
    record_digest,
    unconfirmed_since,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.model.assertion import Assertion


OUTCOMES_BY_LETTER = {outcome.letter: outcome for outcome in Outcome}


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One earlier run, from its line in the history."""

    run: str
    started_at: str
    today: date
    outcomes: Mapping[str, Outcome]
    drifts: Mapping[str, Mapping[str, Json]]
    discovered: frozenset[str]
    live: bool
    statement_digests: Mapping[str, str] = field(default_factory=dict)
    """By address, the digest of the statements that the record made then; empty in rows without digests."""
    causes: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """By cause id: `code` and `summary`; empty in rows without causes."""
    coverage_lost: frozenset[str] = frozenset()
    """The addresses of records with lost coverage that their outcome letter does not show."""


@dataclass(frozen=True, slots=True)
class EarlierOutcome:
    """The outcome of one record in an earlier run, with the summary of its drift."""

    day: date
    outcome: Outcome
    drift: Mapping[str, Json] = field(default_factory=dict)
    """`since`, and what `drift_identity.summarize_drift` returned. A conforming run that did not draw the endpoints of
    an earlier drift keeps its summary."""

    @property
    def drifts(self) -> bool:
        """Whether it drifted, or conformed without looking at the endpoints of an earlier drift."""
        return self.outcome is Outcome.DRIFTED or (self.outcome is Outcome.CONFORMS and bool(self.drift))

    @property
    def since(self) -> date:
        """The first day of the drift; the day of this run if the summary has none."""
        since = self.drift.get("since")
        return date.fromisoformat(since) if since else self.day


def parse_history(run: Run) -> list[HistoryRow]:
    """Return the earlier runs in a run's first line, oldest first.

    Raises:
        EvidenceError: a line is not a history row.
    """
    return list(_rows(run.history, f"run {run.run}: history"))


def parse_history_lines(lines: Sequence[Mapping[str, Json]]) -> list[HistoryRow]:
    """Return the rows of history lines, in their order.

    Raises:
        EvidenceError: a line is not a history row.
    """
    return list(_rows(lines, "history"))


def list_earlier_outcomes(address: str, rows: Sequence[HistoryRow]) -> list[EarlierOutcome]:
    """Return the outcomes of one record, oldest first; runs without the record are left out."""
    return [
        EarlierOutcome(row.today, row.outcomes[address], row.drifts.get(address, {}))
        for row in rows
        if address in row.outcomes
    ]


def find_last_verdict(earlier: Sequence[EarlierOutcome]) -> EarlierOutcome | None:
    """Return the latest conclusive outcome; `earlier` is in order, oldest first."""
    return next((outcome for outcome in reversed(earlier) if outcome.outcome.is_conclusive), None)


def _rows(lines: Sequence[Mapping[str, Json]], source: str) -> Iterator[HistoryRow]:
    # Addresses and digests are long, so only the first line with a set of addresses has them.
    addresses_by_set = {line["address_set"]: line["addresses"] for line in lines if "addresses" in line}
    digests_by_set = {line["address_set"]: line["statement_digests"] for line in lines if "statement_digests" in line}
    for line in lines:
        try:
            addresses = addresses_by_set[line["address_set"]]
            yield HistoryRow(
                run=line["run"],
                started_at=line["started_at"],
                today=date.fromisoformat(line["today"]),
                outcomes={
                    address: OUTCOMES_BY_LETTER[letter]
                    for address, letter in zip(addresses, line["outcomes"], strict=True)
                },
                drifts=line.get("drifts", {}),
                discovered=frozenset(line.get("discovered", ())),
                live=line.get("live", False),
                statement_digests=dict(zip(addresses, digests_by_set.get(line["address_set"], ()), strict=False)),
                causes=line.get("causes", {}),
                coverage_lost=frozenset(line.get("coverage_lost", ())),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise EvidenceError(f"not a history row ({error!r})", "remove it there", location=source) from error


OUTCOMES_WITHOUT_VERDICT = frozenset({Outcome.INCONCLUSIVE, Outcome.RESTRICTED})
"""Outcomes of records that were meant to be observed and were not."""

LOST_REASONS = frozenset(
    {ReasonCode.CREDENTIAL_EMPTY, ReasonCode.VALUE_NOT_FOUND, ReasonCode.FAMILY_MISSING},
)
"""Reasons for not probing that lose coverage: a CI secret is empty, a value is gone from the account, or a family of
endpoints from the server."""


def has_lost_coverage(result: Result, last: EarlierOutcome | None) -> bool:
    """Whether a record had a verdict, `last`, and has none now. A record that was never reported does not count."""
    return last is not None and _is_unobserved(result)


def find_lost_coverage(run: Run, results: Sequence[Result]) -> frozenset[str]:
    """Return the addresses of the records that lost coverage in this run."""
    unobserved = [result for result in results if _is_unobserved(result)]
    rows = parse_history(run) if unobserved else []
    return frozenset(
        result.record
        for result in unobserved
        if last_known_outcome(result, run, list_earlier_outcomes(result.record, rows)) is not None
    )


def last_known_outcome(result: Result, run: Run, earlier: Sequence[EarlierOutcome]) -> EarlierOutcome | None:
    """Return the last verdict on a record before this run, from earlier runs or from the record's evidence."""
    from_history, from_record = find_last_verdict(earlier), _outcome_in_record(result, run)
    if from_history is None or from_record is None:
        return from_history or from_record
    return max(from_history, from_record, key=lambda outcome: outcome.day)


def first_day_without_verdict(today: date, earlier: Sequence[EarlierOutcome]) -> date:
    """Return the first day without a verdict since the last one; `earlier` is in order, oldest first."""
    days = [today]
    for outcome in reversed(earlier):
        if outcome.outcome.is_conclusive:
            break
        days.append(outcome.day)
    return min(days)


def _is_unobserved(result: Result) -> bool:
    """Whether it was meant to be observed, was reported, and has no verdict."""
    has_lost_reason = result.reason is not None and result.reason.code in LOST_REASONS
    was_meant = result.outcome in OUTCOMES_WITHOUT_VERDICT or (result.outcome is Outcome.NOT_PROBED and has_lost_reason)
    return was_meant and not is_unreported(result) and not result.is_beyond_verifying


def _outcome_in_record(result: Result, run: Run) -> EarlierOutcome | None:
    """Return the outcome that write-back left in the record, if it is of the same live target and account."""
    if not run.speaks_of_providers or not result.probed_record:
        return None
    last = last_seen(result.parsed_record)
    if last is None or is_not_from_provider(last.target) or last.target != run.target:
        return None
    outcome = {"conforms": Outcome.CONFORMS, "drifted": Outcome.DRIFTED}.get(last.result)
    return EarlierOutcome(last.day, outcome) if outcome is not None else None


# Days from the first observation. It prevents that a first night is red for mistakes of our own; it delays the alarm
# for a true drift of something that was never confirmed by as many days.
PENDING_DAYS = 7


def describe_confirmation(
    result: Result,
    record: Record | None,
    assertions: Iterable[Assertion],
    earlier: Sequence[HistoryRow],
    today: date,
    pending_days: int = PENDING_DAYS,
) -> dict[str, Json]:
    """Sort the drifts of a live result into regressions and assertions that no live run ever confirmed.

    `statements` is the digest of what the record states, `regressed` has keys of assertions, and `never_confirmed`
    maps the others to the day of their `first` observation and, while they are pending, to the day `until` which they
    are. Earlier confirmations come from the record's evidence and from earlier live runs; from the latter alone if
    `record` is None, because its evidence speaks of the usual revision and this result of another.
    """
    assertions = tuple(assertions)
    statements = record_digest(assertions)
    if result.outcome is not Outcome.DRIFTED:
        return {"statements": statements}
    live = [row for row in earlier if row.live and result.record in row.outcomes]
    before = [row for row in live if row.statement_digests.get(result.record) == statements]
    conformed = any(row.outcomes[result.record] is Outcome.CONFORMS for row in before)
    confirmed = confirmed_keys(record, assertions) if record is not None else frozenset()
    unconfirmed = unconfirmed_since(record, assertions) if record is not None else {}
    observed_days = _list_observed_days(result.record, before)
    drifts = dict.fromkeys(finding.assertion for finding in result.drifts)
    regressed = [key for key in drifts if conformed or key in confirmed]
    never_confirmed: dict[str, Json] = {}
    for key in drifts:
        if key in regressed:
            continue
        first = min([today, *observed_days, unconfirmed.get(key, today)])
        until = add_days(first, pending_days)
        never_confirmed[key] = {"first": first.isoformat()}
        if today < until:
            never_confirmed[key]["until"] = until.isoformat()
    return {"statements": statements, "regressed": regressed, "never_confirmed": never_confirmed}


def list_regressions(result: Result) -> tuple[str, ...]:
    """Return the keys of the assertions that drift and were confirmed before."""
    return tuple((result.confirmation or {}).get("regressed", ()))


def list_never_confirmed(result: Result) -> Mapping[str, Mapping[str, str]]:
    """Return the drifting assertions that were never confirmed, each with its days `first` and, if pending, `until`."""
    never_confirmed: Mapping[str, Mapping[str, str]] = (result.confirmation or {}).get("never_confirmed", {})
    return never_confirmed


def is_pending(result: Result) -> bool:
    """Whether it drifts, and every assertion that drifts is pending."""
    return (
        result.outcome is Outcome.DRIFTED and bool(list_never_confirmed(result)) and not list_failing_assertions(result)
    )


def list_failing_assertions(result: Result) -> frozenset[str]:
    """Return the keys of the assertions that drift and are not pending."""
    pending = {key for key, days in list_never_confirmed(result).items() if "until" in days}
    return frozenset(finding.assertion for finding in result.drifts) - pending


def pending_until(result: Result) -> str:
    """Return the first day on which some drift of this result is no longer pending; empty if none is pending."""
    return min((days["until"] for days in list_never_confirmed(result).values() if "until" in days), default="")


def _list_observed_days(address: str, rows: Iterable[HistoryRow]) -> list[date]:
    """Return the days on which these runs, or runs that their drifts remember, observed the record."""
    days = [row.today for row in rows if row.outcomes[address].is_conclusive]
    first_days = [row.drifts.get(address, {}).get("first") for row in rows]
    return [*days, *(date.fromisoformat(day) for day in first_days if day)]
