"""report.html: one file without network, readable without script, in which nothing observed can run or restyle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.earlier_runs import OUTCOME_LETTERS
from catalog_probe.catalog.evidence.traffic_summary import format_traffic_summary, list_unrecognised
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.search import query, terms, values
from catalog_probe.reports.content.expirations import describe_expirations
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.content.sentence import sentence, title
from catalog_probe.reports.content.words import OUTCOMES, another_revision
from catalog_probe.reports.exchanges import exchanges
from catalog_probe.reports.page import plots, record_rows
from catalog_probe.reports.page.detail import Details
from catalog_probe.reports.page.facts import Relations
from catalog_probe.reports.page.markup import environment, safe
from catalog_probe.reports.page.matrix import matrix
from catalog_probe.reports.page.one_file import asset, policy
from catalog_probe.reports.page.packing import pack_details
from catalog_probe.reports.page.story import Story

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.reports.content.standing import Standing

STYLES = ("base.css", "story.css", "matrix.css", "finding.css", "records.css", "print.css")
SCRIPTS = ("page.js", "data.js", "rows.js", "query.js", "detail.js", "copy.js", "list.js", "search.js", "keys.js")

SHOWN_WHOLE = 50
WHOLE_CHARACTERS = 3_000_000
"""Findings, and characters of their exchanges, printed whole; the rest are listed, and their details packed."""


def render(run: Run, results: Sequence[Result]) -> str:
    """The report. Pure: the same results give the same bytes."""
    overview = Overview(run, results)
    dates = overview.run_names
    details = Details(run, Relations(overview.results), overview.attributor, dates)
    whole = list(_shown_whole(overview.findings))
    packed = pack_details(_not_printed(overview.standings, whole), details.whole)
    style, script = asset(STYLES), asset(SCRIPTS)
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            run=run,
            under=another_revision(run),
            overview=overview,
            title=title(overview),
            sentence=sentence(overview, whys=False),  # who is blind, and why, stands below
            style=safe(style),
            script=safe(script),
            policy=policy(style, script),
            matrix=matrix(overview),
            runs=plots.runs(overview),
            story=Story(overview, [details.article(each) for each in whole]),
            added=[each.address for each in overview.added],
            ending=describe_expirations(run),
            traffic=format_traffic_summary(run.traffic) if run.traffic is not None else "",
            unrecognised=list_unrecognised(run.traffic),
            index=safe(record_rows.text(_index(overview, dates))),
            details=safe(record_rows.text(packed)),
            dates=dates,
        )
    )


def _not_printed(standings: Sequence[Standing], whole: Sequence[Standing]) -> list[Standing]:
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


def _index(overview: Overview, dates: Sequence[str]) -> dict[str, Any]:
    rows, facets = record_rows.rows(overview)
    return {
        "outcomes": {OUTCOME_LETTERS[outcome]: [outcome, name] for outcome, name in OUTCOMES.items()},
        "fields": {**query.RECORD_FIELDS, **query.RUN_FIELDS},
        "prose": sorted(terms.PROSE_FIELDS),
        "states": sorted(terms.SPACED_FIELDS),
        "listed": values.ALLOWED_VALUES,
        "forms": {field: [form.pattern, form.mend] for field, form in values.VALUE_FORMATS.items()},
        "runs": dates,
        "facets": facets,
        "rows": rows,
    }
