"""The verdict of a record, from the verdicts of its steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome, Reason, Severity
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.judging.comparison.merging import merge_findings
from catalog_probe.probes.judging.verdicts.not_observed import not_observed_finding
from catalog_probe.probes.judging.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Finding
    from catalog_probe.catalog.model.assertion import Observation
    from catalog_probe.probes.judging.verdicts.verdict import StepKey

ONLY_ASSUMED = Reason(ReasonCode.NOTHING_OBSERVED, "everything that matched is assumed, and nothing of it documented")

_OBSERVED = frozenset({Outcome.CONFORMS, Outcome.DRIFTED})


def judge_record(step_verdicts: Mapping[StepKey, Verdict]) -> Verdict:
    """Combine the verdicts of the steps: one drift is the record's, and each label must conform on one endpoint.

    If the record conforms or drifts, a step without a verdict adds no finding but a note that it was not observed.
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
    """Return a verdict that observed nothing, for this reason; notes beside the assertions stay."""
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
    verdicts = list(step_verdicts.values())
    for verdict in verdicts:
        if verdict.outcome is Outcome.HARNESS_ERROR:
            return verdict.outcome, verdict.reason
    if any(verdict.outcome is Outcome.DRIFTED for verdict in verdicts):
        return Outcome.DRIFTED, None
    # A label that conforms on one endpoint was observed, whatever its other endpoints say; unless one is flaky.
    conforming = {label for (label, _), verdict in step_verdicts.items() if verdict.outcome is Outcome.CONFORMS}
    gaps = [verdict for (label, _), verdict in step_verdicts.items() if label not in conforming]
    if conforming:
        gaps = [verdict for verdict in gaps if not _is_unobservable(verdict)]
    gaps += [verdict for verdict in verdicts if verdict.outcome is Outcome.FLAKY]
    for outcome in (Outcome.FLAKY, Outcome.INCONCLUSIVE, Outcome.RESTRICTED):  # the gravest first
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
