"""The history of a target: a line per run, in a file that only grows.

A line has its outcomes as one letter per address, in the order of `addresses`. The addresses are spelt out only by the
first line with the same `address_set`: a hundred runs of four hundred records take some sixty kilobytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import causes, changes, earlier_runs, results_file, run_verdict
from catalog_probe.catalog.evidence.causes import cause_key, format_drift, observed_class
from catalog_probe.catalog.evidence.completeness import select_record_results
from catalog_probe.catalog.evidence.earlier_runs import (
    OUTCOMES_BY_LETTER,
    find_last_verdict,
    find_lost_coverage,
    list_never_confirmed,
)
from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.files import file_formats
from catalog_probe.catalog.model import Json, Outcome, Severity
from catalog_probe.catalog.model.errors import MAX_MESSAGE_LENGTH
from catalog_probe.catalog.model.outcome import Difference
from catalog_probe.catalog.text.readable_text import sanitize_line, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
    from pathlib import Path

    from catalog_probe.catalog.evidence.earlier_runs import EarlierOutcome
    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.catalog.model import Finding


SCHEMA_VERSION = 1  # of the lines; a line of another version is skipped, and reported

# A hostile answer must not swell the history.
_MAX_CAUSES = 200  # those of the most records
_MAX_TEXT_LENGTH = 200  # characters
_MAX_DISCOVERIES = 500
_MAX_DISCOVERY_LENGTH = 160  # characters


def build_history_line(run: Run, results: Sequence[Result]) -> dict[str, Json]:
    """Return the line of a run, with all addresses spelt out."""
    record_results = sorted(select_record_results(results), key=lambda result: result.record)
    addresses = [result.record for result in record_results]
    digests = [(result.confirmation or {}).get("statements", "") for result in record_results]
    history, today = earlier_runs.parse_history(run), date.fromisoformat(run.today)
    drifts: dict[str, Json] = {}
    for result in record_results:
        is_partly_drawn = bool(result.not_drawn or result.variants_not_drawn)
        if result.outcome is Outcome.DRIFTED or is_partly_drawn:  # the others have none, and the lookup takes time
            drift = _summarize_drift(result, today, earlier_runs.list_earlier_outcomes(result.record, history))
            if drift is not None:
                drifts[result.record] = drift
    discovered = list_discovered(record_results) | list_resolved_assumptions(record_results)
    return {
        "schema_version": SCHEMA_VERSION,
        "run": run.run,
        "target": run.target,
        "live": run.live,
        "started_at": run.started_at,
        "today": run.today,
        "address_set": _digest_names([*addresses, *digests] if any(digests) else addresses),
        "outcomes": "".join(result.outcome.letter for result in record_results),
        "drifts": drifts,
        **_describe_causes(record_results),
        **_list_lost_coverage(run, record_results),
        "discovered": sorted(discovered)[:_MAX_DISCOVERIES],
        "addresses": addresses,
        **({"statement_digests": digests} if any(digests) else {}),
    }


def list_discovered(results: Sequence[Result]) -> set[str]:
    """Return the headers, fields and codes that no document names, each as `pa undocumented-header x-new`."""
    discovered = set()
    for result in results:
        for finding in result.findings:
            if finding.code.startswith("undocumented-"):
                # A header or a field is identified by its name, a code by its value.
                is_code = finding.location in ("type", "code")
                name = f"{finding.location} {finding.observed}" if is_code else finding.location
                discovered.add(f"{result.address.provider} {finding.code} {name}"[:_MAX_DISCOVERY_LENGTH])
    return discovered


def list_resolved_assumptions(results: Sequence[Result]) -> set[str]:
    """Return the assumptions that an answer showed to be wrong: `<assertion id>: assumed 200, observed 201`.

    A record without a verdict is left out: write-back keeps nothing of it, so it would be reported anew each night.
    """
    return {format_resolved_assumption(result, finding) for result, finding in iterate_resolved_assumptions(results)}


def iterate_resolved_assumptions(results: Iterable[Result]) -> Iterator[tuple[Result, Finding]]:
    """Yield each finding that shows an assumption to be wrong, with its result."""
    for result in results:
        for finding in result.findings:
            if finding.severity is Severity.SHOULD and result.outcome.is_conclusive:
                yield result, finding


def format_resolved_assumption(result: Result, finding: Finding) -> str:
    """Return the text by which history knows a resolved assumption from night to night."""
    return f"{result.record}#{finding.assertion}: {describe_resolution(finding)}"[:_MAX_TEXT_LENGTH]


def describe_resolution(finding: Finding) -> str:
    """Say what was assumed and what was observed: `assumed 200, observed 201`."""
    assumed, observed = shorten(finding.documented, 60), observed_class(finding)
    return Difference("", assumed, observed, is_assumed=True).values


def _summarize_drift(result: Result, today: date, earlier: Sequence[EarlierOutcome]) -> dict[str, Json] | None:
    """Return what the line keeps of a record's drift; None if there is none."""
    summary = changes.summarize_drift_for_history(result, today, earlier)
    if summary is None or result.outcome is not Outcome.DRIFTED:
        return summary
    # The rows that a run carries may not reach back to the first observation, so every line repeats it.
    first = min((entry["first"] for entry in list_never_confirmed(result).values()), default="")
    return {
        **({"first": first} if first else {}),
        **summary,
        "causes": _list_cause_ids(result),
        **({"accepted": True} if run_verdict.is_accepted(result) else {}),
        **_list_not_drawn(result, find_last_verdict(earlier)),
    }


