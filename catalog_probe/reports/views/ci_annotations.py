"""Annotations of a CI system, one for each cause that fails a run; a pull request shows them by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.text.readable_text import sanitize_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.reports.content.overview import Overview

FORMATS = ("github",)
"""The CI systems whose annotations can be written."""

MOST = 10  # GitHub shows so many errors per step and drops the rest silently, so our last one counts the rest

# The imports inside the functions are slow, and the command line needs FORMATS only.


def render(run: Run, results: Sequence[Result]) -> list[str]:
    """Return lines of GitHub's workflow commands, the state of the run last. Pure."""
    from catalog_probe.reports.content.overview import Overview
    from catalog_probe.reports.content.run_sentence import format_verdict

    overview = Overview(run, results)
    errors = list(_iterate_errors(overview))
    if len(errors) > MOST:
        hidden = len(errors) - MOST + 1
        errors = [*errors[: MOST - 1], ("More", f"{hidden} more, in report.html")]
    level = {"bad": "error", "warn": "warning", "good": "notice"}[overview.mood]
    return [
        *(_format_command("error", title, text) for title, text in errors),
        _format_command(level, "Catalog probe", format_verdict(overview)),
    ]


def _iterate_errors(overview: Overview) -> Iterator[tuple[str, str]]:
    """Yield title and text of each error, the gravest first."""
    from catalog_probe.catalog.model.record_states import RecordState
    from catalog_probe.reports.content import reasons

    yield from (("Our fault", fault) for fault in overview.faults)
    yield from ((f"{provider.upper()} blind", reason) for provider, reason in overview.blind.items())
    yield from (("Stale accepted difference", entry) for entry in overview.stale_entries)
    for section in overview.sections:
        if not section.name.is_red and section.name is not RecordState.COVERAGE_LOST:
            continue
        heading = section.name.heading
        if section.is_by_cause:
            for reported in overview.report_causes(section):
                cause = reported.cause
                title = f"{heading}: {cause.provider.upper()} {cause.id}"
                yield title, f"{cause.summary} ({reported.extent}: {reported.addresses})"
        else:
            for record in section.records:
                yield f"{heading}: {record.address}", reasons.format_reason(record.result) or section.means


def _format_command(level: str, title: str, text: str) -> str:
    """Return one workflow command; characters that would end its title or its line are escaped as GitHub says."""
    escaped_title = sanitize_line(title, 120).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={escaped_title}::{sanitize_line(text, 500).replace('%', '%25')}"
