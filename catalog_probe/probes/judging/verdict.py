"""The verdict of a record, from the verdicts of its steps.

A step is one label on one endpoint. A verdict is an outcome, the reason if the outcome is not conclusive, the findings
and the observations. The same class serves for a step and for a record, after one attempt and after all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import causes
from catalog_probe.catalog.evidence.retention import trim_finding, trim_observation
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.probes.judging.comparison.findings import merge_findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    """Of a record: step -> its verdict."""
    has_unknown_trigger: bool = False
    """Of a step: whether we assumed which request provokes the error, and another answer came."""
    shows_documented: bool = True
    """Of a step: whether anything documented was observed, and not only what we assumed."""

    @property
    def drift_keys(self) -> frozenset[tuple[str, str]]:
        """The identity of each drift, with its endpoint: two attempts that share one agree on a drift.

        Example: `("answer/status 410", "pa/endpoints/models/get_model")`.
        """
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


def not_observed_finding(label: str, reason: Reason, *endpoints: str) -> Finding:
    """Return a finding for a label, on these endpoints if any; without a label, for all that the endpoints show."""
    endpoints_text = f"{len(endpoints)} endpoints" if len(endpoints) > 1 else "".join(endpoints)
    where = f"{label} on {endpoints_text}" if label and endpoints_text else label or endpoints_text
    return Finding(
        code=FindingCode.NOT_OBSERVED,
        aspect=Aspect.STATE,
        severity=Severity.INFO,
        remark=f"{where}: {reason.code}: {reason.detail}",
        label=label,
        location=label,
        observed=reason.code,
        endpoints=endpoints,
    )


ONLY_ASSUMED = Reason(ReasonCode.NOTHING_OBSERVED, "everything that matched is assumed, and nothing of it documented")

_OBSERVED = frozenset({Outcome.CONFORMS, Outcome.DRIFTED})


def judge_record(step_verdicts: Mapping[StepKey, Verdict]) -> Verdict:
    """Combine the verdicts of the steps: one drift is enough to drift, each label must conform on one endpoint.

    If the record conforms or drifts, a step without a verdict adds only a note that it was not observed. Example: label
    `answer` conforms on one endpoint and is restricted on another -> conforms, with a note about the other endpoint.
    """
    outcome, reason = _combine_outcomes(step_verdicts)
    kept = dict(step_verdicts)
    notes: tuple[Finding, ...] = ()
    if outcome in _OBSERVED:
        kept = {
            key: retract(verdict, verdict.reason) if verdict.reason is not None else verdict
            for key, verdict in step_verdicts.items()
        }
        notes = tuple(_note_unobserved_steps(step_verdicts))
    findings = merge_findings((_observed_endpoint(key, verdict), verdict.findings) for key, verdict in kept.items())
    observations = tuple(observation for verdict in kept.values() for observation in verdict.observations)
    return Verdict(outcome, reason, (*findings, *notes), observations, step_verdicts)


def retract(verdict: Verdict, reason: Reason) -> Verdict:
    """Return the verdict as inconclusive, for this reason: nothing counts as observed, and only other notes stay."""
    notes = tuple(
        finding for finding in verdict.findings if finding.severity is Severity.INFO and not finding.assertion
    )
    observations = tuple(_retract_observation(observation, str(reason.code)) for observation in verdict.observations)
    return Verdict(Outcome.INCONCLUSIVE, reason, notes, observations)


def _retract_observation(observation: Observation, code: str) -> Observation:
    keys = (*observation.matched, *observation.mismatched)
    return replace(
        observation, matched=(), mismatched={}, not_observed={**observation.not_observed, **dict.fromkeys(keys, code)}
    )


def _combine_outcomes(step_verdicts: Mapping[StepKey, Verdict]) -> tuple[Outcome, Reason | None]:
    """Return outcome and reason of a record; the first rule that applies decides."""
    verdicts = list(step_verdicts.values())
    for verdict in verdicts:
        if verdict.outcome is Outcome.HARNESS_ERROR:
            return verdict.outcome, verdict.reason
    if any(verdict.outcome is Outcome.DRIFTED for verdict in verdicts):
        return Outcome.DRIFTED, None
    # A label that conforms on one endpoint was observed, whatever its other endpoints show.
    conforming = {label for (label, _), verdict in step_verdicts.items() if verdict.outcome is Outcome.CONFORMS}
    gaps = [verdict for (label, _), verdict in step_verdicts.items() if label not in conforming]
    if conforming:
        gaps = [verdict for verdict in gaps if not _is_unobservable(verdict)]
    # A flaky step is reported even if its label conforms elsewhere: it may be a drift.
    gaps += [verdict for verdict in verdicts if verdict.outcome is Outcome.FLAKY]
    # The gravest first. Not probed is only what a compatible server does not have, or answers without its upstream.
    for outcome in (Outcome.FLAKY, Outcome.INCONCLUSIVE, Outcome.RESTRICTED, Outcome.NOT_PROBED):
        for verdict in gaps:
            if verdict.outcome is outcome:
                return outcome, verdict.reason
    if not any(verdict.outcome is Outcome.CONFORMS and verdict.shows_documented for verdict in verdicts):
        return Outcome.INCONCLUSIVE, ONLY_ASSUMED
    return Outcome.CONFORMS, None


def _is_unobservable(verdict: Verdict) -> bool:
    """Whether no run like this one can observe the step: it needs another revision, or an unknown trigger."""
    needs_another_revision = verdict.reason is not None and verdict.reason.code == ReasonCode.ANOTHER_REVISION
    return verdict.has_unknown_trigger or needs_another_revision


def _note_unobserved_steps(step_verdicts: Mapping[StepKey, Verdict]) -> Iterator[Finding]:
    """Note the steps without a verdict whose label was observed on another endpoint, or that are unobservable."""
    observed = {label for (label, _), verdict in step_verdicts.items() if verdict.outcome in _OBSERVED}
    for (label, endpoint), verdict in step_verdicts.items():
        if verdict.reason is not None and (label in observed or _is_unobservable(verdict)):
            yield not_observed_finding(label, verdict.reason, *filter(None, [endpoint]))


def _observed_endpoint(key: StepKey, verdict: Verdict) -> str:
    return verdict.observations[0].endpoint if verdict.observations else key[1]
