"""report.html: one file without network, readable without script, in which nothing observed can run or restyle."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog.evidence.changes import Change
from catalog.model import Outcome
from catalog.model.explanations import ALL
from catalog.reading.facts import meaning
from reports import advice, exchanges, island, plots
from reports.attribution import Attributor
from reports.difference import side_by_side
from reports.facts import RELATED, Relations, facts, sections, title
from reports.history import LETTERS
from reports.matrix import matrix
from reports.overview import GROUPS, Overview, days
from reports.reproduce import pytest_command
from reports.terminal import COLUMNS
from reports.unseen import unseen
from reports.visible import line, visible

if TYPE_CHECKING:
    from jinja2 import Environment

    from catalog.evidence.results import Result, Run
    from reports.standing import Standing

TEMPLATES = Path(__file__).parent / "templates"
STYLES = ("base.css", "matrix.css", "finding.css", "records.css", "print.css")
SCRIPTS = ("data.js", "draw.js", "detail.js", "list.js", "keys.js")

SHOWN_WHOLE = 50
WHOLE_CHARACTERS = 3_000_000
"""Findings, and characters of their exchanges, printed whole; the rest are listed, and drawn from the details."""

CHANGED = 8
"""Records listed under one heading of what changed."""


def render(run: Run, results: Sequence[Result]) -> str:
    """The report. Pure: the same results give the same bytes."""
    overview = Overview(run, results)
    attributor = Attributor(run, overview.standings)
    relations = Relations(results)
    findings = [_finding(each, overview, relations, attributor) for each in _shown_whole(overview.findings)]
    whole = overview.findings[: len(findings)]
    style, script = _asset(STYLES), _asset(SCRIPTS)
    template = _environment().get_template("report.html.j2")
    return template.render(
        run=run,
        overview=overview,
        style=_safe(style),
        script=_safe(script),
        policy=_policy(style, script),
        matrix=matrix(overview),
        unseen=unseen(overview.standings),
        plots=plots.plots(overview),
        findings=findings,
        further=overview.findings[len(whole) :],
        index=_safe(island.text(_index(overview))),
        details=_safe(island.text(island.shared(_details(overview, whole, relations, attributor)))),
        dates=[row.today.isoformat() for row in overview.earlier] + [run.today],
        changed=CHANGED,
        GROUPS=GROUPS,
        COLUMNS=COLUMNS,
        RELATED=RELATED,
        ASIDE=exchanges.ASIDE,
        Outcome=Outcome,
        Change=Change,
    )


def _shown_whole(findings: Sequence[Standing]) -> Iterator[Standing]:
    left = WHOLE_CHARACTERS
    for each in findings[:SHOWN_WHOLE]:
        left -= sum(exchanges.size(attempt) for attempt in each.result.attempts)
        if left < 0:
            return
        yield each


def _index(overview: Overview) -> dict[str, Any]:
    return {
        "outcomes": {LETTERS[outcome]: [outcome, name] for outcome, name in COLUMNS.items()},
        "runs": [row.today.isoformat() for row in overview.earlier] + [overview.run.today],
        "related": RELATED,
        "aside": exchanges.ASIDE,
        "rows": island.rows(overview),
    }


def _details(
    overview: Overview, whole: Sequence[Standing], relations: Relations, attributor: Attributor
) -> dict[str, Any]:
    return island.details(overview, frozenset(each.address for each in whole), relations, attributor)


def _finding(standing: Standing, overview: Overview, relations: Relations, attributor: Attributor) -> dict[str, Any]:
    """Everything that one finding's article prints."""
    result = standing.result
    return {
        "standing": standing,
        "result": result,
        "title": title(result),
        "meaning": meaning(result.probed_record),
        "sections": sections(result),
        "differences": [(item, side_by_side(item.documented, item.observed)) for item in result.drifts],
        "asides": [item for item in result.findings if not item.drifts],
        "attribution": attributor.of(standing),
        "codes": [ALL[code] for code in advice.codes(result) if code in ALL],
        "facts": [fact for fact in facts(result, relations) if fact["label"] != "meaning"],
        "attempts": exchanges.attempts(result),
        "waterfalls": [plots.waterfall(attempt) for attempt in result.attempts],
        "pytest": pytest_command(overview.run, result),
    }


def _policy(style: str, script: str) -> str:
    """Only this file's own style and script may act: both are named by their hash, all else is refused."""
    rules = [
        "default-src 'none'",
        f"style-src 'sha256-{_hash(style)}'",
        f"script-src 'sha256-{_hash(script)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(rules)


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(names: Sequence[str]) -> str:
    return "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)


def _safe(text: str) -> Any:
    """Text of our own that goes in as it is."""
    from markupsafe import Markup

    return Markup(text)


@cache
def _environment() -> Environment:
    """Jinja, set to escape everything and to make what is invisible visible on its way out."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )
    environment.filters.update(days=days, oneline=line, why=advice.reason, runs=_runs)
    return environment


def _runs(strip: Sequence[Outcome | None]) -> Iterator[tuple[int, Outcome | None]]:
    """The cells of a history strip, numbered from the left."""
    return iter(enumerate(strip))
