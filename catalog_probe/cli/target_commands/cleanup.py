"""Removes from an account what interrupted runs made there and left, as their journals name it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.evidence.results_file import RESULTS_FILE
from catalog_probe.catalog.files import paths as places
from catalog_probe.catalog.model.labels import CLEANUP
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running import journal
from catalog_probe.probes.running.journal import Journal, JournalEntry, JournalError
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.pacing.budget import Budget
from catalog_probe.probes.running.teardown import is_gone
from catalog_probe.probes.targets.target import NONEXISTENT_KEY, Target
from catalog_probe.probes.wire.redaction.redactor import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from catalog_probe.probes.calls.call import Call


BY_HAND = "look for it on the account, then remove its lines from the journal"


@dataclass(frozen=True, slots=True)
class CleanupResult:
    """What became of one thing, in a line; `left` where it may still be on the account."""

    line: str
    left: bool


def find_journals(runs: Sequence[str], out: Path) -> list[Path]:
    """The journals of these runs (folders, or names of folders below `out`), or of all runs below `out`.

    Raises:
        JournalError: a run that was named has no journal.
    """
    if not runs:
        return sorted(out.glob(f"*/{journal.FILE_NAME}")) if out.is_dir() else []
    return list(dict.fromkeys(_journal_of(run, out) for run in runs))


def _journal_of(run: str, out: Path) -> Path:
    for folder in (places.locate(run), out / run):
        path = folder if folder.name == journal.FILE_NAME else folder / journal.FILE_NAME
        if path.is_file():
            return path.resolve()
        if (folder / RESULTS_FILE).is_file():  # of a run that made nothing
            return path
    what = f"is no run's folder, and {out} has none of that name"
    raise JournalError(what, "name one, or none for all", location=run)


def clean_up(paths: Iterable[Path], target: Target, *, forget: bool = False) -> list[CleanupResult]:
    """Remove everything that is left, and say of each thing what became of it. Doing so again does no harm.

    `forget` takes what can only be looked for by hand as looked for.
    """
    return anyio.run(_clean, list(paths), target, forget)


async def _clean(paths: Sequence[Path], target: Target, forget: bool) -> list[CleanupResult]:
    redactor = Redactor.for_target(target, public=[NONEXISTENT_KEY])
    lanes = _Lanes(target, redactor)
    told: list[CleanupResult] = []
    try:
        for path in paths:
            try:
                left_out: list[str] = []
                left = journal.read_open_entries(path, left_out)
            except JournalError as error:  # one that is damaged leaves those of other runs as they are
                told.append(CleanupResult(f"kept: {error}", left=True))
                continue
            told += (
                CleanupResult(f"left out: {each}; look on the account, then remove the line", left=True)
                for each in left_out
            )
            noted = Journal(path, target.name, redactor.redact_text)
            told += [await _end(made, noted, lanes, redactor, forget=forget) for made in reversed(left)]
    finally:
        await lanes.aclose()
    return told


async def _end(made: JournalEntry, noted: Journal, lanes: _Lanes, redactor: Redactor, *, forget: bool) -> CleanupResult:
    named = f"{made.request} for {made.record}, {made.at}"
    if not made.removal:
        if forget:
            noted.end(made, "looked for by hand")
            return CleanupResult(f"forgotten: {named}", left=False)
        return CleanupResult(
            f"by hand: {named}: no answer named it; look for it, then run again with --forget", left=True
        )
    try:
        call = lanes.removal_of(made)
        lane = lanes.of(made)
        exchange = await lane.send(call, CLEANUP, f"{CLEANUP}/{made.id}", time.perf_counter(), made.role, cleanup=True)
    except (JournalError, ProbeStopped) as why:
        return CleanupResult(f"kept: {named}: {redactor.redact_sentence(str(why))}", left=True)
    seen = (
        f"HTTP {exchange.response.status}" if exchange.response else exchange.failure.code if exchange.failure else ""
    )
    if not is_gone(call, exchange):
        return CleanupResult(f"kept: {named}: {call.method} {call.path} was answered {seen}", left=True)
    noted.end(made, f"removed: {seen}")
    return CleanupResult(f"removed: {named}: {call.method} {call.path}, {seen}", left=False)


class _Lanes:
    """The lanes of a target, each opened when something made with its key is to be removed."""

    def __init__(self, target: Target, redactor: Redactor) -> None:
        self._target = target
        self._redactor = redactor
        self._open: dict[tuple[str, str], Lane] = {}

    def removal_of(self, made: JournalEntry) -> Call:
        """The call that removes it, as the recipes declare it: of what a journal says, the id alone is sent.

        Raises:
            JournalError: it is none of this target's, or of no thing that its recipes make.
        """
        if made.target != self._target.name:
            raise JournalError(f"it was made on target {made.target!r}", "name that with --target")
        provider = self._target.providers.get(made.provider)
        if provider is None:
            raise JournalError(f"target {made.target!r} has no provider {made.provider!r}", "add it, or " + BY_HAND)
        recipes = recipe_book(made.provider)
        removal = recipes.removals.get(made.removal)
        if removal is None or made.record not in recipes.recipes:
            raise JournalError(f"no recipe of {made.record!r} has a removal {made.removal!r}", BY_HAND)
        if made.address != provider.addresses.get(removal.call.service):
            what = f"it was made at {made.address or 'an address that is not known'}, where this target is not"
            raise JournalError(what, "name the target that is with --target")
        key = provider.credential(made.role).value
        if key is None:
            raise JournalError(provider.advise_missing(f"credentials.{made.role}", self._target.name))
        if made.mac != made.compute_mac(key):
            what = (
                f"its line was not written with the key in {provider.key_name(made.role)}: another account, or edited"
            )
            raise JournalError(what, f"set the key that made it, or {BY_HAND}")
        if not removal.is_valid_id(made.resource):
            raise JournalError(f"{made.resource!r} is no id of a {removal.name}", BY_HAND)
        return removal.make_call(made.resource)

    def of(self, made: JournalEntry) -> Lane:
        key = (made.provider, made.role)
        if key not in self._open:
            provider = self._target.providers[made.provider]
            self._open[key] = Lane(provider, made.role, self._redactor, Budget(provider), mock=not self._target.live)
        return self._open[key]

    async def aclose(self) -> None:
        for lane in self._open.values():
            await lane.aclose()
