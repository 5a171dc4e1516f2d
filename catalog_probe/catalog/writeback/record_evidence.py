"""Gather evidence cell by cell: add the observations of any number of runs to what a record has already. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date
from operator import itemgetter
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.drift_identity import ABSENT
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.assertion import AssertionKey, Basis
from catalog_probe.catalog.model.record import EVIDENCE_VERSION
from catalog_probe.catalog.observed.cells import (
    Cell,
    Resolved,
    cells_of,
    resolved_assumptions,
    restricted_on,
    statements_digest,
)
from catalog_probe.catalog.observed.confirmed import confirmation_fields, confirmed_keys, unconfirmed_since
from catalog_probe.catalog.observed.last_seen import last_seen
from catalog_probe.catalog.observed.tags import is_opposite_outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.observed.cells import Cells
    from catalog_probe.catalog.writeback.sightings import Sighting

AS_ASSUMED = "as assumed"


@dataclass(frozen=True, slots=True)
class RecordEvidence:
    """All that is known of a record's assertions."""

    cells: dict[tuple[str, str], Cell]
    resolved: dict[str, Resolved]
    confirmed: frozenset[str] = frozenset()
    """The keys of the assertions that some live run has confirmed."""
    unconfirmed: Mapping[str, date] = field(default_factory=dict)
    """First observation per key, for keys that no live run has confirmed."""
    restricted_on: date | None = None
    """The last day on which this account was refused, where it has not got through since."""


def gather_evidence(record: Record, stated: tuple[Assertion, ...], sightings: Iterable[Sighting]) -> RecordEvidence:
    """Add the observations of these sightings, in order, to the record's evidence. Only verdicts leave evidence.

    Of each cell the newest observation is kept, whenever it is merged: an older run adds what only it observed.
    """
    recorded, last = cells_of(record, stated), last_seen(record)
    cells, resolved = dict(recorded), resolved_assumptions(record, stated)
    confirmed, unconfirmed = set(confirmed_keys(record, stated)), unconfirmed_since(record, stated)
    first_seen: dict[tuple[str, str], date] = {}
    refused, got_through = restricted_on(record), last.day if last is not None else None
    for sighting in sightings:
        if sighting.result.outcome is Outcome.RESTRICTED:
            refused = max(sighting.day, refused or sighting.day)
        if sighting.result.outcome not in (Outcome.CONFORMS, Outcome.DRIFTED):
            continue
        day = sighting.day
        got_through = max(day, got_through or day)
        if sighting.run.speaks_of_providers:
            observations = sighting.result.observations
            differ = {
                f"{observation.label}/{within}" for observation in observations for within in observation.mismatched
            }
            confirmed |= {
                f"{observation.label}/{within}" for observation in observations for within in observation.matched
            } - differ
            unconfirmed.update({key: min(day, unconfirmed.get(key, day)) for key in differ})
        newer_on_its_day = recorded if sighting.is_older_than(last) else {}
        for observation in sighting.result.observations:
            endpoint = observation.endpoint or str(record.address)
            for within, differs in [*((key, "") for key in observation.matched), *observation.mismatched.items()]:
                place = endpoint, f"{observation.label}/{within}"
                first_seen.setdefault((place[1], differs), day)
                if not _is_after(cells.get(place), day) and not _is_of(newer_on_its_day, place, day):
                    cells[place] = Cell(day, differs)
    seen = _seen_by_endpoint(cells)
    for assumption in (each for each in stated if each.basis is Basis.ASSUMED):
        _resolve(resolved, assumption, seen.get(str(assumption.key), ()), first_seen)
    if refused is not None and got_through is not None and refused <= got_through:
        refused = None
    return RecordEvidence(cells, resolved, frozenset(confirmed), unconfirmed, refused)


def _is_after(cell: Cell | None, day: date) -> bool:
    return cell is not None and cell.on is not None and cell.on > day


def _is_of(cells: Cells, place: tuple[str, str], day: date) -> bool:
    return place in cells and cells[place].on == day


def _seen_by_endpoint(cells: Cells) -> dict[str, list[Cell]]:
    """Of each assertion the cells that were seen, by the addresses of their endpoints."""
    found: dict[str, list[Cell]] = defaultdict(list)
    for (_, key), cell in sorted(cells.items(), key=itemgetter(0)):
        if cell.on is not None:
            found[key].append(cell)
    return found


