"""The verdict of one attempt at a record, or of all of them: what is said of each cell, and of the whole."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import drift_identity
from catalog_probe.catalog.evidence.retention import trim_finding, trim_observation
from catalog_probe.catalog.model.codes import ReasonCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Finding, Outcome, Reason
    from catalog_probe.catalog.model.observation import Observation
    from catalog_probe.probes.judging.verdicts.cells import Place


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one attempt, or all of them, say about a record, or about one of its cells."""

    outcome: Outcome
    reason: Reason | None = None
    findings: tuple[Finding, ...] = ()
    observations: tuple[Observation, ...] = ()
    cells: Mapping[Place, Verdict] = field(default_factory=dict)
    """What it says under each label on each endpoint; empty where it is of one of them, or nothing was asked."""
    untriggered: bool = False
    """Of one cell: whether the request, which is assumed to provoke the stated error, met another answer."""
    shows_documented: bool = True
    """Of one cell: whether something that the documents state was seen, and not only what we assumed."""

    @property
    def difference(self) -> frozenset[tuple[str, str]]:
        """What must be the same in two attempts for them to agree on a drift: what differs, and on which endpoints."""
        drifts = (finding for finding in self.findings if finding.is_drift)
        return frozenset(
            (drift_identity.format_drift(each), endpoint) for each in drifts for endpoint in each.endpoints or ("",)
        )

    @property
    def blames_us(self) -> bool:
        """Whether what we assumed of the request is why nothing was seen."""
        return self.reason is not None and self.reason.code == ReasonCode.ASSUMPTION_FAILED

    @property
    def kept(self) -> Verdict:
        """The same with no more of what was seen than a person reads: it outlives the answers that it is about."""
        return replace(
            self,
            findings=tuple(map(trim_finding, self.findings)),
            observations=tuple(map(trim_observation, self.observations)),
            cells={place: cell.kept for place, cell in self.cells.items()},
        )