def _list_cause_ids(result: Result) -> list[str]:
    """Return the cause of each difference, in the order of the line's `differs`."""
    cause_by_drift: dict[str, str] = {}
    for finding in result.drifts:
        cause = causes.cause_id(cause_key(result.address.provider, finding))
        drift = format_drift(finding)
        cause_by_drift[drift] = min(cause, cause_by_drift.get(drift, cause))
    return [cause for _, cause in sorted(cause_by_drift.items())]


def _list_not_drawn(result: Result, last: EarlierOutcome | None) -> dict[str, Json]:
    """Return the endpoints that drifted when last drawn and were not drawn in this run: there nothing ended."""
    earlier = last.drift if last is not None and last.drifts else {}
    endpoints = {*earlier.get("on", ()), *earlier.get("not_drawn", ())} & set(result.not_drawn)
    return {"not_drawn": sorted(endpoints)} if endpoints else {}


def _describe_causes(results: Sequence[Result]) -> dict[str, Json]:
    """Return each cause in words, because its id means nothing to who reads the history later."""
    descriptions = {
        cause.id: {"code": cause.code, "summary": shorten(cause.summary, _MAX_TEXT_LENGTH)}
        for cause in causes.find_causes(results)[:_MAX_CAUSES]
    }
    return {"causes": descriptions} if descriptions else {}


def _list_lost_coverage(run: Run, results: Sequence[Result]) -> dict[str, Json]:
    """Return the lost coverage among the records that were not probed: their letter does not show it."""
    not_probed = [result for result in results if result.outcome is Outcome.NOT_PROBED]
    lost = sorted(find_lost_coverage(run, not_probed))
    return {"coverage_lost": lost} if lost else {}


def _digest_names(names: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]


MAX_SHOWN_RUNS = 29  # earlier ones; with its own, a report shows thirty
MAX_DAMAGE_NOTES = 10  # damaged lines that are named; the others are counted

_ADDRESS_FIELDS = ("addresses", "statement_digests")
"""Fields that only the first line of an address set has."""

_REQUIRED_FIELDS = frozenset({"schema_version", "run", "target", "started_at", "today", "address_set", "outcomes"})


def load_history(folder: Path, target: str, damage_notes: list[str] | None = None) -> list[dict[str, Json]]:
    """Return the lines of a target's history, oldest first, each with its addresses.

    A damaged line stays in the file and is skipped, so that it blinds no later run; `damage_notes` gets a note of it.

    Raises:
        EvidenceError: the file cannot be read.
    """
    notes: list[str] = []
    located_lines = list(_read_lines(build_history_path(folder, target), notes))
    fields_by_set = {
        line["address_set"]: {field: line[field] for field in _ADDRESS_FIELDS if field in line}
        for _, line in located_lines
        if "addresses" in line
    }
    lines = []
    for location, line in located_lines:
        complete_line = {**line, **fields_by_set.get(line["address_set"], {})}
        damage = _find_damage(complete_line)
        if damage:
            notes.append(_format_damage(location, damage))
        else:
            lines.append(complete_line)
    if damage_notes is not None:
        damage_notes += notes[:MAX_DAMAGE_NOTES]
        if len(notes) > MAX_DAMAGE_NOTES:
            damage_notes.append(f"{len(notes) - MAX_DAMAGE_NOTES} more damaged lines of the history are skipped")
    return sorted(lines, key=lambda line: (line["started_at"], line["run"]))


