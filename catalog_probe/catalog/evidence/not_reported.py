"""What a run selected and has no result of is told as `inconclusive: not-reported`, whatever killed its worker. Pure.

A run that lost a part must never read greener than one that saw it: whoever draws a conclusion from results, draws it
from these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.codes import ReasonCode

if TYPE_CHECKING:
    from collections.abc import Sequence

_DETAIL = "it was selected, and its process ended before it reported"


def complete(run: Run, results: Sequence[Result]) -> list[Result]:
    """The results, and after them one for each selected record that has none; doing it again changes nothing."""
    seen = {result.record for result in results}
    lost = sorted({address for address in run.selected if address not in seen})
    return [*results, *(_not_reported(address) for address in lost)]


def unreported(result: Result) -> bool:
    """Whether nothing is known of it but that it was selected."""
    return result.reason is not None and result.reason.code == ReasonCode.NOT_REPORTED


def _not_reported(address: str) -> Result:
    return Result(address, {}, Outcome.INCONCLUSIVE, Reason(ReasonCode.NOT_REPORTED, _DETAIL))
