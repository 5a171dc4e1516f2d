"""Every record once: of several results the one that saw more is kept, then the one that came later. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import self_check
from catalog_probe.catalog.model import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.evidence.results import Result


def told_once(results: Iterable[Result]) -> list[Result]:
    """The results, each in the place of the first of its record."""
    kept: dict[str, Result] = {}
    for result in results:
        other = kept.get(result.record)
        kept[result.record] = result if other is None else max(result, other, key=_weight)
    return list(kept.values())


def _weight(result: Result) -> tuple[bool, bool, bool, str, str]:
    """Of what a run says of itself the fault is kept; of a record what saw more, then what came later."""
    fault = not self_check.is_of_a_record(result) and result.outcome is Outcome.HARNESS_ERROR
    tried = bool(result.attempts)
    return (fault, result.outcome.conclusive, tried, result.observed_at, json.dumps(result.to_json(), sort_keys=True))
