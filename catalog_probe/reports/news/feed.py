"""The Atom feed of what changed on the wire: one entry a change, made from the history alone.

The same history gives the same bytes, and a night on which nothing begins or ends changes none of them.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.catalog.text.sanitizing import escape_hidden, sanitize_line
from catalog_probe.reports.content.xml_text import to_xml_text
from catalog_probe.reports.history.episodes import Ending, Episode, episodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow

LISTED = 200
"""Changes in the feed, the latest of them."""

RECORDS = 50
"""Records that an entry names; the rest are counted."""

LONGEST = 300
"""Characters of a text from outside."""

ATOM = "http://www.w3.org/2005/Atom"

_IDS = uuid.UUID("2f0c7c54-6f0b-5f0e-9a58-6a1d1c2b7e11")


def render(target: str, rows: Sequence[HistoryRow]) -> str:
    """Format the changes of a target's history as Atom (RFC 4287), the latest first."""
    found = sorted(episodes(rows), key=lambda each: (each.updated, each.first, each.id), reverse=True)
    updated = max((each.updated for each in found), default=min(row.today for row in rows))
    root = ElementTree.Element("feed", {"xmlns": ATOM})
    title = f"What changed on the wire: {sanitize_line(target, LONGEST)}"
    _add_texts(root, id=_urn(target), title=title, updated=_instant(updated))
    _add_texts(ElementTree.SubElement(root, "author"), name="catalog-probe")
    for episode in found[:LISTED]:
        entry = ElementTree.SubElement(root, "entry")
        title = sanitize_line(f"{episode.provider.upper()}: {describe(episode)}", LONGEST)
        _add_texts(entry, id=_urn(target, episode.id), title=title)
        _add_texts(entry, published=_instant(episode.first), updated=_instant(episode.updated))
        for term in filter(None, (episode.provider, episode.code, str(episode.how or "open"))):
            ElementTree.SubElement(entry, "category", {"term": to_xml_text(sanitize_line(term, LONGEST))})
        content = "\n".join(sanitize_line(each, LONGEST) for each in (*_sentences(episode), *_records(episode)))
        ElementTree.SubElement(entry, "content", {"type": "text"}).text = to_xml_text(content)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def describe(episode: Episode) -> str:
    """What differs, in words; of a cause that the history has no words for, by the names of its differences."""
    names = sorted({name for part in episode.parts.values() for name in part.differs})
    return sanitize_line(episode.told or ", ".join(names), LONGEST)


def _sentences(episode: Episode) -> Iterator[str]:
    yield f"First seen {episode.first}."
    if episode.last != episode.first:
        yield f"Last seen {episode.last}."
    if episode.instead:
        yield f"In place of {', '.join(sorted(episode.instead))}."
    match episode.how:
        case Ending.RECOVERED:
            yield f"Recovered {episode.ended}: seen as documented again."
        case Ending.CHANGED:
            yield f"Changed {episode.ended}: something else differs in its place."
    if episode.never_confirmed:
        yield "No live run has ever confirmed it: the document or our transcription may be wrong."
    if episode.accepted:
        yield "Accepted."
    explained = f", code {episode.code} (catalog-probe catalog explain {episode.code})" if episode.code else ""
    yield f"Cause {episode.cause}{explained}."


def _records(episode: Episode) -> Iterator[str]:
    parts = sorted(episode.parts.values(), key=lambda part: part.record)
    for part in parts[:RECORDS]:
        ended = f", {part.how} {part.ended}" if part.how else ""
        yield f"- {part.record}: {', '.join(sorted(part.differs))}{ended}"
    if len(parts) > RECORDS:
        yield f"- and {format_count(len(parts) - RECORDS, 'more record')}"


def _instant(day: date) -> str:
    return f"{day.isoformat()}T00:00:00Z"


def _urn(*parts: str) -> str:
    """An id that is the same for ever."""
    return uuid.uuid5(_IDS, "/".join(escape_hidden(part) for part in parts)).urn


def _add_texts(parent: ElementTree.Element, **texts: str) -> None:
    for name, text in texts.items():
        ElementTree.SubElement(parent, name).text = to_xml_text(text)
