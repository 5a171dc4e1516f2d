"""Markup of what a page has thousands of: exchanges, their headers and bodies, assertions; no macro is called.

Everything is escaped, and what is invisible made visible, as in the templates.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import quote

from markupsafe import Markup, escape

from catalog_probe.catalog.text.sanitizing import escape_hidden, sanitize_line
from catalog_probe.reports.exchanges.marks import ELEMENTS, MARKED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Json
    from catalog_probe.reports.content.checklist import Checked

TIMELINE = '<th scope="col">ms</th><th scope="col">way</th><th scope="col">what</th><th scope="col">data</th>'


def escaped(text: str) -> str:
    """As the environment puts a text in."""
    return str(escape(escape_hidden(text)))


def query(text: str) -> str:
    """A link to the records that a query finds."""
    return f"#?q={quote(text)}"


def exchange(told: Mapping[str, Json], *, is_open: bool = False) -> Markup:
    """What was asked and answered, in one line that unfolds."""
    on = f" on {escaped(told['endpoint'])}" if told["endpoint"] else ""
    answer = _marked(told["answer"], MARKED if told["marked"] else "")
    failure = f'<p class="reason">{escaped(told["failure"])}</p>' if "failure" in told else ""
    answered = f'<div class="one">{seen(told)}</div>' if "seen" in told else ""
    return Markup(
        f'<details class="exchange"{" open" if is_open else ""}>\n'
        f'  <summary><b>{escaped(told["label"])}{on}</b> <span class="asked">{escaped(told["asked"])}</span> '
        f'<b class="answer">{answer}</b> <span class="ms">{told["ms"]} ms</span></summary>\n'
        f"{failure}{answered}  "
        f'<details class="sent"><summary>Sent</summary>{headers(told["sent"])}{lines(told["sent_body"])}</details>\n'
        "</details>"
    )


def seen(told: Mapping[str, Json]) -> Markup:
    """What came in answer; nothing where nothing came."""
    rows = told.get("timeline")
    table = f"<thead><tr>{TIMELINE}</tr></thead>\n  <tbody>{events(rows)}</tbody>\n" if rows else ""
    timeline = f'<table class="timeline">\n  {table}</table>\n' if rows else ""
    return Markup(f"{headers(told.get('seen', ()))}{lines(told.get('seen_body', ()))}\n{timeline}")


def checked(told: Checked) -> Markup:
    """What was seen under one label on one endpoint, by how it was seen."""
    on = f' on <a class="near" href="#{escaped(told.endpoint)}">{escaped(told.endpoint)}</a>' if told.endpoint else ""
    return Markup(f"<p>{escaped(told.label)}{on}</p>\n<dl>\n{''.join(_ways(told))}</dl>")


def _ways(told: Checked) -> Iterator[str]:
    if told.mismatched:
        pairs = (
            f"<code>{escaped(key)}</code>: {escaped(sanitize_line(value, 120))}"
            for key, value in told.mismatched.items()
        )
        yield f"<dt>mismatched</dt><dd>{', '.join(pairs)}</dd>"
    if told.as_documented:
        yield f"<dt>as documented</dt><dd>{keys(told.as_documented)}</dd>"
    if told.assumed:
        yield f"<dt>assumed</dt><dd>{keys(told.assumed)}</dd>"
    for why, hidden in told.not_observed.items():
        yield f"<dt>not observed, {escaped(why)}</dt><dd>{keys(hidden)}</dd>"


def near(addresses: Iterable[str]) -> Markup:
    """Links to other records of the page, each by its address without the provider."""
    names = ((escaped(each), escaped(each.partition("/")[2])) for each in addresses)
    return Markup("".join(f'<a class="near" href="#{address}">{name}</a>' for address, name in names))


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


def keys(names: tuple[str, ...]) -> Markup:
    """What records assert, by its keys."""
    return Markup(", ".join(f"<code>{escaped(name)}</code>" for name in names))


def _header(name: str, value: str, mark: str) -> str:
    return f"<div><dt>{escaped(name)}</dt><dd>{_marked(value, mark)}</dd></div>"


def _marked(text: str, mark: str) -> str:
    element, shown = ELEMENTS.get(mark), escaped(text)
    return f"<{element}>{shown}</{element}>" if element else shown