def _resolve(
    resolved: dict[str, Resolved],
    assumption: Assertion,
    observed: Sequence[Cell],
    first_seen: Mapping[tuple[str, str], date],
) -> None:
    """An assumption is resolved as what the endpoints showed last: of several, as the first of them that differs.

    The first by its address: neither the order of runs nor the endpoints that a night draws turn it over. It is as
    assumed only where no endpoint differs; what all answers of a surface have as assumed need not be written into each
    of their records. Its day is the first on which it is known to have been so.
    """
    if not observed:
        return
    key = str(assumption.key)
    before = resolved.pop(key, None)
    shown = [cell for cell in observed if not assumption.is_only_location_assumed or cell.mismatch in ("", ABSENT)]
    shown = [cell for cell in shown if not is_opposite_outcome(assumption, cell.mismatch)]
    if not shown:
        return
    differs = next((cell.mismatch for cell in shown if cell.mismatch), "")
    seen = differs or AS_ASSUMED
    days = [cell.on for cell in shown if cell.on is not None and cell.mismatch == differs]
    if before is not None and before.observed == seen:
        days.append(before.on)
    if differs or not assumption.from_envelope:
        resolved[key] = Resolved(seen, min([*days, first_seen.get((key, differs), days[0])]))


def format_evidence(
    record: Record, stated: tuple[Assertion, ...], known: RecordEvidence, refresh_after: int
) -> dict[str, Json] | None:
    """The record's `evidence` as it should stand, or None where nothing is known.

    A line stays to the letter while it says the same and its date is no older than `refresh_after` days.
    """
    digest = statements_digest(stated)
    old = record.data.get("evidence")
    old_lines = old.get("endpoints", {}) if isinstance(old, dict) and old.get("statements") == digest else {}
    lines: dict[str, Json] = {}
    for endpoint, line in sorted(_lines(known.cells, [str(each.key) for each in stated])):
        before = old_lines.get(endpoint)
        lines[endpoint] = before if before is not None and _says_the_same(before, line, refresh_after) else line
    restricted = _restricted(old, known.restricted_on, refresh_after)
    if not lines and not known.resolved and not restricted:
        return None
    resolved = {
        key: {"observed": each.observed, "on": each.on.isoformat()} for key, each in sorted(known.resolved.items())
    }
    kept = confirmation_fields(stated, known.confirmed, known.unconfirmed)
    return {
        "schema_version": EVIDENCE_VERSION,
        "statements": digest,
        "endpoints": lines,
        **restricted,
        **kept,
        **({"resolved": resolved} if resolved else {}),
    }


def _restricted(old: Json, on: date | None, refresh_after: int) -> dict[str, Json]:
    """The day of the last refusal as it stands in the record; an old one stays while it is fresh."""
    if on is None:
        return {}
    before = old.get("restricted_on") if isinstance(old, dict) else None
    is_fresh = before is not None and (on - date.fromisoformat(before)).days <= refresh_after
    return {"restricted_on": before if is_fresh else on.isoformat()}


def _lines(cells: Mapping[tuple[str, str], Cell], keys: list[str]) -> Iterator[tuple[str, dict[str, Json]]]:
    """Each endpoint of which something was seen, as its line."""
    by_endpoint: dict[str, dict[str, Cell]] = defaultdict(dict)
    for (endpoint, key), cell in cells.items():
        by_endpoint[endpoint][key] = cell
    for endpoint, own in by_endpoint.items():
        days = [cell.on for cell in own.values() if cell.on is not None]
        if not days:
            continue
        on = max(days)
        mismatched = {key: own[key].mismatch for key in keys if key in own and own[key].mismatch}
        not_observed = {key: _day(own.get(key)) for key in keys if key not in own or own[key].on != on}
        line: dict[str, Json] = {"on": on.isoformat()}
        if mismatched:
            line["mismatched"] = mismatched
        if not_observed:
            line["not_observed"] = _by_label(not_observed, keys)
        yield endpoint, line


def _by_label(not_observed: dict[str, Json], keys: list[str]) -> dict[str, Json]:
    """A label of which nothing was ever seen is one entry."""
    labels: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        labels[AssertionKey.parse(key).label].append(key)
    told: dict[str, Json] = {}
    for label, own in labels.items():
        if all(key in not_observed and not_observed[key] is None for key in own):
            told[f"{label}/*"] = None
        else:
            told.update({key: not_observed[key] for key in own if key in not_observed})
    return told


def _says_the_same(old: Mapping[str, Json], new: Mapping[str, Json], refresh_after: int) -> bool:
    """Whether two lines differ in nothing but dates, and each old date is fresh enough to stand."""
    if old.get("mismatched") != new.get("mismatched"):
        return False
    was, now = old.get("not_observed") or {}, new.get("not_observed") or {}
    never = {key for key, day in was.items() if day is None}
    if never != {key for key, day in now.items() if day is None}:
        return False
    days = [(was.get(key, old["on"]), now.get(key, new["on"])) for key in (was.keys() | now.keys()) - never]
    return all(
        (date.fromisoformat(then) - date.fromisoformat(before)).days <= refresh_after
        for before, then in [(old["on"], new["on"]), *days]
    )


def _day(cell: Cell | None) -> str | None:
    return cell.on.isoformat() if cell is not None and cell.on is not None else None
