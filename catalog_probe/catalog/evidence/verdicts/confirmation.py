"""Confirmation of what drifts: a regression, or pending because no live run has ever confirmed it. Pure.

A drift of an assertion that a live run has confirmed is a regression. If none ever has, the fault may also lie in our
transcription, the document or this account. Such a drift is pending for some days from its first observation: it is
reported and fails no run. So the first night of a new user, or of a new record, is not red.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.clock import add_days
from catalog_probe.catalog.observed.cells import statements_digest
from catalog_probe.catalog.observed.confirmed import confirmed_keys, unconfirmed_since

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow
    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.model.assertion import Assertion

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
    statements = statements_digest(assertions)
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
