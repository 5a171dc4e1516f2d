"""Accepted differences: drifts that a person accepted, on one target, until a review date."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.file_formats import read_json, read_object
from catalog_probe.catalog.files.manifest import provider_folder
from catalog_probe.catalog.files.schemas import SCHEMAS, find_complaints
from catalog_probe.catalog.model import AcceptanceState, Address, Aspect, Json, Outcome
from catalog_probe.catalog.model.assertion import AssertionKey
from catalog_probe.catalog.model.errors import CatalogError, suggest_similar
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.writeback.writing import format_json, lock_folder, write_text
from catalog_probe.installation import is_installed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from catalog_probe.catalog.files.provider_folders import ProviderFolder
    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Finding

ACCEPTED_DIFFERENCES = provider_folders.SHIPPED.accepted_differences


def list_files_in_force() -> tuple[Path, ...]:
    """Return the files in force: of the named provider folder, else of the shipped and the installed ones."""
    named_folder = provider_folders.named_folder()
    folders = provider_folders.all_folders() if named_folder is None else (named_folder,)
    return tuple(map(_locate_file, folders))


def find_file(address: str) -> Path:
    """Return the file for a record: of the named provider folder, else of the folder of its provider."""
    return _locate_file(provider_folders.named_folder() or provider_folder(Address.parse(address).provider))


def _locate_file(folder: ProviderFolder) -> Path:
    """Return the file of a provider folder.

    Nobody may write into an installed copy, so there the file of the shipped providers is in the current folder:
    `./divergences.json`, beside the runs.
    """
    if folder == provider_folders.SHIPPED and is_installed():
        return provider_folders.base_folder() / folder.accepted_differences.name
    return folder.accepted_differences


def load_entries_in_force() -> tuple[AcceptedDifference, ...]:
    """Read the entries of all files in force.

    Raises:
        CatalogError: a file cannot be read, or an entry is invalid.
    """
    return tuple(entry for file in list_files_in_force() for entry in load_entries(file))


@dataclass(frozen=True, slots=True, order=True)
class AcceptedDifference:
    """Drifts of a record that a person accepted, on one target, until the review."""

    address: str
    target: str
    assertions: tuple[str, ...]
    """The keys of the accepted assertions (`answer/header:retry-after`)."""
    reason: str
    first_seen: str
    review_by: str
    ticket: str = ""
    """A link to the follow-up, or empty."""

    @property
    def reason_with_ticket(self) -> str:
        return f"{self.reason} ({self.ticket})" if self.ticket else self.reason

    @property
    def last_day(self) -> date:
        return date.fromisoformat(self.review_by)

    def accepts(self, finding: Finding) -> bool:
        """Whether it covers this difference."""
        return finding.assertion in self.assertions

    @property
    def accepts_message(self) -> bool:
        return any(AssertionKey.parse(key).aspect == Aspect.MESSAGE for key in self.assertions)

    @property
    def assertions_text(self) -> str:
        return ", ".join(self.assertions)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How a result compares with the entry for its record."""

    state: AcceptanceState
    reason: str
    """The reason that the entry gives for the difference."""
    detail: str
    review_by: str
    """The last day on which the entry applies, YYYY-MM-DD."""

    def to_json(self) -> dict[str, Json]:
        return asdict(self)


def load_entries(path: Path = ACCEPTED_DIFFERENCES) -> tuple[AcceptedDifference, ...]:
    """Read the entries of a file; a missing file has none.

    Raises:
        CatalogError: the file cannot be read, or an entry is invalid.
    """
    if not path.exists():
        return ()
    entries = _parse_entries(read_json(path), path)
    for index, entry in enumerate(entries):
        if any(_is_same_entry(entry, other) for other in entries[:index]):
            what = f"{entry.address} stands twice for target {entry.target}"
            raise CatalogError(what, "make one entry of the two", file=path, location=f"$[{index}]")
    return entries


def find_entry(entries: Iterable[AcceptedDifference], address: Address | str, target: str) -> AcceptedDifference | None:
    """Return the entry for a record on a target, if any."""
    return next((entry for entry in entries if (entry.address, entry.target) == (str(address), target)), None)


