"""Several runs of one target as one: the shards of a night, merged the same in whatever order they come."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import harness_results, shards, traffic_summary
from catalog_probe.catalog.evidence.completeness import deduplicate_results
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.evidence.verdicts.run_verdict import is_failure
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.codes import ReasonCode

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json

Told = tuple[Run, Sequence[Result]]


def merge_runs(runs: Sequence[Told]) -> tuple[Run, list[Result]]:
    """One run that holds every record once; of two results the one that saw more, then the later one, is kept.

    Raises:
        EvidenceError: the runs are of different targets.
    """
    ordered = sorted(runs, key=lambda told: (told[0].started_at, told[0].run))
    first = ordered[0][0]
    strangers = sorted({run.target for run, _ in ordered} - {first.target})
    if strangers:
        what = f"runs of different targets cannot be one: {first.target}, {', '.join(strangers)}"
        raise EvidenceError(what, "merge those of one target")
    names = list(dict.fromkeys(run.run for run, _ in ordered))
    described = replace(
        first,
        run=first.run if len(names) == 1 else f"{first.run}+{len(names) - 1}",
        today=max(run.today for run, _ in ordered),
        providers=_union(run.providers for run, _ in ordered),
        expected=_union(run.expected for run, _ in ordered),
        selected=_union(run.selected for run, _ in ordered),
        self_tests=_union(run.self_tests for run, _ in ordered),
        revisions={name: value for run, _ in ordered for name, value in run.revisions.items()},
        policy=_policy([run for run, _ in ordered]),
        preflight=_once(run.preflight for run, _ in ordered),
        expirations=_most_of_each(run.expirations for run, _ in ordered),
        traffic=traffic_summary.merge_traffic_summaries(run.traffic for run, _ in ordered),
    )
    told = (result for run, results in ordered for result in (*results, *_silent(run, results)))
    return described, sorted(deduplicate_results(told), key=lambda result: result.record)


def _silent(run: Run, results: Sequence[Result]) -> list[Result]:
    """A line for each self-test that did not come out in this run: that of another run says nothing for it."""
    reason = Reason(ReasonCode.SELF_TEST_SILENT, f"in run {run.run}")
    return [
        Result(harness_results.self_test_address(lane), {}, Outcome.HARNESS_ERROR, reason, lane=lane)
        for lane in harness_results.find_silent_lanes(run, results, [each for each in results if is_failure(each)])
    ]


def _policy(runs: Sequence[Run]) -> Mapping[str, Json]:
    """The first run's policy, with what any of them demands besides; all shares together are none, but the whole."""
    if len(runs) == 1:
        return runs[0].policy
    policy = {name: value for name, value in runs[0].policy.items() if name != shards.SHARD}
    if (share := shards.merge_shards(run.policy for run in runs)) is not None:
        policy[shards.SHARD] = share
    stale = _union(run.policy.get("stale_accepted_differences") or () for run in runs)
    if stale:
        policy["stale_accepted_differences"] = list(stale)
    for demand in ("expect_all", "strict"):
        if any(run.policy.get(demand) for run in runs):
            policy[demand] = True
    return policy


def _once(groups: Iterable[Sequence[Mapping[str, Json]]]) -> tuple[Mapping[str, Json], ...]:
    return tuple({json.dumps(each, sort_keys=True): each for group in groups for each in group}.values())


def _most_of_each(groups: Iterable[Sequence[Mapping[str, Json]]]) -> tuple[Mapping[str, Json], ...]:
    """What has an end, with the records of all shards that rest on it; the same shard twice counts once."""
    found: dict[tuple[str, ...], dict[str, Json]] = {}
    for each in _once(groups):
        key = (each["on"], each["provider"], each["what"], each["mend"])
        more = found[key]["records"] if key in found else 0
        found[key] = {**each, "records": each["records"] + more}
    return tuple(found[key] for key in sorted(found))


def _union(groups: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(sorted({name for group in groups for name in group}))
