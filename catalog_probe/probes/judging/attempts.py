"""Concludes several attempts at a record: which steps to ask again, and the outcome.

Each step is concluded by itself. An answer that got lost in one of them takes nothing away from what was observed in
the others, and only open steps are asked again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import causes
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.judging.verdict import Verdict, judge_record, retract

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from catalog_probe.catalog.model import Finding
    from catalog_probe.catalog.model.assertion import Observation
    from catalog_probe.probes.judging.verdict import StepKey


MAX_ATTEMPTS = 3

# Reasons that may be gone in a while: the step is asked once more, later.
TRANSIENT_REASONS = frozenset(
    {
        ReasonCode.CONNECT_TIMEOUT,
        ReasonCode.READ_TIMEOUT,
        ReasonCode.CLOSED_WITHOUT_ANSWER,
        ReasonCode.CONNECTION_RESET,
        ReasonCode.PROTOCOL_ERROR,
        ReasonCode.GATEWAY_PAGE,
        ReasonCode.UNASKED_TIMEOUT,
        ReasonCode.UNASKED_RATE_LIMIT,
        ReasonCode.UNASKED_OVERLOAD,
        ReasonCode.SERVER_FAULT,
        ReasonCode.NOTHING_OBSERVED,
    }
)

# Reasons after which nothing more is sent on a lane.
LANE_END_REASONS = frozenset({ReasonCode.LANE_STOPPED, ReasonCode.BUDGET_SPENT, ReasonCode.WAIT_TOO_LONG})

# Reasons of a fault that three attempts alike make a drift, if its findings were kept.
_POSTPONED_REASONS = frozenset(
    {
        ReasonCode.SERVER_FAULT,
        ReasonCode.GATEWAY_PAGE,
        ReasonCode.UNASKED_RATE_LIMIT,
        ReasonCode.ACCOUNT_TROUBLE,
    }
)

_NO_VERDICT = frozenset({Outcome.INCONCLUSIVE, Outcome.RESTRICTED, Outcome.HARNESS_ERROR})


def needs_another_attempt(verdicts: Sequence[Verdict]) -> bool:
    """Whether one more attempt could decide what these verdicts of one step leave open."""
    if len(verdicts) >= MAX_ATTEMPTS:
        return False
    last = verdicts[-1]
    if last.reason is not None and last.reason.code in LANE_END_REASONS:
        return False
    if _is_possible_drift(last):
        return all(map(_is_possible_drift, verdicts))
    if len(verdicts) == 1:
        return last.outcome is Outcome.DRIFTED or is_transient(last)
    outcomes = {verdict.outcome for verdict in verdicts}
    return Outcome.DRIFTED in outcomes and Outcome.CONFORMS not in outcomes and _find_agreed_drift(verdicts) is None


def is_transient(verdict: Verdict) -> bool:
    """Whether nothing was observed for a reason that may be gone in a while."""
    return (
        verdict.outcome is Outcome.INCONCLUSIVE
        and verdict.reason is not None
        and verdict.reason.code in TRANSIENT_REASONS
    )


def conclude_step(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of one step over all attempts. The caller still confirms a drift by a control.

    Two attempts that drift are a drift, even if they differ from each other: both differ from the documents.
    """
    last = verdicts[-1]
    if all(map(_is_possible_drift, verdicts)):
        if len(verdicts) >= MAX_ATTEMPTS and _have_same_drifts(verdicts):
            return replace(last, outcome=Outcome.DRIFTED, reason=None)
        return last
    has_lane_ended = last.reason is not None and last.reason.code in LANE_END_REASONS
    if len(verdicts) == 1 or has_lane_ended or all(verdict.outcome in _NO_VERDICT for verdict in verdicts):
        return last
    if all(verdict.outcome is not Outcome.CONFORMS for verdict in verdicts):
        agreed = _find_agreed_drift(verdicts)
        drifts = [verdict for verdict in verdicts if verdict.outcome is Outcome.DRIFTED]
        if agreed is not None or len(drifts) > 1:
            return agreed or drifts[-1]
    conclusive = [verdict for verdict in verdicts if verdict.outcome.is_conclusive]
    # An attempt without a verdict takes nothing away from what the others observed.
    if conclusive and all(verdict.outcome is Outcome.CONFORMS for verdict in conclusive):
        return conclusive[-1]
    detail = ", then ".join(_summarize(verdict) for verdict in verdicts)
    if len(conclusive) > 1:
        findings = (finding for verdict in conclusive for finding in verdict.findings)
        distinct = {(finding.code, causes.format_drift(finding)): finding for finding in findings}
        reason = Reason(ReasonCode.ATTEMPTS_DIFFER, detail)
        return Verdict(Outcome.FLAKY, reason, tuple(distinct.values()), last.observations)
    return Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.ATTEMPTS_DISAGREE, detail), last.findings, last.observations)


def list_open_steps(attempts: Sequence[Mapping[StepKey, Verdict]]) -> frozenset[StepKey]:
    """List the steps that another attempt could decide, and with them the steps that wait for an earlier one."""
    verdicts_by_step = _group_by_step(attempts)
    undecided = frozenset(key for key, verdicts in verdicts_by_step.items() if needs_another_attempt(verdicts))
    waiting = frozenset(key for key, verdicts in verdicts_by_step.items() if _waits_for_a_step(verdicts))
    return undecided | waiting if undecided else undecided


def _waits_for_a_step(verdicts: Sequence[Verdict]) -> bool:
    last = verdicts[-1]
    return len(verdicts) < MAX_ATTEMPTS and last.reason is not None and last.reason.code == ReasonCode.STEP_UNSEEN


