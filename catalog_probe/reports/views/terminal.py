"""The end of a run in a terminal: what makes it fail by cause, what could not be seen, the counts, the state last."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.traffic_summary import format_traffic_summary, list_unrecognised
from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.catalog.text.sanitizing import sanitize_line, sanitize_row
from catalog_probe.reports.content import advice, sentence
from catalog_probe.reports.content.causes import Gathered, heading, providers_of
from catalog_probe.reports.content.commands import ask_again
from catalog_probe.reports.content.expirations import describe_expirations
from catalog_probe.reports.content.on_endpoints import in_full
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.content.sections import BAD, BY_CAUSE, BY_REASON, QUIET, Name, Section
from catalog_probe.reports.content.unseen import unseen
from catalog_probe.reports.content.words import DISCOVERED, ENDING, OUTCOMES, RESOLVED, UNRECOGNISED, days, names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.reports.content.standing import Standing

WIDTH = 100
"""Columns of what is no terminal."""

LISTED = 12
"""Causes, or records, listed under one heading; the report has them all."""

DIFFERENCES = 3
"""Differences of one record that are told; the report has them all."""

_COLOURS = {"bad": "31;1", "warn": "33;1", "good": "32;1", "dim": "2", "bold": "1", "none": "0"}
_QUIETLY = QUIET | {Name.FIXED, Name.ACCEPTED}


def summary(
    run: Run, results: Sequence[Result], *, width: int = WIDTH, colour: bool = False, quiet: bool = False
) -> str:
    """The summary of a run, its state last; `quiet` keeps that and what needs attention, nothing else. Pure."""
    overview = Overview(run, results)
    paint = _Paint(colour)
    return "\n".join([*_body(overview, width, paint, quiet=quiet), *_verdict(overview, width, paint)])


def body(run: Run, results: Sequence[Result], *, width: int = WIDTH, colour: bool = False, quiet: bool = False) -> str:
    """All of the summary but the state, for whoever prints something in between."""
    return "\n".join(_body(Overview(run, results), width, _Paint(colour), quiet=quiet))


def verdict(run: Run, results: Sequence[Result], *, width: int = WIDTH, colour: bool = False) -> str:
    """The state of a run, who was not observed, and how much rests on evidence: what is printed last."""
    return "\n".join(_verdict(Overview(run, results), width, _Paint(colour)))


class _Paint:
    """Colours text where colours are asked for."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, name: str, text: str) -> str:
        text = sanitize_row(text)
        return f"\x1b[{_COLOURS[name]}m{text}\x1b[0m" if self._colour and text else text


def _body(overview: Overview, width: int, paint: _Paint, *, quiet: bool) -> Iterator[str]:
    for section in overview.sections:
        if section.name not in (_QUIETLY if quiet else QUIET):
            yield from _section(section, overview, width, paint)
    if overview.run.traffic is not None:
        yield from _wrapped(format_traffic_summary(overview.run.traffic), width)
    if quiet:
        return
    yield from _named(UNRECOGNISED, list_unrecognised(overview.run.traffic), width, paint)
    yield from _not_asked(overview, width, paint)
    yield from _named(RESOLVED, overview.resolved, width, paint)
    yield from _named(DISCOVERED, overview.discovered, width, paint)
    yield from _named(ENDING, describe_expirations(overview.run), width, paint)
    yield from _steps(overview, width, paint)
    yield from _table(overview, paint)
    yield ""


def _verdict(overview: Overview, width: int, paint: _Paint) -> Iterator[str]:
    for each in (*overview.faults, *overview.stale_entries):
        yield from (paint("bad", text) for text in _wrapped(each, width))
    for provider, why in overview.blind.items():
        told = f"blind: {provider} was {overview.describe_coverage(provider)}: {why} (exit {Exit.BLIND})"
        yield from (paint("bad", text) for text in _wrapped(told, width))
    yield from (paint(overview.mood, text) for text in _wrapped(sentence.verdict(overview, whys=False), width))


def _section(section: Section, overview: Overview, width: int, paint: _Paint) -> Iterator[str]:
    members = section.members
    colour = "bad" if section.name in BAD else "good" if section.name is Name.FIXED else "warn"
    if section.name in BY_CAUSE:
        found = overview.gathered(section)
        title = heading(section.name.heading, len(members), len(found))
        yield paint("dim" if section.name is Name.ACCEPTED else colour, title)
        for each in found[:LISTED]:
            yield from _cause(each, section, overview, width, paint)
        yield from _more(len(found) - LISTED, f"causes of {names(providers_of(found[LISTED:]))}", paint)
        if section.name is Name.PENDING:
            yield from (paint("dim", text) for text in _wrapped(overview.pending, width, "  "))
    elif section.name in BY_REASON:
        yield paint(colour, f"{section.name.heading} ({len(members)})")
        yield from _by_reason(members, width, paint)
    else:
        yield paint(colour, f"{section.name.heading} ({len(members)})")
        for standing in members[:LISTED]:
            yield sanitize_row(f"  {standing.address}")
            yield from (text for told in _told(standing) for text in _wrapped(told, width, "    "))
        yield from _more(len(members) - LISTED, "records", paint)
    yield ""


