"""What fails a run as annotations of a CI system, one for each cause: a pull request shows them by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.text.sanitizing import sanitize_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.reports.content.overview import Overview

FORMATS = ("github",)
"""The CI systems whose annotations can be written."""

MOST = 10
"""GitHub shows so many of a kind a step, and drops the rest without a word; the last one counts those."""


def annotated(run: Run, results: Sequence[Result]) -> list[str]:
    """Lines of GitHub's workflow commands, the state of the run last. Pure."""
    from catalog_probe.reports.content.overview import Overview  # the command line needs the names of FORMATS alone
    from catalog_probe.reports.content.sentence import verdict

    overview = Overview(run, results)
    found = [*_errors(overview)]
    shown = (
        found if len(found) <= MOST else [*found[: MOST - 1], ("More", f"{len(found) - MOST + 1} more, in report.html")]
    )
    kind = {"bad": "error", "warn": "warning", "good": "notice"}[overview.mood]
    return [
        *(_command("error", title, text) for title, text in shown),
        _command(kind, "Catalog probe", verdict(overview)),
    ]


def _errors(overview: Overview) -> Iterator[tuple[str, str]]:
    """Title and text of each, what is gravest first."""
    from catalog_probe.reports.content import advice  # as above
    from catalog_probe.reports.content.sections import BAD, BY_CAUSE, Name

    yield from (("Our fault", each) for each in overview.faults)
    yield from ((f"{name.upper()} blind", why) for name, why in overview.blind.items())
    yield from (("Stale accepted difference", each) for each in overview.stale_entries)
    for section in overview.sections:
        if section.name not in BAD and section.name is not Name.LOST:
            continue
        if section.name in BY_CAUSE:
            for each in overview.gathered(section):
                title = f"{section.name.heading}: {each.cause.provider.upper()} {each.cause.id}"
                yield title, f"{each.cause.summary} ({each.number}: {each.named()})"
        else:
            for standing in section.members:
                why = advice.reason(standing.result) or section.means
                yield f"{section.name.heading}: {standing.address}", why


def _command(kind: str, title: str, text: str) -> str:
    """One workflow command; what would end its title or its line is escaped as GitHub says."""
    said = sanitize_line(title, 120).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={said}::{sanitize_line(text, 500).replace('%', '%25')}"
