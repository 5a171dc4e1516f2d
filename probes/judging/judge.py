"""Documented against observed: findings, and from them the outcome. Pure: no clock, no network, no files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from catalog.model import Aspect, Attempt, Exchange, Finding, Outcome, Reason, Response, Severity
from catalog.model.codes import FindingCode, ReasonCode
from catalog.reading.expected import Expected, answer_body, asked_of
from catalog.reading.grpc_statuses import status_of
from catalog.recognition.known import TOO_MANY, Known
from probes.judging.asked import of_this_request
from probes.judging.basis import failed_assumption, succeeds, weighed
from probes.judging.compare import compare
from probes.judging.looks import look
from probes.judging.unasked import held_to_its_own_record, unasked, words
from probes.judging.undocumented import seen_on_the_way
from probes.judging.verdict import Verdict


def judge(expected: Sequence[Expected], attempt: Attempt, known: Known) -> Verdict:
    """The verdict of one attempt: every label conforms, or one drifts, or one could not be looked at."""
    exchanges = {exchange.label: exchange for exchange in attempt.exchanges}
    missing = [each.label for each in expected if each.label not in exchanges]
    if missing:
        return Verdict(
            Outcome.HARNESS_ERROR, Reason(ReasonCode.RECIPE_INCOMPLETE, f"no exchange labelled {missing[0]!r}")
        )
    chosen = [each.chosen_by(exchanges[each.label].response) for each in expected]
    verdicts = [_judge_label(each, exchanges, known) for each in chosen]
    shown = _shown_to_work(verdicts, chosen, exchanges)
    verdicts = [
        _judge_label(_without(its, shown), exchanges, known) if shown and _blames_an_assumption(each) else each
        for each, its in zip(verdicts, chosen, strict=True)
    ]
    verdicts = _after_what_they_depend_on(verdicts, expected)
    findings = tuple(finding for verdict in verdicts for finding in verdict.findings)
    looks = tuple(
        look(each, exchanges[each.label], verdict.findings, verdict.reason, known.endpoints, _twin(each, exchanges))
        for each, verdict in zip(expected, verdicts, strict=True)
    )
    for outcome in (Outcome.DRIFTED, Outcome.INCONCLUSIVE, Outcome.RESTRICTED):
        found = next((verdict for verdict in verdicts if verdict.outcome is outcome), None)
        if found is not None:
            return Verdict(outcome, found.reason, findings, looks)
    return Verdict(Outcome.CONFORMS, None, findings, looks)


def _after_what_they_depend_on(verdicts: Sequence[Verdict], expected: Sequence[Expected]) -> list[Verdict]:
    """A difference under a label is no drift unless all that it depends on were seen as documented.

    What was never deleted need not be gone.
    """
    seen = {its.label for each, its in zip(verdicts, expected, strict=True) if each.outcome is Outcome.CONFORMS}
    judged = []
    for each, its in zip(verdicts, expected, strict=True):
        missed = [label for label in its.depends if label not in seen]
        if missed and each.outcome is Outcome.DRIFTED:
            reason = Reason(ReasonCode.STEP_UNSEEN, f"{its.label} means something only after {', '.join(missed)}")
            judged.append(Verdict(Outcome.INCONCLUSIVE, reason))
        else:
            judged.append(each)
    return judged


def _shown_to_work(
    verdicts: Sequence[Verdict], expected: Sequence[Expected], exchanges: Mapping[str, Exchange]
) -> frozenset[str]:
    """What is assumed of requests and a success of this very record rests on: that is not to blame for a refusal."""
    succeeded = (
        of_this_request(its, exchanges[its.label].request).asked
        for each, its in zip(verdicts, expected, strict=True)
        if each.outcome is Outcome.CONFORMS and succeeds(its.status)
    )
    return frozenset(within for asked in succeeded for within in asked)


def _without(expected: Expected, shown: frozenset[str]) -> Expected:
    return replace(expected, asked={key: why for key, why in expected.asked.items() if key not in shown})


def _blames_an_assumption(verdict: Verdict) -> bool:
    return verdict.reason is not None and verdict.reason.code == ReasonCode.ASSUMPTION_FAILED


def _twin(expected: Expected, exchanges: Mapping[str, Exchange]) -> Exchange | None:
    """The exchange whose body should be the same; none where it had no answer, for then nothing can be compared."""
    twin = exchanges.get(expected.same_body_as) if expected.same_body_as else None
    return twin if twin is not None and twin.response is not None else None


def _judge_label(expected: Expected, exchanges: Mapping[str, Exchange], known: Known) -> Verdict:
    exchange = exchanges[expected.label]
    if exchange.failure is not None and expected.failure is None:
        return Verdict(Outcome.INCONCLUSIVE, _at(exchange, exchange.failure))
    if exchange.response is not None:
        reason = unasked(expected, exchange.response)
        if reason is not None and reason.code != ReasonCode.SERVER_FAULT:
            beside = tuple(held_to_its_own_record(expected, exchange, exchange.response, known))
            return Verdict(Outcome.INCONCLUSIVE, _at(exchange, reason), beside)
    else:
        reason = None
    findings = tuple(weighed(expected, compare(expected, exchange, _twin(expected, exchanges))))
    if reason is not None and exchange.response is not None:
        own = _is_the_providers(expected, exchange.response, known)
        return Verdict(Outcome.INCONCLUSIVE, _at(exchange, reason), findings if own else ())
    if any(finding.drifts for finding in findings):
        if exchange.response is not None:
            if _refused(expected, exchange.response, known):
                return Verdict(Outcome.RESTRICTED, Reason(ReasonCode.PROBE_REFUSED, words(exchange.response)))
            assumed = failed_assumption(of_this_request(expected, exchange.request), exchange.response, findings)
            if assumed:
                told = Reason(ReasonCode.ASSUMPTION_FAILED, f"{assumed}; {words(exchange.response)}")
                return Verdict(Outcome.INCONCLUSIVE, _at(exchange, told))
            findings += tuple(_recognised(expected, exchange.response, known))
        return Verdict(Outcome.DRIFTED, None, findings)
    if exchange.response is not None:
        findings += tuple(seen_on_the_way(expected, exchange.response, known))
    return Verdict(Outcome.CONFORMS, None, findings)


def _is_the_providers(expected: Expected, response: Response, known: Known) -> bool:
    """Whether a server fault comes from the provider: in an error envelope of its own, by gRPC, or a bare sibling.

    (A sibling is a server fault where another one is stated.)
    """
    if response.grpc is not None or (response.body in (None, "") and (asked_of(expected) or 0) >= 500):
        return True
    return known.has_envelope_of(response.body)


def _refused(expected: Expected, response: Response, known: Known) -> bool:
    """Whether a success was asked for and the documented permission refusal came."""
    if (expected.status or 0) >= 400:
        return False
    if response.grpc is not None:
        return status_of(response, expected.provider) == 403 and asked_of(expected) == 200
    return any(answer.permission for answer in known.matching(response.status, response.body))


def _recognised(expected: Expected, response: Response, known: Known) -> Iterator[Finding]:
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


def _at(exchange: Exchange, reason: Reason) -> Reason:
    """The reason with the request it belongs to, so that a person can repeat it."""
    where = f"{exchange.request.method} {exchange.request.url}"
    return Reason(reason.code, f"{where}: {reason.detail}" if reason.detail else where)