def load_shown_history(
    folder: Path, target: str, damage_notes: list[str] | None = None
) -> tuple[str | None, tuple[dict[str, Json], ...]]:
    """Return the name of the previous run and the lines that a new run carries.

    Args:
        folder: of the histories.
        target: the name of the target.
        damage_notes: as for `load_history`.
    """
    lines = load_history(folder, target, damage_notes)[-MAX_SHOWN_RUNS:]
    return find_previous_run(lines), tuple(_omit_repeated_addresses(lines))


def find_previous_run(lines: Sequence[Mapping[str, Json]]) -> str | None:
    """Return the name of the last run of a history, or None."""
    return str(lines[-1]["run"]) if lines else None


def append_to_history(folder: Path, run: Run, results: Sequence[Result], damage_notes: list[str] | None = None) -> bool:
    """Append a run's line to its target's history, unless it is there; return whether it was appended."""
    history = load_history(folder, run.target, damage_notes)
    if any(line["run"] == run.run for line in history):
        return False
    line = build_history_line(run, results)
    if any(earlier["address_set"] == line["address_set"] for earlier in history):
        line = {field: value for field, value in line.items() if field not in _ADDRESS_FIELDS}
    line = _omit_described_causes(line, {cause for earlier in history for cause in earlier.get("causes", ())})
    path = build_history_path(folder, run.target)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = file_formats.open_without_link(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    with os.fdopen(descriptor, "ab") as file:
        # The remains of a line that was cut off by a kill must not swallow this one.
        lacks_newline = file_formats.is_cut_short(descriptor)
        file.write(b"\n" * lacks_newline + json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())  # a line that is lost with the machine would be missing in every later report
    return True


def find_only_target(folder: Path) -> str:
    """Return the target of the only history in a folder; empty if there are several, or none."""
    files = list(folder.glob("*.jsonl"))
    lines = _read_lines(files[0], []) if len(files) == 1 else iter(())
    return next((str(line["target"]) for _, line in lines), "")


def build_history_path(folder: Path, target: str) -> Path:
    """Return the path of a target's history. A person chose the target's name: only safe characters are kept."""
    return folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', target).strip('.-') or 'target'}.jsonl"


def _omit_repeated_addresses(lines: Sequence[Mapping[str, Json]]) -> Iterator[dict[str, Json]]:
    """Yield the lines with the addresses of each set only in the first line that has it."""
    known_sets: set[str] = set()
    for line in lines:
        is_known = line["address_set"] in known_sets
        known_sets.add(line["address_set"])
        yield {field: value for field, value in line.items() if not (is_known and field in _ADDRESS_FIELDS)}


def _omit_described_causes(line: Mapping[str, Json], described: Set[str]) -> dict[str, Json]:
    """Return the line without the causes that the history describes already."""
    other_fields = {field: value for field, value in line.items() if field != "causes"}
    causes = {cause: words for cause, words in line.get("causes", {}).items() if cause not in described}
    return {**other_fields, "causes": causes} if causes else other_fields


def _read_lines(path: Path, notes: list[str]) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the valid lines of a history file, each with its location, and note the others.

    A last line that a kill cut off is left out. If there is no file there are no lines.
    """
    try:
        raw = file_formats.read_without_link(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise EvidenceError(f"cannot be read ({error.strerror})", "check the path", file=path) from error
    no_json: list[str] = []
    for location, line in file_formats.parse_lines(raw, path, no_json):
        missing = _REQUIRED_FIELDS - line.keys() if isinstance(line, dict) else _REQUIRED_FIELDS
        damage = (
            f"no {min(missing)}" if missing else results_file.describe_line_error(line, results_file.HISTORY_ROW_LINE)
        )
        if damage:
            notes.append(_format_damage(location, damage))
        else:
            yield location, line
    notes += (f"{note}; it is skipped" for note in no_json)


def _find_damage(line: Mapping[str, Json]) -> str:
    """Return why the outcomes of a valid line cannot be read; empty if they can."""
    if "addresses" not in line:
        return "no other line spells out its addresses"
    if len(line["outcomes"]) != len(line["addresses"]):
        return f"{len(line['outcomes'])} outcomes of {len(line['addresses'])} addresses"
    if set(line["outcomes"]) - OUTCOMES_BY_LETTER.keys():
        return "an outcome that this version does not know"
    return ""


def _format_damage(location: str, damage: str) -> str:
    note = f"{location}: not a history line that can be read ({damage}); it is skipped"
    return sanitize_line(note, MAX_MESSAGE_LENGTH)
