"""Merge of several runs of one target, such as the shards of a night."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import completeness
from catalog_probe.catalog.evidence.completeness import deduplicate_results
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.evidence.run_verdict import is_failure
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.outcome import ReasonCode

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json


_MAX_CANDIDATES = 3  # named in a line; more do not help a reader


def merge_traffic_summaries(summaries: Iterable[Mapping[str, Json] | None]) -> dict[str, Json] | None:
    """Add the counts of several runs; None if no run judged recordings."""
    present = [summary for summary in summaries if summary is not None]
    if not present:
        return None
    left_out: Counter[str] = Counter()
    for summary in present:
        left_out.update(summary["left_out"])
    return {
        "exchanges": sum(summary["exchanges"] for summary in present),
        "judged": sum(summary["judged"] for summary in present),
        "left_out": dict(left_out.most_common()),
        "unrecognised": [answer for summary in present for answer in summary["unrecognised"]],
    }


def format_traffic_summary(summary: Mapping[str, Json]) -> str:
    """Format the counts as one line: `traffic: 3 exchanges, 1 of them judged; not judged: 2 …`."""
    text = f"traffic: {summary['exchanges']} exchanges, {summary['judged']} of them judged"
    reasons = "; ".join(f"{count} {reason}" for reason, count in summary["left_out"].items())
    return f"{text}; not judged: {reasons}" if reasons else text


def list_unrecognised(summary: Mapping[str, Json] | None) -> list[str]:
    """List the refusals that are evidence for no record, one line for each kind, the most frequent first."""
    answers = summary["unrecognised"] if summary is not None else ()
    return [_format_answer(answer) for answer in sorted(answers, key=lambda answer: -answer["count"])]


def _format_answer(answer: Mapping[str, Json]) -> str:
    endpoint = answer["endpoint"] or f"{str(answer['provider']).upper()}, no endpoint of the catalog"
    status = f"status {answer['status']}" if answer["status"] is not None else "no status"
    text = f"{answer['count']} × {endpoint}: {status}"
    if answer["code"]:
        text += f", {answer['code']}"
    text += f": {answer['why']}"
    candidates = answer["candidates"]
    if candidates:
        text += f": {', '.join(candidates[:_MAX_CANDIDATES])}"
    if len(candidates) > _MAX_CANDIDATES:
        text += f" and {len(candidates) - _MAX_CANDIDATES} more"
    if answer.get("retry", "unknown") != "unknown":
        text += f"; send again: {answer['retry']}"
    return f'{text}; e.g. "{answer["example"]}"' if answer.get("example") else text


RunWithResults = tuple[Run, Sequence[Result]]


def merge_runs(runs: Sequence[RunWithResults]) -> tuple[Run, list[Result]]:
    """Merge runs into one with one result per record (see `deduplicate_results`).

    Raises:
        EvidenceError: the runs are of different targets.
    """
    ordered = sorted(runs, key=lambda run: (run[0].started_at, run[0].run))
    first = ordered[0][0]
    other_targets = sorted({run.target for run, _ in ordered} - {first.target})
    if other_targets:
        what = f"runs of different targets cannot be one: {first.target}, {', '.join(other_targets)}"
        raise EvidenceError(what, "merge those of one target")
    names = list(dict.fromkeys(run.run for run, _ in ordered))
    merged_run = replace(
        first,
        run=first.run if len(names) == 1 else f"{first.run}+{len(names) - 1}",
        today=max(run.today for run, _ in ordered),
        providers=_union(run.providers for run, _ in ordered),
        expected=_union(run.expected for run, _ in ordered),
        selected=_union(run.selected for run, _ in ordered),
        self_tests=_union(run.self_tests for run, _ in ordered),
        revisions={name: value for run, _ in ordered for name, value in run.revisions.items()},
        policy=_policy([run for run, _ in ordered]),
        preflight=_unique(run.preflight for run, _ in ordered),
        expirations=_merge_expirations(run.expirations for run, _ in ordered),
        traffic=merge_traffic_summaries(run.traffic for run, _ in ordered),
    )
    all_results = [
        result for run, results in ordered for result in (*results, *_silent_self_test_results(run, results))
    ]
    return merged_run, sorted(deduplicate_results(all_results), key=lambda result: result.record)


def _silent_self_test_results(run: Run, results: Sequence[Result]) -> list[Result]:
    """Return a fault for each silent self-test of this run: the self-test of another run does not replace it."""
    reason = Reason(ReasonCode.SELF_TEST_SILENT, f"in run {run.run}")
    return [
        Result(completeness.self_test_address(lane), {}, Outcome.HARNESS_ERROR, reason, lane=lane)
        for lane in completeness.find_silent_lanes(run, results, [result for result in results if is_failure(result)])
    ]


def _policy(runs: Sequence[Run]) -> Mapping[str, Json]:
    """Return the first policy, with the stricter demands of the others and the merged shards."""
    if len(runs) == 1:
        return runs[0].policy
    policy = {name: value for name, value in runs[0].policy.items() if name != completeness.SHARD_FIELD}
    if (shard := completeness.merge_shards(run.policy for run in runs)) is not None:
        policy[completeness.SHARD_FIELD] = shard
    stale = _union(run.policy.get("stale_accepted_differences") or () for run in runs)
    if stale:
        policy["stale_accepted_differences"] = list(stale)
    stale_by_address = {
        address: line for run in runs for address, line in (run.policy.get("stale_accepted_addresses") or {}).items()
    }
    if stale_by_address:
        policy["stale_accepted_addresses"] = stale_by_address
    for demand in ("expect_all", "strict"):
        if any(run.policy.get(demand) for run in runs):
            policy[demand] = True
    return policy


def _unique(groups: Iterable[Sequence[Mapping[str, Json]]]) -> tuple[Mapping[str, Json], ...]:
    return tuple({json.dumps(item, sort_keys=True): item for group in groups for item in group}.values())


def _merge_expirations(groups: Iterable[Sequence[Mapping[str, Json]]]) -> tuple[Mapping[str, Json], ...]:
    """Add up the records of equal expirations; the same shard twice counts once."""
    merged: dict[tuple[str, ...], dict[str, Json]] = {}
    for expiration in _unique(groups):
        key = (expiration["on"], expiration["provider"], expiration["what"], expiration["mend"])
        count = merged[key]["records"] if key in merged else 0
        merged[key] = {**expiration, "records": expiration["records"] + count}
    return tuple(merged[key] for key in sorted(merged))


def _union(groups: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(sorted({name for group in groups for name in group}))
