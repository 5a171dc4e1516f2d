"""What several attempts at a record say together: whether to look again, and the outcome (DESIGN.md, outcomes)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from catalog.evidence import same_drift
from catalog.model import Outcome, Reason
from catalog.model.codes import ReasonCode
from probes.judging.verdict import Verdict

MAX_ATTEMPTS = 3
"""A drift is looked at again until two attempts agree, at most this often."""


def undecided(verdicts: Sequence[Verdict]) -> bool:
    """Whether another attempt could settle what these leave open."""
    if len(verdicts) >= MAX_ATTEMPTS:
        return False
    last = verdicts[-1]
    if _server_fault(last):
        return all(_server_fault(each) for each in verdicts)
    if len(verdicts) == 1:
        return last.outcome is Outcome.DRIFTED
    return not _agreeing(verdicts) and all(each.outcome is not Outcome.CONFORMS for each in verdicts)


def conclude(verdicts: Sequence[Verdict]) -> Verdict:
    """The outcome over all attempts (DESIGN.md, outcome table); a drift stands only if a control succeeds after it."""
    last = verdicts[-1]
    if all(_server_fault(each) for each in verdicts):
        if len(verdicts) >= MAX_ATTEMPTS and _alike(verdicts):
            return replace(last, outcome=Outcome.DRIFTED, reason=None)
        return last
    if len(verdicts) == 1:
        return last
    agreed = _agreeing(verdicts)
    if agreed is not None and all(each.outcome is not Outcome.CONFORMS for each in verdicts):
        return agreed
    conclusive = [each for each in verdicts if each.outcome.conclusive]
    if len(conclusive) > 1:
        seen = (finding for each in conclusive for finding in each.findings)
        differing = tuple({(finding.code, same_drift.name(finding)): finding for finding in seen}.values())
        detail = ", then ".join(_in_a_word(each) for each in verdicts)
        return Verdict(Outcome.FLAKY, Reason(ReasonCode.ATTEMPTS_DIFFER, detail), differing, last.looks)
    detail = ", then ".join(_in_a_word(each) for each in verdicts)
    return Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.ATTEMPTS_DISAGREE, detail), last.findings, last.looks)


def _agreeing(verdicts: Sequence[Verdict]) -> Verdict | None:
    """The drift that two attempts agree on, if any."""
    drifted = [each for each in verdicts if each.outcome is Outcome.DRIFTED]
    for number, each in enumerate(drifted):
        if any(each.difference == other.difference for other in drifted[number + 1 :]):
            return each
    return None


def _server_fault(verdict: Verdict) -> bool:
    return verdict.reason is not None and verdict.reason.code == ReasonCode.SERVER_FAULT


def _alike(verdicts: Sequence[Verdict]) -> bool:
    """Whether server faults are one and the same, under the same labels. Else they are so many accidents.

    One that is somebody else's has no findings (`judge`), and says nothing about the record however often it comes.
    """
    first = verdicts[0].difference
    return bool(first) and all(each.difference == first for each in verdicts)


def _in_a_word(verdict: Verdict) -> str:
    if verdict.reason is not None:
        return f"{verdict.outcome} ({verdict.reason.code})"
    codes = sorted({finding.code for finding in verdict.findings if finding.drifts})
    return f"{verdict.outcome} ({', '.join(codes)})" if codes else str(verdict.outcome)
