"""Whether a live run ever confirmed what drifts, or whether it is so new that it is pending. Pure.

A drift of an assertion that a live run has confirmed is a regression. If none ever has, our transcription, the document
or this account may as well be wrong. Such a drift is pending for some days from its first observation before it fails a
run. So the first night of a new user, or of a new record, is told and not red.
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

PENDING_DAYS = 7
"""Days from the first observation for which a drift that was never confirmed fails no run."""


def describe_confirmation(
    result: Result,
    record: Record | None,
    stated: Iterable[Assertion],
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
    stated = tuple(stated)
    statements = statements_digest(stated)
    if result.outcome is not Outcome.DRIFTED:
        return {"statements": statements}
    live = [row for row in earlier if row.live and result.record in row.outcomes]
    before = [row for row in live if row.statement_digests.get(result.record) == statements]
    conformed = any(row.outcomes[result.record] is Outcome.CONFORMS for row in before)
    confirmed = confirmed_keys(record, stated) if record is not None else frozenset()
    unconfirmed = unconfirmed_since(record, stated) if record is not None else {}
    remembered = _first_remembered(result.record, before)
    drifts = dict.fromkeys(finding.assertion for finding in result.drifts)
    regressed = [key for key in drifts if conformed or key in confirmed]
    never: dict[str, Json] = {}
    for key in drifts:
        if key not in regressed:
            first = min([today, *remembered, *([unconfirmed[key]] if key in unconfirmed else [])])
            until = add_days(first, pending_days)
            never[key] = {"first": first.isoformat(), **({"until": until.isoformat()} if today < until else {})}
    return {"statements": statements, "regressed": regressed, "never_confirmed": never}


def list_regressions(result: Result) -> tuple[str, ...]:
    """The keys of the assertions that drift and were confirmed before."""
    return tuple((result.confirmation or {}).get("regressed", ()))


def list_never_confirmed(result: Result) -> Mapping[str, Mapping[str, str]]:
    """The assertions that drift and were never confirmed, each with the day of its `first` observation, and `until`."""
    found: Mapping[str, Mapping[str, str]] = (result.confirmation or {}).get("never_confirmed", {})
    return found


def is_pending(result: Result) -> bool:
    """Whether it drifts in nothing but new or edited statements that were never confirmed."""
    return (
        result.outcome is Outcome.DRIFTED and bool(list_never_confirmed(result)) and not list_failing_assertions(result)
    )


def list_failing_assertions(result: Result) -> frozenset[str]:
    """The keys of what drifts and is not pending."""
    waiting = {key for key, each in list_never_confirmed(result).items() if "until" in each}
    return frozenset(finding.assertion for finding in result.drifts) - waiting


def pending_until(result: Result) -> str:
    """The first day on which something of it is not pending any more."""
    return min((each["until"] for each in list_never_confirmed(result).values() if "until" in each), default="")


def _first_remembered(address: str, rows: Iterable[HistoryRow]) -> list[date]:
    """The days on which earlier runs observed what the record states now; a row may know of earlier ones."""
    days = [row.today for row in rows if row.outcomes[address].is_conclusive]
    told = (row.drifts.get(address, {}).get("first") for row in rows)
    return [*days, *(date.fromisoformat(each) for each in told if each)]
