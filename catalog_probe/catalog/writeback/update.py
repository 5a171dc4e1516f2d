"""Writing what runs saw into records: plans applied to files, and a summary of what was done and what was not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.evidence import harness_results
from catalog_probe.catalog.evidence.harness_results import select_record_results
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, read_run, report_unusable_evidence
from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.evidence.verdicts.merge import merge_runs
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.store import DISCOVERED, RECORDS, Catalog, family_file
from catalog_probe.catalog.model.answered_by import AnsweredBy
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.catalog.writeback.discoveries import collect_discoveries, update_candidates
from catalog_probe.catalog.writeback.planner import NoPatch, Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.sightings import Sighting
from catalog_probe.catalog.writeback.writing import Contents, rewrite_files, write_contents, write_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from catalog_probe.catalog.model import Json, Record

Evidence = tuple[Run, Sequence[Result]]
"""A run and its results, as `catalog_probe.catalog.evidence.read_run` gives them."""


LISTED = 5
"""Changed records of a provider, or unknown addresses, that are named; the rest are counted."""


@dataclass(frozen=True, slots=True)
class UpdateSummary:
    """What an update did: each record with its reason in words."""

    patched: tuple[tuple[str, str], ...]
    kept: tuple[tuple[str, str], ...]
    unknown: tuple[str, ...]
    """Addresses that results name and no record has."""
    refused: tuple[str, ...]
    """What was not written because the run could not have seen it, or did not, each in one line."""
    files: tuple[Path, ...]
    """Files that were written."""

    @classmethod
    def together(cls, parts: Sequence[UpdateSummary]) -> Self:
        """Several updates of the same runs, each of other records."""
        unknown = set.intersection(*(set(part.unknown) for part in parts))
        return cls(
            patched=tuple(each for part in parts for each in part.patched),
            kept=tuple(each for part in parts for each in part.kept),
            unknown=tuple(sorted(unknown)),
            refused=tuple(dict.fromkeys(each for part in parts for each in part.refused)),
            files=tuple(each for part in parts for each in part.files),
        )

    def lines(self) -> Iterator[str]:
        """For a person: what changed, and why the rest did not; of each provider the first few changes."""
        by_provider: dict[str, list[str]] = {}
        for address, reason in self.patched:
            by_provider.setdefault(address.partition("/")[0], []).append(f"{address}: {reason}")
        for provider, changes in by_provider.items():
            yield from changes[:LISTED]
            if len(changes) > LISTED:
                yield f"{provider}: {len(changes)} records changed; {len(changes) - LISTED} of them are not named here"
        for reason, number in Counter(_gist(reason) for _, reason in self.kept).most_common():
            yield f"{number} kept: {reason}"
        yield from (f"{address}: no record has this address; it was left out" for address in self.unknown[:LISTED])
        if len(self.unknown) > LISTED:
            yield f"and {format_count(len(self.unknown) - LISTED, 'more address', 'more addresses')} that no record has"
        yield from self.refused
        changed = f"{format_count(len(self.patched), 'record')} changed in {format_count(len(self.files), 'file')}"
        yield f"{changed}, {len(self.kept)} kept"


def read_evidence(paths: Iterable[Path]) -> list[Evidence]:
    """Read runs, each named by its folder or its results.jsonl.

    Raises:
        EvidenceError: one of them cannot be read.
    """
    return [_read(path) for path in paths]


def _read(path: Path) -> Evidence:
    return read_run(path / RESULTS_FILE if path.is_dir() else path)


def update_records(
    evidence: Iterable[Evidence],
    into: Path = RECORDS,
    policy: UpdatePolicy | None = None,
    today: date | None = None,
    *,
    dry_run: bool = False,
) -> UpdateSummary:
    """Merge runs, in any order, into the records below `into`; records in which nothing changes are not touched.

    `today` is the day of the latest run where none is given. A dry run writes nothing and says what it would do.

    Raises:
        CatalogError: a mock's run into the shipped records, or a file that cannot be read or written.
    """
    evidence = list(evidence)
    _refuse_what_is_no_provider(evidence, into)
    work = _Work(evidence, policy or UpdatePolicy(), today)
    if dry_run:
        work.contents(Catalog.load(into), into)
        return work.summary(())
    return work.summary(rewrite_files(into, lambda catalog: work.contents(catalog, into)))


def update_folders(
    evidence: Iterable[Evidence],
    folders: Iterable[Path],
    policy: UpdatePolicy | None = None,
    today: date | None = None,
    *,
    dry_run: bool = False,
) -> UpdateSummary:
    """As `update`, into the records below each of these folders: each provider's lie in its home.

    Raises:
        CatalogError: as `update`.
    """
    evidence = list(evidence)
    return UpdateSummary.together([update_records(evidence, each, policy, today, dry_run=dry_run) for each in folders])


def write_run_copy(catalog: Catalog, run_folder: Path, seen: Evidence | None = None) -> UpdateSummary:
    """Leave in the run's folder the records as this run would leave them. The catalog itself is not touched.

    `seen` is what the run's results.jsonl holds, where somebody has read it. Nobody else writes there, so no lock is
    taken, and none is left behind.
    """
    copy = run_folder / "catalog"
    work = _Work([seen or _read(run_folder)], UpdatePolicy(), None)
    contents = work.contents(catalog, copy)
    originals = {family_file(copy, record.address): catalog.file_of(record.address) for record in catalog.records}
    for path in originals.keys() - contents.keys():  # an update leaves such a file alone, to the byte
        write_data(path, originals[path].read_bytes(), durable=False)
    return work.summary(write_contents(copy, contents, durable=False))


class _Work:
    """One update on its way: the sightings, the plans made of them, and the files that follow."""

    def __init__(self, evidence: list[Evidence], policy: UpdatePolicy, today: date | None) -> None:
        days = (date.fromisoformat(run.today) for run, _ in evidence)
        self.today = today or max(days, default=date.min)
        self.policy = policy
        self.sightings: dict[str, list[Sighting]] = {}
        self.refused: list[str] = []
        for night in _nights(evidence):
            withheld = self._withheld(night)
            for run, results in night:
                if self._trusted(run, results):
                    for result in select_record_results(results):
                        if result.record not in withheld:
                            self.sightings.setdefault(result.record, []).append(Sighting(run, result))
        self._patched: dict[str, str] = {}
        self._kept: dict[str, str] = {}

    def _withheld(self, night: Sequence[Evidence]) -> Collection[str]:
        """The addresses of what a night, all its shards together, did not really look at: nothing of it is written."""
        run, results = merge_runs(night)
        reasons, addresses = run_verdict.find_withheld(run, results)
        self.refused += (f"{run.run}: {what}: nothing is written: {why}" for what, why in reasons.items())
        return addresses

    def _trusted(self, run: Run, results: Sequence[Result]) -> bool:
        """Whether the run could have seen a drift; what a lost worker did not report is missing already."""
        failing = [each for each in results if run_verdict.is_failure(each)]
        silent = harness_results.find_silent_lanes(run, results, failing)
        self.refused += (f"{run.run}: nothing is written: the self-test of {lane} did not come out" for lane in silent)
        return not silent

    def patched(self, catalog: Catalog) -> list[Record]:
        """Those records of a catalog that change, as they will be."""
        changed = []
        for record in catalog.records:
            address = str(record.address)
            own = self.sightings.get(address, ())
            stated = assertions(record, catalog.__getitem__) if own else ()
            with report_unusable_evidence(place=f"{', '.join(each.run.run for each in own)}: {address}"):
                match plan_patch(record, own, self.policy, self.today, stated):
                    case Patch(patched, reason):
                        changed.append(patched)
                        self._patched[address] = reason
                    case NoPatch(reason):
                        self._kept[address] = reason
        return changed

    def contents(self, catalog: Catalog, into: Path) -> Contents:
        """Each file in which something changes, whole."""
        return {
            **_files(catalog.records, self.patched(catalog), into),
            **self.discovered(catalog, into),
        }

    def discovered(self, catalog: Catalog, into: Path) -> Contents:
        """Each file of what was seen and no record has, in which something changes."""
        with report_unusable_evidence(place="what was discovered"):
            found = collect_discoveries(
                sighting for known in catalog for sighting in self.sightings.get(str(known), ())
            )
        discovered = update_candidates(catalog, found, self.policy.refresh_after)
        return {into / provider / DISCOVERED: candidates for provider, candidates in discovered}

    def summary(self, files: tuple[Path, ...]) -> UpdateSummary:
        return UpdateSummary(
            patched=tuple(self._patched.items()),
            kept=tuple(self._kept.items()),
            unknown=tuple(sorted(self.sightings.keys() - self._patched.keys() - self._kept.keys())),
            refused=tuple(self.refused),
            files=files,
        )


def _nights(evidence: Iterable[Evidence]) -> list[list[Evidence]]:
    """The runs by target and day: the shards of one night are looked at together."""
    nights: dict[tuple[str, str], list[Evidence]] = {}
    for run, results in evidence:
        nights.setdefault((run.target, run.today), []).append((run, results))
    return list(nights.values())


def _files(records: Iterable[Record], changed: Iterable[Record], into: Path) -> Contents:
    """Each file that holds one of the changed records, with all its records: the changed ones and the others."""
    changes = {record.address: record for record in changed}
    names = {family_file(into, address) for address in changes}
    contents: dict[Path, dict[str, Json]] = {}
    for record in records:
        path = family_file(into, record.address)
        if path in names:
            contents.setdefault(path, {})[record.address.slug] = changes.get(record.address, record).data
    return contents


def _refuse_what_is_no_provider(evidence: Iterable[Evidence], into: Path) -> None:
    for run, _ in evidence:
        if not run.speaks_of_providers and provider_folders.is_provider_records(into):
            asked = _asked(run)
            what = f"run {run.run} asked {asked} ({run.target}), which proves nothing for the records"
            mend = f"give only live runs of providers; a run of {asked} keeps its own copy in its folder"
            raise CatalogError(what, mend)


def _asked(run: Run) -> str:
    """What a run asked that says nothing for the records."""
    if run.invocation.revision and run.live and run.answered_by is AnsweredBy.PROVIDER:
        return "another revision"
    return f"a {run.answered_by}" if run.answered_by is not AnsweredBy.PROVIDER else "a mock"


def _gist(reason: str) -> str:
    """A reason without the names of runs, so that equal ones can be counted."""
    return re.sub(r"\brun \S+: ", "", reason)
