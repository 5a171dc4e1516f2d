"""`catalog-probe catalog accept`: accept the drifts of one record, or of a whole cause."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model.clock import add_days
from catalog_probe.catalog.model.errors import CatalogError, Exit, display_path, suggest_similar
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.text.readable_text import format_count, sanitize_line
from catalog_probe.catalog.writeback import accepted_differences
from catalog_probe.catalog.writeback.accepted_differences import AcceptedDifference

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from catalog_probe.catalog.evidence.causes import Cause
    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Finding, Record


REVIEW_AFTER_DAYS = 90
_MAX_NAMED = 3  # records that the confirmation names

_NAME_ASSERTIONS = "name them with --assertions, or the run that saw them with --run"
_NAME_RUN = "name the run that saw it with --run"


@dataclass(frozen=True, slots=True)
class _Terms:
    """The target, reason and dates of new entries."""

    target: str
    reason: str
    ticket: str
    first_seen: str
    review_by: str

    def make_entry(self, address: str, keys: tuple[str, ...]) -> AcceptedDifference:
        return AcceptedDifference(address, self.target, keys, self.reason, self.first_seen, self.review_by, self.ticket)


def accept(args: Namespace) -> int:
    """Write accepted differences, so that they are expected until their review."""
    if sum(map(bool, (args.address, args.cause, args.like))) != 1:
        raise CatalogError("it is not clear what to accept", "name a record, or --cause ID, or --like ADDRESS")
    terms = _parse_terms(args)
    roots = provider_folders.use(args.catalog)
    if args.address:
        return _accept_record(args, terms, Catalog.load(*roots))
    if args.assertions:
        raise CatalogError("--assertions is about one record", "leave it out: a cause says what differs")
    return _accept_causes(args, terms)


def _parse_terms(args: Namespace) -> _Terms:
    today = args.today or datetime.now(UTC).date()
    review_by: date = args.review_by or add_days(today, REVIEW_AFTER_DAYS)
    if review_by <= today:
        raise CatalogError(f"--review-by {review_by} is not after today", "name a day to come")
    if not args.reason.strip():
        raise CatalogError("--reason is empty", "say why this difference is accepted")
    return _Terms(args.target, args.reason, args.ticket or "", today.isoformat(), review_by.isoformat())


def _accept_causes(args: Namespace, terms: _Terms) -> int:
    drifts: dict[str, list[Finding]] = defaultdict(list)
    for cause in _select_causes(args):
        for drift in cause.drifts:
            drifts[drift.record].append(drift.finding)
    addresses = sorted(drifts)
    file = args.accepted_differences or accepted_differences.find_file(addresses[0])
    changed = 0
    for address in addresses:
        entry = terms.make_entry(address, accepted_differences.drifted_assertions(drifts[address]))
        changed += accepted_differences.extend_acceptance(entry, file)
    verb = "accepts" if changed else "already accepted"
    names = ", ".join(addresses[:_MAX_NAMED])
    if len(addresses) > _MAX_NAMED:
        names += f" and {len(addresses) - _MAX_NAMED} more"
    count = format_count(len(addresses), "record")
    text = f"{display_path(file)} {verb} it of {count} on {terms.target} until {terms.review_by}: {names}"
    print(sanitize_line(text))
    return Exit.FINE


def _accept_record(args: Namespace, terms: _Terms, catalog: Catalog) -> int:
    record = catalog[args.address]
    address = str(record.address)
    if args.assertions:
        entry = terms.make_entry(address, tuple(sorted(set(args.assertions))))
        _require_stated(entry, record, catalog)
        _require_drifted(args, entry)
    else:
        entry = terms.make_entry(address, accepted_differences.drifted_assertions(_find_drifts(args, address)))
    file = args.accepted_differences or accepted_differences.find_file(address)
    verb = "accepts" if accepted_differences.accept(entry, file) else "already accepted"
    text = f"{verb} {entry.assertions_text} of {entry.address} on {entry.target} until {entry.review_by}"
    print(sanitize_line(f"{display_path(file)} {text}"))
    return Exit.FINE


def _require_stated(entry: AcceptedDifference, record: Record, catalog: Catalog) -> None:
    """Refuse keys of assertions that the record does not state."""
    stated_keys = [str(assertion.key) for assertion in assertions(record, catalog.__getitem__)]
    for key in entry.assertions:
        if key not in stated_keys:
            mend = suggest_similar(key, stated_keys) or f"it states {', '.join(stated_keys)}"
            raise CatalogError(f"{record.address} states no assertion {key!r}", mend)


def _require_drifted(args: Namespace, entry: AcceptedDifference) -> None:
    """Refuse assertions that the run observed without drift: the entry would be stale at once.

    If there is no run, or the run did not probe the record, the person may know better.
    """
    if args.run is None and not provider_folders.latest_run().exists():
        return
    run, results = _read_run(args, _NAME_RUN)
    result = next((result for result in results if result.record == entry.address), None)
    if result is None or not (result.outcome.is_conclusive or result.drifts):
        return
    drifted = accepted_differences.drifted_assertions(result.drifts)
    without_drift = [key for key in entry.assertions if key not in drifted]
    if without_drift:
        drifts = f"it drifted in {', '.join(drifted)}" if drifted else "nothing of it drifted"
        what = f"run {run} saw no drift of {', '.join(without_drift)} of {entry.address}: {drifts}"
        raise CatalogError(what, f"accept what drifted, or {_NAME_RUN}")


def _find_drifts(args: Namespace, address: str) -> list[Finding]:
    """Return the drifts of a record in a run. An entry accepts no more, so that new drifts still fail."""
    run, results = _read_run(args, _NAME_ASSERTIONS)
    drifts = [finding for result in results if result.record == address for finding in result.drifts]
    if not drifts:
        raise CatalogError(f"run {run} saw no drift of {address}", _NAME_ASSERTIONS)
    return drifts


def _select_causes(args: Namespace) -> list[Cause]:
    """Return the cause that is named, or all causes of a record's drifts."""
    run, results = _read_run(args, _NAME_RUN)
    causes: Mapping[str, Cause] = {cause.id: cause for cause in find_causes(results)}
    if args.cause:
        if args.cause not in causes:
            mend = suggest_similar(args.cause, causes) or "`catalog-probe report show` names the causes of a run"
            raise CatalogError(f"run {run} has no cause {args.cause!r}", mend)
        return [causes[args.cause]]
    selected = [cause for cause in causes.values() if args.like in cause.records]
    if not selected:
        drifted = {record for cause in causes.values() for record in cause.records}
        mend = suggest_similar(args.like, drifted) or "name a record that drifted, or the run with --run"
        raise CatalogError(f"run {run} saw no drift of {args.like}", mend)
    return selected


def _read_run(args: Namespace, mend: str) -> tuple[str, list[Result]]:
    """Return name and results of the run that the options name, by default the latest."""
    from catalog_probe.catalog.writeback.update import read_evidence  # 0.1 s to import; only needed with a run

    if args.run is None and not provider_folders.latest_run().exists():
        raise CatalogError("it is not known what diverges", mend)
    [(run, results)] = read_evidence([args.run or provider_folders.latest_run()])
    if run.target != args.target:
        raise CatalogError(f"run {run.run} asked target {run.target}, not {args.target}", mend)
    return run.run, list(results)
