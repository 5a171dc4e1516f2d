"""summary.md: the first screen in Markdown, for a pull request or a step summary; bounded, and inert if hostile."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from catalog_probe.catalog.evidence.traffic_summary import format_traffic_summary, list_unrecognised
from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.text.sanitizing import sanitize, sanitize_line
from catalog_probe.reports.content import advice
from catalog_probe.reports.content.causes import Gathered, heading, providers_of
from catalog_probe.reports.content.commands import accept, ask_again
from catalog_probe.reports.content.expirations import describe_expirations
from catalog_probe.reports.content.on_endpoints import in_full
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.content.sections import BY_CAUSE, BY_REASON, QUIET, Name, Section
from catalog_probe.reports.content.sentence import sentence
from catalog_probe.reports.content.unseen import unseen
from catalog_probe.reports.content.words import (
    ADDED,
    DISCOVERED,
    ENDING,
    OUTCOMES,
    RESOLVED,
    UNRECOGNISED,
    another_revision,
    days,
    names,
)
from catalog_probe.reports.page.markup import ADDRESS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.reports.content.standing import Standing

PAGE = "report.html"
"""The report, beside the summary."""

MAX_BYTES = 60_000
"""The hosts of pull requests refuse longer bodies."""

LISTED = 40
"""Records, or causes, listed under one heading."""

MAX_COUNTS = 2_000
"""Characters of the counts of recorded traffic: each reason is one of a few, but for lines that cannot be read."""

NAMED = 12
"""Records named below a cause."""


def render(run: Run, results: Sequence[Result]) -> str:
    """The summary, ending where `MAX_BYTES` ends, and saying so. Pure."""
    return _Summary(Overview(run, results)).text()


def code_span(text: str, limit: int = 300) -> str:
    """Observed text as inline code, in which no Markdown, HTML, link, mention or issue number means anything.

    Hosts look for mentions after rendering, so escaping alone would not stop them; inside code they do not look.
    """
    shown = sanitize_line(text, limit) or " "
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _link_addresses(text: str) -> str:
    """A person's reason for an accepted difference; each address of a page in it becomes a link."""
    return " ".join(f"<{part}>" if at % 2 else code_span(part) for at, part in enumerate(ADDRESS.split(text)) if part)


