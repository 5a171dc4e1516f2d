"""Memory: one small line a run in `<folder>/<target>.jsonl`, enough for strips, streaks and what changed.

A line gives its outcomes as one letter an address, in the order of the `addresses` that it, or an earlier line of the
same `address_set`, spells out. A hundred runs of four hundred records are some sixty kilobytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import causes, drift_identity, earlier_runs, results_schema
from catalog_probe.catalog.evidence.earlier_runs import OUTCOME_LETTERS, OUTCOMES_BY_LETTER, find_last_verdict
from catalog_probe.catalog.evidence.harness_results import select_record_results
from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.evidence.verdicts import changes, coverage_lost, run_verdict
from catalog_probe.catalog.evidence.verdicts.confirmation import list_never_confirmed
from catalog_probe.catalog.files import json_lines
from catalog_probe.catalog.model import Json, Outcome, Severity
from catalog_probe.catalog.model.errors import MAX_MESSAGE_LENGTH
from catalog_probe.catalog.text.phrases import shorten
from catalog_probe.catalog.text.sanitizing import sanitize_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set
    from pathlib import Path

    from catalog_probe.catalog.evidence.earlier_runs import EarlierOutcome
    from catalog_probe.catalog.evidence.results import Result, Run

SHOWN = 29
"""Earlier runs that a report shows: with its own, a strip of thirty."""

SPELT_ONCE = ("addresses", "statement_digests")
"""Spelt out by the first line of an address set: its addresses, and the digest of what each record stated."""

SCHEMA_VERSION = 1
"""Of the lines. One of any other version is skipped, and named."""

_REQUIRED = frozenset({"schema_version", "run", "target", "started_at", "today", "address_set", "outcomes"})
MAX_TOLD = 200
"""Characters of one name that is kept."""

MAX_CAUSES = 200
"""Causes that a line tells in words, those of the most records first."""

MAX_NAMED = 10
"""Damaged lines named one by one; the others are counted."""

MAX_SEEN = 500
"""Undocumented names kept a line; a hostile answer must not swell the history."""


def row(run: Run, results: Sequence[Result]) -> dict[str, Json]:
    """The line that this run leaves behind. Pure."""
    ordered = sorted(select_record_results(results), key=lambda result: result.record)
    addresses = [result.record for result in ordered]
    digests = [(result.confirmation or {}).get("statements", "") for result in ordered]
    known, today = earlier_runs.parse_history(run), date.fromisoformat(run.today)
    return {
        "schema_version": SCHEMA_VERSION,
        "run": run.run,
        "target": run.target,
        "live": run.live,
        "started_at": run.started_at,
        "today": run.today,
        "address_set": _name_set([*addresses, *digests] if any(digests) else addresses),
        "outcomes": "".join(OUTCOME_LETTERS[result.outcome] for result in ordered),
        "drifts": {
            result.record: kept
            for result in ordered
            if (result.outcome is Outcome.DRIFTED or result.not_drawn)  # of others rows would be looked up for nothing
            and (kept := _drift(result, today, earlier_runs.list_earlier_outcomes(result.record, known))) is not None
        },
        **_told_of_causes(ordered),
        **_coverage_lost(run, ordered),
        "discovered": sorted(discovered(results) | corrected(results))[:MAX_SEEN],
        "addresses": addresses,
        **({"statement_digests": digests} if any(digests) else {}),
    }


def _drift(result: Result, today: date, earlier: Sequence[EarlierOutcome]) -> dict[str, Json] | None:
    """What is kept of a record's drift; None where it has none."""
    kept = changes.summarize_drift_for_history(result, today, earlier)
    if kept is None or result.outcome is not Outcome.DRIFTED:
        return kept
    return {**_first_observed(result), **kept, **_causes_of(result), **_out_of_view(result, find_last_verdict(earlier))}


def _first_observed(result: Result) -> dict[str, Json]:
    """The first observation of a drift that was never confirmed; the rows of a run may not reach back so far."""
    first = min((each["first"] for each in list_never_confirmed(result).values()), default="")
    return {"first": first} if first else {}


