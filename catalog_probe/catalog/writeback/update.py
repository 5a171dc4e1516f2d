"""Write-back: apply the plans of runs to record files, and summarize what changed and what did not.

Only live runs of providers write into records. A mock agrees with them in any case, because we wrote both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.evidence import completeness, run_verdict
from catalog_probe.catalog.evidence.completeness import select_record_results
from catalog_probe.catalog.evidence.merge import merge_runs
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, read_run, report_unusable_evidence
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.store import DISCOVERED, RECORDS, Catalog, family_file
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.text.readable_text import format_count
from catalog_probe.catalog.writeback.discoveries import collect_discoveries, update_candidates
from catalog_probe.catalog.writeback.planner import NoPatch, Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.record_evidence import Sighting
from catalog_probe.catalog.writeback.writing import Contents, rewrite_files, write_contents, write_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from catalog_probe.catalog.model import Json, Record

RunWithResults = tuple[Run, Sequence[Result]]


MAX_LISTED = 5  # changed records of a provider, or unknown addresses, that are named; the rest are counted


@dataclass(frozen=True, slots=True)
class UpdateSummary:
    """What an update changed and kept: each record with its reason."""

    patched: tuple[tuple[str, str], ...]
    kept: tuple[tuple[str, str], ...]
    unknown: tuple[str, ...]
    """Addresses of results that no record has."""
    refused: tuple[str, ...]
    """What was not written because the run could not, or did not, observe it; one line each."""
    files: tuple[Path, ...]
    """Files that were written."""

    @classmethod
    def merge(cls, parts: Sequence[UpdateSummary]) -> Self:
        """Merge the summaries of updates from the same runs into several folders."""
        unknown = set.intersection(*(set(part.unknown) for part in parts))
        return cls(
            patched=tuple(item for part in parts for item in part.patched),
            kept=tuple(item for part in parts for item in part.kept),
            unknown=tuple(sorted(unknown)),
            refused=tuple(dict.fromkeys(line for part in parts for line in part.refused)),
            files=tuple(file for part in parts for file in part.files),
        )

    def lines(self) -> Iterator[str]:
        """Yield lines for a person: the first changes of each provider, and why other records were kept."""
        by_provider: dict[str, list[str]] = {}
        for address, reason in self.patched:
            by_provider.setdefault(address.partition("/")[0], []).append(f"{address}: {reason}")
        for provider, changes in by_provider.items():
            yield from changes[:MAX_LISTED]
            if len(changes) > MAX_LISTED:
                hidden = len(changes) - MAX_LISTED
                yield f"{provider}: {len(changes)} records changed; {hidden} of them are not named here"
        for reason, number in Counter(_remove_run_names(reason) for _, reason in self.kept).most_common():
            yield f"{number} kept: {reason}"
        yield from (f"{address}: no record has this address; it was left out" for address in self.unknown[:MAX_LISTED])
        if len(self.unknown) > MAX_LISTED:
            hidden_count = format_count(len(self.unknown) - MAX_LISTED, "more address", "more addresses")
            yield f"and {hidden_count} that no record has"
        yield from self.refused
        changed = f"{format_count(len(self.patched), 'record')} changed in {format_count(len(self.files), 'file')}"
        yield f"{changed}, {len(self.kept)} kept"


def read_evidence(paths: Iterable[Path]) -> list[RunWithResults]:
    """Read runs, each given by its folder or its results.jsonl.

    Raises:
        EvidenceError: one of them cannot be read.
    """
    return [_read_run(path) for path in paths]


def _read_run(path: Path) -> RunWithResults:
    return read_run(path / RESULTS_FILE if path.is_dir() else path)


def update_records(
    evidence: Iterable[RunWithResults],
    into: Path = RECORDS,
    policy: UpdatePolicy | None = None,
    today: date | None = None,
    *,
    dry_run: bool = False,
) -> UpdateSummary:
    """Merge runs, in any order, into the records below `into`. Unchanged records are not written.

    `today` is the day of the latest run by default. A dry run writes nothing and returns the same summary.

    Raises:
        CatalogError: a run is of a mock and `into` are a provider's records; or a file cannot be read or written.
    """
    evidence = list(evidence)
    _require_provider_runs(evidence, into)
    plan = _UpdatePlan(evidence, policy or UpdatePolicy(), today)
    if dry_run:
        plan.make_contents(Catalog.load(into), into)
        return plan.summarize(())
    return plan.summarize(rewrite_files(into, lambda catalog: plan.make_contents(catalog, into)))


def update_folders(
    evidence: Iterable[RunWithResults],
    folders: Iterable[Path],
    policy: UpdatePolicy | None = None,
    today: date | None = None,
    *,
    dry_run: bool = False,
) -> UpdateSummary:
    """Update the records below each of these folders, see `update_records`.

    Raises:
        CatalogError: as `update_records`.
    """
    evidence = list(evidence)
    return UpdateSummary.merge([update_records(evidence, folder, policy, today, dry_run=dry_run) for folder in folders])


def write_run_copy(catalog: Catalog, run_folder: Path, run: RunWithResults | None = None) -> UpdateSummary:
    """Write the records as this run would change them into the run's folder. The catalog itself is not changed.

    `run` has the run's results if they were read already. No other process writes there, so no lock is needed.
    """
    copy = run_folder / "catalog"
    plan = _UpdatePlan([run or _read_run(run_folder)], UpdatePolicy(), None)
    contents = plan.make_contents(catalog, copy)
    originals = {family_file(copy, record.address): catalog.file_of(record.address) for record in catalog.records}
    for path in originals.keys() - contents.keys():  # unchanged files are copied byte by byte
        write_data(path, originals[path].read_bytes(), durable=False)
    return plan.summarize(write_contents(copy, contents, durable=False))


class _UpdatePlan:
    """An update: the sightings, the patches that follow, and the contents of files."""

    def __init__(self, evidence: list[RunWithResults], policy: UpdatePolicy, today: date | None) -> None:
        days = (date.fromisoformat(run.today) for run, _ in evidence)
        self.today = today or max(days, default=date.min)
        self.policy = policy
        self.sightings: dict[str, list[Sighting]] = {}
        self.refused: list[str] = []
        for night in _group_by_night(evidence):
            withheld = self._find_withheld(night)
            for run, results in night:
                if self._can_observe_drift(run, results):
                    for result in select_record_results(results):
                        if result.record not in withheld:
                            self.sightings.setdefault(result.record, []).append(Sighting(run, result))
        self._patched: dict[str, str] = {}
        self._kept: dict[str, str] = {}

    def _find_withheld(self, night: Sequence[RunWithResults]) -> Collection[str]:
        """Return the addresses that a night, with all its shards, did not observe, so that nothing is written."""
        run, results = merge_runs(night)
        reasons, addresses = run_verdict.find_withheld(run, results)
        self.refused += (f"{run.run}: {name}: nothing is written: {reason}" for name, reason in reasons.items())
        return addresses

    def _can_observe_drift(self, run: Run, results: Sequence[Result]) -> bool:
        """Whether all self-tests of the run came out, so that it could have observed a drift."""
        failing = [result for result in results if run_verdict.is_failure(result)]
        silent = completeness.find_silent_lanes(run, results, failing)
        self.refused += (f"{run.run}: nothing is written: the self-test of {lane} did not come out" for lane in silent)
        return not silent

    def _patch_records(self, catalog: Catalog) -> list[Record]:
        """Return the changed records of a catalog."""
        changed = []
        for record in catalog.records:
            address = str(record.address)
            sightings = self.sightings.get(address, ())
            stated = assertions(record, catalog.__getitem__) if sightings else ()
            run_names = ", ".join(sighting.run.run for sighting in sightings)
            with report_unusable_evidence(place=f"{run_names}: {address}"):
                match plan_patch(record, sightings, self.policy, self.today, stated):
                    case Patch(patched, reason):
                        changed.append(patched)
                        self._patched[address] = reason
                    case NoPatch(reason):
                        self._kept[address] = reason
        return changed

    def make_contents(self, catalog: Catalog, into: Path) -> Contents:
        """Return the whole contents of each file with a change."""
        return {
            **_group_by_file(catalog.records, self._patch_records(catalog), into),
            **self._update_discoveries(catalog, into),
        }

    def _update_discoveries(self, catalog: Catalog, into: Path) -> Contents:
        """Return the contents of each provider's file of discoveries."""
        with report_unusable_evidence(place="what was discovered"):
            discovered = collect_discoveries(
                sighting for address in catalog for sighting in self.sightings.get(str(address), ())
            )
        updated = update_candidates(catalog, discovered, self.policy.refresh_after)
        return {into / provider / DISCOVERED: candidates for provider, candidates in updated}

    def summarize(self, files: tuple[Path, ...]) -> UpdateSummary:
        return UpdateSummary(
            patched=tuple(self._patched.items()),
            kept=tuple(self._kept.items()),
            unknown=tuple(sorted(self.sightings.keys() - self._patched.keys() - self._kept.keys())),
            refused=tuple(self.refused),
            files=files,
        )


