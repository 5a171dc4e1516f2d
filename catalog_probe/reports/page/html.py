"""report.html: one file without network, readable without script, in which nothing observed can run or restyle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog import search
from catalog_probe.catalog.evidence.earlier_runs import OUTCOME_LETTERS
from catalog_probe.catalog.evidence.merge import format_traffic_summary, list_unrecognised
from catalog_probe.catalog.model import Outcome
from catalog_probe.reports.content.expirations import describe_expirations
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.content.run_sentence import format_sentence, format_tab_title
from catalog_probe.reports.content.words import OUTCOMES, describe_revision
from catalog_probe.reports.exchanges import exchange_views
from catalog_probe.reports.page.articles import ArticleRegistry
from catalog_probe.reports.page.description import RelatedRecords
from catalog_probe.reports.page.detail import DetailRenderer
from catalog_probe.reports.page.embedding import format_policy, format_script_json, pack_details, read_assets
from catalog_probe.reports.page.markup import mark_safe, template_environment
from catalog_probe.reports.page.matrix import build_matrix
from catalog_probe.reports.page.plots import plot_runs
from catalog_probe.reports.page.record_list import list_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.reports.content.reported_records import ReportedRecord

STYLES = ("base.css", "story.css", "matrix.css", "finding.css", "records.css", "print.css")
SCRIPTS = ("page.js", "data.js", "rows.js", "query.js", "detail.js", "copy.js", "list.js", "search.js", "keys.js")

# Up to these limits findings are printed as articles; the others are listed, and their details compressed.
MAX_ARTICLES = 50
_MAX_ARTICLE_CHARACTERS = 3_000_000  # of the exchanges of all articles


def render(run: Run, results: Sequence[Result]) -> str:
    """Render the page. Pure: the same results give the same bytes."""
    overview = Overview(run, results)
    renderer = DetailRenderer(run, RelatedRecords(overview.results), overview.attributor, overview.run_names)
    printed = list(_select_articles(overview.findings))
    packed = pack_details(_order_unprinted(overview.records, printed), renderer.render)
    style, script = read_assets(STYLES), read_assets(SCRIPTS)
    return (
        template_environment()
        .get_template("report.html.j2")
        .render(
            run=run,
            revision=describe_revision(run),
            overview=overview,
            title=format_tab_title(overview),
            sentence=format_sentence(overview, reasons=False),  # the page shows each blind provider with its reason
            style=mark_safe(style),
            script=mark_safe(script),
            policy=format_policy(style, script),
            matrix=build_matrix(overview),
            plot=plot_runs(overview),
            articles=ArticleRegistry(overview, [renderer.describe_article(record) for record in printed]),
            added=[record.address for record in overview.added],
            ending=describe_expirations(run),
            traffic=format_traffic_summary(run.traffic) if run.traffic is not None else "",
            unrecognised=list_unrecognised(run.traffic),
            index=mark_safe(format_script_json(_build_index(overview))),
            details=mark_safe(format_script_json(packed)),
            dates=overview.run_names,
        )
    )


def _select_articles(findings: Sequence[ReportedRecord]) -> Iterator[ReportedRecord]:
    characters_left = _MAX_ARTICLE_CHARACTERS
    for finding in findings[:MAX_ARTICLES]:
        characters_left -= sum(exchange_views.estimate_size(attempt) for attempt in finding.result.attempts)
        if characters_left < 0:
            return
        yield finding


def _order_unprinted(records: Sequence[ReportedRecord], printed: Sequence[ReportedRecord]) -> list[ReportedRecord]:
    """Return the records that are not printed. Those that conform come last: they are the first to be left out."""
    printed_addresses = {record.address for record in printed}
    return sorted(
        (record for record in records if record.address not in printed_addresses),
        key=lambda record: (record.outcome is Outcome.CONFORMS, not record.result.findings, record.address),
    )


def _build_index(overview: Overview) -> dict[str, Any]:
    """Build the data of the list of records, for the page's script."""
    rows, facets = list_rows(overview)
    return {
        "outcomes": {OUTCOME_LETTERS[outcome]: [outcome, name] for outcome, name in OUTCOMES.items()},
        "fields": {**search.RECORD_FIELDS, **search.RUN_FIELDS},
        "prose": sorted(search.PROSE_FIELDS),
        "states": sorted(search.SPACED_FIELDS),
        "listed": search.ALLOWED_VALUES,
        "forms": {field: [form.pattern, form.mend] for field, form in search.VALUE_FORMATS.items()},
        "runs": overview.run_names,
        "facets": facets,
        "rows": rows,
    }