def drifted_assertions(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return the keys of the assertions that drifted."""
    return tuple(sorted({finding.assertion for finding in findings if finding.is_drift}))


def judge_acceptance(
    entry: AcceptedDifference | None, outcome: Outcome, findings: Iterable[Finding], today: date, reason: str = ""
) -> Acceptance | None:
    """Compare an outcome with the entry for its record; None if the entry does not apply to it.

    An entry past its review is stale, whatever the outcome. Else only a conclusive outcome can confirm or refute it.
    The exception is an inconclusive one without its fault-free request (`reason`): an entry for a message accepts it.
    """
    if entry is None:
        return None
    findings = tuple(findings)
    new_drifts = [finding for finding in findings if finding.is_drift and not entry.accepts(finding)]
    if today > entry.last_day:
        state, detail = AcceptanceState.STALE, f"the accepted difference was to be reviewed by {entry.review_by}"
    elif outcome is Outcome.CONFORMS:
        detail = f"the accepted difference ({entry.assertions_text}) is gone: remove its entry"
        state = AcceptanceState.STALE
    elif outcome is Outcome.INCONCLUSIVE and reason == ReasonCode.FAULT_FREE_NOT_ALLOWED and entry.accepts_message:
        state, detail = AcceptanceState.ACCOUNTED, f"not observed, as accepted until {entry.review_by}"
    elif outcome is not Outcome.DRIFTED:
        return None
    elif new_drifts:
        state, detail = AcceptanceState.NEW_ASPECTS, f"not accepted: {', '.join(drifted_assertions(new_drifts))}"
    else:
        state, detail = (
            AcceptanceState.ACCOUNTED,
            f"accepted until {entry.review_by}{_format_missing_drifts(entry, findings)}",
        )
    return Acceptance(state, entry.reason_with_ticket, detail, entry.review_by)


def _format_missing_drifts(entry: AcceptedDifference, findings: Iterable[Finding]) -> str:
    """Name the accepted assertions that did not drift; perhaps their endpoint was not drawn."""
    drifted = drifted_assertions(findings)
    missing = [key for key in entry.assertions if key not in drifted]
    if not missing:
        return ""
    return f"; {', '.join(missing)} {'does' if len(missing) == 1 else 'do'} not drift any more"


def find_problems(
    entries: Iterable[AcceptedDifference], catalog: Catalog, today: date, file: Path | None = None
) -> list[CatalogError]:
    """Find entries for addresses without a record, and entries past their review.

    `file` is the file of all entries, if it is not the one in each provider's folder.
    """
    errors = []
    for entry in entries:
        entry_file = file or find_file(entry.address)
        if Address.parse(entry.address) not in catalog:
            mend = suggest_similar(entry.address, map(str, catalog)) or "remove the entry"
            errors.append(CatalogError("no record has this address", mend, file=entry_file, location=entry.address))
        elif today > entry.last_day:
            mend = "renew it with `catalog-probe catalog accept`, or remove it"
            what = f"was to be reviewed by {entry.review_by}"
            errors.append(CatalogError(what, mend, file=entry_file, location=entry.address))
    return errors


def accept(entry: AcceptedDifference, path: Path = ACCEPTED_DIFFERENCES) -> bool:
    """Write an entry, and return whether the file changed.

    It replaces an entry for the same record and target, and keeps its first day.
    """
    validate_entry(entry, path)
    with lock_folder(path.parent):
        others = load_entries(path)
        old = next((other for other in others if _is_same_entry(entry, other)), None)
        first_seen = min(old.first_seen, entry.first_seen) if old else entry.first_seen
        entries = [other for other in others if other is not old]
        entries.append(AcceptedDifference(**{**asdict(entry), "first_seen": first_seen}))
        return write_text(path, format_entries(entries))


def extend_acceptance(entry: AcceptedDifference, path: Path = ACCEPTED_DIFFERENCES) -> bool:
    """Write an entry, and keep the assertions of an existing entry for the same record and target."""
    old = find_entry(load_entries(path), entry.address, entry.target)
    if old is None:
        return accept(entry, path)
    return accept(replace(entry, assertions=tuple(sorted({*old.assertions, *entry.assertions}))), path)


def validate_entry(entry: AcceptedDifference, path: Path = ACCEPTED_DIFFERENCES) -> None:
    """Check an entry by its schema.

    Raises:
        CatalogError: it is invalid.
    """
    _parse_entries([_to_json(entry)], path)


def format_entries(entries: Iterable[AcceptedDifference]) -> str:
    """Format a file with these entries."""
    return format_json([_to_json(entry) for entry in sorted(entries)])


def _to_json(entry: AcceptedDifference) -> dict[str, Json]:
    """Return the entry in the form of the file."""
    ticket = {"ticket": entry.ticket} if entry.ticket else {}
    return {**{name: getattr(entry, name) for name in _FIELDS}, "assertions": list(entry.assertions), **ticket}


def _is_same_entry(one: AcceptedDifference, other: AcceptedDifference) -> bool:
    return (one.address, one.target) == (other.address, other.target)


_FIELDS = ("address", "target", "assertions", "reason", "first_seen", "review_by")


def _parse_entries(items: Json, path: Path) -> tuple[AcceptedDifference, ...]:
    complaint = next(iter(find_complaints(items, read_object(SCHEMAS / "accepted_differences.json"))), None)
    if complaint is not None:
        raise CatalogError(complaint.message, complaint.mend, file=path, location=complaint.json_path)
    return tuple(AcceptedDifference(**{**item, "assertions": tuple(item["assertions"])}) for item in items)
