"""Text of an identified answer for a person at a terminal."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING

from catalog_probe.catalog.reading.record_fields import label_action
from catalog_probe.catalog.recognition.advice import May
from catalog_probe.catalog.text.readable_text import sanitize_line, sanitize_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.library import CatalogRecord, Library
    from catalog_probe.catalog.recognition.advice import Advice
    from catalog_probe.catalog.recognition.identify import Identity

WIDTH = 80  # characters of a line
_TEXT_COLUMN = 14  # where the text begins, beside its label


def format_identity(identity: Identity, library: Library) -> str:
    """Format an identity as lines; the record and the retry advice come first."""
    return "\n".join(map(sanitize_row, _make_lines(identity, library)))


def format_identity_json(identity: Identity) -> str:
    """Format an identity as one line of JSON."""
    return json.dumps({"verdict": identity.verdict, **asdict(identity)}, ensure_ascii=True)


def _make_lines(identity: Identity, library: Library) -> Iterator[str]:
    yield _headline(identity)
    yield from _row("send again", _format_advice(identity.retry))
    yield from _row(*label_action(identity.retry.change, identity.retry.change_source))
    addresses = (identity.record,) if identity.record is not None else identity.candidates
    for address in addresses:
        meaning = library[address].meaning
        yield from _row("means", meaning if len(addresses) == 1 else f"{address}: {meaning}")
    yield from _row("group", identity.group if identity.verdict != "group" else "")
    yield from _row("because", "; ".join(identity.reasons))
    yield from _row("nearest", ", ".join(identity.nearest))
    if len(addresses) == 1:
        record = library[addresses[0]]
        yield from _row("documents", "; ".join(record.sources))
        yield from _row("last seen", _format_last_seen(record))


def _headline(identity: Identity) -> str:
    if identity.record is not None:
        return identity.record
    if identity.candidates:
        count = len(identity.candidates)
        return f"one of {count}: {', '.join(identity.candidates)}" if count > 1 else f"perhaps {identity.candidates[0]}"
    if identity.group:
        count = len(identity.records)
        return f"{identity.group}: {count} records fit" if count else f"{identity.group}, by its status alone"
    return "unknown: no record fits this answer"


def _format_advice(retry: Advice) -> str:
    if retry.may is May.NO:
        return f"no: {retry.condition}" if retry.condition else "no"
    if retry.may is May.UNKNOWN:
        return "unknown: neither a record nor the answer itself says whether it helps"
    if retry.wait_s is not None:
        wait = f"after {retry.wait_s:g} s, by {retry.wait_from}"
    else:
        jitter = ", with jitter" if retry.jitter else ""
        wait = f"after {retry.first_s:g} s, doubling to {retry.max_s:g} s{jitter}"
    condition = f"; {retry.condition}" if retry.condition else ""
    return f"{'yes' if retry.may is May.YES else 'perhaps'}, {wait}; at most {retry.attempts} attempts{condition}"


def _format_last_seen(record: CatalogRecord) -> str:
    if record.seen_on is None:
        return "never: no live run has observed it"
    return f"on {record.seen_on}, {', '.join(record.tags)}"


def _row(label: str, text: str) -> Iterator[str]:
    if text:
        head = f"  {label}".ljust(_TEXT_COLUMN)
        yield from textwrap.wrap(sanitize_line(text), WIDTH, initial_indent=head, subsequent_indent=" " * _TEXT_COLUMN)
