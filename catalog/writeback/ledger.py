"""The ledger of accepted divergences: what each accepts, where it applies, and when it is stale."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.evidence.same_drift import narrowed_aspect
from catalog.model import Address, Aspect, Json, LedgerState, Outcome
from catalog.model.assertion import Key
from catalog.model.errors import CatalogError, did_you_mean
from catalog.reading.strict_json import read_json
from catalog.writeback.canonical import json_text
from catalog.writeback.writing import locked, write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from catalog.model import Finding
    from catalog.reading.store import Catalog

LEDGER = Path(__file__).parent.parent / "divergences.json"


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """A divergence that someone accepted, on one target, until it is to be reviewed.

    An aspect is one of `catalog.model.Aspect`, alone (`header`) or narrowed (`header:retry-after`). `assertions` are
    the keys of those that it accepts (`answer/header:retry-after`); an entry of an earlier version names none.
    """

    address: str
    target: str
    aspects: tuple[str, ...]
    reason: str
    first_seen: str
    review_by: str
    assertions: tuple[str, ...] = ()

    @property
    def last_day(self) -> date:
        return date.fromisoformat(self.review_by)

    def covers(self, aspect: str) -> bool:
        """Whether it accepts that an aspect, narrowed or not, or the assertion of this key was seen otherwise."""
        return aspect in self.assertions or any(
            aspect == accepted or aspect.startswith(f"{accepted}:") for accepted in self.aspects
        )


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How a result stands to the entry for it, and why in words."""

    state: LedgerState
    reason: str
    """The reason that the entry gives for the divergence."""
    detail: str
    review_by: str
    """The last day on which the entry holds, YYYY-MM-DD."""

    def to_json(self) -> dict[str, Json]:
        return asdict(self)


def load(path: Path = LEDGER) -> tuple[Entry, ...]:
    """Read the ledger; where there is no file, nothing is accepted.

    Raises:
        CatalogError: the file cannot be read, or an entry is not as it should be.
    """
    if not path.exists():
        return ()
    items = read_json(path)
    if not isinstance(items, list):
        raise CatalogError("the ledger should be a list of entries", "wrap them in []", file=path)
    entries = tuple(_entry(item, path, index) for index, item in enumerate(items))
    for index, entry in enumerate(entries):
        if any(_same_place(entry, other) for other in entries[:index]):
            what = f"{entry.address} stands twice for target {entry.target}"
            raise CatalogError(what, "make one entry of the two", file=path, place=f"$[{index}]")
    return entries


def entry_for(entries: Iterable[Entry], address: Address | str, target: str) -> Entry | None:
    """The entry that applies to a record on a target, if any."""
    return next((entry for entry in entries if (entry.address, entry.target) == (str(address), target)), None)


def drifted_aspects(findings: Iterable[Finding]) -> tuple[str, ...]:
    """What drifted, in the words of the ledger: `status`, `header:retry-after`."""
    return tuple(sorted({narrowed_aspect(finding) for finding in findings if finding.drifts}))


def judge_against_ledger(
    entry: Entry | None, outcome: Outcome, aspects: Iterable[str], today: date
) -> Acceptance | None:
    """How an outcome stands to the entry that applies to it; None where the ledger has nothing to say.

    An entry past its review is stale whatever was seen. Else only a conclusive outcome says something about it.
    """
    if entry is None:
        return None
    new = [aspect for aspect in aspects if not entry.covers(aspect)]
    if today > entry.last_day:
        state, detail = LedgerState.STALE, f"the accepted divergence was to be reviewed by {entry.review_by}"
    elif outcome is Outcome.CONFORMS:
        state, detail = LedgerState.STALE, "the accepted divergence is no longer there: remove it from the ledger"
    elif outcome is not Outcome.DRIFTED:
        return None
    elif new:
        state, detail = LedgerState.NEW_ASPECTS, f"the ledger does not accept {', '.join(new)}"
    else:
        state, detail = LedgerState.ACCOUNTED, f"accepted until {entry.review_by}"
    return Acceptance(state, entry.reason, detail, entry.review_by)


