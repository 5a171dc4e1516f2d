"""report.html: one file without network, readable without script, in which nothing observed can run or restyle."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from catalog.evidence.past import LETTERS
from catalog.model import Outcome
from reports import exchanges, island, plots
from reports.attribution import Attributor
from reports.chunks import pack
from reports.detail import Details
from reports.facts import Relations
from reports.markup import TEMPLATES, environment, safe
from reports.matrix import matrix
from reports.overview import Overview
from reports.terminal import COLUMNS
from reports.unseen import unseen

if TYPE_CHECKING:
    from catalog.evidence.results import Result, Run
    from reports.standing import Standing

STYLES = ("base.css", "matrix.css", "finding.css", "records.css", "print.css")
SCRIPTS = ("data.js", "detail.js", "copy.js", "list.js", "keys.js")

SHOWN_WHOLE = 50
WHOLE_CHARACTERS = 3_000_000
"""Findings, and characters of their exchanges, printed whole; the rest are listed, and their details packed."""

CHANGED = 8
"""Records listed under one heading of what changed."""


def render(run: Run, results: Sequence[Result]) -> str:
    """The report. Pure: the same results give the same bytes."""
    overview = Overview(run, results)
    dates = [row.today.isoformat() for row in overview.earlier] + [run.today]
    details = Details(run, Relations(overview.results), Attributor(run, overview.standings), dates)
    whole = list(_shown_whole(overview.findings))
    packed = pack(_packed(overview.standings, whole), details.whole, details.without_exchanges)
    style, script = _asset(STYLES), _asset(SCRIPTS)
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            run=run,
            overview=overview,
            style=safe(style),
            script=safe(script),
            policy=_policy(style, script),
            matrix=matrix(overview),
            unseen=unseen(overview.standings),
            plots=plots.plots(overview),
            findings=[details.article(each) for each in whole],
            further=overview.findings[len(whole) :],
            index=safe(island.text(_index(overview, packed.place, dates))),
            packed=packed.texts,
            dates=dates,
            changed=CHANGED,
        )
    )


def _packed(standings: Sequence[Standing], whole: Sequence[Standing]) -> list[Standing]:
    """The records whose detail is packed; those that conform last, for they are the first to do without."""
    printed = {each.address for each in whole}
    members = [each for each in standings if each.address not in printed]
    return sorted(members, key=lambda each: (each.outcome is Outcome.CONFORMS, not each.result.findings, each.address))


def _shown_whole(findings: Sequence[Standing]) -> Iterator[Standing]:
    left = WHOLE_CHARACTERS
    for each in findings[:SHOWN_WHOLE]:
        left -= sum(exchanges.size(attempt) for attempt in each.result.attempts)
        if left < 0:
            return
        yield each


def _index(overview: Overview, place: Mapping[str, int], dates: Sequence[str]) -> dict[str, Any]:
    return {
        "outcomes": {LETTERS[outcome]: [outcome, name] for outcome, name in COLUMNS.items()},
        "runs": dates,
        "rows": island.rows(overview, place),
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
