"""One result for each selected record: duplicates are merged, and missing results are added. Pure.

A run that lost a part must never read greener than one that observed it. So every rule over results works on a
complete list.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import harness_results
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.codes import ReasonCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NOT_REPORTED = Reason(ReasonCode.NOT_REPORTED, "it was selected, and its process ended before it reported")


def add_missing_results(run: Run, results: Sequence[Result]) -> list[Result]:
    """Return the results, and an inconclusive one for each selected record without a result. Idempotent."""
    reported = {result.record for result in results}
    missing = sorted(set(run.selected) - reported)
    return [*results, *(Result(address, {}, Outcome.INCONCLUSIVE, _NOT_REPORTED) for address in missing)]


def is_unreported(result: Result) -> bool:
    """Whether the record was selected and no process reported a result."""
    return result.reason is not None and result.reason.code == ReasonCode.NOT_REPORTED


def deduplicate_results(results: Iterable[Result]) -> list[Result]:
    """Keep one result per record, in the order of each record's first result.

    A conclusive result wins over others, then one with attempts, then the later one. Of results of the run itself,
    a fault wins.
    """
    kept: dict[str, Result] = {}
    for result in results:
        previous = kept.get(result.record)
        kept[result.record] = result if previous is None else max(result, previous, key=_precedence)
    return list(kept.values())


def _precedence(result: Result) -> tuple[bool, bool, bool, str, str]:
    is_fault = not harness_results.is_record_result(result) and result.outcome is Outcome.HARNESS_ERROR
    # The text only breaks ties, so that shards merge the same in any order.
    text = json.dumps(result.to_json(), sort_keys=True)
    return is_fault, result.outcome.is_conclusive, bool(result.attempts), result.observed_at, text
