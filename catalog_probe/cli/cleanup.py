"""Cleanup: remove from accounts what interrupted runs created, as their journals name it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.evidence.results_file import RESULTS_FILE
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.model.exchange import CLEANUP
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running import journal
from catalog_probe.probes.running.journal import Journal, JournalEntry, JournalError
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.limits import Budget
from catalog_probe.probes.running.teardown import is_gone
from catalog_probe.probes.wire.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.targets.target import Target


BY_HAND = "look for it on the account, then remove its lines from the journal"


@dataclass(frozen=True, slots=True)
class CleanupResult:
    """What became of one created object. `left` means that it may still be on the account."""

    line: str
    left: bool


def find_journals(runs: Sequence[str], out: Path) -> list[Path]:
    """Return the journals of these runs (folders, or names below `out`); without names, of all runs below `out`.

    Raises:
        JournalError: a name is not a run.
    """
    if not runs:
        return sorted(out.glob(f"*/{journal.FILE_NAME}")) if out.is_dir() else []
    return list(dict.fromkeys(_find_journal(run, out) for run in runs))


def _find_journal(run: str, out: Path) -> Path:
    for folder in (provider_folders.locate(run), out / run):
        path = folder if folder.name == journal.FILE_NAME else folder / journal.FILE_NAME
        if path.is_file():
            return path.parent.resolve() / path.name  # a link in place of the journal stays one, and is refused
        if (folder / RESULTS_FILE).is_file():  # a run that created nothing has no journal
            return path
    what = f"is no run's folder, and {out} has none of that name"
    raise JournalError(what, "name one, or none for all", location=run)


def clean_up(paths: Iterable[Path], target: Target, *, forget: bool = False) -> list[CleanupResult]:
    """Remove everything that is left, and return the result for each object. It is safe to repeat.

    `forget` closes the entries of objects without an id, which only a person can look for.
    """
    return anyio.run(_clean, list(paths), target, forget)


async def _clean(paths: Sequence[Path], target: Target, forget: bool) -> list[CleanupResult]:
    redactor = Redactor.for_target(target)
    lanes = _Lanes(target, redactor)
    results: list[CleanupResult] = []
    try:
        for path in paths:
            try:
                damaged_lines: list[str] = []
                entries = journal.read_open_entries(path, damaged_lines)
            except JournalError as error:  # a damaged journal must not stop the cleanup of others
                results.append(CleanupResult(f"kept: {error}", left=True))
                continue
            results += [
                CleanupResult(f"left out: {line}; look on the account, then remove the line", left=True)
                for line in damaged_lines
            ]
            run_journal = Journal(path, target.name, redactor.redact_text)
            for entry in reversed(entries):
                results.append(await _remove(entry, run_journal, lanes, redactor, forget=forget))
    finally:
        await lanes.aclose()
    return results


async def _remove(
    entry: JournalEntry, run_journal: Journal, lanes: _Lanes, redactor: Redactor, *, forget: bool
) -> CleanupResult:
    name = f"{entry.request} for {entry.record}, {entry.at}"
    if not entry.removal:
        if forget:
            run_journal.end(entry, "looked for by hand")
            return CleanupResult(f"forgotten: {name}", left=False)
        return CleanupResult(
            f"by hand: {name}: no answer named it; look for it, then run again with --forget", left=True
        )
    try:
        call = lanes.make_removal(entry)
        lane = lanes.open_lane(entry)
        label = f"{CLEANUP}/{entry.id}"
        exchange = await lane.send(call, CLEANUP, label, time.perf_counter(), entry.role, cleanup=True)
    except (JournalError, ProbeStopped) as error:
        return CleanupResult(f"kept: {name}: {redactor.redact_sentence(str(error))}", left=True)
    answer = ""
    if exchange.response:
        answer = f"HTTP {exchange.response.status}"
    elif exchange.failure:
        answer = exchange.failure.code
    if not is_gone(call, exchange):
        return CleanupResult(f"kept: {name}: {call.method} {call.path} was answered {answer}", left=True)
    run_journal.end(entry, f"removed: {answer}")
    return CleanupResult(f"removed: {name}: {call.method} {call.path}, {answer}", left=False)


class _Lanes:
    """The lanes of a target, opened when an object made with their key is removed."""

    def __init__(self, target: Target, redactor: Redactor) -> None:
        self._target = target
        self._redactor = redactor
        self._open: dict[tuple[str, str], Lane] = {}

    def make_removal(self, entry: JournalEntry) -> Call:
        """Return the call that removes an object, as the recipes declare it.

        A journal is untrusted input: only the id in it is sent, and only after the checks below.

        Raises:
            JournalError: the entry is not of this target, or no recipe creates such an object.
        """
        if entry.target != self._target.name:
            raise JournalError(f"it was made on target {entry.target!r}", "name that with --target")
        provider = self._target.providers.get(entry.provider)
        if provider is None:
            raise JournalError(f"target {entry.target!r} has no provider {entry.provider!r}", "add it, or " + BY_HAND)
        recipes = recipe_book(entry.provider)
        removal = recipes.removals.get(entry.removal)
        if removal is None or entry.record not in recipes.recipes:
            raise JournalError(f"no recipe of {entry.record!r} has a removal {entry.removal!r}", BY_HAND)
        if entry.address != provider.addresses.get(removal.call.service):
            what = f"it was made at {entry.address or 'an address that is not known'}, where this target is not"
            raise JournalError(what, "name the target that is with --target")
        credential = provider.credential(entry.role)
        key = credential.value
        if key is None:
            raise JournalError(provider.advise_missing(f"credentials.{entry.role}", self._target.name))
        if credential.variable is None:  # for instance the role `wrong`: its key is in the source of this tool
            what = f"the key of {entry.role!r} is public, so anybody can have written its line"
            raise JournalError(what, BY_HAND)
        if entry.mac != entry.compute_mac(key):
            what = (
                f"its line was not written with the key in {provider.key_name(entry.role)}: another account, or edited"
            )
            raise JournalError(what, f"set the key that made it, or {BY_HAND}")
        if not removal.is_valid_id(entry.resource):
            raise JournalError(f"{entry.resource!r} is no id of a {removal.name}", BY_HAND)
        return removal.make_call(entry.resource)

    def open_lane(self, entry: JournalEntry) -> Lane:
        key = (entry.provider, entry.role)
        if key not in self._open:
            provider = self._target.providers[entry.provider]
            self._open[key] = Lane(provider, entry.role, self._redactor, Budget(provider), mock=not self._target.live)
        return self._open[key]

    async def aclose(self) -> None:
        for lane in self._open.values():
            await lane.aclose()
