"""Evidence of a record, cell by cell: merged from any number of runs, and formatted as its `evidence` block. Pure."""

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
    ResolvedAssumption,
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
    """The evidence of a record's assertions."""

    cells: dict[tuple[str, str], Cell]
    resolved: dict[str, ResolvedAssumption]
    confirmed: frozenset[str] = frozenset()
    """The keys of the assertions that a live run has confirmed."""
    unconfirmed: Mapping[str, date] = field(default_factory=dict)
    """First observation per key, for keys that no live run has confirmed."""
    restricted_on: date | None = None
    """The last day on which this account was refused, if it has had no answer since."""


def gather_evidence(record: Record, assertions: tuple[Assertion, ...], sightings: Iterable[Sighting]) -> RecordEvidence:
    """Merge the observations of these sightings, in order, into the record's evidence.

    Only verdicts leave evidence. Each cell keeps its newest observation, so an older run adds only what no other has.
    """
    recorded, last = cells_of(record, assertions), last_seen(record)
    cells, resolved = dict(recorded), resolved_assumptions(record, assertions)
    confirmed, unconfirmed = set(confirmed_keys(record, assertions)), unconfirmed_since(record, assertions)
    first_seen: dict[tuple[str, str], date] = {}
    refused_on, answered_on = restricted_on(record), last.day if last is not None else None
    for sighting in sightings:
        day = sighting.day
        if sighting.result.outcome is Outcome.RESTRICTED:
            refused_on = max(day, refused_on or day)
        if sighting.result.outcome not in (Outcome.CONFORMS, Outcome.DRIFTED):
            continue
        answered_on = max(day, answered_on or day)
        if sighting.run.speaks_of_providers:
            observations = sighting.result.observations
            mismatched = {f"{item.label}/{local_key}" for item in observations for local_key in item.mismatched}
            matched = {f"{item.label}/{local_key}" for item in observations for local_key in item.matched}
            confirmed |= matched - mismatched
            unconfirmed.update({key: min(day, unconfirmed.get(key, day)) for key in mismatched})
        # Days are kept without times. So on one day, an older sighting must not replace what the record has.
        newer_cells = recorded if sighting.is_older_than(last) else {}
        for observation in sighting.result.observations:
            endpoint = observation.endpoint or str(record.address)
            observed = {**dict.fromkeys(observation.matched, ""), **observation.mismatched}
            for local_key, mismatch in observed.items():
                key = f"{observation.label}/{local_key}"
                first_seen.setdefault((key, mismatch), day)
                if not _is_after(cells.get((endpoint, key)), day) and not _is_on_day(newer_cells, (endpoint, key), day):
                    cells[endpoint, key] = Cell(day, mismatch)
    cells_by_key = _observed_cells_by_key(cells)
    for assertion in assertions:
        if assertion.basis is Basis.ASSUMED:
            _resolve(resolved, assertion, cells_by_key.get(str(assertion.key), ()), first_seen)
    if refused_on is not None and answered_on is not None and refused_on <= answered_on:
        refused_on = None
    return RecordEvidence(cells, resolved, frozenset(confirmed), unconfirmed, refused_on)


def _is_after(cell: Cell | None, day: date) -> bool:
    return cell is not None and cell.on is not None and cell.on > day


def _is_on_day(cells: Cells, cell_key: tuple[str, str], day: date) -> bool:
    return cell_key in cells and cells[cell_key].on == day


def _observed_cells_by_key(cells: Cells) -> dict[str, list[Cell]]:
    """Return the observed cells of each assertion, sorted by endpoint address."""
    cells_by_key: dict[str, list[Cell]] = defaultdict(list)
    for (_, key), cell in sorted(cells.items(), key=itemgetter(0)):
        if cell.on is not None:
            cells_by_key[key].append(cell)
    return cells_by_key


def _resolve(
    resolved: dict[str, ResolvedAssumption],
    assumption: Assertion,
    observed: Sequence[Cell],
    first_seen: Mapping[tuple[str, str], date],
) -> None:
    """Resolve an assumption by the last observation of each endpoint.

    If some endpoints differ, the first by address counts. So neither the order of runs nor the endpoints that a night
    draws change the result. It is as assumed only if no endpoint differs. An assumption about a whole surface that
    holds is not written into each record. The day is the first on which the resolution is known.
    """
    if not observed:
        return
    key = str(assumption.key)
    before = resolved.pop(key, None)
    telling = [cell for cell in observed if not assumption.is_only_location_assumed or cell.mismatch in ("", ABSENT)]
    telling = [cell for cell in telling if not is_opposite_outcome(assumption, cell.mismatch)]
    if not telling:
        return
    differs = next((cell.mismatch for cell in telling if cell.mismatch), "")
    resolution = differs or AS_ASSUMED
    days = [cell.on for cell in telling if cell.on is not None and cell.mismatch == differs]
    if before is not None and before.observed == resolution:
        days.append(before.on)
    if differs or not assumption.from_envelope:
        resolved[key] = ResolvedAssumption(resolution, min([*days, first_seen.get((key, differs), days[0])]))


