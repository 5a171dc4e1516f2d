"""Accepted differences: the drifts that a person accepted, where they apply, and when they are stale."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import provider_folder
from catalog_probe.catalog.files.schema_messages import find_complaints
from catalog_probe.catalog.files.schemas import SCHEMAS
from catalog_probe.catalog.files.strict_json import read_json, read_object
from catalog_probe.catalog.model import AcceptanceState, Address, Aspect, Json, Outcome
from catalog_probe.catalog.model.assertion import AssertionKey
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.errors import CatalogError, suggest_similar
from catalog_probe.catalog.writeback.canonical_json import format_json
from catalog_probe.catalog.writeback.writing import lock_folder, write_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Finding

ACCEPTED_DIFFERENCES = provider_folders.SHIPPED.accepted_differences


def list_files_in_force() -> tuple[Path, ...]:
    """List the files in force: that of the home that was named, else the shipped one and those that are installed."""
    named = provider_folders.named_folder()
    return tuple(home.accepted_differences for home in (provider_folders.all_folders() if named is None else (named,)))


def find_file(address: str) -> Path:
    """The file for a record: that of the home that was named, else of the home of its provider."""
    return (provider_folders.named_folder() or provider_folder(Address.parse(address).provider)).accepted_differences


def load_entries_in_force() -> tuple[AcceptedDifference, ...]:
    """Read every entry of the files in force.

    Raises:
        CatalogError: one cannot be read, or an entry is not as it should be.
    """
    return tuple(entry for file in list_files_in_force() for entry in load_entries(file))


@dataclass(frozen=True, slots=True, order=True)
class AcceptedDifference:
    """A difference that someone accepted, on one target, until its review."""

    address: str
    target: str
    assertions: tuple[str, ...]
    """The keys of those that it accepts (`answer/header:retry-after`)."""
    reason: str
    first_seen: str
    review_by: str
    ticket: str = ""
    """Where it is followed up, or nothing."""

    @property
    def because(self) -> str:
        """The reason, and the ticket where there is one."""
        return f"{self.reason} ({self.ticket})" if self.ticket else self.reason

    @property
    def last_day(self) -> date:
        return date.fromisoformat(self.review_by)

    def accepts(self, finding: Finding) -> bool:
        """Whether it accepts this difference."""
        return finding.assertion in self.assertions

    @property
    def accepts_a_message(self) -> bool:
        return any(AssertionKey.parse(key).aspect == Aspect.MESSAGE for key in self.assertions)

    @property
    def in_words(self) -> str:
        return ", ".join(self.assertions)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How a result stands to the entry for it, and why in words."""

    state: AcceptanceState
    reason: str
    """The reason that the entry gives for the difference."""
    detail: str
    review_by: str
    """The last day on which the entry holds, YYYY-MM-DD."""

    def to_json(self) -> dict[str, Json]:
        return asdict(self)


def load_entries(path: Path = ACCEPTED_DIFFERENCES) -> tuple[AcceptedDifference, ...]:
    """Read the entries of a file; if there is none, nothing is accepted.

    Raises:
        CatalogError: the file cannot be read, or an entry is not as it should be.
    """
    if not path.exists():
        return ()
    entries = _read(read_json(path), path)
    for index, entry in enumerate(entries):
        if any(_same_place(entry, other) for other in entries[:index]):
            what = f"{entry.address} stands twice for target {entry.target}"
            raise CatalogError(what, "make one entry of the two", file=path, location=f"$[{index}]")
    return entries


def find_entry(entries: Iterable[AcceptedDifference], address: Address | str, target: str) -> AcceptedDifference | None:
    """The entry that applies to a record on a target, if any."""
    return next((entry for entry in entries if (entry.address, entry.target) == (str(address), target)), None)


