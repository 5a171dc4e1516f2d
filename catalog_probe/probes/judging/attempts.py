"""Concludes several attempts at a record: which steps to ask again, and the outcome.

Each step (a label on one endpoint) is concluded by itself. The first row that fits its attempts so far decides:

```text
attempts                                   again?  outcome
end, after any attempts                    no      last
match                                      no      conforms
unobservable                               no      last
any                                        yes
drift, match                               no      flaky
drift, same drift                          no      drifted
drift, any                                 yes
any, match                                 no      conforms
any, drift                                 yes
postponed, postponed                       yes
any, any                                   no      last
drift, any, match                          no      flaky
any, drift, match                          no      flaky
any, any, match                            no      conforms
drift, drift, any                          no      drifted
drift, any, drift                          no      drifted
any, drift, drift                          no      drifted
drift, any, any                            no      inconclusive
any, drift, any                            no      inconclusive
any, any, drift                            no      inconclusive
postponed, same postponed, same postponed  no      drifted
any, any, any                              no      last
```

- match, drift: the answer is as documented, or differs from the documents. Two drifts are the same if they share a
  difference, two postponed answers if they have all differences in common.
- postponed: a rule that postpones (`inconclusive.table`) doubts the answer and keeps its differences, e.g. those of a
  500 in place of a documented 200.
- unobservable: nothing was observed, for a reason that a repetition does not change, e.g. the key lacks a right.
- end: nothing more is sent on the lane, e.g. its budget is spent.
- any: one of the above, or nothing was observed for a transient reason, e.g. a read timeout.
- last: the outcome and the reason of the last attempt.

A decided step is asked again only if an open step needs its answer, e.g. the upload before a download. Then only a
drift counts: a match and then a drift -> flaky, a match and then a read timeout -> conforms.
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


def needs_another_attempt(verdicts: Sequence[Verdict]) -> bool:
    """Whether to ask a step with these verdicts again, by the table above: one drift -> True, drift, match -> False."""
    last = verdicts[-1]
    if len(verdicts) >= MAX_ATTEMPTS or _has_lane_ended(last):
        return False
    if all(map(_is_postponed, verdicts)):
        return True
    if len(verdicts) == 1:
        return last.outcome is Outcome.DRIFTED or is_transient(last)
    # After two attempts only a drift is worth a third one, which may confirm or contradict it.
    outcomes = {verdict.outcome for verdict in verdicts}
    is_confirmed = _find_agreed_drift(verdicts) is not None
    is_contradicted = Outcome.CONFORMS in outcomes
    return Outcome.DRIFTED in outcomes and not is_confirmed and not is_contradicted


def conclude_step(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of one step by the table above. The caller still confirms a drift by a control."""
    last = verdicts[-1]
    if all(map(_is_postponed, verdicts)):
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


def is_transient(verdict: Verdict) -> bool:
    """Whether nothing was observed, for a reason that may be gone in a while, e.g. a 429 in place of a 404."""
    is_inconclusive = verdict.outcome is Outcome.INCONCLUSIVE
    return is_inconclusive and verdict.reason is not None and verdict.reason.code in TRANSIENT_REASONS


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
    if not undecided:
        return undecided  # what the waiting steps wait for would be answered as before
    return undecided | {key for key, verdicts in verdicts_by_step.items() if _waits_for_a_step(verdicts)}


def _waits_for_a_step(verdicts: Sequence[Verdict]) -> bool:
    """Whether a step was not judged because a step before it was not as documented."""
    last = verdicts[-1]
    return len(verdicts) < MAX_ATTEMPTS and last.reason is not None and last.reason.code == ReasonCode.STEP_UNSEEN


def conclude_record(attempts: Sequence[Mapping[StepKey, Verdict]]) -> Verdict:
    """Return the verdict of a record over all attempts.

    A reason to postpone that came and went in one step is transient. In another step the same reason is no drift, even
    if it came in each attempt. Example: half of all calls are answered 429, and one of a record's eight steps meets it
    in all three attempts.
    """
    verdicts_by_step = _group_by_step(attempts)
    transient_codes = {
        verdict.reason.code
        for verdicts in verdicts_by_step.values()
        if any(verdict.outcome is Outcome.CONFORMS for verdict in verdicts)
        for verdict in verdicts
        if verdict.reason is not None and _is_postponed(verdict)
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

    A label for which an attempt sent nothing has no endpoint, and its verdict is dropped if another attempt sends the
    label to named endpoints. Example: `{("answer", ""): timeout}`, then `{("answer", "pa/endpoints/models/get_model"):
    match}` -> the match alone. If the same attempt has the label with and without an endpoint, both are steps.
    """
    labels_with_endpoint = {label for attempt in attempts for label, endpoint in attempt if endpoint}
    labels_with_both = {
        label for attempt in attempts for label, endpoint in attempt if endpoint and (label, "") in attempt
    }
    dropped_steps = {(label, "") for label in labels_with_endpoint - labels_with_both}
    verdicts_by_step: dict[StepKey, list[Verdict]] = {}
    for attempt in attempts:
        for step, verdict in attempt.items():
            if step in dropped_steps:
                continue
            earlier = verdicts_by_step.setdefault(step, [])
            is_open = not earlier or needs_another_attempt(earlier) or _waits_for_a_step(earlier)
            # A decided step was asked again for the sake of another step: a lost answer takes nothing away from it.
            is_new_drift = verdict.outcome is Outcome.DRIFTED and len(earlier) < MAX_ATTEMPTS
            if is_open or is_new_drift:
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


def _is_postponed(verdict: Verdict) -> bool:
    """Whether a rule that postpones doubts the answer. Every other rule takes the drifts away from its findings."""
    return verdict.outcome is Outcome.INCONCLUSIVE and bool(verdict.drift_keys)


def _have_same_drifts(verdicts: Sequence[Verdict]) -> bool:
    """Whether all verdicts show the same drifts: a 500, a 503 and a 500 in place of a 200 are three accidents."""
    return all(verdict.drift_keys == verdicts[0].drift_keys for verdict in verdicts)


def _summarize_all(verdicts: Sequence[Verdict]) -> str:
    """Return what each attempt showed: `drifted (status-differs), then inconclusive (read-timeout)`."""
    return ", then ".join(map(_summarize, verdicts))


def _summarize(verdict: Verdict) -> str:
    if verdict.reason is not None:
        return f"{verdict.outcome} ({verdict.reason.code})"
    codes = sorted({finding.code for finding in verdict.findings if finding.is_drift})
    return f"{verdict.outcome} ({', '.join(codes)})" if codes else str(verdict.outcome)
