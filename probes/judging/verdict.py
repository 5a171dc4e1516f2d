"""The verdict of one attempt at a record, or of all of them: what is said of each cell, and of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog.evidence import same_drift

if TYPE_CHECKING:
    from catalog.model import Finding, Outcome, Reason
    from catalog.model.look import Look
    from probes.judging.cells import Place


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one attempt, or all of them, say about a record, or about one of its cells."""

    outcome: Outcome
    reason: Reason | None = None
    findings: tuple[Finding, ...] = ()
    looks: tuple[Look, ...] = ()
    cells: Mapping[Place, Verdict] = field(default_factory=dict)
    """What it says under each label on each endpoint; empty where it is of one of them, or nothing was asked."""

    @property
    def difference(self) -> frozenset[tuple[str, str]]:
        """What must be the same in two attempts for them to agree on a drift: what differs, and on which endpoints."""
        drifts = (finding for finding in self.findings if finding.drifts)
        return frozenset((same_drift.name(each), endpoint) for each in drifts for endpoint in each.endpoints or ("",))