class _Summary:
    """One run's summary, whose items link to anchors of its report."""

    def __init__(self, overview: Overview) -> None:
        self._overview = overview
        self._run = overview.run

    def text(self) -> str:
        return _bounded([*self._head(), *self._sections(), *self._told(), *self._steps(), *self._matrix()])

    def _head(self) -> Iterator[str]:
        run, overview = self._run, self._overview
        previous = run.previous_run
        before = f"compared with {code_span(previous)}" if previous else "no earlier run to compare with"
        yield f"## {sentence(overview)}"
        under = another_revision(run)
        where = f"{code_span(run.target)}{f', {code_span(under)}' if under else ''}"
        about = f"{run.today} on target {where}, run {code_span(run.run)}, {before}."
        yield f"{overview.coverage[0].upper()}{overview.coverage[1:]}. {about} [Full report]({PAGE})"
        yield (
            " · ".join(f"{len(each.members)} {each.name.heading.lower()}" for each in overview.sections)
            + f" = {len(overview.standings)} selected"
        )
        if overview.blind:
            yield "### Blind"
            blind = [f"- **{name.upper()}**: blind: {code_span(why)}" for name, why in overview.blind.items()]
            yield self._listed(blind)
        yield from self._named(Name.OURS.heading, overview.faults)
        yield from self._named(Name.STALE.heading, overview.stale_entries)
        yield from self._named(ENDING, describe_expirations(overview.run))
        if run.traffic is not None:
            yield code_span(format_traffic_summary(run.traffic), MAX_COUNTS)
            yield from self._named(UNRECOGNISED, list_unrecognised(run.traffic))
        if not overview.has_news:
            yield "Nothing changed."

    def _sections(self) -> Iterator[str]:
        for section in self._overview.sections:
            if section.name in BY_CAUSE:
                yield from self._by_cause(section)
            elif section.name in BY_REASON - QUIET:
                yield f"### {section.name.heading} ({len(section.members)})"
                yield self._by_reason(section.members)
            elif section.name not in QUIET:
                yield f"### {section.name.heading} ({len(section.members)})"
                yield self._listed([self._item(each) for each in section.members])

    def _told(self) -> Iterator[str]:
        """What is news and no section, and what was not asked: folded, for nobody has to act on it."""
        overview = self._overview
        yield from self._named(RESOLVED, overview.resolved)
        yield from self._named(DISCOVERED, overview.discovered)
        if overview.added:
            yield f"### {ADDED} ({len(overview.added)})"
            yield self._listed([f"- {self._to(each)}" for each in overview.added])
        for section in overview.sections:
            if section.name in (Name.RESTRICTED, Name.NOT_PROBED):
                title = f"{section.name.heading} ({len(section.members)})"
                yield _folded(title, self._by_reason(section.members))

    def _named(self, title: str, told: Sequence[str]) -> Iterator[str]:
        if told:
            yield f"### {title} ({len(told)})"
            yield self._listed([f"- {code_span(each)}" for each in told])

    def _listed(self, items: Sequence[str]) -> str:
        more = [f"- … and {len(items) - LISTED} more, in the report"] if len(items) > LISTED else []
        return "\n".join([*items[:LISTED], *more])

    def _by_reason(self, members: Sequence[Standing]) -> str:
        return self._listed(
            [
                f"- {self._to(group.standings[0]) if len(group.standings) == 1 else group.who}: "
                f"{'; '.join(map(code_span, [f'{group.code}{group.since}', *group.reasons]))}"
                for group in unseen(members)
            ]
        )

    def _by_cause(self, section: Section) -> Iterator[str]:
        """What made these records drift; the records themselves are folded."""
        found = self._overview.gathered(section)
        yield f"### {heading(section.name.heading, len(section.members), len(found))}"
        for each in found[:LISTED]:
            yield from self._cause(each, section)
        if len(found) > LISTED:
            of_whom = names(providers_of(found[LISTED:]))
            yield f"… and {len(found) - LISTED} more causes of {of_whom}, in the report"
        if section.name is Name.PENDING:
            yield self._overview.pending

    def _cause(self, each: Gathered, section: Section) -> Iterator[str]:
        cause = each.cause
        told = [each.number]
        if each.since is not None and each.since.isoformat() != self._run.today:
            told.append(f"since {each.since}")
        if each.who:
            told.append(f"likely wrong: {each.who}")
        if each.accepted:
            told.append(_link_addresses(each.accepted))
        title = f"**{cause.provider.upper()}** {code_span(cause.summary)}"
        yield f"{title} ({code_span(cause.code)}), {', '.join(told)} · [{cause.id}]({PAGE}#{cause.id})"
        records = [f"- {self._to(standing)}" for standing in each.members[:NAMED]]
        if len(each.members) > NAMED:
            records.append(f"- … and {len(each.members) - NAMED} more, in the report")
        again = [f"- ask again: {code_span(ask_again(self._run, cause))}"]
        if section.name is not Name.ACCEPTED:
            again.append(f"- accept: {code_span(accept(self._run, cause))}")
        yield _folded("its records, and what to do", "\n".join([*records, *again]))

    def _to(self, standing: Standing) -> str:
        """A link to the record in the report."""
        return f"[{code_span(standing.address)}]({PAGE}#{quote(standing.address)})"

    def _item(self, standing: Standing) -> str:
        result = standing.result
        told = []
        if run_verdict.is_stale(result):
            told += [
                code_span(run_verdict.acceptance_field(result, "detail")),
                code_span(run_verdict.acceptance_field(result, "reason")),
            ]
        if result.reason is not None:
            told.append(code_span(advice.reason(result)))
        told += [
            f"{code_span(f'{finding.label}: {in_full(finding, result)}')} ({code_span(finding.code)})"
            for finding in result.drifts[:3]
        ]
        if len(result.drifts) > 3:
            told.append(f"and {len(result.drifts) - 3} more differences")
        return f"- {self._to(standing)}{': ' if told else ''}{'; '.join(told)}"

    def _steps(self) -> Iterator[str]:
        found = advice.steps(self._overview.standings)
        if found:
            yield "### Next"
            told = (f"1. {code_span(step.code)} ({len(step.addresses)}): {step.next_step}" for step in found[:10])
            more = f"\n\n… and {len(found) - 10} more steps, in the report" if len(found) > 10 else ""
            yield "\n".join(told) + more

    def _matrix(self) -> Iterator[str]:
        """A line a provider; below it, folded, its families of which not all conforms."""
        overview = self._overview
        columns = [outcome for outcome in OUTCOMES if overview.counts[outcome]]
        heads = " | ".join(OUTCOMES[outcome] for outcome in columns)
        rule = f"|---|---:|{'---:|' * len(columns)}---|"
        lines = [f"| provider | records | {heads} | oldest evidence |", rule]
        for provider in overview.providers:
            mine = [each for each in overview.standings if each.result.address.provider == provider]
            oldest = days(max((each.age for each in mine if each.age is not None), default=None))
            counted = " | ".join(_number(one, sum(each.outcome is one for each in mine)) for one in columns)
            lines.append(f"| {provider.upper()} | {len(mine)} | {counted} | {oldest} |")
        yield "\n".join(lines)
        notable = [cell for cell in overview.cells if cell.counts[Outcome.CONFORMS] < len(cell.standings)]
        if notable:
            lines = [f"| family | records | {heads} | oldest evidence |", rule]
            for cell in notable:
                counts = " | ".join(_number(outcome, cell.counts[outcome]) for outcome in columns)
                lines.append(f"| {cell.prefix} | {len(cell.standings)} | {counts} | {days(cell.oldest)} |")
            title = f"Families that do not all conform ({len(notable)} of {len(overview.cells)})"
            yield _folded(title, "\n".join(lines))


def _folded(title: str, text: str) -> str:
    """Markdown under a line that opens it."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _number(outcome: Outcome, number: int) -> str:
    if not number:
        return "·"
    return str(number) if outcome is Outcome.CONFORMS else f"**{number}**"


def _bounded(blocks: Sequence[str]) -> str:
    """The blocks joined, cut between two where they would be too long: nothing folded is left open."""
    note = "… cut here to stay short; {} more of its parts are in the [full report]({})."
    kept: list[str] = []
    room = MAX_BYTES - len(note.format(len(blocks), PAGE).encode()) - 3
    for block in map(sanitize, blocks):
        room -= len(block.encode()) + 2
        if room < 0:
            return "\n\n".join([*kept, note.format(len(blocks) - len(kept), PAGE)]) + "\n"
        kept.append(block)
    return "\n\n".join(kept) + "\n"
