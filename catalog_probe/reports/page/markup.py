"""Jinja as the report uses it: everything is escaped, and what is invisible is made visible on its way out."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.files import paths
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.search.query import RECORD_FIELDS, RUN_FIELDS
from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.catalog.text.sanitizing import escape_hidden, sanitize_line
from catalog_probe.reports.content import advice, commands, sections, words
from catalog_probe.reports.content.unseen import unseen
from catalog_probe.reports.exchanges import exchanges
from catalog_probe.reports.page.facts import RELATED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jinja2 import Environment
    from markupsafe import Markup

MOST = 40
"""Causes, or names, told under one heading."""

ADDRESS = re.compile(r"(https://[^\s()<>`\"']+[^\s()<>`\"'.,;:])")
"""An address of a page; what ends a sentence does not belong to it."""

TEMPLATES = paths.shipped_folder("reports") / "templates"


def safe(text: str) -> Markup:
    """Text of our own that goes in as it is."""
    from markupsafe import Markup  # jinja2's; only pages need it

    return Markup(text)


@cache
def environment() -> Environment:
    """The environment of all templates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # slow to import; only pages need it
    from markupsafe import Markup

    from catalog_probe.reports.page.elements import checked, exchange, near, query, seen  # as above

    def shown(value: Any) -> Any:
        return escape_hidden(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )
    made.filters.update(days=words.days, oneline=sanitize_line, why=advice.reason)
    made.filters.update(runs=_runs, short=exchanges.format_short_value, linked=_linked)
    made.filters.update({each.__name__: each for each in (exchange, seen, checked, near)})
    made.globals.update(
        Name=sections.Name,
        BY_CAUSE=sections.BY_CAUSE,
        BY_REASON=sections.BY_REASON,
        QUIET=sections.QUIET,
        OUTCOMES=words.OUTCOMES,
        RESOLVED=words.RESOLVED,
        DISCOVERED=words.DISCOVERED,
        ADDED=words.ADDED,
        ENDING=words.ENDING,
        UNRECOGNISED=words.UNRECOGNISED,
        MOST=MOST,
        RELATED=RELATED,
        Outcome=Outcome,
        count=format_count,
        query=query,
        fields={**RECORD_FIELDS, **RUN_FIELDS},
        meaning=advice.means,
        unseen=unseen,
        ask_again=commands.ask_again,
        accept=commands.accept,
    )
    return made


def _linked(text: str) -> Markup:
    """A person's own text, of an accepted difference, in which each address of a page leads there."""
    from markupsafe import Markup, escape  # as above

    pieces = ADDRESS.split(text)
    link = '<a href="{0}" rel="noreferrer">{0}</a>'
    return Markup("").join(Markup(link).format(each) if at % 2 else escape(each) for at, each in enumerate(pieces))


def _runs(strip: Sequence[Outcome | None]) -> Iterator[tuple[int, Outcome | None]]:
    """The cells of a history strip, numbered from the left."""
    return iter(enumerate(strip))