def problems(entries: Iterable[Entry], catalog: Catalog, today: date) -> list[CatalogError]:
    """What is wrong with the ledger itself, whatever a run sees: an address without a record, a review that is due."""
    found = []
    for entry in entries:
        if Address.parse(entry.address) not in catalog:
            mend = did_you_mean(entry.address, map(str, catalog)) or "remove the entry"
            found.append(CatalogError("no record has this address", mend, file=LEDGER, place=entry.address))
        elif today > entry.last_day:
            mend = "renew it with `python -m catalog accept`, or remove it"
            what = f"was to be reviewed by {entry.review_by}"
            found.append(CatalogError(what, mend, file=LEDGER, place=entry.address))
    return found


def accept(entry: Entry, path: Path = LEDGER) -> bool:
    """Write an entry; one for the same record and target is replaced, and keeps its first day. Says if that changed."""
    _entry(_plain(entry), path, 0)
    with locked(path.parent):
        others = load(path)
        old = next((other for other in others if _same_place(entry, other)), None)
        first_seen = min(old.first_seen, entry.first_seen) if old else entry.first_seen
        entries = [other for other in others if other is not old]
        entries.append(Entry(**{**asdict(entry), "first_seen": first_seen}))
        return write_text(path, ledger_text(entries))


def ledger_text(entries: Iterable[Entry]) -> str:
    """The text of a ledger that holds these entries."""
    return json_text([_plain(each) for each in sorted(entries)])


def _plain(entry: Entry) -> dict[str, Json]:
    """The entry as it stands in the file, its assertions beside its aspects."""
    plain = {name: value for name, value in asdict(entry).items() if name != "assertions" or value}
    return {
        each: list(plain[each]) if each in _LISTS else plain[each] for each in (*_FIELDS, *_OPTIONAL) if each in plain
    }


def _same_place(one: Entry, other: Entry) -> bool:
    return (one.address, one.target) == (other.address, other.target)


_FIELDS = ("address", "target", "aspects", "reason", "first_seen", "review_by")
_OPTIONAL = ("assertions",)
_LISTS = frozenset({"aspects", "assertions"})


def _entry(item: Json, path: Path, index: int) -> Entry:
    def refuse(what: str, mend: str, name: str = "") -> CatalogError:
        return CatalogError(what, mend, file=path, place=f"$[{index}]{'.' if name else ''}{name}")

    if not isinstance(item, dict):
        raise refuse("an entry should be an object", f"give it {', '.join(_FIELDS)}")
    for name in item.keys() - {*_FIELDS, *_OPTIONAL}:
        raise refuse(f"{name!r} is no field of an entry", did_you_mean(name, (*_FIELDS, *_OPTIONAL)) or "remove it")
    for name in _FIELDS:
        if not item.get(name):
            raise refuse(f"{name!r} is missing or empty", f"add {name!r}")
        if name != "aspects" and not isinstance(item[name], str):
            raise refuse("should be a string", "put it in quotes", name)
    _check_aspects(item["aspects"], refuse)
    _check_assertions(item.get("assertions", []), refuse)
    for name in ("first_seen", "review_by"):
        try:
            date.fromisoformat(item[name])
        except ValueError:
            raise refuse(f"{item[name]!r} is no date", "write YYYY-MM-DD", name) from None
    try:
        Address.parse(item["address"])
    except ValueError as error:
        raise refuse(str(error), "name a record", "address") from None
    return Entry(**{**item, **{name: tuple(item[name]) for name in _LISTS & item.keys()}})


def _check_aspects(aspects: Json, refuse: Callable[[str, str, str], CatalogError]) -> None:
    if not isinstance(aspects, list):
        raise refuse("should be a list", "write the aspects in []", "aspects")
    for aspect in aspects:
        if not isinstance(aspect, str) or aspect.partition(":")[0] not in set(Aspect):
            raise refuse(f"{aspect!r} is no aspect", f"an aspect is one of {', '.join(Aspect)}", "aspects")


def _check_assertions(keys: Json, refuse: Callable[[str, str, str], CatalogError]) -> None:
    if not isinstance(keys, list):
        raise refuse("should be a list", "write the assertions in []", "assertions")
    for key in keys:
        try:
            Key.parse(key)
        except (TypeError, ValueError):
            mend = "write <label>/<aspect>[:<place>], like answer/status"
            raise refuse(f"{key!r} names no assertion", mend, "assertions") from None
