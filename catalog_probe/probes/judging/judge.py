"""The judge: compares the steps of one attempt with the documents. Pure.

The stages of `judge`, each with what it needs to see:

1. one answer: compare it, and apply the rules of scope `ANSWER`;
2. all answers of the attempt: apply the rules of scope `ATTEMPT`;
3. the conforming answers: compare the relations between two answers;
4. the order of the steps: retract a step whose step before it did not conform;
5. the labels: explain those that were never sent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Attempt, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.catalog.reading.expectations import answer_body
from catalog_probe.catalog.recognition.vocabulary import MAX_CANDIDATES, ProviderVocabulary
from catalog_probe.probes.judging.comparison.basis import is_no_refusal, weigh_findings
from catalog_probe.probes.judging.comparison.compare import compare, find_duplicate_names, find_undocumented
from catalog_probe.probes.judging.comparison.findings import mismatch
from catalog_probe.probes.judging.comparison.observations import (
    assertions_of_other_revisions,
    drop_unasked,
    is_answered,
    is_refused_by_close,
    observe,
    shows_documented,
)
from catalog_probe.probes.judging.comparison.relations import NO_OTHER_ANSWERS, OtherAnswer, OtherAnswers
from catalog_probe.probes.judging.inconclusive.assumptions import compare_attempt, is_promise_broken
from catalog_probe.probes.judging.inconclusive.evidence import AttemptEvidence, Evidence, is_of_a_mock
from catalog_probe.probes.judging.inconclusive.table import RuleScope, apply_rules
from catalog_probe.probes.judging.inconclusive.transient import compare_with_documented
from catalog_probe.probes.judging.verdict import Verdict, judge_record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from catalog_probe.catalog.model import Exchange, Response
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.probes.judging.verdict import StepKey


@dataclass(frozen=True, slots=True)
class JudgedStep:
    """One expectation, and the exchange that is compared with it."""

    expected: Expected
    exchange: Exchange

    @property
    def chosen(self) -> Expected:
        """The expectation, or its alternative if the documents allow two answers and the alternative came."""
        return self.expected.select_for(self.exchange.response)

    @property
    def label(self) -> str:
        return self.exchange.label

    @property
    def endpoint(self) -> str:
        """The endpoint that the recipe names."""
        return self.exchange.endpoint

    @property
    def key(self) -> StepKey:
        return self.label, self.endpoint


def list_steps(expected: Iterable[Expected], attempt: Attempt) -> list[JudgedStep]:
    """List the steps of an attempt, in the order of the expectations and then of sending.

    Of several exchanges with the same label and endpoint the last one counts.
    """
    exchanges = {(exchange.label, exchange.endpoint): exchange for exchange in attempt.exchanges}
    by_label: dict[str, list[Exchange]] = {}
    for exchange in exchanges.values():
        by_label.setdefault(exchange.label, []).append(exchange)
    return [
        JudgedStep(expectation, exchange)
        for expectation in expected
        for exchange in by_label.get(expectation.label, ())
    ]


def select_other_answers(
    step: JudgedStep, steps: Iterable[JudgedStep], conforming: Collection[JudgedStep]
) -> OtherAnswers:
    """Return label -> the answer with which the relations of a step may be compared.

    Only `conforming` answers are compared: an answer that differs would blame the right one. The answer must come from
    the step's own endpoint, unless its label was not sent there. Example: "the second page has other items than the
    first" needs `{"first": answer of the first page on the same endpoint}`.
    """
    needed_labels = {label for relation in step.chosen.relations for label in relation.of}
    if not needed_labels:
        return {}
    labels_of_endpoint = {other.label for other in steps if other.endpoint == step.endpoint}
    answers: dict[str, OtherAnswer] = {}
    for other in conforming:
        is_comparable = other.endpoint == step.endpoint or other.label not in labels_of_endpoint
        if other.label in needed_labels and is_comparable:
            answers.setdefault(other.label, OtherAnswer(other.chosen, other.exchange))
    return answers


def judge(
    expected: Sequence[Expected], attempt: Attempt, vocabulary: ProviderVocabulary, stopped: Reason | None = None
) -> Verdict:
    """Return the verdict of one attempt at a record. The module's docstring lists the stages.

    Args:
        expected: what the record documents of each label.
        attempt: the exchanges.
        vocabulary: what all records of the provider document.
        stopped: why the attempt ended early, if it did. The exchanges until then are judged all the same.
    """
    steps = list_steps(expected, attempt)
    verdicts = [_judge_step(step, vocabulary) for step in steps]

    evidence_of_answers = [
        _gather_evidence(step, verdict, vocabulary)
        for step, verdict in zip(steps, verdicts, strict=True)
        if step.exchange.response is not None
    ]
    attempt_evidence = compare_attempt(evidence_of_answers)
    verdicts = [
        _apply_attempt_rules(step, verdict, vocabulary, attempt_evidence)
        for step, verdict in zip(steps, verdicts, strict=True)
    ]

    # Relations compare with conforming answers only: a comparison with a wrong answer would blame the right one.
    conforming = [step for step, verdict in zip(steps, verdicts, strict=True) if verdict.outcome is Outcome.CONFORMS]
    answers_by_step = [select_other_answers(step, steps, conforming) for step in steps]
    for index, (step, verdict, other_answers) in enumerate(zip(steps, verdicts, answers_by_step, strict=True)):
        # A step without a verdict is not compared, so that an overload does not become a difference.
        if other_answers and verdict.outcome.is_conclusive:
            compared = _judge_step(step, vocabulary, other_answers)
            verdicts[index] = _apply_attempt_rules(step, compared, vocabulary, attempt_evidence)

    verdicts = _retract_dependent_steps(verdicts, steps)
    judged = {
        step.key: _add_observation(step, _add_notes(step, verdict, vocabulary), other_answers, vocabulary)
        for step, verdict, other_answers in zip(steps, verdicts, answers_by_step, strict=True)
    }
    sent_labels = {step.label for step in steps}
    differing = [
        step.label for step, verdict in zip(steps, verdicts, strict=True) if verdict.outcome is not Outcome.CONFORMS
    ]
    missing = {
        (expectation.label, ""): _explain_missing_step(expectation.label, stopped, differing)
        for expectation in expected
        if expectation.label not in sent_labels
    }
    return judge_record({**judged, **missing})


def _judge_step(
    step: JudgedStep, vocabulary: ProviderVocabulary, other_answers: OtherAnswers = NO_OTHER_ANSWERS
) -> Verdict:
    """Compare one answer with the documents, and apply the rules that need to see no other answer."""
    expected, exchange = step.chosen, step.exchange
    if f"{expected.label}/status" in assertions_of_other_revisions(expected, exchange.request):
        detail = f"{expected.label} is documented for another revision than was asked under"
        return Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.ANOTHER_REVISION, detail))
    if exchange.failure is not None and expected.failure is None:
        return _unobserved_verdict(step, exchange.failure)
    # A difference from an assumption, or from another revision, is no drift.
    differences = weigh_findings(expected, compare(expected, exchange, other_answers))
    if not is_of_a_mock(exchange.request):
        differences = map(partial(_excuse_missing_failure, exchange), differences)
    findings = tuple(drop_unasked(differences, expected, exchange.request))
    is_mismatch = any(finding.is_drift for finding in findings)
    verdict = Verdict(Outcome.DRIFTED if is_mismatch else Outcome.CONFORMS, None, findings)
    if exchange.response is None:
        return verdict
    evidence = _gather_evidence(step, verdict, vocabulary)
    verdict = apply_rules(evidence, RuleScope.ANSWER)
    # A server fault keeps its differences from the documented answer; other transient answers are compared with the
    # record that documents them.
    if verdict.reason is not None and verdict.reason.code != ReasonCode.SERVER_FAULT:
        return replace(verdict, findings=(*verdict.findings, *compare_with_documented(evidence)))
    if verdict.outcome is Outcome.CONFORMS and not is_answered(expected, exchange.response):
        close = exchange.response.close
        end = f"closed with {close.code} {close.reason}".rstrip() if close is not None else exchange.response.ended
        return _unobserved_verdict(step, Reason(ReasonCode.NOTHING_OBSERVED, f"no answer came before it was {end}"))
    return verdict


def _excuse_missing_failure(exchange: Exchange, finding: Finding) -> Finding:
    """Return a finding that the value of a failure is nowhere in a success as a resolved assumption.

    This prevents a false alarm if a live model did not come to the failure: asked for one search too many, it made
    none, and `max_uses_exceeded` is in no block of its message. It can hide that a live success loses such a value.
    """
    is_success = exchange.response is not None and is_no_refusal(exchange.response.status)
    is_value_of_failure = finding.code is FindingCode.VALUE_NOWHERE and finding.aspect is Aspect.BODY
    may_not_have_failed = is_success and is_value_of_failure and finding.is_drift
    return replace(finding, severity=Severity.SHOULD) if may_not_have_failed else finding


def _unobserved_verdict(step: JudgedStep, reason: Reason) -> Verdict:
    """Return the verdict of a step without an answer, with the request, so that a person can repeat it."""
    request = f"{step.exchange.request.method} {step.exchange.request.url}"
    detail = f"{request}: {reason.detail}" if reason.detail else request
    outcome = Outcome.NOT_PROBED if reason.code == ReasonCode.UPSTREAM_NOT_ASKED else Outcome.INCONCLUSIVE
    return Verdict(outcome, replace(reason, detail=detail))


def _gather_evidence(
    step: JudgedStep, verdict: Verdict, vocabulary: ProviderVocabulary, attempt_evidence: AttemptEvidence | None = None
) -> Evidence:
    is_live = not is_of_a_mock(step.exchange.request)
    return Evidence(step.chosen, step.exchange, verdict, vocabulary, is_live, attempt_evidence or AttemptEvidence())


def _apply_attempt_rules(
    step: JudgedStep, verdict: Verdict, vocabulary: ProviderVocabulary, attempt_evidence: AttemptEvidence
) -> Verdict:
    """Apply the rules that need to see the other answers of the attempt."""
    response = step.exchange.response
    if response is None:
        return verdict
    evidence = _gather_evidence(step, verdict, vocabulary, attempt_evidence)
    if is_refused_by_close(step.chosen, response) and is_promise_broken(evidence):
        return Verdict(Outcome.DRIFTED, None, (*verdict.findings, _find_refusing_close(step.chosen, response)))
    return apply_rules(evidence, RuleScope.ATTEMPT) if verdict.outcome is Outcome.DRIFTED else verdict


def _find_refusing_close(expected: Expected, response: Response) -> Finding:
    """Return the finding that a socket was closed in place of the events that show its acceptance."""
    assert expected.stream is not None
    assert response.close is not None
    observed = f"close {response.close.code}"
    return mismatch(
        expected, "event", FindingCode.STREAM_NOT_STARTED, Aspect.EVENT, "", expected.stream.protocol, observed
    )


def _retract_dependent_steps(verdicts: Sequence[Verdict], steps: Sequence[JudgedStep]) -> list[Verdict]:
    """Retract each step unless all steps that it depends on conform, on its own endpoint or on any.

    Example: "the chat is gone" depends on "delete the chat". If the deletion was answered 502, a chat that is still
    there is no drift, and a chat that is gone shows nothing of the deletion.
    """
    sent = {step.key for step in steps}
    conforming = {
        step.key for step, verdict in zip(steps, verdicts, strict=True) if verdict.outcome is Outcome.CONFORMS
    }
    conforming_labels = {label for label, _ in conforming}
    retracted = []
    for step, verdict in zip(steps, verdicts, strict=True):
        missing = []
        for label in step.expected.depends_on:
            key = (label, step.endpoint)
            # Conforming on another endpoint is enough only if the label was not sent to this one.
            conforms_elsewhere = key not in sent and label in conforming_labels
            if key not in conforming and not conforms_elsewhere:
                missing.append(label)
        if missing and verdict.outcome.is_conclusive:
            reason = Reason(ReasonCode.STEP_UNSEEN, f"{step.label} means something only after {', '.join(missing)}")
            verdict = Verdict(Outcome.INCONCLUSIVE, reason)
        retracted.append(verdict)
    return retracted


def _explain_missing_step(label: str, stopped: Reason | None, differing: Sequence[str]) -> Verdict:
    """Return the verdict of a label that was never sent, with the reason why.

    The attempt ended early, or an answer that differs gave the recipe nothing to build the next request from. If all
    answers conform, the recipe forgot the label, and that is a fault of ours.
    """
    if stopped is not None:
        return Verdict(Outcome.INCONCLUSIVE, stopped)
    if differing:
        reason = Reason(ReasonCode.STEP_UNSEEN, f"{label} was not asked: {', '.join(differing)} were not as documented")
        return Verdict(Outcome.INCONCLUSIVE, reason)
    return Verdict(Outcome.HARNESS_ERROR, Reason(ReasonCode.RECIPE_INCOMPLETE, f"no exchange labelled {label!r}"))


def _add_observation(
    step: JudgedStep, verdict: Verdict, other_answers: OtherAnswers, vocabulary: ProviderVocabulary
) -> Verdict:
    observation = observe(
        step.expected, step.exchange, verdict.findings, verdict.reason, vocabulary.endpoints, other_answers
    )
    return replace(verdict, observations=(observation,), shows_documented=shows_documented(step.expected, observation))


def _add_notes(step: JudgedStep, verdict: Verdict, vocabulary: ProviderVocabulary) -> Verdict:
    """Add notes that are no part of the verdict: of a drift, which record it is; of a match, what no record names."""
    response = step.exchange.response
    if response is None or not verdict.outcome.is_conclusive:
        return verdict
    if verdict.outcome is Outcome.DRIFTED:
        notes = (*_recognize_answer(step.chosen, response, vocabulary), *find_duplicate_names(step.chosen, response))
    else:
        notes = tuple(find_undocumented(step.chosen, response, vocabulary))
    return replace(verdict, findings=(*verdict.findings, *notes))


def _recognize_answer(expected: Expected, response: Response, vocabulary: ProviderVocabulary) -> Iterator[Finding]:
    """Note which other record documents this answer, if no more than `MAX_CANDIDATES` do.

    Example: a 403 in place of a 404 -> "this is pa/errors/general/permission_error".
    """
    addresses = [
        answer.address for answer in vocabulary.match_answers(response.status, answer_body(expected, response))
    ]
    if not addresses or expected.address in addresses or len(addresses) > MAX_CANDIDATES:
        return
    yield Finding(
        code=FindingCode.MATCHES_ANOTHER_RECORD,
        aspect=Aspect.STATE,
        severity=Severity.INFO,
        remark=f"this is {' or '.join(addresses)}",
        label=expected.label,
        documented=expected.address,
        observed=addresses[0] if len(addresses) == 1 else addresses,
    )
