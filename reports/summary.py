"""summary.md: the first screen in Markdown, for a pull request or a step summary; bounded, and inert if hostile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from catalog.evidence import verdicts
from catalog.evidence.changes import Change
from catalog.model import Outcome
from catalog.model.visible import line
from reports import advice
from reports.causes import CAUSED, Gathered, accept, ask_again, gathered, heading
from reports.endings import endings
from reports.overview import CORRECTED, FAULTS, GROUPS, Overview, days
from reports.terminal import COLUMNS
from reports.unseen import unseen
from reports.where import in_full

if TYPE_CHECKING:
    from catalog.evidence.results import Result, Run
    from reports.standing import Standing

MAX_BYTES = 60_000
"""The hosts of pull requests refuse longer bodies."""

LISTED = 40
"""Records, or causes, listed under one heading."""

NAMED = 5
"""Records named below a cause."""


def render(run: Run, results: Sequence[Result], *, link: str = "report.html", listed: int = LISTED) -> str:
    """The summary, ending where `MAX_BYTES` ends, and saying so. Pure."""
    overview = Overview(run, results)
    blocks = [*_head(overview, link), *_changes(overview, listed), *_steps(overview), *_matrix(overview)]
    return _bounded(blocks, link)


def code_span(text: str, limit: int = 300) -> str:
    """Observed text as inline code, in which no Markdown, HTML, link, mention or issue number means anything.

    Hosts look for mentions after rendering, so escaping alone would not stop them; inside code they do not look.
    """
    shown = line(text, limit) or " "
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _head(overview: Overview, link: str) -> Iterator[str]:
    run = overview.run
    before = (
        f", compared with {code_span(run.previous_run)}" if run.previous_run else ", no earlier run to compare with"
    )
    yield f"## {overview.verdict}"
    yield f"{run.today} on target {code_span(run.target)}, run {code_span(run.run)}{before}. [Full report]({link})"


def _changes(overview: Overview, listed: int) -> Iterator[str]:
    if overview.blind:
        yield f"### Not looked at ({len(overview.blind)})"
        yield _listed(
            [f"- **{name.upper()}**: blind: {code_span(why)}" for name, why in overview.blind.items()], listed
        )
    yield from _named(FAULTS, overview.faults, listed)
    yield from _named("Ledger entries that fail the run", overview.stale_entries, listed)
    yield from _named("About to end", endings(overview.run), listed)
    if not overview.has_news:
        yield "Nothing changed."
    for change in GROUPS:
        members = overview.changes.get(change, ())
        if not members:
            continue
        if change in CAUSED:
            yield from _by_cause(GROUPS[change], members, overview.run, listed)
            if change is Change.PENDING:
                yield overview.pending
            continue
        yield f"### {GROUPS[change]} ({len(members)})"
        by_reason = change in (Change.LOST, Change.UNSEEN)
        items = _by_reason(members) if by_reason else [_item(each) for each in members]
        yield _listed(items, listed)
    yield from _named("Newly discovered, not in the documents", overview.discovered, listed)
    yield from _named(CORRECTED, overview.corrected, listed)
    yield from _named("New records", [each.address for each in overview.added], listed)
    if overview.unconfigured:
        yield f"### Not configured here ({len(overview.unconfigured)})"
        yield _listed(_by_reason(overview.unconfigured), listed)


def _named(title: str, names: Sequence[str], listed: int) -> Iterator[str]:
    if names:
        yield f"### {title} ({len(names)})"
        yield _listed([f"- {code_span(name)}" for name in names], listed)


def _listed(items: Sequence[str], listed: int) -> str:
    more = [f"- … and {len(items) - listed} more, in the report"] if len(items) > listed else []
    return "\n".join([*items[:listed], *more])


def _by_reason(members: Sequence[Standing]) -> list[str]:
    return [
        f"- **{code_span(group.who)}**: {'; '.join(map(code_span, [f'{group.code}{group.since}', *group.details[:1]]))}"
        for group in unseen(members)
    ]


def _by_cause(title: str, members: Sequence[Standing], run: Run, listed: int) -> Iterator[str]:
    """What made these records drift; the records themselves are folded."""
    found = gathered(members)
    yield f"### {heading(title, members, found)}"
    yield _listed([_cause(each, run) for each in found], listed)


def _cause(each: Gathered, run: Run) -> str:
    cause = each.cause
    since = f", since {each.since}" if each.since is not None and each.since.isoformat() != run.today else ""
    told = f"- **{cause.provider.upper()}** {code_span(cause.in_words)} ({code_span(cause.code)}), {each.number}{since}"
    records = ", ".join(code_span(standing.address) for standing in each.members[:NAMED])
    more = f" and {len(each.members) - NAMED} more" if len(each.members) > NAMED else ""
    below = (
        f"{records}{more}",
        f"ask again: {code_span(ask_again(run, cause))}",
        f"accept: {code_span(accept(run, cause))}",
    )
    return "\n  - ".join((told, *below))


def _item(standing: Standing) -> str:
    result = standing.result
    told = [f"- **{code_span(standing.address)}**"]
    if standing.change is Change.ACCEPTED:
        review_by = verdicts.of_ledger(result, "review_by")
        told += [f"review by {code_span(review_by, 20)}"] if review_by else []
        reason = verdicts.of_ledger(result, "reason")
        told += [code_span(reason, 200)] if reason else []
    if standing.change is Change.STALE:
        told.append(code_span(verdicts.of_ledger(result, "detail")))
    if result.reason is not None:
        told.append(code_span(advice.reason(result)))
    told += [f"{code_span(in_full(finding, result))} ({code_span(finding.code)})" for finding in result.drifts[:3]]
    if len(result.drifts) > 3:
        told.append(f"and {len(result.drifts) - 3} more differences")
    return "; ".join(told).replace("**;", "**:", 1)


def _steps(overview: Overview) -> Iterator[str]:
    found = advice.steps(overview.standings)
    if found:
        yield "### What to do next"
        yield "\n".join(f"1. {code_span(step.code)} ({len(step.addresses)}): {step.next_step}" for step in found[:10])


def _matrix(overview: Overview) -> Iterator[str]:
    columns = [outcome for outcome in COLUMNS if overview.counts[outcome]]
    heads = " | ".join(COLUMNS[outcome] for outcome in columns)
    yield "### Matrix"
    lines = [f"| provider | kind / family | records | {heads} | oldest evidence |"]
    lines.append(f"|---|---|---:|{'---:|' * len(columns)}---|")
    for cell in overview.cells:
        counts = cell.counts
        numbers = " | ".join(_number(outcome, counts[outcome]) for outcome in columns)
        family = cell.kind if cell.kind == "rate_limits" else f"{cell.kind} / {cell.family}"
        oldest = days(cell.oldest)
        lines.append(f"| {cell.provider.upper()} | {family} | {len(cell.standings)} | {numbers} | {oldest} |")
    yield "\n".join(lines)


def _number(outcome: Outcome, count: int) -> str:
    if not count:
        return "·"
    return str(count) if outcome is Outcome.CONFORMS else f"**{count}**"


def _bounded(blocks: Sequence[str], link: str) -> str:
    """The blocks joined, cut at a line where they would be too long."""
    text = "\n\n".join(blocks) + "\n"
    if len(text.encode()) <= MAX_BYTES:
        return text
    note = f"\n\n… cut here to stay short; the rest is in the [full report]({link}).\n"
    kept = text.encode()[: MAX_BYTES - len(note.encode())].decode(errors="ignore")
    return kept[: kept.rfind("\n")] + note
