"""Documented against observed: findings, and from them the outcome. Pure: no clock, no network, no files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Attempt, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.codes import FindingCode, ReasonCode
from catalog_probe.catalog.reading.expected import answer_body
from catalog_probe.catalog.recognition.known import TOO_MANY, Known
from catalog_probe.probes.judging.comparison.basis import weighed
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.judging.comparison.observations import is_answered, observe, shows_documented
from catalog_probe.probes.judging.comparison.relations import NO_OTHERS, Answers
from catalog_probe.probes.judging.comparison.revisions import held, not_holding
from catalog_probe.probes.judging.comparison.undocumented import repeated_names, seen_on_the_way
from catalog_probe.probes.judging.inconclusive.evidence import AttemptEvidence, Evidence, is_of_a_mock
from catalog_probe.probes.judging.inconclusive.fold import apply_rules
from catalog_probe.probes.judging.inconclusive.guesses import compare_attempt
from catalog_probe.probes.judging.inconclusive.moments import compare_with_own_record
from catalog_probe.probes.judging.inconclusive.rule import Sees
from catalog_probe.probes.judging.verdicts.cells import Asked, Cell, answers_beside
from catalog_probe.probes.judging.verdicts.record_verdict import record_verdict
from catalog_probe.probes.judging.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.model import Response
    from catalog_probe.catalog.reading.expected import Expected


def judge(expected: Sequence[Expected], attempt: Attempt, known: Known, stopped: Reason | None = None) -> Verdict:
    """The verdict of one attempt, cell by cell: a difference on one endpoint leaves the others' looks as they are.

    `stopped` is why the attempt ended before its end, if it did: what was seen until then is judged all the same.
    """
    cells = Asked.of(attempt).cells(expected)
    alone = [_judge_cell(cell, known) for cell in cells]
    answered = [
        _evidence(cell, verdict, known)
        for cell, verdict in zip(cells, alone, strict=True)
        if cell.exchange.response is not None
    ]
    beside = compare_attempt(answered)
    explained = [_explain(cell, verdict, known, beside) for cell, verdict in zip(cells, alone, strict=True)]
    # A comparison with a wrong answer would blame the right one. And only what has a verdict is compared at all, so
    # that an overload does not become a difference.
    matched = [cell for cell, verdict in zip(cells, explained, strict=True) if verdict.outcome is Outcome.CONFORMS]
    others = [answers_beside(cell, cells, matched) for cell in cells]
    compared = [
        _explain(cell, _judge_cell(cell, known, answers), known, beside)
        if answers and verdict.outcome.is_conclusive
        else verdict
        for cell, verdict, answers in zip(cells, explained, others, strict=True)
    ]
    verdicts = _after_what_they_depend_on(compared, cells)
    looked = {
        (cell.label, cell.endpoint): _with_its_observation(cell, _with_notes(cell, verdict, known), answers, known)
        for cell, verdict, answers in zip(cells, verdicts, others, strict=True)
    }
    judged = {cell.label for cell in cells}
    wrong = [cell.label for cell, each in zip(cells, verdicts, strict=True) if each.outcome is not Outcome.CONFORMS]
    missing = {
        (each.label, ""): _never_asked(each.label, stopped, wrong) for each in expected if each.label not in judged
    }
    return record_verdict({**looked, **missing})


def _judge_cell(cell: Cell, known: Known, others: Answers = NO_OTHERS) -> Verdict:
    """Compare one answer with what is stated, and apply the rules that need to see no other."""
    expected, exchange = cell.chosen, cell.exchange
    if f"{expected.label}/status" in not_holding(expected, exchange.request):
        detail = f"{expected.label} is stated of another revision than was asked under"
        return Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.ANOTHER_REVISION, detail))
    if exchange.failure is not None and expected.failure is None:
        return _not_observed(cell, exchange.failure)
    findings = tuple(held(weighed(expected, compare(expected, exchange, others)), expected, exchange.request))
    is_mismatch = any(finding.is_drift for finding in findings)
    verdict = Verdict(Outcome.DRIFTED if is_mismatch else Outcome.CONFORMS, None, findings)
    if exchange.response is None:
        return verdict
    evidence = _evidence(cell, verdict, known)
    verdict = apply_rules(evidence, Sees.ANSWER)
    if verdict.reason is not None and verdict.reason.code != ReasonCode.SERVER_FAULT:
        return replace(verdict, findings=(*verdict.findings, *compare_with_own_record(evidence)))
    if verdict.outcome is Outcome.CONFORMS and not is_answered(expected, exchange.response):
        close = exchange.response.close
        end = f"closed with {close.code} {close.reason}".rstrip() if close is not None else exchange.response.ended
        return _not_observed(cell, Reason(ReasonCode.NOTHING_OBSERVED, f"no answer came before it was {end}"))
    return verdict


def _not_observed(cell: Cell, reason: Reason) -> Verdict:
    """A verdict on what never came, with the request, so that a person can repeat it."""
    where = f"{cell.exchange.request.method} {cell.exchange.request.url}"
    return Verdict(Outcome.INCONCLUSIVE, Reason(reason.code, f"{where}: {reason.detail}" if reason.detail else where))


def _evidence(cell: Cell, verdict: Verdict, known: Known, beside: AttemptEvidence | None = None) -> Evidence:
    live = not is_of_a_mock(cell.exchange.request)
    return Evidence(cell.chosen, cell.exchange, verdict, known, live, beside or AttemptEvidence())


def _explain(cell: Cell, verdict: Verdict, known: Known, beside: AttemptEvidence) -> Verdict:
    """Apply the rules that need to see the other answers of the attempt."""
    if verdict.outcome is not Outcome.DRIFTED or cell.exchange.response is None:
        return verdict
    return apply_rules(_evidence(cell, verdict, known, beside), Sees.ATTEMPT)


def _after_what_they_depend_on(verdicts: Sequence[Verdict], cells: Sequence[Cell]) -> list[Verdict]:
    """A label counts only if all that it depends on were seen as documented, there or anywhere.

    What was never deleted need not be gone, and what is gone nevertheless shows nothing of the delete.
    """
    asked = {(cell.label, cell.endpoint) for cell in cells}
    matched = [cell for cell, each in zip(cells, verdicts, strict=True) if each.outcome is Outcome.CONFORMS]
    anywhere = {cell.label for cell in matched}
    there = {(cell.label, cell.endpoint) for cell in matched}
    judged = []
    for cell, verdict in zip(cells, verdicts, strict=True):
        places = [(label, cell.endpoint) for label in cell.expected.depends]
        missed = [place[0] for place in places if place not in there and (place in asked or place[0] not in anywhere)]
        if missed and verdict.outcome.is_conclusive:
            reason = Reason(ReasonCode.STEP_UNSEEN, f"{cell.label} means something only after {', '.join(missed)}")
            verdict = Verdict(Outcome.INCONCLUSIVE, reason)
        judged.append(verdict)
    return judged


def _never_asked(label: str, stopped: Reason | None, wrong: Sequence[str]) -> Verdict:
    """A step that was left out: for what ended the attempt, or for an answer before it on which nothing can be built.

    Where all before it was as documented, the recipe forgot it.
    """
    if stopped is not None:
        return Verdict(Outcome.INCONCLUSIVE, stopped)
    if wrong:
        reason = Reason(ReasonCode.STEP_UNSEEN, f"{label} was not asked: {', '.join(wrong)} were not as documented")
        return Verdict(Outcome.INCONCLUSIVE, reason)
    return Verdict(Outcome.HARNESS_ERROR, Reason(ReasonCode.RECIPE_INCOMPLETE, f"no exchange labelled {label!r}"))


def _with_its_observation(cell: Cell, verdict: Verdict, others: Answers, known: Known) -> Verdict:
    observation = observe(cell.expected, cell.exchange, verdict.findings, verdict.reason, known.endpoints, others)
    return replace(verdict, observations=(observation,), shows_documented=shows_documented(cell.expected, observation))


def _with_notes(cell: Cell, verdict: Verdict, known: Known) -> Verdict:
    """Add what is told beside the statements and is no part of the verdict."""
    response = cell.exchange.response
    if response is None or not verdict.outcome.is_conclusive:
        return verdict
    if verdict.outcome is Outcome.DRIFTED:
        notes = (*_recognise(cell.chosen, response, known), *repeated_names(cell.chosen, response))
    else:
        notes = tuple(seen_on_the_way(cell.chosen, response, known))
    return replace(verdict, findings=(*verdict.findings, *notes))


def _recognise(expected: Expected, response: Response, known: Known) -> Iterator[Finding]:
    """The record that documents this answer, where it is another one and the answer tells which."""
    found = [answer.address for answer in known.matching(response.status, answer_body(expected, response))]
    if not found or expected.address in found or len(found) > TOO_MANY:
        return
    yield Finding(
        code=FindingCode.MATCHES_ANOTHER_RECORD,
        aspect=Aspect.STATE,
        severity=Severity.INFO,
        message=f"this is {' or '.join(found)}",
        label=expected.label,
        documented=expected.address,
        observed=found[0] if len(found) == 1 else found,
    )
