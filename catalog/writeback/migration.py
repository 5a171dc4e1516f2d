"""Gives a ledger and a history that an earlier version wrote what today's words add: the assertions behind them.

Both are understood as they are. But an entry by aspects alone does not say which assertions it accepts, and a drift
remembered by codes alone does not say how it differed: migrated, neither becomes news by a change of words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from catalog.evidence import same_drift
from catalog.evidence.results_file import drawing_on
from catalog.model import Address, Aspect, jsonl
from catalog.model.text import count
from catalog.reading.assertions import assertions
from catalog.writeback import ledger
from catalog.writeback.writing import locked, write_text

if TYPE_CHECKING:
    from pathlib import Path

    from catalog.evidence.results import Result, Run
    from catalog.model import Json
    from catalog.model.assertion import Assertion
    from catalog.reading.store import Catalog
    from catalog.writeback.ledger import Entry


@dataclass(frozen=True, slots=True)
class Migrated:
    """What was rewritten, and what had to stay as it was."""

    entries: int
    """Entries of the ledger that name their assertions now."""
    drifts: int
    """Remembered drifts that say how they differ now."""
    without_run: int
    """Remembered drifts that keep their codes, for the results of their night were not named."""

    def in_words(self, *, dry_run: bool) -> str:
        """One line."""
        verb = "would say" if dry_run else "now say"
        told = [
            f"{count(self.entries, 'accepted divergence', 'accepted divergences')} {verb} which assertions they cover"
            if self.entries
            else "",
            f"{count(self.drifts, 'remembered drift', 'remembered drifts')} {verb} how they differ"
            if self.drifts
            else "",
        ]
        kept = f"; {count(self.without_run, 'keeps', 'keep')} only codes: name the runs that saw them"
        return (", ".join(filter(None, told)) or "nothing to migrate") + (kept if self.without_run else "")


def migrate(
    ledger_file: Path,
    history: Path,
    catalog: Catalog,
    runs: Sequence[tuple[Run, Sequence[Result]]],
    *,
    dry_run: bool,
) -> Migrated:
    """Rewrite the ledger and every history file of a folder, each in one step. The same again changes nothing.

    Raises:
        CatalogError: the ledger cannot be read, or a file cannot be written.
        BrokenLineError: a line of a history is not JSON.
        EvidenceError: a line of a history has another shape. That file is not rewritten.
    """
    entries = _migrate_ledger(ledger_file, catalog, dry_run)
    findings = {run.run: {each.record: each for each in results} for run, results in runs}
    drifts = without_run = 0
    for file in sorted(history.glob("*.jsonl")):
        done, left = _migrate_history(file, findings, dry_run)
        drifts, without_run = drifts + done, without_run + left
    return Migrated(entries, drifts, without_run)


def covered(entry: Entry, made: Iterable[Assertion]) -> tuple[str, ...]:
    """The assertions of its record that an entry accepts by its aspects, in the order of the record."""
    return tuple(str(each.key) for each in made if any(_accepts(entry, aspect) for aspect in _told_as(each)))


def _accepts(entry: Entry, aspect: str) -> bool:
    if aspect == Aspect.BODY and any(each.startswith(f"{aspect}:$") for each in entry.aspects):
        return True  # a body of the wrong shape was told by the place of what is wrong in it: `body:$.error`
    if aspect.startswith(f"{Aspect.HEADER}:") and any(fnmatchcase(each, aspect) for each in entry.aspects):
        return True  # a rule for many headers (`x-ratelimit-*`) was told by the name of one of them
    return entry.covers(aspect)


def _told_as(assertion: Assertion) -> Iterator[str]:
    """The aspects under which a finding told that an assertion was seen otherwise."""
    key = assertion.key
    match key.aspect:
        case "grpc":
            yield Aspect.STATUS
        case "status" if key.place:
            yield Aspect.CODE
        case "order":
            yield f"{Aspect.EVENT}:{assertion.documented}" if key.place else Aspect.EVENT
        case "relation":
            yield key.within
            yield f"{Aspect.BODY}:{key.place.partition(':')[2]}"  # whole bodies that should be the same
        case "header" | "body" | "event":
            yield key.within
        case _:
            yield key.aspect


def _migrate_ledger(file: Path, catalog: Catalog, dry_run: bool) -> int:
    if not file.exists():
        return 0
    with locked(file.parent):
        before = ledger.load(file)
        after = [_with_assertions(entry, catalog) for entry in before]
        changed = sum(old != new for old, new in zip(before, after, strict=True))
        if changed and not dry_run:
            write_text(file, ledger.ledger_text(after))
    return changed


def _with_assertions(entry: Entry, catalog: Catalog) -> Entry:
    if entry.assertions or Address.parse(entry.address) not in catalog:
        return entry
    return replace(entry, assertions=covered(entry, assertions(catalog[entry.address], catalog.__getitem__)))


def _migrate_history(file: Path, findings: Mapping[str, Mapping[str, Result]], dry_run: bool) -> tuple[int, int]:
    """How many of its drifts say now how they differ, and how many cannot."""
    with locked(file.parent), drawing_on(file):
        raw = file.read_bytes()
        lines = [line for _, line in jsonl.values(raw, file)]
        done = left = 0
        for line in lines:
            results = findings.get(line.get("run", ""), {})
            for address, kept in (line.get("drifts") or {}).items():
                if "differs" in kept:
                    continue
                if address not in results:
                    left += 1
                    continue
                kept.update(same_drift.remembered(results[address].findings))
                done += 1
        if done and not dry_run:
            write_text(file, "".join(_line(each) for each in lines))
    return done, left


def _line(row: Json) -> str:
    return json.dumps(row, ensure_ascii=True, separators=(",", ":")) + "\n"
