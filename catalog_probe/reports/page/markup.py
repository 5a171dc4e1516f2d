"""The Jinja environment of the report: everything is escaped, and hidden characters are made visible."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.record_states import RecordState
from catalog_probe.catalog.search import RECORD_FIELDS, RUN_FIELDS
from catalog_probe.catalog.text.readable_text import escape_hidden, format_count, sanitize_line
from catalog_probe.reports.content import commands, layers, reasons, words
from catalog_probe.reports.content.reasons import group_by_reason
from catalog_probe.reports.page.description import MAX_RELATED

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MAX_ENTRIES = 40  # causes, or names, shown under one heading

URL_PATTERN = re.compile(r"(https://[^\s()<>`\"']+[^\s()<>`\"'.,;:])")
"""An https URL in prose, without the punctuation that follows it."""

TEMPLATES = provider_folders.shipped_folder("reports") / "templates"

# jinja2 and markupsafe are imported inside the functions: they are slow to import, and only pages need them.


def mark_safe(text: str) -> Markup:
    """Mark markup of our own, which a template does not escape."""
    from markupsafe import Markup

    return Markup(text)


@cache
def template_environment() -> Environment:
    """Return the environment of all templates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    from catalog_probe.reports.page import elements

    def escape_hidden_text(value: Any) -> Any:
        return escape_hidden(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=escape_hidden_text,
    )
    environment.filters.update(
        age=words.format_age,
        line=sanitize_line,
        reason=reasons.format_reason,
        link_urls=_link_urls,
        exchange=elements.render_exchange,
        answer=elements.render_answer,
        checklist=elements.render_checklist,
        record_links=elements.render_record_links,
    )
    environment.globals.update(
        RecordState=RecordState,
        Outcome=Outcome,
        RESOLVED=words.RESOLVED,
        DISCOVERED=words.DISCOVERED,
        ADDED=words.ADDED,
        ENDING=words.ENDING,
        UNRECOGNISED=words.UNRECOGNISED,
        LAYERS=layers.HEADING,
        LAYERS_MEANING=layers.MEANING,
        MAX_ENTRIES=MAX_ENTRIES,
        MAX_RELATED=MAX_RELATED,
        count=format_count,
        query=elements.format_query_link,
        fields={**RECORD_FIELDS, **RUN_FIELDS},
        explain=reasons.explain_code,
        group_by_reason=group_by_reason,
        cause_command=commands.format_cause_command,
        accept_command=commands.format_accept_command,
    )
    return environment


def _link_urls(text: str) -> Markup:
    """Turn every URL in a person's own text (the reason of an accepted difference) into a link."""
    from markupsafe import Markup, escape

    link = Markup('<a href="{0}" rel="noreferrer">{0}</a>')
    pieces = URL_PATTERN.split(text)  # every second piece is a URL
    return Markup("").join(link.format(piece) if index % 2 else escape(piece) for index, piece in enumerate(pieces))