def conclude_record(attempts: Sequence[Mapping[StepKey, Verdict]]) -> Verdict:
    """Return the verdict of a record over all attempts.

    A fault that came and went in one step is passing, so in another step it is no drift even if it came each time.
    Example: half of all calls are answered 429, and one of a record's eight steps meets it in all three attempts.
    """
    verdicts_by_step = _group_by_step(attempts)
    passing_reasons = {
        verdict.reason.code
        for verdicts in verdicts_by_step.values()
        if any(verdict.outcome is Outcome.CONFORMS for verdict in verdicts)
        for verdict in verdicts
        if verdict.reason is not None and _is_possible_drift(verdict)
    }
    return judge_record(
        {
            key: verdicts[-1] if _all_have_reason(verdicts, passing_reasons) else conclude_step(verdicts)
            for key, verdicts in verdicts_by_step.items()
        }
    )


def conclude_early(attempts: Sequence[Mapping[StepKey, Verdict]], reason: Reason) -> Verdict:
    """Return the verdict of a record whose open steps cannot be asked again, for this reason.

    Example: "answer" drifted once, "stream" conforms, and then the control fails. "stream" stays observed, and "answer"
    is inconclusive, because a drift needs two mismatches.
    """
    open_steps = list_open_steps(attempts)
    concluded = conclude_record(attempts).step_verdicts
    return judge_record(
        {key: retract(verdict, reason) if key in open_steps else verdict for key, verdict in concluded.items()}
    )


def _all_have_reason(verdicts: Sequence[Verdict], codes: Container[str]) -> bool:
    return all(verdict.reason is not None and verdict.reason.code in codes for verdict in verdicts)


def _group_by_step(attempts: Sequence[Mapping[StepKey, Verdict]]) -> dict[StepKey, list[Verdict]]:
    """Return the verdicts that count for each step, in order.

    A label for which nothing was sent has no endpoint. It stands for all its endpoints until an attempt names them. If
    an attempt has the label both with and without an endpoint, the one without is a step of its own.
    """
    labels_with_endpoint = {label for attempt in attempts for label, endpoint in attempt if endpoint}
    labels_with_both = {
        label for attempt in attempts for label, endpoint in attempt if endpoint and (label, "") in attempt
    }
    verdicts_by_step: dict[StepKey, list[Verdict]] = {}
    for attempt in attempts:
        for key, verdict in attempt.items():
            label, endpoint = key
            if not endpoint and label in labels_with_endpoint - labels_with_both:
                continue
            earlier = verdicts_by_step.setdefault(key, [])
            # An open step repeats the whole recipe, so decided steps are answered again. Of those only a drift
            # counts: a lost answer takes nothing away from them.
            is_new_drift = verdict.outcome is Outcome.DRIFTED and len(earlier) < MAX_ATTEMPTS
            if not earlier or needs_another_attempt(earlier) or _waits_for_a_step(earlier) or is_new_drift:
                earlier.append(verdict)
    return verdicts_by_step


def _find_agreed_drift(verdicts: Sequence[Verdict]) -> Verdict | None:
    """Return the later of two attempts that share a drift, with only the drifts that both observed."""
    drifted = [verdict for verdict in verdicts if verdict.outcome is Outcome.DRIFTED]
    for later in range(1, len(drifted)):
        for earlier in reversed(drifted[:later]):
            if common_keys := drifted[later].drift_keys & earlier.drift_keys:
                return _keep_drifts(drifted[later], common_keys)
    return None


def _keep_drifts(verdict: Verdict, drift_keys: Container[tuple[str, str]]) -> Verdict:
    """Return the verdict with these drifts only: a drift that one attempt observed may be an accident."""
    if all(key in drift_keys for key in verdict.drift_keys):
        return verdict

    def is_kept(finding: Finding) -> bool:
        drift = causes.format_drift(finding)
        return not finding.is_drift or any((drift, endpoint) in drift_keys for endpoint in finding.endpoints or ("",))

    findings = tuple(filter(is_kept, verdict.findings))
    assertions = {finding.assertion for finding in findings}
    return replace(
        verdict,
        findings=findings,
        observations=tuple(_keep_mismatches(observation, assertions) for observation in verdict.observations),
    )


def _keep_mismatches(observation: Observation, assertions: Container[str]) -> Observation:
    """Return the observation with the mismatches of these assertions only; the others were not observed."""
    dropped = [key for key in observation.mismatched if f"{observation.label}/{key}" not in assertions]
    return replace(
        observation,
        mismatched={key: value for key, value in observation.mismatched.items() if key not in dropped},
        not_observed={**observation.not_observed, **dict.fromkeys(dropped, str(ReasonCode.ATTEMPTS_DIFFER))},
    )


def _is_possible_drift(verdict: Verdict) -> bool:
    """Whether a server fault, a body in question or a limit too early is a drift if every attempt shows it.

    A fault that is somebody else's has no drift among its findings: it stays inconclusive however often it comes.
    """
    return verdict.reason is not None and verdict.reason.code in _POSTPONED_REASONS and bool(verdict.drift_keys)


def _have_same_drifts(verdicts: Sequence[Verdict]) -> bool:
    """Whether all verdicts show the same drifts. Different ones are so many accidents."""
    return all(verdict.drift_keys == verdicts[0].drift_keys for verdict in verdicts)


def _summarize(verdict: Verdict) -> str:
    if verdict.reason is not None:
        return f"{verdict.outcome} ({verdict.reason.code})"
    codes = sorted({finding.code for finding in verdict.findings if finding.is_drift})
    return f"{verdict.outcome} ({', '.join(codes)})" if codes else str(verdict.outcome)
