"""What several attempts at a record say together: which cells to look at again, when, and the outcome.

Each cell is settled by itself: an answer that got lost in one of them takes nothing away from what was seen in the
others, and only what is open is asked again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import drift_identity
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.judging.verdicts.record_verdict import record_verdict
from catalog_probe.probes.judging.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from catalog_probe.catalog.model.observation import Observation
    from catalog_probe.probes.judging.verdicts.cells import Place

MAX_ATTEMPTS = 3
"""A drift is looked at again until two attempts agree, at most this often."""

PASSING = frozenset(
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
"""Reasons that tell of a moment: what was asked then is asked once more, later, before it is given up."""


ENDED = frozenset({ReasonCode.LANE_STOPPED, ReasonCode.BUDGET_SPENT, ReasonCode.WAIT_TOO_LONG})
"""Reasons for which nothing more is sent on a lane."""


def undecided(verdicts: Sequence[Verdict]) -> bool:
    """Whether another look could settle what these, of one cell, leave open."""
    if len(verdicts) >= MAX_ATTEMPTS:
        return False
    last = verdicts[-1]
    if last.reason is not None and last.reason.code in ENDED:
        return False
    if _in_question(last):
        return all(map(_in_question, verdicts))
    if len(verdicts) == 1:
        return last.outcome is Outcome.DRIFTED or passing(last)
    outcomes = {each.outcome for each in verdicts}
    return Outcome.DRIFTED in outcomes and Outcome.CONFORMS not in outcomes and _agreeing(verdicts) is None


def passing(verdict: Verdict) -> bool:
    """Whether it says nothing for a reason that may be gone in a while."""
    return verdict.outcome is Outcome.INCONCLUSIVE and verdict.reason is not None and verdict.reason.code in PASSING


def conclude(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on one cell over all attempts; a drift stands only if a control succeeds after it.

    Two attempts that drift are a drift, whatever else differs: each was observed against the documents.
    """
    last = verdicts[-1]
    if all(map(_in_question, verdicts)):
        if len(verdicts) >= MAX_ATTEMPTS and _alike(verdicts):
            return replace(last, outcome=Outcome.DRIFTED, reason=None)
        return last
    ended = last.reason is not None and last.reason.code in ENDED
    if len(verdicts) == 1 or ended or all(each.outcome in _NO_VERDICT for each in verdicts):
        return last
    if all(each.outcome is not Outcome.CONFORMS for each in verdicts):
        agreed = _agreeing(verdicts)
        drifts = [each for each in verdicts if each.outcome is Outcome.DRIFTED]
        if agreed is not None or len(drifts) > 1:
            return agreed or drifts[-1]
    conclusive = [each for each in verdicts if each.outcome.is_conclusive]
    # What came in between says nothing, so it takes nothing away from what was seen.
    if conclusive and all(each.outcome is Outcome.CONFORMS for each in conclusive):
        return conclusive[-1]
    detail = ", then ".join(_in_a_word(each) for each in verdicts)
    if len(conclusive) > 1:
        seen = (finding for each in conclusive for finding in each.findings)
        differing = tuple({(finding.code, drift_identity.format_drift(finding)): finding for finding in seen}.values())
        return Verdict(Outcome.FLAKY, Reason(ReasonCode.ATTEMPTS_DIFFER, detail), differing, last.observations)
    return Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.ATTEMPTS_DISAGREE, detail), last.findings, last.observations)


_NO_VERDICT = frozenset({Outcome.INCONCLUSIVE, Outcome.RESTRICTED, Outcome.HARNESS_ERROR})


def still_open(attempts: Sequence[Mapping[Place, Verdict]]) -> frozenset[Place]:
    """The cells that another attempt could settle, after attempts of which each says what it saw in which.

    With one of them those as well that mean nothing for want of a step before them: it may have been that one.
    """
    by_place = _by_place(attempts)
    found = frozenset(place for place, verdicts in by_place.items() if undecided(verdicts))
    waiting = frozenset(place for place, verdicts in by_place.items() if _waits_for_a_step(verdicts))
    return found | waiting if found else found


def _waits_for_a_step(verdicts: Sequence[Verdict]) -> bool:
    last = verdicts[-1]
    return len(verdicts) < MAX_ATTEMPTS and last.reason is not None and last.reason.code == ReasonCode.STEP_UNSEEN


