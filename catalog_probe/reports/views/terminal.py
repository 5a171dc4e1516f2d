"""The end of a run in a terminal: failures by cause, what could not be observed, counts, and the state last."""

from __future__ import annotations

from collections import Counter
from textwrap import wrap
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.merge import format_traffic_summary, list_unrecognised
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.record_states import Attention, RecordState
from catalog_probe.catalog.text.readable_text import format_count, sanitize_line, sanitize_row, shorten
from catalog_probe.reports.content import layers, reasons
from catalog_probe.reports.content.causes import ReportedCause, format_cause_heading, list_providers
from catalog_probe.reports.content.commands import format_cause_command
from catalog_probe.reports.content.findings import describe_finding
from catalog_probe.reports.content.overview import Overview, oldest_age
from catalog_probe.reports.content.reasons import group_by_reason
from catalog_probe.reports.content.run_sentence import format_verdict
from catalog_probe.reports.content.words import (
    DISCOVERED,
    ENDING,
    RESOLVED,
    UNRECOGNISED,
    describe_expirations,
    format_age,
    join_providers,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.reports.content.records import ReportedRecord, Section

WIDTH = 100  # columns, if the output is no terminal
_MIN_WIDTH = 40

# How many entries are shown; the report has them all.
LISTED = 12  # causes, or records, under one heading
_MAX_DIFFERENCES = 3  # of one record
_MAX_CODES = 8  # reason codes of what nobody has to act on; with heading and rest ten lines at most
_MAX_NAMES = 6  # next steps, discoveries and the like

_COLOURS = {"bad": "31;1", "warn": "33;1", "good": "32;1", "dim": "2", "bold": "1", "none": "0"}


def render(
    run: Run, results: Sequence[Result], *, width: int = WIDTH, colour: bool = False, quiet: bool = False
) -> str:
    """Render the whole summary; with `quiet` only what needs attention, and the state. Pure."""
    renderer = _TerminalRenderer(Overview(run, results), width, colour=colour)
    return "\n".join([*renderer.render_body(quiet=quiet), *renderer.render_verdict()])


def render_body(
    run: Run, results: Sequence[Result], *, width: int = WIDTH, colour: bool = False, quiet: bool = False
) -> str:
    """Render the summary without the state, for a caller that prints something in between."""
    return "\n".join(_TerminalRenderer(Overview(run, results), width, colour=colour).render_body(quiet=quiet))


def render_verdict(run: Run, results: Sequence[Result], *, width: int = WIDTH, colour: bool = False) -> str:
    """Render the state of a run, its blind providers, and how much rests on evidence: the last lines."""
    return "\n".join(_TerminalRenderer(Overview(run, results), width, colour=colour).render_verdict())


class _TerminalRenderer:
    """Renders the summary of one run as lines."""

    def __init__(self, overview: Overview, width: int, *, colour: bool) -> None:
        self._overview = overview
        self._run = overview.run
        self._width = max(width, _MIN_WIDTH)
        self._colour = colour

    def render_body(self, *, quiet: bool) -> Iterator[str]:
        overview = self._overview
        yield from self._render_layers()
        for section in overview.sections:
            is_hidden = quiet and section.name.attention is Attention.KNOW
            if not section.is_quiet and not is_hidden:
                yield from self._render_section(section)
        if self._run.traffic is not None:
            yield from self._wrap(format_traffic_summary(self._run.traffic))
        if quiet:
            return
        yield from self._render_names(UNRECOGNISED, list_unrecognised(self._run.traffic))
        for section in overview.sections:
            if section.is_quiet and section.is_by_reason:
                if section.name is RecordState.NOT_PROBED:
                    yield from self._render_in_short(section)
                else:
                    yield self._paint("bold", f"{section.name.heading} ({len(section.records)})")
                    yield from self._render_reasons(section.records)
                yield ""
        yield from self._render_names(RESOLVED, overview.resolved_assumptions)
        yield from self._render_names(DISCOVERED, overview.discoveries)
        yield from self._render_names(ENDING, describe_expirations(self._run))
        yield from self._render_next_steps()
        yield from self._render_table()
        yield ""

    def render_verdict(self) -> Iterator[str]:
        overview = self._overview
        problems = [*overview.faults, *overview.stale_entries]
        for provider, reason in overview.blind.items():
            coverage = overview.describe_coverage(provider)
            problems.append(f"blind: {provider} was {coverage}: {reason} (exit {Exit.BLIND})")
        for problem in problems:
            yield from self._paint_all("bad", self._wrap(problem))
        yield from self._paint_all(overview.mood, self._wrap(format_verdict(overview, reasons=False)))

    def _render_layers(self) -> Iterator[str]:
        """Yield the layers of a compatible server: a share of each, and its first differences for the author."""
        shares = self._overview.layers
        if not shares:
            return
        yield self._paint("bold", layers.HEADING)
        width = max(len(share.layer.words) for share in shares)
        for share in shares:
            colour = "bad" if share.differences else "none"
            yield self._paint(colour, f"  {share.layer.words.ljust(width)}  {share.share}")
            for difference in share.differences[:_MAX_DIFFERENCES]:
                yield from self._wrap(f"{difference.cause.provider.upper()}  {difference.cause.summary}", "      ")
                where = f"{difference.extent}: documented in {difference.citation}"
                yield from self._paint_all("dim", self._wrap(where, "        "))
                yield self._paint("dim", f"        {difference.command}")
            if share.differences:
                yield from self._paint_all("dim", self._wrap(share.layer.advice, "      "))
            yield from self._render_more(len(share.differences) - _MAX_DIFFERENCES, "differences")
        yield ""
        if self._overview.upstream_faults:
            yield self._paint("bold", layers.FAULTS_HEADING)
            for fault in self._overview.upstream_faults:
                lost = f"differs in {layers.join_words(fault.lost)}" if fault.lost else "came through whole"
                yield from self._paint_all("bad" if fault.lost else "none", self._wrap(f"{fault.record}: {lost}"))
            yield ""

    def _render_section(self, section: Section) -> Iterator[str]:
        name, records = section.name, section.records
        colour = "dim" if name is RecordState.ACCEPTED else name.mood
        if section.is_by_cause:
            yield from self._render_causes(section, colour)
        elif section.is_by_reason:
            yield self._paint(colour, f"{name.heading} ({len(records)})")
            yield from self._render_reasons(records)
        else:
            yield self._paint(colour, f"{name.heading} ({len(records)})")
            for record in records[:LISTED]:
                yield sanitize_row(f"  {record.address}")
                for text in _describe_record(record):
                    yield from self._wrap(text, "    ")
            yield from self._render_more(len(records) - LISTED, "records")
        yield ""

    def _render_causes(self, section: Section, colour: str) -> Iterator[str]:
        causes = self._overview.report_causes(section)
        yield self._paint(colour, format_cause_heading(section.name.heading, len(section.records), len(causes)))
        for cause in causes[:LISTED]:
            yield from self._render_cause(cause, section)
        hidden = causes[LISTED:]
        yield from self._render_more(len(hidden), f"causes of {join_providers(list_providers(hidden))}")
        if section.name is RecordState.PENDING:
            yield from self._paint_all("dim", self._wrap(self._overview.pending, "  "))

    def _render_cause(self, reported: ReportedCause, section: Section) -> Iterator[str]:
        """Yield what differs, which records, who is probably wrong, and how to ask again."""
        cause = reported.cause
        label = f"{reported.label}: " if reported.label else ""
        yield from self._wrap(f"{cause.provider.upper()}  {label}{cause.summary}  [{cause.code}]", "  ", "      ")
        is_new = reported.since is None or reported.since.isoformat() == self._run.today
        extent = reported.extent if is_new else f"{reported.extent}, since {reported.since}"
        addresses = "the same as above" if reported.is_same_as_previous else reported.addresses
        yield from self._paint_all("dim", self._wrap(f"{extent}: {addresses}", "      "))
        if reported.acceptance_terms:
            yield from self._paint_all("dim", self._wrap(reported.acceptance_terms, "      "))
        if reported.party:
            yield self._paint("dim", f"      likely wrong: {reported.party}")
        if section.name is not RecordState.ACCEPTED:
            yield self._paint("dim", f"      {format_cause_command(self._run, cause)}")

    def _render_reasons(self, records: Sequence[ReportedRecord]) -> Iterator[str]:
        for group in group_by_reason(records):
            yield from self._wrap(f"{group.title}: {group.code}{group.since}", "  ")
            for reason in group.reasons:
                yield from self._paint_all("dim", self._wrap(reason, "    "))

    def _render_in_short(self, section: Section) -> Iterator[str]:
        """Yield a section that asks for nothing, one line for each reason code: `  74 credential-missing: set …`."""
        help_text = f": {section.best_help} would help most" if section.best_help else ""
        yield self._paint("bold", self._cut(f"{section.name.heading} ({len(section.records)}){help_text}"))
        counts = Counter(record.reason_code for record in section.records)
        for code, number in counts.most_common(_MAX_CODES):
            means = reasons.explain_code(code) if code else "no reason is given"
            yield self._paint("dim", self._cut(f"{number:>5} {code}: {means}"))
        yield from self._render_more(len(counts) - _MAX_CODES, "reasons")

    def _cut(self, text: str) -> str:
        return shorten(sanitize_line(text), self._width)

    def _render_next_steps(self) -> Iterator[str]:
        steps = reasons.list_next_steps(self._run, self._overview.records)
        if not steps:
            return
        yield self._paint("bold", "Next")
        for step in steps[:_MAX_NAMES]:
            yield from self._wrap(f"{step.code} ({len(step.addresses)}): {step.text}", "  ", "    ")
        yield from self._render_more(len(steps) - _MAX_NAMES, "steps")
        yield self._paint("dim", "  `catalog-probe catalog explain CODE` says more about each")
        yield ""

    def _render_names(self, title: str, names: Sequence[str]) -> Iterator[str]:
        if not names:
            return
        yield self._paint("bold", f"{title} ({len(names)})")
        for name in names[:_MAX_NAMES]:
            yield from self._wrap(name, "  ", "    ")
        yield from self._render_more(len(names) - _MAX_NAMES, "")
        yield ""

    def _render_more(self, number: int, what: str) -> Iterator[str]:
        if number > 0:
            yield self._paint("dim", f"  … and {number} more{f' {what}' if what else ''}, in the report")

    def _render_table(self) -> Iterator[str]:
        """Yield the counts by provider; an outcome that did not occur has no column."""
        columns = [outcome for outcome in Outcome if self._overview.counts[outcome]]
        names = [outcome.words for outcome in columns]
        yield self._paint("dim", "  ".join(["      records", *names, "oldest evidence"]))
        for provider in self._overview.providers:
            records = [record for record in self._overview.records if record.provider == provider]
            cells = []
            for outcome, name in zip(columns, names, strict=True):
                number = sum(record.outcome is outcome for record in records)
                cells.append((str(number) if number else "·").rjust(len(name)))
            age = format_age(oldest_age(records))
            yield sanitize_row("  ".join([f"{provider.upper():4}{len(records):9}", *cells, age]))

    def _wrap(self, text: str, indent: str = "", subsequent_indent: str | None = None) -> list[str]:
        """Break a text into lines; a word that is longer than a line has its own."""
        return wrap(
            sanitize_line(text, 600),
            self._width,
            initial_indent=indent,
            subsequent_indent=f"{indent}  " if subsequent_indent is None else subsequent_indent,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def _paint(self, colour: str, text: str) -> str:
        text = sanitize_row(text)
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self._colour and text else text

    def _paint_all(self, colour: str, lines: Iterable[str]) -> Iterator[str]:
        return (self._paint(colour, line) for line in lines)


def _describe_record(record: ReportedRecord) -> Iterator[str]:
    """Yield what a person must know of a record that is in no cause."""
    result = record.result
    if run_verdict.is_stale(result):
        detail, reason = (run_verdict.acceptance_field(result, field) for field in ("detail", "reason"))
        yield f"{detail}; it was accepted because: {reason}"
    if result.reason is not None:
        yield reasons.format_reason(result)
    if record.outcome.is_conclusive or not result.reason:
        for drift in result.drifts[:_MAX_DIFFERENCES]:
            yield f"{drift.label}: {describe_finding(drift, result)}  [{drift.code}]"
        if len(result.drifts) > _MAX_DIFFERENCES:
            yield f"and {format_count(len(result.drifts) - _MAX_DIFFERENCES, 'more difference')}, in the report"