def _group_by_night(evidence: Iterable[RunWithResults]) -> list[list[RunWithResults]]:
    """Group runs by target and day, because the shards of one night are judged together."""
    nights: dict[tuple[str, str], list[RunWithResults]] = {}
    for run, results in evidence:
        nights.setdefault((run.target, run.today), []).append((run, results))
    return list(nights.values())


def _group_by_file(records: Iterable[Record], changed: Iterable[Record], into: Path) -> Contents:
    """Return each file with a changed record, with all its records."""
    changes = {record.address: record for record in changed}
    names = {family_file(into, address) for address in changes}
    contents: dict[Path, dict[str, Json]] = {}
    for record in records:
        path = family_file(into, record.address)
        if path in names:
            contents.setdefault(path, {})[record.address.slug] = changes.get(record.address, record).data
    return contents


def _require_provider_runs(evidence: Iterable[RunWithResults], into: Path) -> None:
    for run, _ in evidence:
        if not run.speaks_of_providers and provider_folders.is_provider_records(into):
            counterpart = _describe_counterpart(run)
            what = f"run {run.run} asked {counterpart} ({run.target}), which proves nothing for the records"
            mend = f"give only live runs of providers; a run of {counterpart} keeps its own copy in its folder"
            raise CatalogError(what, mend)


def _describe_counterpart(run: Run) -> str:
    """Say what a run asked that is no evidence for the records."""
    if run.invocation.revision and run.live and run.answered_by is AnsweredBy.PROVIDER:
        return "another revision"
    return f"a {run.answered_by}" if run.answered_by is not AnsweredBy.PROVIDER else "a mock"


def _remove_run_names(reason: str) -> str:
    """Remove the names of runs from a reason, so that equal reasons can be counted."""
    return re.sub(r"\brun \S+: ", "", reason)
