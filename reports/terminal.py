"""The end of a run in a terminal: what drifted and what to do first, what could not be seen, then the counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from catalog.evidence import verdicts
from catalog.evidence.changes import Change
from catalog.model import Outcome
from catalog.model.exits import Exit
from catalog.model.visible import line
from reports import advice
from reports.causes import CAUSED, ask_again, gathered, heading
from reports.endings import endings
from reports.overview import CORRECTED, GROUPS, Overview, days
from reports.unseen import unseen
from reports.where import in_full

if TYPE_CHECKING:
    from catalog.evidence.results import Result, Run
    from reports.standing import Standing

LISTED = 12
"""Records listed under one heading; the report has them all."""

COLUMNS = {
    Outcome.CONFORMS: "conforms",
    Outcome.DRIFTED: "drifted",
    Outcome.FLAKY: "flaky",
    Outcome.RESTRICTED: "restricted",
    Outcome.INCONCLUSIVE: "unseen",
    Outcome.NOT_PROBED: "not probed",
    Outcome.HARNESS_ERROR: "our fault",
}

_COLOURS = {"bad": "31;1", "warn": "33;1", "good": "32;1", "dim": "2", "bold": "1", "none": "0"}
_OF_CHANGE = {
    Change.LOST: "warn",
    Change.NEW: "bad",
    Change.DIFFERENT: "bad",
    Change.FLAKY: "bad",
    Change.BROKEN: "bad",
    Change.STALE: "bad",
    Change.ONGOING: "bad",
    Change.FIXED: "good",
    Change.PENDING: "warn",
    Change.UNSEEN: "warn",
    Change.ACCEPTED: "dim",
}


def summary(run: Run, results: Sequence[Result], *, width: int = 100, colour: bool = False, quiet: bool = False) -> str:
    """The summary of a run; `quiet` keeps the verdict and what needs attention, nothing else. Pure."""
    paint = _Paint(colour)
    overview = Overview(run, results)
    lines = [paint(overview.mood, overview.verdict), *_not_looked_at(overview, paint)]
    lines += (paint("bad", line(each, 4 * width)) for each in (*overview.faults, *overview.stale_entries))
    lines += (paint("warn", line(each, 4 * width)) for each in endings(run))
    for change in GROUPS:
        if change in overview.changes and (not quiet or change in _URGENT):
            lines += ["", *_group(change, overview.changes[change], run, width, paint)]
            if change is Change.PENDING:
                lines += (paint("dim", f"  {text}") for text in wrap(overview.pending, width - 2))
    if not quiet:
        lines += _not_asked(overview, width, paint)
        lines += _steps(overview, width, paint)
        lines += _named("Newly discovered, not in the documents", overview.discovered, width, paint)
        lines += _named(CORRECTED, overview.corrected, width, paint)
        lines += ["", *_table(overview, paint)]
    return "\n".join(lines)


def provider_line(provider: str, results: Sequence[Result], total: int, *, colour: bool = False) -> str:
    """Progress of one provider: `PA  ████████░░  41/52  2 drifted`."""
    paint = _Paint(colour)
    mine = [result for result in results if result.record.startswith(f"{provider}/")]
    filled = round(20 * len(mine) / total) if total else 20
    parts = [f"{provider.upper()}  {'█' * filled}{'░' * (20 - filled)}  {len(mine)}/{total}"]
    for outcome, name in COLUMNS.items():
        number = sum(result.outcome is outcome for result in mine)
        if number and outcome not in (Outcome.CONFORMS, Outcome.NOT_PROBED):
            parts.append(paint("warn" if outcome is Outcome.INCONCLUSIVE else "bad", f"{number} {name}"))
    return "  ".join(parts)


_URGENT = tuple(change for change in GROUPS if change not in (Change.FIXED, Change.ACCEPTED))


class _Paint:
    """Colours text where colours are asked for."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, name: str, text: str) -> str:
        return f"\x1b[{_COLOURS[name]}m{text}\x1b[0m" if self._colour and text else text


def _not_looked_at(overview: Overview, paint: _Paint) -> Iterator[str]:
    for provider, why in overview.blind.items():
        yield paint("bad", f"blind: {provider} was not looked at: {why} (exit {Exit.BLIND})")