def format_evidence(
    record: Record, assertions: tuple[Assertion, ...], evidence: RecordEvidence, refresh_after: int
) -> dict[str, Json] | None:
    """Return the record's `evidence` block, or None without evidence.

    A line stays unchanged while it says the same and its date is at most `refresh_after` days old.
    """
    digest = statements_digest(assertions)
    old = record.data.get("evidence")
    old_lines = old.get("endpoints", {}) if isinstance(old, dict) and old.get("statements") == digest else {}
    lines: dict[str, Json] = {}
    for endpoint, line in sorted(_format_lines(evidence.cells, [str(assertion.key) for assertion in assertions])):
        old_line = old_lines.get(endpoint)
        is_fresh = old_line is not None and _is_still_fresh(old_line, line, refresh_after)
        lines[endpoint] = old_line if is_fresh else line
    restriction = _format_restriction(old, evidence.restricted_on, refresh_after)
    if not lines and not evidence.resolved and not restriction:
        return None
    block: dict[str, Json] = {
        "schema_version": EVIDENCE_VERSION,
        "statements": digest,
        "endpoints": lines,
        **restriction,
        **confirmation_fields(assertions, evidence.confirmed, evidence.unconfirmed),
    }
    if evidence.resolved:
        block["resolved"] = {
            key: {"observed": resolved.observed, "on": resolved.on.isoformat()}
            for key, resolved in sorted(evidence.resolved.items())
        }
    return block


def _format_restriction(old: Json, on: date | None, refresh_after: int) -> dict[str, Json]:
    """Return the field with the day of the last refusal; a written day stays while it is fresh."""
    if on is None:
        return {}
    before = old.get("restricted_on") if isinstance(old, dict) else None
    is_fresh = before is not None and (on - date.fromisoformat(before)).days <= refresh_after
    return {"restricted_on": before if is_fresh else on.isoformat()}


def _format_lines(cells: Mapping[tuple[str, str], Cell], keys: list[str]) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield each observed endpoint with its line."""
    by_endpoint: dict[str, dict[str, Cell]] = defaultdict(dict)
    for (endpoint, key), cell in cells.items():
        by_endpoint[endpoint][key] = cell
    for endpoint, own in by_endpoint.items():
        days = [cell.on for cell in own.values() if cell.on is not None]
        if not days:
            continue
        on = max(days)
        mismatched = {key: own[key].mismatch for key in keys if key in own and own[key].mismatch}
        not_observed = {key: _format_day(own.get(key)) for key in keys if key not in own or own[key].on != on}
        line: dict[str, Json] = {"on": on.isoformat()}
        if mismatched:
            line["mismatched"] = mismatched
        if not_observed:
            line["not_observed"] = _shorten_by_label(not_observed, keys)
        yield endpoint, line


def _shorten_by_label(not_observed: dict[str, Json], keys: list[str]) -> dict[str, Json]:
    """Shorten: a label that was never observed is one entry, `label/*`."""
    labels: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        labels[AssertionKey.parse(key).label].append(key)
    shortened: dict[str, Json] = {}
    for label, label_keys in labels.items():
        if all(key in not_observed and not_observed[key] is None for key in label_keys):
            shortened[f"{label}/*"] = None
        else:
            shortened.update({key: not_observed[key] for key in label_keys if key in not_observed})
    return shortened


def _is_still_fresh(old: Mapping[str, Json], new: Mapping[str, Json], refresh_after: int) -> bool:
    """Whether two lines differ only in dates, and each old date is fresh enough to stay."""
    if old.get("mismatched") != new.get("mismatched"):
        return False
    old_days, new_days = old.get("not_observed") or {}, new.get("not_observed") or {}
    never_observed = {key for key, day in old_days.items() if day is None}
    if never_observed != {key for key, day in new_days.items() if day is None}:
        return False
    keys = (old_days.keys() | new_days.keys()) - never_observed
    days = [(old["on"], new["on"]), *((old_days.get(key, old["on"]), new_days.get(key, new["on"])) for key in keys)]
    return all(
        (date.fromisoformat(new_day) - date.fromisoformat(old_day)).days <= refresh_after for old_day, new_day in days
    )


def _format_day(cell: Cell | None) -> str | None:
    return cell.on.isoformat() if cell is not None and cell.on is not None else None
