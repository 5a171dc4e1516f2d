"""Jinja as the report uses it: everything is escaped, and what is invisible is made visible on its way out."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from catalog.model import Outcome
from catalog.model.visible import line, visible
from catalog.reading import over_runs
from catalog.reading.query import OF_RECORDS, OF_RUNS
from reports import advice, commands, exchanges, sections, words
from reports.facts import RELATED
from reports.marks import ELEMENTS
from reports.unseen import unseen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from jinja2 import Environment
    from markupsafe import Markup

MOST = 40
"""Causes, or names, told under one heading."""

ADDRESS = re.compile(r"(https://[^\s()<>`\"']+[^\s()<>`\"'.,;:])")
"""An address of a page; what ends a sentence does not belong to it."""

TEMPLATES = Path(__file__).parent / "templates"


def safe(text: str) -> Markup:
    """Text of our own that goes in as it is."""
    from markupsafe import Markup

    return Markup(text)


@cache
def environment() -> Environment:
    """The environment of all templates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    from reports.compiled import Compiled

    def shown(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        bytecode_cache=Compiled(),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )
    made.filters.update(capital=_capital, days=words.days, oneline=line, why=advice.reason)
    made.filters.update(runs=_runs, short=exchanges.shorten, linked=_linked, together=_together)
    made.filters.update(headers=_headers, keys=_keys)
    made.globals.update(
        Name=sections.Name,
        BY_CAUSE=sections.BY_CAUSE,
        BY_REASON=sections.BY_REASON,
        QUIET=sections.QUIET,
        OUTCOMES=words.OUTCOMES,
        SETTLED=words.SETTLED,
        DISCOVERED=words.DISCOVERED,
        ADDED=words.ADDED,
        ENDING=words.ENDING,
        MOST=MOST,
        RELATED=RELATED,
        ASIDE=exchanges.ASIDE,
        Outcome=Outcome,
        count=words.count,
        query=query,
        fields={**OF_RECORDS, **OF_RUNS},
        over_runs=over_runs.MEANS,
        of_a_run=over_runs.FIELDS,
        meaning=advice.means,
        unseen=unseen,
        ask_again=commands.ask_again,
        accept=commands.accept,
    )
    return made


def query(text: str) -> str:
    """A link to the records that a query finds."""
    return f"#?q={quote(text)}"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _linked(text: str) -> Markup:
    """A text of a person's own, the ledger's, in which each address of a page leads there."""
    from markupsafe import Markup, escape

    pieces = ADDRESS.split(text)
    link = '<a href="{0}" rel="noreferrer">{0}</a>'
    return Markup("").join(Markup(link).format(each) if at % 2 else escape(each) for at, each in enumerate(pieces))


def _headers(pairs: Iterable[tuple[str, str, str]]) -> Markup:
    """Rows of name, value and mark. A page has a hundred thousand, mostly the same few: no macro is called for each."""
    return safe("".join(_header(name, value, mark) for name, value, mark in pairs))


@lru_cache(maxsize=4096)
def _header(name: str, value: str, mark: str) -> str:
    element = ELEMENTS.get(mark)
    shown = _escaped(value)
    return f"<div><dt>{_escaped(name)}</dt><dd>{f'<{element}>{shown}</{element}>' if element else shown}</dd></div>"


@lru_cache(maxsize=4096)
def _keys(names: tuple[str, ...]) -> Markup:
    """What records assert, by its keys: most records assert the same few."""
    return safe(", ".join(f"<code>{_escaped(name)}</code>" for name in names))


def _escaped(text: str) -> str:
    """As the environment puts a text in."""
    from markupsafe import escape

    return str(escape(visible(text)))


def _together(lines: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Lines and their marks, those without one that follow each other as one text: a body has a hundred of them."""
    for mark, own in groupby(lines, key=itemgetter(1)):
        texts = [text for text, _ in own]
        yield from [("\n".join(texts), mark)] if not mark else [(text, mark) for text in texts]


def _runs(strip: Sequence[Outcome | None]) -> Iterator[tuple[int, Outcome | None]]:
    """The cells of a history strip, numbered from the left."""
    return iter(enumerate(strip))
