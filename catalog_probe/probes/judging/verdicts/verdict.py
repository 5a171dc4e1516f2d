"""A verdict: what was concluded of a record, or of one step of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import causes
from catalog_probe.catalog.evidence.retention import trim_finding, trim_observation
from catalog_probe.catalog.model.outcome import ReasonCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Finding, Outcome, Reason
    from catalog_probe.catalog.model.assertion import Observation

# Label and endpoint. The endpoint is empty where the recipe names none.
StepKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome, findings and observations of a record or of one of its steps, after one attempt or all."""

    outcome: Outcome
    reason: Reason | None = None
    findings: tuple[Finding, ...] = ()
    observations: tuple[Observation, ...] = ()
    step_verdicts: Mapping[StepKey, Verdict] = field(default_factory=dict)
    """Of a record: the verdict of each step."""
    has_unknown_trigger: bool = False
    """Of a step: whether a request that we assumed to provoke the error met another answer."""
    shows_documented: bool = True
    """Of a step: whether anything documented was observed, and not only what we assumed."""

    @property
    def drift_keys(self) -> frozenset[tuple[str, str]]:
        """What two attempts must share to agree on a drift: the identity of each drift, with its endpoint."""
        drifts = (finding for finding in self.findings if finding.is_drift)
        return frozenset(
            (causes.format_drift(drift), endpoint) for drift in drifts for endpoint in drift.endpoints or ("",)
        )

    @property
    def has_failed_assumption(self) -> bool:
        """Whether nothing was observed because of something that we assumed of the request."""
        return self.reason is not None and self.reason.code == ReasonCode.ASSUMPTION_FAILED

    def trim(self) -> Verdict:
        """Return a copy with long values cut, since a verdict outlives the answers that it is about."""
        return replace(
            self,
            findings=tuple(map(trim_finding, self.findings)),
            observations=tuple(map(trim_observation, self.observations)),
            step_verdicts={key: verdict.trim() for key, verdict in self.step_verdicts.items()},
        )
