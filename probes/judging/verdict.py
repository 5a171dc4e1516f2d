"""The verdict of one attempt at a record, or of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.evidence import same_drift

if TYPE_CHECKING:
    from catalog.model import Finding, Outcome, Reason
    from catalog.model.look import Look


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one attempt, or all of them, say about a record."""

    outcome: Outcome
    reason: Reason | None = None
    findings: tuple[Finding, ...] = ()
    looks: tuple[Look, ...] = ()

    @property
    def difference(self) -> frozenset[tuple[str, str]]:
        """What must be the same in two attempts for them to agree on a drift: what differs, and on which endpoints."""
        drifts = (finding for finding in self.findings if finding.drifts)
        return frozenset((same_drift.name(each), endpoint) for each in drifts for endpoint in each.endpoints or ("",))