def _cause(each: Gathered, section: Section, overview: Overview, width: int, paint: _Paint) -> Iterator[str]:
    """What differs, under which label and code; then which records; then who is likely wrong; then how to ask again."""
    cause = each.cause
    label = f"{each.label}: " if each.label else ""
    yield from _wrapped(f"{cause.provider.upper()}  {label}{cause.summary}  [{cause.code}]", width, "  ", "      ")
    is_new = each.since is None or each.since.isoformat() == overview.run.today
    number = each.number if is_new else f"{each.number}, since {each.since}"
    named = "the same as above" if each.joins else each.named()
    yield from (paint("dim", text) for text in _wrapped(f"{number}: {named}", width, "      "))
    if each.accepted:
        yield from (paint("dim", text) for text in _wrapped(each.accepted, width, "      "))
    if each.who:
        yield paint("dim", f"      likely wrong: {each.who}")
    if section.name is not Name.ACCEPTED:
        yield paint("dim", f"      {ask_again(overview.run, cause)}")


def _told(standing: Standing) -> Iterator[str]:
    """What a person must know of a record that no cause tells."""
    result = standing.result
    if run_verdict.is_stale(result):
        detail, reason = (run_verdict.acceptance_field(result, field) for field in ("detail", "reason"))
        yield f"{detail}; it was accepted because: {reason}"
    if result.reason is not None:
        yield advice.reason(result)
    if standing.outcome.is_conclusive or not result.reason:
        yield from (f"{each.label}: {in_full(each, result)}  [{each.code}]" for each in result.drifts[:DIFFERENCES])
        if len(result.drifts) > DIFFERENCES:
            yield f"and {format_count(len(result.drifts) - DIFFERENCES, 'more difference')}, in the report"


def _by_reason(members: Sequence[Standing], width: int, paint: _Paint) -> Iterator[str]:
    for group in unseen(members):
        yield from _wrapped(f"{group.who}: {group.code}{group.since}", width, "  ")
        yield from (paint("dim", text) for reason in group.reasons for text in _wrapped(reason, width, "    "))


def _not_asked(overview: Overview, width: int, paint: _Paint) -> Iterator[str]:
    """What was not asked or is refused, by provider and reason; that is no fault, and the report names each record."""
    for section in overview.sections:
        if section.name in (Name.RESTRICTED, Name.NOT_PROBED):
            yield paint("bold", f"{section.name.heading} ({len(section.members)})")
            yield from _by_reason(section.members, width, paint)
            yield ""


def _steps(overview: Overview, width: int, paint: _Paint) -> Iterator[str]:
    found = advice.steps(overview.standings)
    if not found:
        return
    yield paint("bold", "Next")
    for step in found[:6]:
        yield from _wrapped(f"{step.code} ({len(step.addresses)}): {step.next_step}", width, "  ", "    ")
    yield from _more(len(found) - 6, "steps", paint)
    yield paint("dim", "  `catalog-probe catalog explain CODE` says more about each")
    yield ""


def _named(title: str, told: Sequence[str], width: int, paint: _Paint) -> Iterator[str]:
    """What no earlier run had seen, the first few."""
    if not told:
        return
    yield paint("bold", f"{title} ({len(told)})")
    for what in told[:6]:
        yield from _wrapped(what, width, "  ", "    ")
    yield from _more(len(told) - 6, "", paint)
    yield ""


def _more(number: int, what: str, paint: _Paint) -> Iterator[str]:
    if number > 0:
        yield paint("dim", f"  … and {number} more{f' {what}' if what else ''}, in the report")


def _table(overview: Overview, paint: _Paint) -> Iterator[str]:
    """Counts by provider; an outcome that did not occur has no column."""
    columns = [outcome for outcome in OUTCOMES if overview.counts[outcome]]
    heads = [OUTCOMES[outcome] for outcome in columns]
    yield paint("dim", "  ".join(["      records", *heads, "oldest evidence"]))
    for provider in overview.providers:
        mine = [each for each in overview.standings if each.address.startswith(f"{provider}/")]
        numbers = []
        for outcome, head in zip(columns, heads, strict=True):
            number = sum(each.outcome is outcome for each in mine)
            numbers.append((str(number) if number else "·").rjust(len(head)))
        oldest = max((each.age for each in mine if each.age is not None), default=None)
        yield sanitize_row("  ".join([f"{provider.upper():4}{len(mine):9}", *numbers, days(oldest)]))


def _wrapped(text: str, width: int, indent: str = "", then: str | None = None) -> list[str]:
    """The text on as many lines as it takes at this width; a word that is longer than a line stands alone."""
    return wrap(
        sanitize_line(text, 600),
        max(width, 40),
        initial_indent=indent,
        subsequent_indent=f"{indent}  " if then is None else then,
        break_long_words=False,
        break_on_hyphens=False,
    )
