"""Which results a run must have: of records, of the run itself, of each shard.

A broken judge looks like a perfect provider. So each live lane judges its control's answer once more, against an
assertion that is false on purpose. This self-test passes through everything that other results pass through: judge,
results file, drift, cause. If it does not come out as drift, a true drift could not have come out either, so the run is
at fault, whatever else it observed.

A run that lost a part must never read greener than one that observed it. So every rule over results works on a
complete list.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import causes
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.model import Address, Outcome, Reason
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.model.record import HARNESS_KIND

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Json


SELF_TEST, WORKER = "self_test", "worker"
_NO_PROVIDER = "run"  # in place of a provider, in addresses of results that belong to none


def self_test_address(lane: str) -> str:
    """Return the address of a lane's self-test: `pa/harness/self_test/inference` for lane `pa:inference`."""
    provider, _, role = lane.partition(":")
    return str(Address(provider, HARNESS_KIND, SELF_TEST, role))


def lost_worker_result(name: str, detail: str) -> Result:
    """Return the result for a worker process that ended early, though another one may have finished its work."""
    address = str(Address(_NO_PROVIDER, HARNESS_KIND, WORKER, name))
    return Result(address, {}, Outcome.HARNESS_ERROR, Reason(ReasonCode.WORKER_LOST, detail))


def is_record_result(result: Result) -> bool:
    """Whether a result is a record's, and not the run's own."""
    return result.record.split("/", 2)[1] != HARNESS_KIND


def select_record_results(results: Iterable[Result]) -> list[Result]:
    """Return the results of records. Every view and count of records is made of these."""
    return [result for result in results if is_record_result(result)]


def list_faults(run: Run, results: Sequence[Result], failing: Sequence[Result]) -> tuple[str, ...]:
    """Return the faults of the run itself, each in one sentence: lost workers, and silent self-tests.

    `failing` are the results that make the run exit 1.
    """
    silent = (
        f"{ReasonCode.SELF_TEST_SILENT}: what is false on purpose did not come out as drift in lane {lane}: this run "
        "could not have seen a drift there"
        for lane in find_silent_lanes(run, results, failing)
    )
    return (*_lost_workers(results), *silent)


def _lost_workers(results: Sequence[Result]) -> Iterator[str]:
    for result in results:
        if result.reason is not None and result.reason.code == ReasonCode.WORKER_LOST:
            yield f"{result.reason.code}: {result.reason.detail}"


def find_silent_lanes(run: Run, results: Sequence[Result], failing: Sequence[Result]) -> list[str]:
    """Return the lanes whose self-test is not among the `failing` results with a cause.

    A lane without any verdict needs none, except if its self-test reported a harness error.
    """
    with_cause = {record for cause in causes.find_causes(failing) for record in cause.records}
    self_tests_that_drifted = {result.record for result in failing} & with_cause
    judged_lanes = {result.lane for result in select_record_results(results) if result.outcome.is_conclusive}
    faulty_lanes = {
        result.lane
        for result in results
        if result.lane and result.outcome is Outcome.HARNESS_ERROR and not is_record_result(result)
    }
    lanes = (set(run.self_tests) & judged_lanes) | faulty_lanes
    return [lane for lane in sorted(lanes) if self_test_address(lane) not in self_tests_that_drifted]


_NOT_REPORTED = Reason(ReasonCode.NOT_REPORTED, "it was selected, and the run ended before it was answered")


def add_missing_results(run: Run, results: Sequence[Result]) -> list[Result]:
    """Return the results, and an inconclusive one for each selected record without a result. Idempotent."""
    reported = {result.record for result in results}
    missing = sorted(set(run.selected) - reported)
    return [*results, *(Result(address, {}, Outcome.INCONCLUSIVE, _NOT_REPORTED) for address in missing)]


def is_unreported(result: Result) -> bool:
    """Whether the record was selected and no process reported a result."""
    return result.reason is not None and result.reason.code == ReasonCode.NOT_REPORTED


def keep_last_lines(results: Iterable[Result]) -> list[Result]:
    """Keep the last line of each record, where it stands: a later answer may have changed the verdict.

    Example: a record drifted, and an hour later all other records were refused alike. Its second line is inconclusive,
    and counts. Of the results of the run itself, a fault wins.
    """
    kept: dict[str, Result] = {}
    for result in results:
        previous = kept.pop(result.record, None)
        if previous is not None and not is_record_result(result):
            result = max(previous, result, key=_precedence)
        kept[result.record] = result
    return list(kept.values())


def deduplicate_results(results: Iterable[Result]) -> list[Result]:
    """Keep one result per record of several runs, in the order of each record's first result.

    A conclusive result wins over others, then one with attempts, then the later one. Of results of the run itself,
    a fault wins.
    """
    kept: dict[str, Result] = {}
    for result in results:
        previous = kept.get(result.record)
        kept[result.record] = result if previous is None else max(result, previous, key=_precedence)
    return list(kept.values())


def _precedence(result: Result) -> tuple[bool, bool, bool, str, str]:
    is_fault = not is_record_result(result) and result.outcome is Outcome.HARNESS_ERROR
    # The text only breaks ties, so that shards merge the same in any order.
    text = json.dumps(result.to_json(), sort_keys=True)
    return is_fault, result.outcome.is_conclusive, bool(result.attempts), result.observed_at, text


SHARD_FIELD = "shard"  # policy field: `2/3`; merged runs have several, with a blank between them

_SHARD = re.compile(r"([0-9]+)/([0-9]+)")


def list_shards(policy: Mapping[str, Json]) -> tuple[str, ...]:
    """List the shards that a run holds, in order; empty if it holds the whole selection."""
    return tuple(f"{number}/{total}" for total, number in _parse_shards(policy))


def list_missing_shards(policy: Mapping[str, Json]) -> tuple[str, ...]:
    """List the shards that a run does not hold; empty if it holds the whole selection."""
    return tuple(f"{number}/{total}" for total, number in _missing_shards(_parse_shards(policy)))


def merge_shards(policies: Iterable[Mapping[str, Json]]) -> str | None:
    """Return the SHARD field of merged runs; None if one of them, or all together, are the whole selection."""
    shards_by_run = [_parse_shards(policy) for policy in policies]
    shards = sorted({shard for run_shards in shards_by_run for shard in run_shards})
    totals = {total for total, _ in shards}
    incomplete_totals = {total for total, _ in _missing_shards(shards)}
    if not all(shards_by_run) or incomplete_totals != totals:
        return None
    return " ".join(f"{number}/{total}" for total, number in shards)


def _parse_shards(policy: Mapping[str, Json]) -> list[tuple[int, int]]:
    """Return (total, number) for each shard."""
    return [(int(total), int(number)) for number, total in _SHARD.findall(str(policy.get(SHARD_FIELD) or ""))]


def _missing_shards(shards: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    present = set(shards)
    totals = sorted({total for total, _ in present})
    return [(total, number) for total in totals for number in range(1, total + 1) if (total, number) not in present]