def only_later(attempts: Sequence[Mapping[Place, Verdict]]) -> bool:
    """Whether what is open should be asked again after a while, for what came in between may have passed by then."""
    return any(undecided(verdicts) and passing(verdicts[-1]) for verdicts in _by_place(attempts).values())


def over_all(attempts: Sequence[Mapping[Place, Verdict]]) -> Verdict:
    """The verdict on a record over all attempts (DESIGN.md, outcome table)."""
    return record_verdict({place: conclude(verdicts) for place, verdicts in _by_place(attempts).items()})


def _by_place(attempts: Sequence[Mapping[Place, Verdict]]) -> dict[Place, list[Verdict]]:
    """The verdicts on each cell, in order. One that was settled is not unsettled by an accident afterwards.

    A label of which nothing was sent, for the attempt stopped before, is one cell until its endpoints are asked. What a
    recipe asks without naming the endpoint is a cell of its own: it was asked beside those that have a name.
    """
    asked = {label for attempt in attempts for label, endpoint in attempt if endpoint}
    unnamed = {label for attempt in attempts for label, endpoint in attempt if endpoint and (label, "") in attempt}
    found: dict[Place, list[Verdict]] = {}
    for attempt in attempts:
        for place, verdict in attempt.items():
            if not place[1] and place[0] in asked - unnamed:
                continue
            before = found.setdefault(place, [])
            # The whole recipe is run for one open cell, and its other cells are answered as well: what is settled takes
            # note of a drift alone, which is no accident.
            drifts = verdict.outcome is Outcome.DRIFTED and len(before) < MAX_ATTEMPTS
            if not before or undecided(before) or _waits_for_a_step(before) or drifts:
                before.append(verdict)
    return found


def _agreeing(verdicts: Sequence[Verdict]) -> Verdict | None:
    """The drift that two attempts agree on, if any: the later of them, with no drift that the other did not see."""
    drifted = [each for each in verdicts if each.outcome is Outcome.DRIFTED]
    for later in range(1, len(drifted)):
        for earlier in reversed(drifted[:later]):
            if common := drifted[later].difference & earlier.difference:
                return _confirmed(drifted[later], common)
    return None


def _confirmed(verdict: Verdict, common: Container[tuple[str, str]]) -> Verdict:
    """The verdict without the drifts that are not in common: they were seen once, so they may be accidents."""
    if all(difference in common for difference in verdict.difference):
        return verdict
    findings = tuple(
        finding
        for finding in verdict.findings
        if not finding.is_drift
        or any((drift_identity.format_drift(finding), endpoint) in common for endpoint in finding.endpoints or ("",))
    )
    assertions = {finding.assertion for finding in findings}
    return replace(
        verdict,
        findings=findings,
        observations=tuple(_confirmed_observation(observation, assertions) for observation in verdict.observations),
    )


def _confirmed_observation(observation: Observation, assertions: Container[str]) -> Observation:
    """The look without what it saw otherwise of other assertions."""
    once = [key for key in observation.mismatched if f"{observation.label}/{key}" not in assertions]
    mismatched = {key: value for key, value in observation.mismatched.items() if key not in once}
    return replace(
        observation,
        mismatched=mismatched,
        not_observed={**observation.not_observed, **dict.fromkeys(once, ATTEMPTS_DIFFER)},
    )


ATTEMPTS_DIFFER = str(ReasonCode.ATTEMPTS_DIFFER)


def _in_question(verdict: Verdict) -> bool:
    """Whether it may be a drift if it stays: a server fault, a page of HTML under the stated status of an error, a
    text in place of JSON under any, or a success without its body.

    A server fault that is somebody else's has no findings (`judge`), and says nothing about the record however often
    it comes.
    """
    code = verdict.reason.code if verdict.reason is not None else ""
    return code in (ReasonCode.SERVER_FAULT, ReasonCode.GATEWAY_PAGE) and bool(verdict.difference)


def _alike(verdicts: Sequence[Verdict]) -> bool:
    """Whether they are one and the same. Else they are so many accidents."""
    return all(each.difference == verdicts[0].difference for each in verdicts)


def _in_a_word(verdict: Verdict) -> str:
    if verdict.reason is not None:
        return f"{verdict.outcome} ({verdict.reason.code})"
    codes = sorted({finding.code for finding in verdict.findings if finding.is_drift})
    return f"{verdict.outcome} ({', '.join(codes)})" if codes else str(verdict.outcome)
