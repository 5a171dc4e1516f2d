"""The Atom feed of what changed on the wire: an entry per drift period, made from the history alone.

The same history gives the same bytes, and a night on which nothing begins or ends does not change them.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.catalog.text.sanitizing import escape_hidden, sanitize_line, sanitize_xml
from catalog_probe.reports.history.drift_periods import DriftPeriod, PeriodEnding, find_drift_periods

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow

MAX_TEXT_LENGTH = 300  # characters of a text from outside
_MAX_ENTRIES = 200  # the latest
_MAX_RECORDS = 50  # named in an entry; the others are counted

ATOM = "http://www.w3.org/2005/Atom"

_ID_NAMESPACE = uuid.UUID("2f0c7c54-6f0b-5f0e-9a58-6a1d1c2b7e11")


def render(target: str, rows: Sequence[HistoryRow]) -> str:
    """Format the drift periods of a target's history as Atom (RFC 4287), the latest change first."""
    periods = sorted(
        find_drift_periods(rows), key=lambda period: (period.last_change, period.first, period.id), reverse=True
    )
    # Without a change, the first night dates the feed, so that further calm nights do not change it.
    updated = max((period.last_change for period in periods), default=min(row.today for row in rows))
    root = ElementTree.Element("feed", {"xmlns": ATOM})
    title = f"What changed on the wire: {sanitize_line(target, MAX_TEXT_LENGTH)}"
    _add_elements(root, id=_build_id(target), title=title, updated=_format_instant(updated))
    _add_elements(ElementTree.SubElement(root, "author"), name="catalog-probe")
    for period in periods[:_MAX_ENTRIES]:
        _add_entry(root, target, period)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def describe_period(period: DriftPeriod) -> str:
    """Return what differs: in the words of the history, or by the names of the differences if it has none."""
    names = sorted({name for record in period.records.values() for name in record.differs})
    return sanitize_line(period.summary or ", ".join(names), MAX_TEXT_LENGTH)


def _add_entry(root: ElementTree.Element, target: str, period: DriftPeriod) -> None:
    entry = ElementTree.SubElement(root, "entry")
    _add_elements(
        entry,
        id=_build_id(target, period.id),
        title=sanitize_line(f"{period.provider.upper()}: {describe_period(period)}", MAX_TEXT_LENGTH),
        published=_format_instant(period.first),
        updated=_format_instant(period.last_change),
    )
    for term in filter(None, (period.provider, period.code, str(period.ending or "open"))):
        ElementTree.SubElement(entry, "category", {"term": sanitize_xml(sanitize_line(term, MAX_TEXT_LENGTH))})
    lines = (sanitize_line(line, MAX_TEXT_LENGTH) for line in (*_iterate_sentences(period), *_iterate_records(period)))
    ElementTree.SubElement(entry, "content", {"type": "text"}).text = sanitize_xml("\n".join(lines))


def _iterate_sentences(period: DriftPeriod) -> Iterator[str]:
    yield f"First seen {period.first}."
    if period.last != period.first:
        yield f"Last seen {period.last}."
    if period.replaced_ids:
        yield f"In place of {', '.join(sorted(period.replaced_ids))}."
    match period.ending:
        case PeriodEnding.RECOVERED:
            yield f"Recovered {period.ended}: seen as documented again."
        case PeriodEnding.CHANGED:
            yield f"Changed {period.ended}: something else differs in its place."
    if period.never_confirmed:
        yield "No live run has ever confirmed it: the document or our transcription may be wrong."
    if period.accepted:
        yield "Accepted."
    code = f", code {period.code} (catalog-probe catalog explain {period.code})" if period.code else ""
    yield f"Cause {period.cause}{code}."


def _iterate_records(period: DriftPeriod) -> Iterator[str]:
    records = sorted(period.records.values(), key=lambda record: record.address)
    for record in records[:_MAX_RECORDS]:
        ending = f", {record.ending} {record.ended}" if record.ending else ""
        yield f"- {record.address}: {', '.join(sorted(record.differs))}{ending}"
    if len(records) > _MAX_RECORDS:
        yield f"- and {format_count(len(records) - _MAX_RECORDS, 'more record')}"


def _format_instant(day: date) -> str:
    return f"{day.isoformat()}T00:00:00Z"


def _build_id(*parts: str) -> str:
    """Return a permanent id."""
    return uuid.uuid5(_ID_NAMESPACE, "/".join(map(escape_hidden, parts))).urn


def _add_elements(parent: ElementTree.Element, **texts: str) -> None:
    for name, text in texts.items():
        ElementTree.SubElement(parent, name).text = sanitize_xml(text)
