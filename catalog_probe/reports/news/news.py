"""What one run has to tell anybody who is called: one small JSON for any webhook, each thing told once.

Nothing is remembered but the history: what a run tells is what is due by its line and was not due by the one before.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.evidence.verdicts.coverage_lost import OUTCOMES_WITHOUT_VERDICT
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.catalog.text.sanitizing import sanitize_line
from catalog_probe.reports.content.reported_causes import split_sides
from catalog_probe.reports.content.words import join_providers
from catalog_probe.reports.history.episodes import Ending, Episode, episodes, in_order
from catalog_probe.reports.news.feed import LONGEST, describe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow
    from catalog_probe.catalog.model import Json

CHANGES = ("new", "changed", "recovered")
"""The headings under which changes are told."""

MOST = 40
"""Changes told under one heading; all are counted."""

NAMED = 10
"""Records named of one change, or of one provider."""


_INERT = re.compile(r'(?!.*//)[\w {}\[\]",:/-]{1,80}', re.ASCII)
"""A text in which no channel sees a mention, a link or markup: no `@`, `<`, `#`, `*`, `` ` ``, dot or `//` is in it."""

Key = tuple[str, str]
"""What is told, and of what."""


def news(target: str, rows: Sequence[HistoryRow], run: str) -> dict[str, Json]:
    """What a run of a target's history has to tell.

    Raises:
        EvidenceError: the history does not know the run.
    """
    ordered = sorted(rows, key=in_order)
    at = next((number for number, row in enumerate(ordered) if row.run == run), None)
    if at is None:
        mend = "`catalog-probe report history append` adds it"
        raise EvidenceError(f"the history does not remember run {run!r}", mend)
    before, now = ordered[:at], ordered[: at + 1]
    told = _changes_due(before).keys()
    due = {key: each for key, each in _changes_due(now).items() if key not in told}
    changes = {name: [each for key, each in due.items() if key[0] == name] for name in CHANGES}
    lost = sorted(absences(now).items() - absences(before).items())
    return {
        "schema_version": 1,
        "run": sanitize_line(run, LONGEST),
        "target": sanitize_line(target, LONGEST),
        "live": ordered[at].live,
        "night": ordered[at].today.isoformat(),
        "text": _text(changes, lost, without_a_verdict(ordered[at])),
        "counts": {**{name: len(found) for name, found in changes.items()}, "coverage_lost": len(lost)},
        **{name: [_change(each) for each in found[:MOST]] for name, found in changes.items()},
        "coverage_lost": list(_by_provider(lost)),
        "not_observed": without_a_verdict(ordered[at]),
    }


def without_a_verdict(row: HistoryRow) -> list[str]:
    """The providers of which this run tried something and has no verdict at all; so said of each such run."""
    tried, seen = set(), set()
    for address, outcome in row.outcomes.items():
        provider = address.partition("/")[0]
        if outcome is not Outcome.NOT_PROBED or address in row.coverage_lost:
            tried.add(provider)
        if outcome.is_conclusive or outcome is Outcome.FLAKY:
            seen.add(provider)
    return sorted(tried - seen)


def _changes_due(rows: Sequence[HistoryRow]) -> dict[Key, Episode]:
    """All that the nights up to the last of these rows had to tell of what changed."""
    due: dict[Key, Episode] = {}
    for each in episodes(rows):
        if each.accepted:
            continue
        due["changed" if each.instead else "new", each.id] = each
        if each.how is Ending.RECOVERED:
            due["recovered", f"{each.id} {each.ended}"] = each
    return due


def absences(rows: Sequence[HistoryRow]) -> dict[str, date]:
    """Records that had a verdict and have none after these rows, oldest first; each with the day since when."""
    verdicts: set[str] = set()
    lost: dict[str, date] = {}
    for row in rows:
        for address, outcome in row.outcomes.items():
            if outcome.is_conclusive or outcome is Outcome.FLAKY:
                verdicts.add(address)
                lost.pop(address, None)
            elif address in verdicts and (outcome in OUTCOMES_WITHOUT_VERDICT or address in row.coverage_lost):
                lost.setdefault(address, row.today)
    return lost


def _change(episode: Episode) -> dict[str, Json]:
    """A change for programs; of its records the first, and how many there are."""
    return {
        "id": episode.id,
        "provider": episode.provider,
        "cause": episode.cause,
        "code": episode.code or None,
        "summary": describe(episode),
        "first": episode.first.isoformat(),
        "last": episode.last.isoformat(),
        "ended": episode.ended.isoformat() if episode.ended else None,
        "how": str(episode.how) if episode.how else None,
        "instead_of": sorted(episode.instead),
        "never_confirmed": episode.never_confirmed,
        "number": len(episode.parts),
        "records": [sanitize_line(record, LONGEST) for record in sorted(episode.parts)[:NAMED]],
    }


def _by_provider(lost: Iterable[tuple[str, date]]) -> Iterator[dict[str, Json]]:
    """Group lost coverage by provider and night: one dead key takes a hundred records along."""
    together: dict[tuple[str, date], list[str]] = defaultdict(list)
    for record, since in lost:
        together[record.partition("/")[0], since].append(record)
    for (provider, since), records in sorted(together.items()):
        named = [sanitize_line(each, LONGEST) for each in records[:NAMED]]
        yield {"provider": provider, "since": since.isoformat(), "number": len(records), "records": named}


def _change_in_words(episode: Episode) -> str:
    """`PA status: 404 → 400 in 7 records`: documented, then observed; the code if a channel could act on the words."""
    provider, number = episode.provider.upper(), format_count(len(episode.parts), "record")
    sides = split_sides(episode.told)
    if sides is None or not all(map(_INERT.fullmatch, sides)):
        return f"{provider}: {episode.code or 'drift'} in {number}"
    what, documented, observed = sides
    return f"{provider} {what}: {documented} → {observed} in {number}"


def _text(told: Mapping[str, Sequence[Episode]], lost: Sequence[tuple[str, date]], unseen: Sequence[str]) -> str:
    """One sentence for a channel that shows nothing else; such channels read mentions, so observed text is `_INERT`."""
    said = [f"{len(found)} {name}" for name, found in told.items() if found]
    if lost:
        said.append(f"{format_count(len(lost), 'record')} lost coverage")
    changes = [each for found in told.values() for each in found]
    of_first = f" ({'' if len(changes) == 1 else 'the first: '}{_change_in_words(changes[0])})" if changes else ""
    news = f"{', '.join(said)}{of_first}" if said else "" if unseen else "nothing to tell"
    blind = f"{join_providers(unseen)} {'was' if len(unseen) == 1 else 'were'} not observed" if unseen else ""
    return "; ".join(filter(None, (news, blind)))
