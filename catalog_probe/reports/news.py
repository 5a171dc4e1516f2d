"""The news of one run as a small JSON for any webhook, each item reported once.

The history is the only memory: a run's news is what is due by its line and was not due by the line before.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.earlier_runs import OUTCOMES_WITHOUT_VERDICT
from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.text.readable_text import format_count, sanitize_line
from catalog_probe.reports.content.reported_causes import parse_summary
from catalog_probe.reports.content.words import join_providers
from catalog_probe.reports.history.drift_periods import DriftPeriod, PeriodEnding, find_drift_periods, night_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow
    from catalog_probe.catalog.model import Json

CHANGE_KINDS = ("new", "changed", "recovered")

_MAX_TEXT_LENGTH = 300  # characters of a text from outside
_MAX_CHANGES = 40  # per kind; all are counted
_MAX_RECORDS = 10  # named per change, or per provider

# Text in which no channel sees a mention, a link or markup: it has no `@`, `<`, `#`, `*`, `` ` ``, dot or `//`.
_INERT_TEXT = re.compile(r'(?!.*//)[\w {}\[\]",:/-]{1,80}', re.ASCII)

ChangeKey = tuple[str, str]
"""The kind of a change, and what it is about."""


def build_news(target: str, rows: Sequence[HistoryRow], run: str) -> dict[str, Json]:
    """Return the news of one run of a target's history.

    Raises:
        EvidenceError: the history does not have the run.
    """
    ordered_rows = sorted(rows, key=night_order)
    position = next((index for index, row in enumerate(ordered_rows) if row.run == run), None)
    if position is None:
        mend = "`catalog-probe report history append` adds it"
        raise EvidenceError(f"the history does not remember run {run!r}", mend)
    row, before, until_now = ordered_rows[position], ordered_rows[:position], ordered_rows[: position + 1]
    reported = _list_changes_due(before).keys()
    due = {key: period for key, period in _list_changes_due(until_now).items() if key not in reported}
    changes = {kind: [period for key, period in due.items() if key[0] == kind] for kind in CHANGE_KINDS}
    lost = sorted(find_records_without_verdict(until_now).items() - find_records_without_verdict(before).items())
    unobserved = list_unobserved_providers(row)
    return {
        "schema_version": 1,
        "run": sanitize_line(run, _MAX_TEXT_LENGTH),
        "target": sanitize_line(target, _MAX_TEXT_LENGTH),
        "live": row.live,
        "night": row.today.isoformat(),
        "text": _format_sentence(changes, lost, unobserved),
        "counts": {**{kind: len(periods) for kind, periods in changes.items()}, "coverage_lost": len(lost)},
        **{kind: [_describe_change(period) for period in periods[:_MAX_CHANGES]] for kind, periods in changes.items()},
        "coverage_lost": list(_group_by_provider(lost)),
        "not_observed": unobserved,
    }


def list_unobserved_providers(row: HistoryRow) -> list[str]:
    """Return the providers that a run tried to observe without a single verdict. Every such run reports them."""
    tried, observed = set(), set()
    for address, outcome in row.outcomes.items():
        provider = address.partition("/")[0]
        if outcome is not Outcome.NOT_PROBED or address in row.coverage_lost:
            tried.add(provider)
        if outcome.is_conclusive or outcome is Outcome.FLAKY:  # a flaky record was observed, too
            observed.add(provider)
    return sorted(tried - observed)


def find_records_without_verdict(rows: Sequence[HistoryRow]) -> dict[str, date]:
    """Return the records that had a verdict and have none after these rows (oldest first), with the first such day."""
    judged: set[str] = set()
    lost: dict[str, date] = {}
    for row in rows:
        for address, outcome in row.outcomes.items():
            if outcome.is_conclusive or outcome is Outcome.FLAKY:
                judged.add(address)
                lost.pop(address, None)
            elif address in judged and (outcome in OUTCOMES_WITHOUT_VERDICT or address in row.coverage_lost):
                lost.setdefault(address, row.today)
    return lost


def _list_changes_due(rows: Sequence[HistoryRow]) -> dict[ChangeKey, DriftPeriod]:
    """Return all changes that the nights of these rows had to report."""
    due: dict[ChangeKey, DriftPeriod] = {}
    for period in find_drift_periods(rows):
        if period.accepted:
            continue
        due["changed" if period.replaced_ids else "new", period.id] = period
        if period.ending is PeriodEnding.RECOVERED:
            due["recovered", f"{period.id} {period.ended}"] = period
    return due


def _describe_change(period: DriftPeriod) -> dict[str, Json]:
    """Return a change for programs, with the first of its records and how many there are."""
    return {
        "id": period.id,
        "provider": period.provider,
        "cause": period.cause,
        "code": period.code or None,
        "summary": _describe_difference(period),
        "first": period.first.isoformat(),
        "last": period.last.isoformat(),
        "ended": period.ended.isoformat() if period.ended else None,
        "how": str(period.ending) if period.ending else None,
        "instead_of": sorted(period.replaced_ids),
        "never_confirmed": period.never_confirmed,
        "number": len(period.records),
        "records": _name_records(sorted(period.records)),
    }


def _describe_difference(period: DriftPeriod) -> str:
    """Return what differs: in the words of the history, or by the names of the differences if it has none."""
    names = sorted({name for record in period.records.values() for name in record.differs})
    return sanitize_line(period.summary or ", ".join(names), _MAX_TEXT_LENGTH)


def _group_by_provider(lost: Iterable[tuple[str, date]]) -> Iterator[dict[str, Json]]:
    """Group lost coverage by provider and night: one dead key takes a hundred records along."""
    addresses_by_group: dict[tuple[str, date], list[str]] = defaultdict(list)
    for address, since in lost:
        addresses_by_group[address.partition("/")[0], since].append(address)
    for (provider, since), addresses in sorted(addresses_by_group.items()):
        yield {
            "provider": provider,
            "since": since.isoformat(),
            "number": len(addresses),
            "records": _name_records(addresses),
        }


def _name_records(addresses: Sequence[str]) -> list[str]:
    return [sanitize_line(address, _MAX_TEXT_LENGTH) for address in addresses[:_MAX_RECORDS]]


def _format_sentence(
    changes: Mapping[str, Sequence[DriftPeriod]], lost: Sequence[tuple[str, date]], unobserved: Sequence[str]
) -> str:
    """Return the news in one sentence, for a channel that shows nothing else."""
    counts = [f"{len(periods)} {kind}" for kind, periods in changes.items() if periods]
    if lost:
        counts.append(f"{format_count(len(lost), 'record')} lost coverage")
    sentence = ", ".join(counts)
    periods = [period for members in changes.values() for period in members]
    if periods:
        sentence += f" ({'' if len(periods) == 1 else 'the first: '}{_format_change(periods[0])})"
    blind = ""
    if unobserved:
        blind = f"{join_providers(unobserved)} {'was' if len(unobserved) == 1 else 'were'} not observed"
    return "; ".join(filter(None, (sentence, blind))) or "nothing to tell"


def _format_change(period: DriftPeriod) -> str:
    """Return `PA status: 404 → 400 in 7 records`, documented and observed; only the code if that is not inert."""
    provider, records = period.provider.upper(), format_count(len(period.records), "record")
    difference = parse_summary(period.summary)
    if difference is None or not all(map(_INERT_TEXT.fullmatch, difference)):
        return f"{provider}: {period.code or 'drift'} in {records}"
    subject, documented, observed = difference
    return f"{provider} {subject}: {documented} → {observed} in {records}"
