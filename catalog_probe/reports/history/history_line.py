"""The line that a run adds to its target's history: enough for strips, streaks and what changed. Pure.

A line has its outcomes as one letter per address, in the order of `addresses`. The addresses are spelt out only by the
first line with the same `address_set`: a hundred runs of four hundred records take some sixty kilobytes.
"""

from __future__ import annotations

import hashlib
from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import causes, changes, earlier_runs, run_verdict
from catalog_probe.catalog.evidence import causes as drift_identity
from catalog_probe.catalog.evidence import earlier_runs as coverage_lost
from catalog_probe.catalog.evidence.completeness import select_record_results
from catalog_probe.catalog.evidence.earlier_runs import OUTCOME_LETTERS, find_last_verdict, list_never_confirmed
from catalog_probe.catalog.model import Json, Outcome, Severity
from catalog_probe.catalog.text.readable_text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
        if result.outcome is Outcome.DRIFTED or result.not_drawn:  # the others have none, and the lookup takes time
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
        "outcomes": "".join(OUTCOME_LETTERS[result.outcome] for result in record_results),
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
    return f"assumed {shorten(finding.documented, 60)}, observed {drift_identity.observed_class(finding)}"


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
        cause = causes.cause_id(drift_identity.cause_key(result.address.provider, finding))
        drift = drift_identity.format_drift(finding)
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
    lost = sorted(coverage_lost.find_lost_coverage(run, not_probed))
    return {"coverage_lost": lost} if lost else {}


def _digest_names(names: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]
