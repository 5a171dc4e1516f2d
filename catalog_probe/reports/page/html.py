"""The page, report.html: its parts, its list of records and its packed details.

The details of the records that the page does not print are compressed: raw deflate (RFC 1951) in base64. So a whole run
fits into the page; as plain markup the details take five times as much.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog import search
from catalog_probe.catalog.evidence.causes import cause_id, cause_key, observed_class
from catalog_probe.catalog.evidence.merge import format_traffic_summary, list_unrecognised
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.text.readable_text import escape_hidden_in_json, shorten
from catalog_probe.reports import exchanges
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.content.records import list_query_words
from catalog_probe.reports.content.run_sentence import format_sentence, format_tab_title
from catalog_probe.reports.content.words import describe_expirations, describe_revision
from catalog_probe.reports.page.charts import build_matrix, plot_runs
from catalog_probe.reports.page.description import RelatedRecords
from catalog_probe.reports.page.detail import ArticleRegistry, DetailRenderer
from catalog_probe.reports.page.markup import TEMPLATES, mark_safe, template_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.catalog.model import Json
    from catalog_probe.reports.content.records import ReportedRecord


PACKING_BUDGET = 8_000_000  # characters of all compressed details; the rest are only in results.jsonl


def read_assets(names: Sequence[str]) -> str:
    """Return files of the templates' folder, one after the other."""
    return "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)


def format_policy(style: str, script: str) -> str:
    """Return a content security policy that allows this style and script, by their hashes, and nothing else."""
    rules = [
        "default-src 'none'",
        f"style-src 'sha256-{_hash(style)}'",
        f"script-src 'sha256-{_hash(script)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(rules)


def format_script_json(data: Json) -> str:
    """Return JSON for a `<script type="application/json">`, in which nothing can end the element or be hidden."""
    text = json.dumps(escape_hidden_in_json(data), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def pack_details(records: Iterable[ReportedRecord], render: Callable[[ReportedRecord], str]) -> dict[str, str]:
    """Compress the details of the records, by address, in the order given, until the budget is used up."""
    packed: dict[str, str] = {}
    size = 0
    for record in records:
        text = _pack(render(record))
        size += len(text)
        if size > PACKING_BUDGET:
            break
        packed[record.address] = text
    return packed


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _pack(markup: str) -> str:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return base64.b64encode(compressor.compress(markup.encode()) + compressor.flush()).decode()


MAX_FACET_LENGTH = 300  # characters; a hostile answer must not swell the page


def list_rows(overview: Overview) -> tuple[list[list[Json]], list[str]]:
    """Return one row per record, what failed first, and the list of all facets.

    A row is address, title, outcome, tags, age, recent outcomes, milliseconds and facets. Facets are given by their
    index in the list, because most are shared by many records.
    """
    index_by_facet: dict[str, int] = {}
    requests = search.list_requests(record.result.parsed_record for record in overview.records)
    rows: list[list[Json]] = []
    for record in overview.records:
        recent_outcomes = (outcome.letter if outcome else "." for outcome in record.recent_outcomes)
        rows.append(
            [
                record.address,
                record.result.parsed_record.title,
                record.outcome.letter,
                sorted(map(str, record.result.parsed_record.tags)),
                record.age,
                "".join(recent_outcomes),
                round(record.result.elapsed_ms),
                [index_by_facet.setdefault(facet, len(index_by_facet)) for facet in list_facets(record, requests)],
            ]
        )
    return rows, list(index_by_facet)


def list_facets(record: ReportedRecord, requests: Mapping[str, str]) -> tuple[str, ...]:
    """Return all facets of a record, as `field:value` in lower case, each once."""
    facets = (" ".join(facet.split()) for facet in _iterate_facets(record, requests))
    return tuple(dict.fromkeys(shorten(facet, MAX_FACET_LENGTH).lower() for facet in facets))


def _iterate_facets(record: ReportedRecord, requests: Mapping[str, str]) -> Iterator[str]:
    result = record.result
    yield from search.record_facets(result.parsed_record, requests)
    yield from (f"is:{word}" for word in sorted(list_query_words(record)))
    yield f"outcome:{result.outcome.words.replace(' ', '-')}"
    for finding in result.findings:
        yield f"finding:{finding.code}"
        yield f"message:{finding.message}"
        yield f"observed:{observed_class(finding)}"
        yield f"label:{finding.label}"
        if finding.is_drift:
            yield f"change:{finding.difference.documented}→{finding.difference.observed}"
            yield f"cause:{cause_id(cause_key(record.provider, finding))}"
    if result.reason is not None:
        yield f"reason:{result.reason.code}"
        yield f"message:{result.reason.detail}"
    if result.lane:
        yield f"lane:{result.lane}"
    if result.cost:
        yield f"cost:{result.cost}"


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
            added=[record.address for record in overview.added_records],
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
        characters_left -= sum(exchanges.estimate_size(attempt) for attempt in finding.result.attempts)
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
        "outcomes": {outcome.letter: [outcome, outcome.words] for outcome in Outcome},
        "fields": {**search.RECORD_FIELDS, **search.RUN_FIELDS},
        "prose": sorted(search.PROSE_FIELDS),
        "states": sorted(search.SPACED_FIELDS),
        "listed": search.ALLOWED_VALUES,
        "forms": {field: [form.pattern, form.mend] for field, form in search.VALUE_FORMATS.items()},
        "runs": overview.run_names,
        "facets": facets,
        "rows": rows,
    }
