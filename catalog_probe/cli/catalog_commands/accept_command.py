"""What `catalog-probe catalog accept` does: accepts the drifts of one record, or of a whole cause."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.files import paths, provider_folders
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model.clock import add_days
from catalog_probe.catalog.model.errors import CatalogError, display_path, suggest_similar
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.text.sanitizing import sanitize_line
from catalog_probe.catalog.writeback import accepted_differences
from catalog_probe.catalog.writeback.accepted_differences import AcceptedDifference

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.evidence.causes import Cause
    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Finding, Record

REVIEW_AFTER_DAYS = 90
_NAMED = 3


@dataclass(frozen=True, slots=True)
class _Terms:
    """On what terms differences are accepted: where, why, since when and until when."""

    target: str
    reason: str
    ticket: str
    first_seen: str
    review_by: str

    def entry(self, address: str, findings: Iterable[Finding]) -> AcceptedDifference:
        """The entry that accepts these differences of a record."""
        return self.of(address, accepted_differences.drifted_assertions(findings))

    def of(self, address: str, keys: tuple[str, ...]) -> AcceptedDifference:
        return AcceptedDifference(address, self.target, keys, self.reason, self.first_seen, self.review_by, self.ticket)


def accept(args: Namespace) -> int:
    """Write accepted differences, so that they are expected until their review."""
    if sum(map(bool, (args.address, args.cause, args.like))) != 1:
        raise CatalogError("it is not clear what to accept", "name a record, or --cause ID, or --like ADDRESS")
    terms = _terms(args)
    roots = provider_folders.use(args.catalog)
    if args.address:
        return _accept_one(args, terms, Catalog.load(*roots))
    if args.assertions:
        raise CatalogError("--assertions is about one record", "leave it out: a cause says what differs")
    drifts: dict[str, list[Finding]] = defaultdict(list)
    for cause in _causes(args):
        for drift in cause.drifts:
            drifts[drift.record].append(drift.finding)
    file = args.accepted_differences or accepted_differences.find_file(min(drifts))
    changed = sum(
        accepted_differences.extend_acceptance(terms.entry(address, found), file)
        for address, found in sorted(drifts.items())
    )
    named = ", ".join(sorted(drifts)[:_NAMED]) + (f" and {len(drifts) - _NAMED} more" if len(drifts) > _NAMED else "")
    verb = "accepts" if changed else "already accepted"
    count = f"{len(drifts)} {'record' if len(drifts) == 1 else 'records'}"
    print(
        sanitize_line(f"{display_path(file)} {verb} it of {count} on {terms.target} until {terms.review_by}: {named}")
    )
    return Exit.FINE


def _terms(args: Namespace) -> _Terms:
    today = args.today or datetime.now(UTC).date()
    review_by: date = args.review_by or add_days(today, REVIEW_AFTER_DAYS)
    if review_by <= today:
        raise CatalogError(f"--review-by {review_by} is not after today", "name a day to come")
    if not args.reason.strip():
        raise CatalogError("--reason is empty", "say why this difference is accepted")
    return _Terms(args.target, args.reason, args.ticket or "", today.isoformat(), review_by.isoformat())


def _accept_one(args: Namespace, terms: _Terms, catalog: Catalog) -> int:
    record = catalog[args.address]
    address = str(record.address)
    if args.assertions:
        entry = terms.of(address, tuple(sorted(set(args.assertions))))
        _must_be_stated(entry, record, catalog)
        _must_have_drifted(args, entry)
    else:
        entry = terms.entry(address, _drifts(args, address))
    file = args.accepted_differences or accepted_differences.find_file(address)
    verb = "accepts" if accepted_differences.accept(entry, file) else "already accepted"
    print(
        sanitize_line(
            f"{display_path(file)} {verb} {entry.assertions_text} of {entry.address} on {entry.target} until {entry.review_by}"
        )
    )
    return Exit.FINE


def _must_be_stated(entry: AcceptedDifference, record: Record, catalog: Catalog) -> None:
    """Refuse keys of assertions that the record does not state."""
    stated = [str(each.key) for each in assertions(record, catalog.__getitem__)]
    for key in entry.assertions:
        if key not in stated:
            mend = suggest_similar(key, stated) or f"it states {', '.join(stated)}"
            raise CatalogError(f"{record.address} states no assertion {key!r}", mend)


def _must_have_drifted(args: Namespace, entry: AcceptedDifference) -> None:
    """Refuse what the run that is meant looked at and did not see drift: the entry would be stale at once.

    Where no run is known, or it did not probe the record, a person may know better.
    """
    if args.run is None and not paths.latest_run().exists():
        return
    run, results = _seen(args, "name the run that saw it with --run")
    result = next((each for each in results if each.record == entry.address), None)
    if result is None or not (result.outcome.is_conclusive or result.drifts):
        return
    drifted = accepted_differences.drifted_assertions(result.drifts)
    never = [key for key in entry.assertions if key not in drifted]
    if never:
        there = f"it drifted in {', '.join(drifted)}" if drifted else "nothing of it drifted"
        mend = "accept what drifted, or name the run that saw it with --run"
        raise CatalogError(f"run {run} saw no drift of {', '.join(never)} of {entry.address}: {there}", mend)


def _drifts(args: Namespace, address: str) -> list[Finding]:
    """What a run saw drift: an entry accepts no more than that, so that new drifts still fail."""
    run, results = _seen(args, "name them with --assertions, or the run that saw them with --run")
    drifts = [finding for each in results if each.record == address for finding in each.drifts]
    if not drifts:
        mend = "name them with --assertions, or the run that saw them with --run"
        raise CatalogError(f"run {run} saw no drift of {address}", mend)
    return drifts


def _causes(args: Namespace) -> list[Cause]:
    """The causes that are accepted: the one that is named, or all that made a record drift."""
    run, results = _seen(args, "name the run that saw it with --run")
    found = find_causes(results)
    known: Mapping[str, Cause] = {each.id: each for each in found}
    if args.cause:
        if args.cause not in known:
            mend = suggest_similar(args.cause, known) or "`catalog-probe report show` names the causes of a run"
            raise CatalogError(f"run {run} has no cause {args.cause!r}", mend)
        return [known[args.cause]]
    alike = [each for each in found if args.like in each.records]
    if not alike:
        drifted = {record for each in found for record in each.records}
        mend = suggest_similar(args.like, drifted) or "name a record that drifted, or the run with --run"
        raise CatalogError(f"run {run} saw no drift of {args.like}", mend)
    return alike


def _seen(args: Namespace, mend: str) -> tuple[str, list[Result]]:
    """The name and the results of the run that is meant."""
    from catalog_probe.catalog.writeback.update import (
        read_evidence,  # 0.1 s to import; only a run that is named needs it
    )

    if args.run is None and not paths.latest_run().exists():
        raise CatalogError("it is not known what diverges", mend)
    [(run, results)] = read_evidence([args.run or paths.latest_run()])
    if run.target != args.target:
        raise CatalogError(f"run {run.run} asked target {run.target}, not {args.target}", mend)
    return run.run, list(results)
