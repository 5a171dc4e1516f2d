"""summary.md: the first screen in Markdown, for a pull request or a step summary; bounded and sanitized.

Text of a results file is inline code. Bare are only names whose form reports/schemas/results.json fixes: providers,
addresses, codes, days.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import quote

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.merge import format_traffic_summary, list_unrecognised
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.record_states import RecordState
from catalog_probe.catalog.text.readable_text import format_count, sanitize, sanitize_line
from catalog_probe.reports.content import layers
from catalog_probe.reports.content.causes import ReportedCause, format_cause_heading, list_providers
from catalog_probe.reports.content.commands import format_accept_command, format_cause_command
from catalog_probe.reports.content.findings import describe_finding
from catalog_probe.reports.content.overview import Overview, oldest_age
from catalog_probe.reports.content.reasons import format_reason, group_by_reason, list_next_steps
from catalog_probe.reports.content.run_sentence import format_sentence
from catalog_probe.reports.content.words import (
    ADDED,
    DISCOVERED,
    ENDING,
    RESOLVED,
    UNRECOGNISED,
    describe_expirations,
    describe_revision,
    format_age,
    join_providers,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.reports.content.layers import LayerShare
    from catalog_probe.reports.content.records import ReportedRecord, Section

PAGE = "report.html"
"""The report, beside the summary."""

MAX_BYTES = 60_000  # hosts of pull requests refuse longer bodies
_MAX_COUNTS = 2_000  # characters of the counts of recorded traffic
_MAX_COMMAND = 1_000  # characters of a `curl` line

# How many entries are shown; the report has them all.
LISTED = 40  # records, or causes, under one heading
_MAX_RECORDS = 12  # below a cause
_MAX_DRIFTS = 3  # of one record
_MAX_STEPS = 10


def render(run: Run, results: Sequence[Result]) -> str:
    """Render the summary; if it is cut at `MAX_BYTES`, it says so. Pure."""
    return _MarkdownRenderer(Overview(run, results)).render()


def code_span(text: str, limit: int = 300) -> str:
    """Format observed text as inline code, in which Markdown, HTML, links, mentions and issue numbers are inert.

    Escaping would not be enough: hosts look for mentions after rendering, but not inside code.
    """
    line = sanitize_line(text, limit) or " "
    longest_run = max((len(backticks) for backticks in re.findall("`+", line)), default=0)
    fence = "`" * (longest_run + 1)
    pad = " " if line[0] in "` " or line[-1] in "` " else ""
    return f"{fence}{pad}{line}{pad}{fence}"


class _MarkdownRenderer:
    """Renders the summary of one run, whose items link to anchors of its report."""

    def __init__(self, overview: Overview) -> None:
        self._overview = overview
        self._run = overview.run

    def render(self) -> str:
        return _join_bounded(
            [
                *self._render_head(),
                *self._render_layers(),
                *self._render_sections(),
                *self._render_other_news(),
                *self._render_next_steps(),
                *self._render_matrix(),
            ]
        )

    def _render_head(self) -> Iterator[str]:
        run, overview = self._run, self._overview
        yield f"## {format_sentence(overview, reasons=False)}"  # a reason may quote an answer, and is listed below
        revision = describe_revision(run)
        target = f"{code_span(run.target)}{f', {code_span(revision)}' if revision else ''}"
        previous = (
            f"compared with {code_span(run.previous_run)}" if run.previous_run else "no earlier run to compare with"
        )
        about = f"{run.today} on target {target}, run {code_span(run.run)}, {previous}."
        coverage = overview.coverage
        yield f"{coverage[0].upper()}{coverage[1:]}. {about} [Full report]({PAGE})"
        counts = " · ".join(f"{len(section.records)} {section.name.heading.lower()}" for section in overview.sections)
        yield f"{counts} = {len(overview.records)} selected"
        if overview.blind:
            yield "### Blind"
            yield _list_items(
                [f"- **{name.upper()}**: blind: {code_span(reason)}" for name, reason in overview.blind.items()]
            )
        yield from _render_names(RecordState.OUR_FAULT.heading, overview.faults)
        yield from _render_names(RecordState.STALE.heading, overview.stale_entries)
        yield from _render_names(ENDING, describe_expirations(run))
        if run.traffic is not None:
            yield code_span(format_traffic_summary(run.traffic), _MAX_COUNTS)
            yield from _render_names(UNRECOGNISED, list_unrecognised(run.traffic))
        if not overview.has_news:
            yield "Nothing changed."

    def _render_layers(self) -> Iterator[str]:
        """Yield the layers of a compatible server as a table and, folded, the differences of each layer."""
        shares = self._overview.layers
        if not shares:
            return
        yield f"### {layers.HEADING}, {self._run.today}"
        yield layers.MEANING
        yield _format_table(
            ("layer", "as documented", "most frequent difference"),
            ((share.layer.words, share.share, _describe_most_frequent(share)) for share in shares),
        )
        faults = self._overview.upstream_faults
        if faults:
            yield f"### {layers.FAULTS_HEADING}, {self._run.today}"
            rows = (
                (code_span(fault.record), layers.join_words(fault.kept), layers.join_words(fault.lost))
                for fault in faults
            )
            yield _format_table(("fault", "came through", "differs"), rows)
        for share in shares:
            if share.differences:
                items = [
                    f"- **{difference.cause.provider.upper()}** {code_span(difference.cause.summary)}: "
                    f"{code_span(difference.extent)}, documented in {code_span(difference.citation)}: "
                    f"{code_span(difference.command, _MAX_COMMAND)}"
                    for difference in share.differences
                ]
                title = f"{share.layer.words}: {format_count(len(share.differences), 'difference')}"
                yield _fold(title, f"{share.layer.advice}\n\n{_list_items(items)}")

    def _render_sections(self) -> Iterator[str]:
        for section in self._overview.sections:
            if section.is_by_cause:
                yield from self._render_causes(section)
            elif section.is_by_reason and not section.is_quiet:
                yield f"### {section.name.heading} ({len(section.records)})"
                yield _render_reasons(section.records)
            elif not section.is_quiet:
                yield f"### {section.name.heading} ({len(section.records)})"
                yield _list_items([_render_record(record) for record in section.records])

    def _render_other_news(self) -> Iterator[str]:
        """Yield the news that is in no section, and, folded, what was not asked: nobody has to act on that."""
        overview = self._overview
        yield from _render_names(RESOLVED, overview.resolved_assumptions)
        yield from _render_names(DISCOVERED, overview.discoveries)
        if overview.added_records:
            yield f"### {ADDED} ({len(overview.added_records)})"
            yield _list_items([f"- {_link_record(record)}" for record in overview.added_records])
        for section in overview.sections:
            if section.is_quiet and section.is_by_reason:
                title = f"{section.name.heading} ({len(section.records)})"
                yield _fold(title, _render_reasons(section.records))

    def _render_causes(self, section: Section) -> Iterator[str]:
        causes = self._overview.report_causes(section)
        yield f"### {format_cause_heading(section.name.heading, len(section.records), len(causes))}"
        for cause in causes[:LISTED]:
            yield from self._render_cause(cause, section)
        hidden = causes[LISTED:]
        if hidden:
            yield f"… and {len(hidden)} more causes of {join_providers(list_providers(hidden))}, in the report"
        if section.name is RecordState.PENDING:
            yield self._overview.pending

    def _render_cause(self, reported: ReportedCause, section: Section) -> Iterator[str]:
        """Yield a cause in one line; its records and commands are folded."""
        cause = reported.cause
        remarks = [reported.extent]
        if reported.since is not None and reported.since.isoformat() != self._run.today:
            remarks.append(f"since {reported.since}")
        if reported.party:
            remarks.append(f"likely wrong: {reported.party}")
        if reported.acceptance_terms:
            remarks.append(code_span(reported.acceptance_terms))
        title = f"**{cause.provider.upper()}** {code_span(cause.summary)}"
        yield f"{title} ({code_span(cause.code)}), {', '.join(remarks)} · [{cause.id}]({PAGE}#{cause.id})"
        items = [f"- {_link_record(record)}" for record in reported.records[:_MAX_RECORDS]]
        if len(reported.records) > _MAX_RECORDS:
            items.append(f"- … and {len(reported.records) - _MAX_RECORDS} more, in the report")
        items.append(f"- ask again: {code_span(format_cause_command(self._run, cause))}")
        if section.name is not RecordState.ACCEPTED:
            items.append(f"- accept: {code_span(format_accept_command(self._run, cause))}")
        yield _fold("its records, and what to do", "\n".join(items))

    def _render_next_steps(self) -> Iterator[str]:
        steps = list_next_steps(self._run, self._overview.records)
        if steps:
            yield "### Next"
            items = [f"1. {code_span(step.code)} ({len(step.addresses)}): {step.text}" for step in steps[:_MAX_STEPS]]
            hidden = len(steps) - _MAX_STEPS
            yield "\n".join(items) + (f"\n\n… and {hidden} more steps, in the report" if hidden > 0 else "")

    def _render_matrix(self) -> Iterator[str]:
        """Yield a line per provider and, folded, its families that do not all conform."""
        overview = self._overview
        columns = [outcome for outcome in Outcome if overview.counts[outcome]]
        names = " | ".join(outcome.words for outcome in columns)
        rule = f"|---|---:|{'---:|' * len(columns)}---|"
        lines = [f"| provider | records | {names} | oldest evidence |", rule]
        for provider in overview.providers:
            records = [record for record in overview.records if record.provider == provider]
            lines.append(_render_matrix_row(provider.upper(), records, columns))
        yield "\n".join(lines)
        notable = [cell for cell in overview.cells if cell.counts[Outcome.CONFORMS] < len(cell.records)]
        if notable:
            lines = [f"| family | records | {names} | oldest evidence |", rule]
            lines += [_render_matrix_row(cell.prefix, cell.records, columns) for cell in notable]
            title = f"Families that do not all conform ({len(notable)} of {len(overview.cells)})"
            yield _fold(title, "\n".join(lines))


def _describe_most_frequent(share: LayerShare) -> str:
    """Return the difference of most records in a layer: `` `status: documented 404, observed 500` (6 records) ``."""
    if not share.differences:
        return "-"
    cause = share.differences[0].cause
    return f"{code_span(cause.summary)} ({format_count(len(cause.records), 'record')})"


def _format_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _render_matrix_row(name: str, records: Sequence[ReportedRecord], columns: Sequence[Outcome]) -> str:
    counts = Counter(record.outcome for record in records)
    numbers = " | ".join(_render_number(outcome, counts[outcome]) for outcome in columns)
    return f"| {name} | {len(records)} | {numbers} | {format_age(oldest_age(records))} |"


def _render_number(outcome: Outcome, number: int) -> str:
    if not number:
        return "·"
    return str(number) if outcome is Outcome.CONFORMS else f"**{number}**"


def _render_record(record: ReportedRecord) -> str:
    """Return a list item with a record and what a person must know of it."""
    result = record.result
    remarks = []
    if run_verdict.is_stale(result):
        remarks += [code_span(run_verdict.acceptance_field(result, field)) for field in ("detail", "reason")]
    if result.reason is not None:
        remarks.append(code_span(format_reason(result)))
    for drift in result.drifts[:_MAX_DRIFTS]:
        remarks.append(f"{code_span(f'{drift.label}: {describe_finding(drift, result)}')} ({code_span(drift.code)})")
    if len(result.drifts) > _MAX_DRIFTS:
        remarks.append(f"and {len(result.drifts) - _MAX_DRIFTS} more differences")
    return f"- {_link_record(record)}{': ' if remarks else ''}{'; '.join(remarks)}"


def _render_reasons(records: Sequence[ReportedRecord]) -> str:
    items = []
    for group in group_by_reason(records):
        title = _link_record(group.records[0]) if len(group.records) == 1 else group.title
        reasons = "; ".join(map(code_span, [f"{group.code}{group.since}", *group.reasons]))
        items.append(f"- {title}: {reasons}")
    return _list_items(items)


def _render_names(title: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"### {title} ({len(names)})"
        yield _list_items([f"- {code_span(name)}" for name in names])


def _list_items(items: Sequence[str]) -> str:
    more = [f"- … and {len(items) - LISTED} more, in the report"] if len(items) > LISTED else []
    return "\n".join([*items[:LISTED], *more])


def _link_record(record: ReportedRecord) -> str:
    """Return a link to a record in the report."""
    return f"[{code_span(record.address)}]({PAGE}#{quote(record.address)})"


def _fold(title: str, text: str) -> str:
    """Hide Markdown under a line that opens it."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _join_bounded(blocks: Sequence[str]) -> str:
    """Join the blocks, and cut between two blocks at `MAX_BYTES`: a fold that is cut would never be closed."""
    note = "… cut here to stay short; {} more of its parts are in the [full report]({})."
    kept: list[str] = []
    bytes_left = MAX_BYTES - len(note.format(len(blocks), PAGE).encode()) - 3
    for block in map(sanitize, blocks):
        bytes_left -= len(block.encode()) + 2
        if bytes_left < 0:
            return "\n\n".join([*kept, note.format(len(blocks) - len(kept), PAGE)]) + "\n"
        kept.append(block)
    return "\n\n".join(kept) + "\n"