def _causes_of(result: Result) -> dict[str, Json]:
    """The id of the cause of each difference, in the order of `differs`; and whether they are accepted."""
    found: dict[str, str] = {}
    for finding in result.drifts:
        cause, name = (
            causes.cause_id(drift_identity.cause_key(result.address.provider, finding)),
            drift_identity.format_drift(finding),
        )
        found[name] = min(cause, found.get(name, cause))
    return {
        "causes": [found[name] for name in sorted(found)],
        **({"accepted": True} if run_verdict.is_accepted(result) else {}),
    }


def _out_of_view(result: Result, last: EarlierOutcome | None) -> dict[str, Json]:
    """The endpoints on which it drifted when they were last drawn and this run did not: nothing ended there."""
    kept = last.drift if last is not None and last.drifts else {}
    not_drawn = {*kept.get("on", ()), *kept.get("not_drawn", ())} & set(result.not_drawn)
    return {"not_drawn": sorted(not_drawn)} if not_drawn else {}


def _told_of_causes(results: Sequence[Result]) -> dict[str, Json]:
    """What each cause is, in words: its id alone says nothing to who reads the history later."""
    found = {
        each.id: {"code": each.code, "summary": shorten(each.summary, MAX_TOLD)}
        for each in causes.find_causes(results)[:MAX_CAUSES]
    }
    return {"causes": found} if found else {}


def _coverage_lost(run: Run, results: Sequence[Result]) -> dict[str, Json]:
    """Lost coverage with the letter of what was not meant to be probed: the secret that a CI did not find."""
    silent = [each for each in results if each.outcome is Outcome.NOT_PROBED]
    found = sorted(coverage_lost.find_lost_coverage(run, silent))
    return {"coverage_lost": found} if found else {}


def discovered(results: Sequence[Result]) -> set[str]:
    """What answers held beyond the documents, each as `pa undocumented-header x-new`."""
    return {
        f"{result.record.partition('/')[0]} {finding.code} {_what(finding.location, finding.observed)}"[:160]
        for result in results
        for finding in result.findings
        if finding.code.startswith("undocumented-")
    }


def corrected(results: Sequence[Result]) -> set[str]:
    """What was assumed and seen otherwise, each as `<assertion id>: assumed 200, observed 201`.

    Of a record without a verdict nothing is written down, so it would be told anew each night: it waits for one.
    """
    return {
        f"{result.record}#{finding.assertion}: assumed {shorten(finding.documented, 60)}, "
        f"observed {drift_identity.observed_class(finding)}"[:MAX_TOLD]
        for result in results
        if result.outcome.is_conclusive
        for finding in result.findings
        if finding.severity is Severity.SHOULD
    }


def load(folder: Path, target: str, left_out: list[str] | None = None) -> list[dict[str, Json]]:
    """The lines of a target's history, oldest first, each with its addresses spelt out.

    A damaged line stays in the file and is skipped, so that it blinds no later run; it is named in `left_out`.

    Raises:
        EvidenceError: the file cannot be read.
    """
    damaged: list[str] = []
    lines = list(_lines(file_of(folder, target), damaged))
    spelt = (line for _, line in lines if "addresses" in line)
    sets = {line["address_set"]: {key: line[key] for key in SPELT_ONCE if key in line} for line in spelt}
    known = []
    for place, line in lines:
        line = {**line, **sets.get(line["address_set"], {})}
        if damage := _damage_of_outcomes(line):
            damaged.append(_skipped(place, damage))
        else:
            known.append(line)
    if left_out is not None:
        left_out += damaged[:MAX_NAMED]
        if len(damaged) > MAX_NAMED:
            left_out.append(f"{len(damaged) - MAX_NAMED} more damaged lines of the history are skipped")
    return sorted(known, key=lambda line: (line["started_at"], line["run"]))


def shown(
    folder: Path, target: str, before: str = "~", left_out: list[str] | None = None
) -> tuple[str | None, tuple[dict[str, Json], ...]]:
    """What a run that starts at `before` carries: the previous run's name and the rows to show; as `load`."""
    lines = [line for line in load(folder, target, left_out=left_out) if line["started_at"] < before][-SHOWN:]
    return previous(lines), tuple(_spelt_once(lines))


