"""Markup of what a page has thousands of: rows of headers, lines of bodies, events, shapes; no macro is called for it.

Everything is escaped, and what is invisible made visible, as in the templates.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import quote

from markupsafe import Markup, escape

from catalog.model.visible import visible
from reports.marks import ELEMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from catalog.model import Json
    from reports.plots import Shape


def escaped(text: str) -> str:
    """As the environment puts a text in."""
    return str(escape(visible(text)))


def query(text: str) -> str:
    """A link to the records that a query finds."""
    return f"#?q={quote(text)}"


def headers(pairs: Iterable[tuple[str, str, str]]) -> Markup:
    """A list of name, value and mark; nothing where there are none."""
    rows = "".join(_header(name, value, mark) for name, value, mark in pairs)
    return Markup(f'<dl class="headers">{rows}</dl>' if rows else "")


def lines(body: Sequence[Sequence[str]]) -> Markup:
    """The lines of a body and their marks; those without one that follow each other are escaped as one text."""
    told: list[str] = []
    for mark, own in groupby(body, key=itemgetter(1)):
        texts = [text for text, _ in own]
        told += [_marked(each, mark) for each in texts] if mark else [escaped("\n".join(texts))]
    joined = "\n".join(told)
    return Markup(f"<pre>{joined}</pre>" if told else "")


def events(timeline: Iterable[Sequence[Json]]) -> Markup:
    """Rows of a table: when, which way, what it was, what it held, and a mark."""
    return Markup(
        "".join(
            f"<tr><td>{'' if ms is None else ms}</td><td>{escaped(way)}</td>"
            f"<td>{_marked(name, mark)}</td><td>{_marked(text, mark)}</td></tr>"
            for ms, way, name, text, mark in timeline
        )
    )


@lru_cache(maxsize=4096)
def keys(names: tuple[str, ...]) -> Markup:
    """What records assert, by its keys: most records assert the same few."""
    return Markup(", ".join(f"<code>{escaped(name)}</code>" for name in names))


def drawn(shapes: Iterable[Shape]) -> Markup:
    """Shapes as SVG, a line each."""
    return Markup("".join(f"{_shape(each)}\n" for each in shapes))


@lru_cache(maxsize=4096)
def _header(name: str, value: str, mark: str) -> str:
    """Mostly the same few."""
    return f"<div><dt>{escaped(name)}</dt><dd>{_marked(value, mark)}</dd></div>"


def _marked(text: str, mark: str) -> str:
    element, shown = ELEMENTS.get(mark), escaped(text)
    return f"<{element}>{shown}</{element}>" if element else shown


def _shape(shape: Shape) -> str:
    text, link = escaped(shape.text), escaped(query(shape.query)) if shape.query else ""
    if shape.form == "line":
        ends = f'x2="{shape.x + shape.width}" y2="{shape.y + shape.height}"'
        return f'<line class="{shape.kind}" x1="{shape.x}" y1="{shape.y}" {ends}/>'
    place = f'class="{shape.kind}" x="{shape.x}" y="{shape.y}"'
    if shape.form == "rect":
        size = f'width="{shape.width}" height="{shape.height}"'
        drawing = f"<rect {place} {size}><title>{text}</title></rect>"
        return f'<a href="{link}" aria-label="{text}">{drawing}</a>' if link else drawing
    drawing = f"<text {place}>{text}</text>"
    return f'<a href="{link}">{drawing}</a>' if link else drawing
