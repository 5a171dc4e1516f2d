"""Concludes several attempts at a record: which steps to ask again, and the outcome.

Each step (a label on one endpoint) is concluded by itself. A lost answer to one step takes nothing away from what was
observed of the other steps, and only open steps are asked again. A step is open until:

- one attempt conforms; or
- two attempts drift alike, or three attempts drift; or
- a *possible drift*, such as a server fault, came in all of three attempts (it is a drift) or in fewer (it is none); or
- nothing was observed, for a reason that a repetition does not change.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
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

# Reasons that may be gone in a while: the step is asked again, later.
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

# Reasons that three attempts alike make a drift, if the findings were kept: those of rules that postpone.
_POSTPONED_REASONS = frozenset(
    {
        ReasonCode.SERVER_FAULT,
        ReasonCode.GATEWAY_PAGE,
        ReasonCode.UNASKED_RATE_LIMIT,
        ReasonCode.ACCOUNT_TROUBLE,
    }
)


def needs_another_attempt(verdicts: Sequence[Verdict]) -> bool:
    """Whether one more attempt could decide a step that has these verdicts so far.

    Examples: one drift -> True, since two attempts must drift; a drift and a match -> False, since that is flaky.
    """
    last = verdicts[-1]
    if len(verdicts) >= MAX_ATTEMPTS or _has_lane_ended(last):
        return False
    if all(map(_is_possible_drift, verdicts)):
        return True
    if len(verdicts) == 1:
        return last.outcome is Outcome.DRIFTED or is_transient(last)
    outcomes = {verdict.outcome for verdict in verdicts}
    has_only_drifted = Outcome.DRIFTED in outcomes and Outcome.CONFORMS not in outcomes
    return has_only_drifted and _find_agreed_drift(verdicts) is None


def is_transient(verdict: Verdict) -> bool:
    """Whether nothing was observed, for a reason that may be gone in a while, e.g. a 429 in place of a 404."""
    is_inconclusive = verdict.outcome is Outcome.INCONCLUSIVE
    return is_inconclusive and verdict.reason is not None and verdict.reason.code in TRANSIENT_REASONS


def conclude_step(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of one step over all attempts. The caller still confirms a drift by a control.

    Examples: drift, drift -> drift; drift, match -> flaky; lost, match -> match; drift, lost, lost -> inconclusive.
    """
    last = verdicts[-1]
    if all(map(_is_possible_drift, verdicts)):
        is_drift = len(verdicts) >= MAX_ATTEMPTS and _have_same_drifts(verdicts)
        return replace(last, outcome=Outcome.DRIFTED, reason=None) if is_drift else last
    if len(verdicts) == 1 or _has_lane_ended(last):
        return last
    drifts = [verdict for verdict in verdicts if verdict.outcome is Outcome.DRIFTED]
    matches = [verdict for verdict in verdicts if verdict.outcome is Outcome.CONFORMS]
    if drifts and matches:
        return _make_flaky(verdicts)
    if matches:
        return matches[-1]
    if len(drifts) > 1:
        # Two attempts that drift are a drift, even if they differ from each other: both differ from the documents.
        return _find_agreed_drift(verdicts) or drifts[-1]
    if drifts:
        reason = Reason(ReasonCode.ATTEMPTS_DISAGREE, _summarize_all(verdicts))
        return Verdict(Outcome.INCONCLUSIVE, reason, last.findings, last.observations)
    return last


