"""What an answer was recognised as, for a person at a terminal: the record, may it be sent again, when, and why."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from catalog.model.visible import visible
from catalog.recognition.advice import May

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog.library import CatalogRecord, Library
    from catalog.recognition.advice import Advice
    from catalog.recognition.identify import Identity

WIDTH = 80
_LABEL = 14
_NAMED = 6
"""Records named one by one; the rest are counted."""


def identity_text(identity: Identity, library: Library) -> str:
    """Several lines; the first says which record it is, or that none fits."""
    return "\n".join(_lines(identity, library))


def _lines(identity: Identity, library: Library) -> Iterator[str]:
    if not identity.records:
        yield "no record fits this answer"
        yield from _row("because", "; ".join(identity.reasons))
        return
    first = library[identity.records[0]]
    more = len(identity.records) - 1
    yield first.address + (f", or one of {more} more that answer alike" if more else "")
    yield from _row("means", first.meaning)
    yield from _row("send again", _may(identity.retry))
    if identity.retry.may is not May.NO:
        yield from _row("wait", _wait(identity.retry))
    yield from _row("what to do", identity.retry.change)
    yield from _row("certain", "yes" if identity.certain else "no")
    yield from _row("because", "; ".join(identity.reasons))
    if more:
        rest = f" and {more - _NAMED} more" if more > _NAMED else ""
        yield from _row("alike", ", ".join(identity.records[1 : _NAMED + 1]) + rest)
    yield from _row("documents", "; ".join(first.sources))
    yield from _row("last seen", _freshness(first))


def _may(retry: Advice) -> str:
    return f"{retry.may}: {retry.condition}" if retry.condition else str(retry.may)


def _wait(retry: Advice) -> str:
    if retry.wait_s is not None:
        return f"{retry.wait_s:g} s, by {retry.wait_from}; at most {retry.attempts} attempts"
    jitter = ", with jitter" if retry.jitter else ""
    return f"{retry.first_s:g} s, doubling to {retry.max_s:g} s{jitter}; at most {retry.attempts} attempts"


def _freshness(record: CatalogRecord) -> str:
    if record.seen_on is None:
        return "never: no live run has looked at it"
    return f"on {record.seen_on}, {', '.join(record.tags)}"


def _row(label: str, text: str) -> Iterator[str]:
    if text:
        head = f"  {label}".ljust(_LABEL)
        yield from textwrap.wrap(visible(text), WIDTH, initial_indent=head, subsequent_indent=" " * _LABEL)
