"""Jinja as the report uses it: everything is escaped, and what is invisible is made visible on its way out."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog.evidence.changes import Change
from catalog.model import Outcome
from catalog.model.visible import line, visible
from reports import advice, causes, exchanges
from reports.facts import RELATED
from reports.overview import GROUPS, days
from reports.terminal import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jinja2 import Environment
    from markupsafe import Markup

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

    def shown(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )
    made.filters.update(days=days, oneline=line, why=advice.reason, runs=_runs, short=exchanges.shorten)
    made.globals.update(
        GROUPS=GROUPS,
        COLUMNS=COLUMNS,
        RELATED=RELATED,
        ASIDE=exchanges.ASIDE,
        CAUSED=causes.CAUSED,
        Outcome=Outcome,
        Change=Change,
        gathered=causes.gathered,
        ask_again=causes.ask_again,
        accept=causes.accept,
    )
    return made


def _runs(strip: Sequence[Outcome | None]) -> Iterator[tuple[int, Outcome | None]]:
    """The cells of a history strip, numbered from the left."""
    return iter(enumerate(strip))