def _make_flaky(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of attempts that conform and drift by turns, with each different finding once."""
    conclusive = (verdict for verdict in verdicts if verdict.outcome.is_conclusive)
    findings = {
        (finding.code, causes.format_drift(finding)): finding for verdict in conclusive for finding in verdict.findings
    }
    reason = Reason(ReasonCode.ATTEMPTS_DIFFER, _summarize_all(verdicts))
    return Verdict(Outcome.FLAKY, reason, tuple(findings.values()), verdicts[-1].observations)


def _has_lane_ended(verdict: Verdict) -> bool:
    return verdict.reason is not None and verdict.reason.code in LANE_END_REASONS


def list_open_steps(attempts: Sequence[Mapping[StepKey, Verdict]]) -> frozenset[StepKey]:
    """List the steps that another attempt could decide, and with them the steps that wait for another step.

    Example: the deletion of a chat was answered 502, so "the chat is gone" was not asked -> both steps.
    """
    verdicts_by_step = _group_by_step(attempts)
    undecided = frozenset(key for key, verdicts in verdicts_by_step.items() if needs_another_attempt(verdicts))
    waiting = frozenset(key for key, verdicts in verdicts_by_step.items() if _waits_for_a_step(verdicts))
    return undecided | waiting if undecided else undecided


def _waits_for_a_step(verdicts: Sequence[Verdict]) -> bool:
    """Whether a step was not judged because a step before it was not as documented."""
    last = verdicts[-1]
    return len(verdicts) < MAX_ATTEMPTS and last.reason is not None and last.reason.code == ReasonCode.STEP_UNSEEN


def conclude_record(attempts: Sequence[Mapping[StepKey, Verdict]]) -> Verdict:
    """Return the verdict of a record over all attempts.

    A fault that came and went in one step is transient, so in another step it is no drift even if it came each time.
    Example: half of all calls are answered 429, and one of a record's eight steps meets it in all three attempts.
    """
    verdicts_by_step = _group_by_step(attempts)
    transient_codes = {
        verdict.reason.code
        for verdicts in verdicts_by_step.values()
        if any(verdict.outcome is Outcome.CONFORMS for verdict in verdicts)
        for verdict in verdicts
        if verdict.reason is not None and _is_possible_drift(verdict)
    }
    return judge_record(
        {
            key: verdicts[-1] if _all_have_reason(verdicts, transient_codes) else conclude_step(verdicts)
            for key, verdicts in verdicts_by_step.items()
        }
    )


def conclude_early(attempts: Sequence[Mapping[StepKey, Verdict]], reason: Reason) -> Verdict:
    """Return the verdict of a record whose open steps cannot be asked again, for this reason.

    Example: "answer" drifted once, "stream" conforms, and then the control fails. "stream" stays observed, and "answer"
    is inconclusive, because a drift needs two mismatches. A step that was lost to a reset keeps its own reason.
    """
    open_steps = list_open_steps(attempts)
    concluded = conclude_record(attempts).step_verdicts
    return judge_record(
        {
            step: retract(verdict, reason) if step in open_steps and verdict.outcome.is_conclusive else verdict
            for step, verdict in concluded.items()
        }
    )


def _all_have_reason(verdicts: Sequence[Verdict], codes: Container[str]) -> bool:
    return all(verdict.reason is not None and verdict.reason.code in codes for verdict in verdicts)


def _group_by_step(attempts: Sequence[Mapping[StepKey, Verdict]]) -> dict[StepKey, list[Verdict]]:
    """Return step -> the verdicts that count for it, in the order of the attempts.

    A label for which nothing was sent has no endpoint: its verdict counts until an attempt sends the label to named
    endpoints. But if one attempt has the label both with and without an endpoint, these are two steps.
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
            # An open step needs other steps before it, so concluded steps are asked again too. Of their new answers
            # only a drift counts: a lost answer takes nothing away.
            is_new_drift = verdict.outcome is Outcome.DRIFTED and len(earlier) < MAX_ATTEMPTS
            if not earlier or needs_another_attempt(earlier) or _waits_for_a_step(earlier) or is_new_drift:
                earlier.append(verdict)
    return verdicts_by_step


def _find_agreed_drift(verdicts: Sequence[Verdict]) -> Verdict | None:
    """Return the later of two attempts that share a drift, with only the drifts that both observed; None if none do.

    Example: 404 -> 410 in the first attempt, 404 -> 410 and a missing header in the second -> the 410 alone.
    """
    drifts = [verdict for verdict in verdicts if verdict.outcome is Outcome.DRIFTED]
    for earlier, later in combinations(drifts, 2):
        if shared_keys := earlier.drift_keys & later.drift_keys:
            return _keep_drifts(later, shared_keys)
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
    """Return the observation with the mismatches of these assertions only; other mismatches count as not observed."""
    dropped = [key for key in observation.mismatched if f"{observation.label}/{key}" not in assertions]
    return replace(
        observation,
        mismatched={key: value for key, value in observation.mismatched.items() if key not in dropped},
        not_observed={**observation.not_observed, **dict.fromkeys(dropped, str(ReasonCode.ATTEMPTS_DIFFER))},
    )


def _is_possible_drift(verdict: Verdict) -> bool:
    """Whether a server fault, a body in question or a limit too early is a drift if every attempt shows it.

    A fault that is not the provider's has no drift among its findings: it stays inconclusive however often it comes.
    """
    return verdict.reason is not None and verdict.reason.code in _POSTPONED_REASONS and bool(verdict.drift_keys)


def _have_same_drifts(verdicts: Sequence[Verdict]) -> bool:
    """Whether all verdicts show the same drifts. Three different server faults are three accidents."""
    return all(verdict.drift_keys == verdicts[0].drift_keys for verdict in verdicts)


def _summarize_all(verdicts: Sequence[Verdict]) -> str:
    """Return what each attempt showed: `drifted (status-differs), then inconclusive (read-timeout)`."""
    return ", then ".join(map(_summarize, verdicts))


def _summarize(verdict: Verdict) -> str:
    if verdict.reason is not None:
        return f"{verdict.outcome} ({verdict.reason.code})"
    codes = sorted({finding.code for finding in verdict.findings if finding.is_drift})
    return f"{verdict.outcome} ({', '.join(codes)})" if codes else str(verdict.outcome)