def previous(lines: Sequence[Mapping[str, Json]]) -> str | None:
    """The name of the last run of a history, or None."""
    return str(lines[-1]["run"]) if lines else None


def append(folder: Path, run: Run, results: Sequence[Result], left_out: list[str] | None = None) -> bool:
    """Add a run's line to its target's history, once; whether it was added. Of damaged lines, see `load`."""
    lines = load(folder, run.target, left_out=left_out)
    if any(line["run"] == run.run for line in lines):
        return False
    line = row(run, results)
    if any(each["address_set"] == line["address_set"] for each in lines):
        line = {key: value for key, value in line.items() if key not in SPELT_ONCE}
    line = _without_words(line, {cause for each in lines for cause in each.get("causes", ())})
    path = file_of(folder, run.target)
    path.parent.mkdir(parents=True, exist_ok=True)
    is_cut = path.is_file() and path.read_bytes()[-1:] not in (b"", b"\n")  # a kill's rest must not swallow this line
    with path.open("ab") as file:
        file.write(b"\n" * is_cut + json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return True


def only_target(folder: Path) -> str:
    """The target of the only history in a folder; empty where there are more, or none."""
    files = list(folder.glob("*.jsonl"))
    lines = _lines(files[0], []) if len(files) == 1 else iter(())
    return next((str(line["target"]) for _, line in lines), "")


def file_of(folder: Path, target: str) -> Path:
    """Where a target's history lies; a target's name is a person's, so only its plain characters make the file name."""
    return folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', target).strip('.-') or 'target'}.jsonl"


def _spelt_once(lines: Sequence[Mapping[str, Json]]) -> Iterator[dict[str, Json]]:
    """The lines, the addresses of each set only where it first occurs."""
    spelt: set[str] = set()
    for line in lines:
        kept = {key: value for key, value in line.items() if key not in SPELT_ONCE or line["address_set"] not in spelt}
        spelt.add(line["address_set"])
        yield kept


def _without_words(line: Mapping[str, Json], told: Set[str]) -> dict[str, Json]:
    """The line without the words for causes that the history has told already."""
    causes = {cause: words for cause, words in line.get("causes", {}).items() if cause not in told}
    return {**{key: value for key, value in line.items() if key != "causes"}, **({"causes": causes} if causes else {})}


def _what(at: str, observed: Json) -> str:
    """A header or a field is known by its name; a code by its value."""
    return f"{at} {observed}" if at in ("type", "code") else at


def _name_set(addresses: Sequence[str]) -> str:
    """Name a set of addresses, and what their records state, by a digest."""
    return hashlib.sha256("\n".join(addresses).encode()).hexdigest()[:12]


def _lines(path: Path, damaged: list[str]) -> Iterator[tuple[str, dict[str, Json]]]:
    """The lines of a history file, each with where it stands; those of another shape are named in `damaged`.

    A last line that a kill cut short is left out, and there is none if there is no file.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise EvidenceError(f"cannot be read ({error.strerror})", "check the path", file=path) from error
    no_json: list[str] = []
    for place, line in json_lines.parse_lines(raw, path, no_json):
        missing = _REQUIRED - line.keys() if isinstance(line, dict) else _REQUIRED
        if missing:
            damaged.append(_skipped(place, f"no {min(missing)}"))
            continue
        if wrong := results_schema.describe_error(line, results_schema.HISTORY_ROW):
            damaged.append(_skipped(place, wrong))
        else:
            yield place, line
    damaged += (f"{each}; it is skipped" for each in no_json)


def _damage_of_outcomes(line: Mapping[str, Json]) -> str:
    """Why the outcomes of a line of the right shape cannot be read; empty where they can."""
    if "addresses" not in line:
        return "no other line spells out its addresses"
    if len(line["outcomes"]) != len(line["addresses"]):
        return f"{len(line['outcomes'])} outcomes of {len(line['addresses'])} addresses"
    return "an outcome that this version does not know" if set(line["outcomes"]) - OUTCOMES_BY_LETTER.keys() else ""


def _skipped(place: str, damage: str) -> str:
    return sanitize_line(f"{place}: not a history line that can be read ({damage}); it is skipped", MAX_MESSAGE_LENGTH)