def _group(change: Change, members: Sequence[Standing], run: Run, width: int, paint: _Paint) -> Iterator[str]:
    if change in CAUSED:
        yield from _by_cause(change, members, run, width, paint)
        return
    yield paint(_OF_CHANGE[change], f"{GROUPS[change]} ({len(members)})")
    if change in (Change.LOST, Change.UNSEEN):
        yield from _by_reason(members, width, paint)
        return
    for each in members[:LISTED]:
        yield f"  {each.address}{paint('dim', _age_of(each))}"
        if change in (Change.FLAKY, Change.BROKEN, Change.STALE):
            yield from (f"    {text}" for text in _told(each, width - 4))
        if change is Change.ACCEPTED and (why := verdicts.of_ledger(each.result, "reason")):
            yield paint("dim", f"    {line(why, width - 4)}")
    if len(members) > LISTED:
        yield paint("dim", f"  … and {len(members) - LISTED} more, in the report")


def _by_cause(change: Change, members: Sequence[Standing], run: Run, width: int, paint: _Paint) -> Iterator[str]:
    """What made these records drift, the most of them first, and how to ask again."""
    found = gathered(members)
    yield paint(_OF_CHANGE[change], heading(GROUPS[change], members, found))
    for each in found[:LISTED]:
        since = f", since {each.since}" if change is Change.ONGOING and each.since else ""
        yield "  " + line(f"{each.cause.provider.upper()} {each.cause.in_words}  [{each.cause.code}]", width - 2)
        yield paint("dim", "    " + line(f"{each.number}{since}: {each.named()}", width - 4))
        yield paint("dim", f"    {ask_again(run, each.cause)}")
    if len(found) > LISTED:
        yield paint("dim", f"  … and {len(found) - LISTED} more causes, in the report")


def _age_of(standing: Standing) -> str:
    if standing.change is Change.ACCEPTED:
        review_by = verdicts.of_ledger(standing.result, "review_by")
        return f"  review by {line(review_by, 20)}" if review_by else ""
    return ""


def _told(standing: Standing, width: int) -> Iterator[str]:
    result = standing.result
    if standing.change is Change.STALE:
        yield line(verdicts.of_ledger(result, "detail"), width)
    if result.reason is not None:
        yield line(advice.reason(result), width)
    for finding in result.drifts[:3]:
        yield line(f"{in_full(finding, result)}  [{finding.code}]", width)


def _not_asked(overview: Overview, width: int, paint: _Paint) -> Iterator[str]:
    """What is wanting to ask the rest; that it is not asked is no fault."""
    if overview.unconfigured:
        yield from ("", paint("bold", f"Not configured here ({len(overview.unconfigured)})"))
        yield from _by_reason(overview.unconfigured, width, paint)


def _by_reason(members: Sequence[Standing], width: int, paint: _Paint) -> Iterator[str]:
    for group in unseen(members):
        yield "  " + line(f"{group.who}: {group.code}{group.since}", width - 2)
        if group.details:
            yield paint("dim", f"    {line(group.details[0], width - 4)}")


def _steps(overview: Overview, width: int, paint: _Paint) -> Iterator[str]:
    found = advice.steps(overview.standings)
    if not found:
        return
    yield ""
    yield paint("bold", "Next")
    for step in found[:6]:
        yield line(f"{step.code} ({len(step.addresses)}): {step.next_step}", width)
    yield paint("dim", "`python -m catalog explain CODE` says more about each")


def _named(title: str, names: Sequence[str], width: int, paint: _Paint) -> Iterator[str]:
    """What no earlier run had seen, the first few."""
    if not names:
        return
    yield ""
    yield paint("bold", f"{title} ({len(names)})")
    for what in names[:6]:
        yield f"  {line(what, width - 2)}"
    if len(names) > 6:
        yield paint("dim", f"  … and {len(names) - 6} more, in the report")


def _table(overview: Overview, paint: _Paint) -> Iterator[str]:
    """Counts by provider; an outcome that did not occur has no column."""
    columns = [outcome for outcome in COLUMNS if overview.counts[outcome]]
    heads = [COLUMNS[outcome] for outcome in columns]
    yield paint("dim", "  ".join(["      records", *heads, "oldest evidence"]))
    for provider in overview.providers:
        mine = [each for each in overview.standings if each.address.startswith(f"{provider}/")]
        numbers = []
        for outcome, head in zip(columns, heads, strict=True):
            number = sum(each.outcome is outcome for each in mine)
            numbers.append((str(number) if number else "·").rjust(len(head)))
        oldest = max((each.age for each in mine if each.age is not None), default=None)
        yield "  ".join([f"{provider.upper():4}{len(mine):9}", *numbers, days(oldest)])
