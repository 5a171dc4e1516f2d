"""The wire's changelog, one entry a change, from history alone: Markdown, Atom and JSON Feed, for all and a provider.

The same history gives the same bytes, and a night that saw nothing begin, go on or end changes none of them.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from catalog.model.visible import harmless, line, tree, visible
from catalog.writeback.writing import write_data
from reports.episodes import Ending, Episode, Part, episodes
from reports.summary import code_span
from reports.words import count
from reports.xml_text import legal

if TYPE_CHECKING:
    from catalog.evidence.past import Row
    from catalog.model import Json

LISTED = 200
"""Changes in feed.xml and feed.json, the latest of them; index.md has all."""

RECORDS = 50
"""Records that an entry names; the rest are counted."""

LONGEST = 300
"""Characters of a text from outside."""

ATOM = "http://www.w3.org/2005/Atom"
JSON_FEED = "https://jsonfeed.org/version/1.1"

_IDS = uuid.UUID("2f0c7c54-6f0b-5f0e-9a58-6a1d1c2b7e11")
_PROVIDER = re.compile(r"[a-z][a-z0-9]*")

Text = Callable[[str], str]
"""How a text from outside is written into a sentence."""


@dataclass(frozen=True, slots=True)
class Feed:
    """What happened on one target, to all providers or to one."""

    target: str
    provider: str
    """Empty where it is of all."""
    began: date
    """The first night of the history."""
    entries: tuple[Episode, ...]
    """The latest first."""

    def title(self, text: Text) -> str:
        of_whom = f"{self.provider.upper()}, " if self.provider else ""
        return f"What changed on the wire: {of_whom}{text(self.target)}"

    @property
    def id(self) -> str:
        return _urn(self.target, self.provider)

    @property
    def updated(self) -> date:
        return max((each.updated for each in self.entries), default=self.began)


def feeds(target: str, rows: Sequence[Row]) -> list[Feed]:
    """The feed of all, and one of each provider that the rows of a history name, also where nothing happened to it."""
    began = min(row.today for row in rows)
    found = sorted(episodes(rows), key=lambda each: (each.updated, each.first, each.id), reverse=True)
    addresses = {address for row in rows for address in row.outcomes}
    providers = sorted({address.partition("/")[0] for address in addresses})
    own = [each for each in providers if _PROVIDER.fullmatch(each)]
    return [
        Feed(target, provider, began, tuple(each for each in found if provider in ("", each.provider)))
        for provider in ("", *own)
    ]


def write(folder: Path, target: str, rows: Sequence[Row]) -> tuple[list[Path], int]:
    """Write index.md, feed.xml and feed.json of all into a folder, and of each provider into one of its name below.

    Returns: their paths, and how many of them are other than they were.

    Raises:
        CatalogError: a file cannot be written.
    """
    paths, changed = [], 0
    for feed in feeds(target, rows):
        for name, render in VIEWS.items():
            path = folder / feed.provider / name
            changed += write_data(path, render(feed).encode("utf-8", "backslashreplace"), durable=False)
            paths.append(path)
    return paths, changed


def markdown(feed: Feed) -> str:
    """index.md: every change, the latest first."""
    lines = [f"# {feed.title(code_span)}", ""]
    lines += [f"Since {feed.began}, told from the history alone: {count(len(feed.entries), 'change')}.", ""]
    for each in feed.entries:
        lines += [f"## {each.first} {each.provider.upper()}: {code_span(_told(each), LONGEST)}", ""]
        lines += [*(f"{said}  " for said in _said(each, code_span)), ""]
        lines += [*(f"- {said}" for said in _parts(each, code_span)), ""]
    return harmless("\n".join(lines))


def atom(feed: Feed) -> str:
    """feed.xml: Atom (RFC 4287)."""
    root = ElementTree.Element("feed", {"xmlns": ATOM})
    _texts(root, id=feed.id, title=feed.title(_plain), updated=_instant(feed.updated))
    _texts(ElementTree.SubElement(root, "author"), name="catalog-probe")
    for each in feed.entries[:LISTED]:
        entry = ElementTree.SubElement(root, "entry")
        _texts(entry, id=_urn(feed.target, each.id), title=_title(each))
        _texts(entry, published=_instant(each.first), updated=_instant(each.updated))
        for term in _tags(each):
            ElementTree.SubElement(entry, "category", {"term": legal(term)})
        ElementTree.SubElement(entry, "content", {"type": "text"}).text = legal(_content(each))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def json_feed(feed: Feed) -> str:
    """feed.json: JSON Feed 1.1; `_change` is the same as data."""
    items = [
        {
            "id": _urn(feed.target, each.id),
            "title": _title(each),
            "content_text": _content(each),
            "date_published": _instant(each.first),
            "date_modified": _instant(each.updated),
            "tags": _tags(each),
            "_change": as_data(each),
        }
        for each in feed.entries[:LISTED]
    ]
    told = {"version": JSON_FEED, "title": feed.title(_plain), "authors": [{"name": "catalog-probe"}], "items": items}
    return json.dumps(tree(told), ensure_ascii=False, indent=2) + "\n"


def as_data(episode: Episode, most: int = RECORDS) -> dict[str, Json]:
    """A change for programs; of its records the first, and how many there are."""
    parts = sorted(episode.parts.values(), key=lambda part: part.record)
    return {
        "id": episode.id,
        "provider": episode.provider,
        "cause": episode.cause or None,
        "code": episode.code or None,
        "told": _told(episode),
        "first": episode.first.isoformat(),
        "last": episode.last.isoformat(),
        "nights": episode.nights,
        "runs": [line(each, LONGEST) for each in dict.fromkeys(episode.runs)],
        "ended": episode.ended.isoformat() if episode.ended else None,
        "how": str(episode.how) if episode.how else None,
        "instead_of": sorted(episode.instead),
        "never_agreed": episode.never_agreed,
        "accepted": episode.accepted,
        "number": len(parts),
        "records": [tree(_part(part)) for part in parts[:most]],
    }


def _part(part: Part) -> dict[str, Json]:
    return {
        "record": part.record,
        "differs": sorted(part.differs - {""}),
        "endpoints": sorted(part.on),
        "first": part.first.isoformat(),
        "last": part.last.isoformat(),
        "ended": part.ended.isoformat() if part.ended else None,
        "how": str(part.how) if part.how else None,
    }


def _content(episode: Episode) -> str:
    return "\n".join([*_said(episode, _plain), *(f"- {each}" for each in _parts(episode, _plain))])


def _said(episode: Episode, text: Text) -> Iterator[str]:
    """What is to be said of a change, a sentence each; `text` writes what comes from outside."""
    first, last = episode.runs
    yield f"First seen {episode.first} (run {text(first)})."
    if first != last:
        yield f"Last seen {episode.last} (run {text(last)}), on {count(episode.nights, 'night')}."
    if episode.instead:
        yield f"In place of {', '.join(text(each) for each in sorted(episode.instead))}."
    match episode.how:
        case Ending.RECOVERED:
            yield f"Recovered {episode.ended}: seen as documented again."
        case Ending.CHANGED:
            yield f"Changed {episode.ended}: something else differs in its place."
    if episode.never_agreed:
        yield "No night before had seen it as documented: the document or our transcription may be wrong."
    if episode.accepted:
        yield "Accepted in the ledger."
    if episode.cause:
        explained = text(f"python -m catalog explain {episode.code}")
        yield f"Cause {text(episode.cause)}, code {text(episode.code)} ({explained})."


def _parts(episode: Episode, text: Text) -> Iterator[str]:
    parts = sorted(episode.parts.values(), key=lambda part: part.record)
    for part in parts[:RECORDS]:
        differs = ", ".join(text(each) for each in sorted(part.differs) if each)
        ended = f", {part.how} {part.ended}" if part.how else ""
        what = f": {differs}" if differs else ""
        on = f" on {count(len(part.on), 'endpoint')}" if part.on else ""
        yield f"{text(part.record)}{what}{on}, {part.first} to {part.last}{ended}"
    if len(parts) > RECORDS:
        yield f"and {count(len(parts) - RECORDS, 'more record')}"


def _title(episode: Episode) -> str:
    return f"{episode.provider.upper()}: {_told(episode)}"


def _told(episode: Episode) -> str:
    """What differs, in words; of an older history in its own."""
    if episode.told:
        return line(episode.told, LONGEST)
    names = sorted({name for part in episode.parts.values() for name in part.differs if name})
    return line(", ".join(names), LONGEST) or "drifts; the history does not say in what"


def _tags(episode: Episode) -> list[str]:
    marks = {"accepted": episode.accepted, "never-agreed": episode.never_agreed}
    known = [each for each in (episode.provider, episode.code, str(episode.how or "open")) if each]
    return [*map(_plain, known), *(mark for mark, holds in marks.items() if holds)]


def _plain(text: str) -> str:
    return line(text, LONGEST)


def _instant(day: date) -> str:
    return f"{day.isoformat()}T00:00:00Z"


def _urn(*parts: str) -> str:
    """An id that is the same for ever, as both kinds of feed want it."""
    return uuid.uuid5(_IDS, "/".join(visible(part) for part in parts)).urn


def _texts(parent: ElementTree.Element, **texts: str) -> None:
    for name, text in texts.items():
        ElementTree.SubElement(parent, name).text = legal(text)


VIEWS: Mapping[str, Callable[[Feed], str]] = {"index.md": markdown, "feed.xml": atom, "feed.json": json_feed}