def drifted_assertions(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The keys of the assertions that drifted."""
    return tuple(sorted({finding.assertion for finding in findings if finding.is_drift}))


def judge_acceptance(
    entry: AcceptedDifference | None, outcome: Outcome, findings: Iterable[Finding], today: date, reason: str = ""
) -> Acceptance | None:
    """Compare an outcome with the entry for its record; None if the entry does not apply to it.

    An entry past its review is stale whatever was seen. Else only a conclusive outcome says something about it, and
    one whose `reason` is a message that nothing allowed here can tell apart, which `message` accepts.
    """
    if entry is None:
        return None
    findings = tuple(findings)
    new = [each for each in findings if each.is_drift and not entry.accepts(each)]
    if today > entry.last_day:
        state, detail = AcceptanceState.STALE, f"the accepted difference was to be reviewed by {entry.review_by}"
    elif outcome is Outcome.CONFORMS:
        gone = f"the accepted difference ({entry.in_words}) is gone: remove its entry"
        state, detail = AcceptanceState.STALE, gone
    elif outcome is Outcome.INCONCLUSIVE and reason == ReasonCode.TWIN_NOT_ALLOWED and entry.accepts_a_message:
        state, detail = AcceptanceState.ACCOUNTED, f"not observed, as accepted until {entry.review_by}"
    elif outcome is not Outcome.DRIFTED:
        return None
    elif new:
        state, detail = AcceptanceState.NEW_ASPECTS, f"not accepted: {', '.join(drifted_assertions(new))}"
    else:
        state, detail = AcceptanceState.ACCOUNTED, f"accepted until {entry.review_by}{_gone(entry, findings)}"
    return Acceptance(state, entry.because, detail, entry.review_by)


def _gone(entry: AcceptedDifference, findings: Iterable[Finding]) -> str:
    """What of the accepted does not drift any more, by name; it may be that its endpoint was not drawn tonight."""
    drifts = {each.assertion for each in findings if each.is_drift}
    gone = [key for key in entry.assertions if key not in drifts]
    return f"; {', '.join(gone)} {'does' if len(gone) == 1 else 'do'} not drift any more" if gone else ""


def find_problems(
    entries: Iterable[AcceptedDifference], catalog: Catalog, today: date, file: Path | None = None
) -> list[CatalogError]:
    """Find entries that are wrong whatever a run observes: no record has the address, or the review is overdue.

    `file` is the file of all entries, if it is not that of each one's home.
    """
    found = []
    for entry in entries:
        where = file or find_file(entry.address)
        if Address.parse(entry.address) not in catalog:
            mend = suggest_similar(entry.address, map(str, catalog)) or "remove the entry"
            found.append(CatalogError("no record has this address", mend, file=where, location=entry.address))
        elif today > entry.last_day:
            mend = "renew it with `catalog-probe catalog accept`, or remove it"
            what = f"was to be reviewed by {entry.review_by}"
            found.append(CatalogError(what, mend, file=where, location=entry.address))
    return found


def accept(entry: AcceptedDifference, path: Path = ACCEPTED_DIFFERENCES) -> bool:
    """Write an entry; one for the same record and target is replaced, and keeps its first day. Says if that changed."""
    validate_entry(entry, path)
    with lock_folder(path.parent):
        others = load_entries(path)
        old = next((other for other in others if _same_place(entry, other)), None)
        first_seen = min(old.first_seen, entry.first_seen) if old else entry.first_seen
        entries = [other for other in others if other is not old]
        entries.append(AcceptedDifference(**{**asdict(entry), "first_seen": first_seen}))
        return write_text(path, format_entries(entries))


def extend_acceptance(entry: AcceptedDifference, path: Path = ACCEPTED_DIFFERENCES) -> bool:
    """As `accept`, but what an entry for the same record and target accepts already stays accepted."""
    old = find_entry(load_entries(path), entry.address, entry.target)
    if old is None:
        return accept(entry, path)
    return accept(replace(entry, assertions=tuple(sorted({*old.assertions, *entry.assertions}))), path)


def validate_entry(entry: AcceptedDifference, path: Path = ACCEPTED_DIFFERENCES) -> None:
    """Check an entry by its schema.

    Raises:
        CatalogError: it is not as it should be.
    """
    _read([_plain(entry)], path)


def format_entries(entries: Iterable[AcceptedDifference]) -> str:
    """The text of a file that holds these entries."""
    return format_json([_plain(each) for each in sorted(entries)])


def _plain(entry: AcceptedDifference) -> dict[str, Json]:
    """The entry as it stands in the file."""
    ticket = {"ticket": entry.ticket} if entry.ticket else {}
    return {**{name: getattr(entry, name) for name in _FIELDS}, "assertions": list(entry.assertions), **ticket}


def _same_place(one: AcceptedDifference, other: AcceptedDifference) -> bool:
    return (one.address, one.target) == (other.address, other.target)


_FIELDS = ("address", "target", "assertions", "reason", "first_seen", "review_by")


def _read(items: Json, path: Path) -> tuple[AcceptedDifference, ...]:
    complaint = next(iter(find_complaints(items, read_object(SCHEMAS / "accepted_differences.json"))), None)
    if complaint is not None:
        raise CatalogError(complaint.message, complaint.mend, file=path, location=complaint.json_path)
    return tuple(AcceptedDifference(**{**item, "assertions": tuple(item["assertions"])}) for item in items)
