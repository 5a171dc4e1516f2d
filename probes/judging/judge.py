"""Documented against observed: findings, and from them the outcome. Pure: no clock, no network, no files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from catalog.evidence import same_drift
from catalog.model import Aspect, Attempt, Exchange, Finding, Outcome, Reason, Response, Severity
from catalog.model.codes import FindingCode, ReasonCode
from catalog.model.look import Look
from catalog.reading.expected import Expected, answer_body, asked_of
from catalog.reading.grpc_statuses import status_of
from catalog.recognition.known import TOO_MANY, Known
from probes.judging.asked import of_this_request
from probes.judging.basis import failed_assumption, succeeds, weighed
from probes.judging.compare import compare
from probes.judging.looks import look
from probes.judging.undocumented import seen_on_the_way

MAX_ATTEMPTS = 3
"""A drift is looked at again until two attempts agree, at most this often."""

UNASKED: Mapping[int, ReasonCode] = {
    408: ReasonCode.UNASKED_TIMEOUT,
    429: ReasonCode.UNASKED_RATE_LIMIT,
    502: ReasonCode.UNASKED_OVERLOAD,
    503: ReasonCode.UNASKED_OVERLOAD,
    504: ReasonCode.UNASKED_TIMEOUT,
    529: ReasonCode.UNASKED_OVERLOAD,
}
"""Statuses that say nothing about a record which documents another one."""

ENDED: Mapping[str, ReasonCode] = {
    "capped": ReasonCode.STREAM_ENDLESS,
    "stalled": ReasonCode.STREAM_STALLED,
    "cut": ReasonCode.CONNECTION_RESET,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one attempt, or all of them, say about a record."""

    outcome: Outcome
    reason: Reason | None = None
    findings: tuple[Finding, ...] = ()
    looks: tuple[Look, ...] = ()

    @property
    def difference(self) -> same_drift.Identity:
        """What must be the same in two attempts for them to agree on a drift."""
        return same_drift.identity(self.findings)


def judge(expected: Sequence[Expected], attempt: Attempt, known: Known) -> Verdict:
    """The verdict of one attempt: every label conforms, or one drifts, or one could not be looked at."""
    exchanges = {exchange.label: exchange for exchange in attempt.exchanges}
    missing = [each.label for each in expected if each.label not in exchanges]
    if missing:
        return Verdict(
            Outcome.HARNESS_ERROR, Reason(ReasonCode.RECIPE_INCOMPLETE, f"no exchange labelled {missing[0]!r}")
        )
    verdicts = [_judge_label(each, exchanges, known) for each in expected]
    shown = _shown_to_work(verdicts, expected, exchanges)
    verdicts = [
        _judge_label(_without(its, shown), exchanges, known) if shown and _blames_an_assumption(each) else each
        for each, its in zip(verdicts, expected, strict=True)
    ]
    findings = tuple(finding for verdict in verdicts for finding in verdict.findings)
    looks = tuple(
        look(each, exchanges[each.label], verdict.findings, verdict.reason, known.endpoints)
        for each, verdict in zip(expected, verdicts, strict=True)
    )
    for outcome in (Outcome.DRIFTED, Outcome.INCONCLUSIVE, Outcome.RESTRICTED):
        found = next((verdict for verdict in verdicts if verdict.outcome is outcome), None)
        if found is not None:
            return Verdict(outcome, found.reason, findings, looks)
    return Verdict(Outcome.CONFORMS, None, findings, looks)


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


def conclude(verdicts: Sequence[Verdict], *, control_green: bool) -> Verdict:
    """The outcome over all attempts (DESIGN.md, outcome table)."""
    last = verdicts[-1]
    if all(_server_fault(each) for each in verdicts):
        if len(verdicts) >= MAX_ATTEMPTS and control_green:
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


def _judge_label(expected: Expected, exchanges: Mapping[str, Exchange], known: Known) -> Verdict:
    exchange = exchanges[expected.label]
    if exchange.failure is not None and expected.failure is None:
        return Verdict(Outcome.INCONCLUSIVE, _at(exchange, exchange.failure))
    if exchange.response is not None:
        reason = unasked(expected, exchange.response)
        if reason is not None and reason.code != ReasonCode.SERVER_FAULT:
            beside = tuple(_held_to_its_own_record(expected, exchange, exchange.response, known))
            return Verdict(Outcome.INCONCLUSIVE, _at(exchange, reason), beside)
    else:
        reason = None
    twin = exchanges.get(expected.same_body_as) if expected.same_body_as else None
    findings = tuple(weighed(expected, compare(expected, exchange, twin)))
    if reason is not None:
        return Verdict(Outcome.INCONCLUSIVE, _at(exchange, reason), findings)
    if any(finding.drifts for finding in findings):
        if exchange.response is not None:
            if _refused(expected, exchange.response, known):
                return Verdict(Outcome.RESTRICTED, Reason(ReasonCode.PROBE_REFUSED, _words(exchange.response)))
            assumed = failed_assumption(of_this_request(expected, exchange.request), exchange.response, findings)
            if assumed:
                told = Reason(ReasonCode.ASSUMPTION_FAILED, f"{assumed}; {_words(exchange.response)}")
                return Verdict(Outcome.INCONCLUSIVE, _at(exchange, told))
            findings += tuple(_recognised(expected, exchange.response, known))
        return Verdict(Outcome.DRIFTED, None, findings)
    if exchange.response is not None:
        findings += tuple(seen_on_the_way(expected, exchange.response, known))
    return Verdict(Outcome.CONFORMS, None, findings)


def unasked(expected: Expected, response: Response) -> Reason | None:
    """Why an answer says nothing about what was asked, or None where it does."""
    status = status_of(response, expected.provider)
    if response.ended in ENDED and not _seen_before_the_end(expected, response):
        code = (
            ReasonCode.BODY_TOO_LARGE if response.events is None and response.close is None else ENDED[response.ended]
        )
        return Reason(code, f"{len(response.events or ())} events were read" if response.events else "")
    if status is None or status == asked_of(expected) or status in expected.choices:
        return Reason(ReasonCode.GATEWAY_PAGE, _words(response)) if _from_a_gateway(expected, response) else None
    if 300 <= status < 400 and status != 304:
        return Reason(ReasonCode.UNASKED_REDIRECT, f"{status} to {response.headers.get('location', 'nowhere')}")
    if status >= 500 and _from_a_gateway(expected, response):
        return Reason(ReasonCode.GATEWAY_PAGE, _words(response))
    if status in UNASKED:
        return Reason(UNASKED[status], _words(response))
    if status == 500:
        return Reason(ReasonCode.SERVER_FAULT, _words(response))
    return None


def _held_to_its_own_record(
    expected: Expected, exchange: Exchange, response: Response, known: Known
) -> Iterator[Finding]:
    """What an overload, limit or timeout answer that nobody asked for has wrong beside the record that documents it."""
    if response.grpc is not None or response.status not in UNASKED or not known.documents(response.status):
        return
    found = known.matching(response.status, response.body)
    wrong = {answer.address: list(compare(answer.expected, exchange)) for answer in found}
    nearest = min(wrong, key=lambda address: len(wrong[address]), default="")
    if nearest and not wrong[nearest]:
        return
    first = wrong[nearest][0] if nearest else None
    yield Finding(
        code=FindingCode.UNASKED_ANSWER,
        aspect=first.aspect if first is not None else Aspect.STATE,
        severity=Severity.INFO,
        message=f"{nearest}: {first.message}" if first is not None else "no record documents this answer",
        label=expected.label,
        at=first.at if first is not None else "",
        documented=first.documented if first is not None else None,
        observed=first.observed if first is not None else response.status,
    )


def _from_a_gateway(expected: Expected, response: Response) -> bool:
    return (
        (response.status or 0) >= 500
        and expected.envelope.body in ("json", "empty")
        and "text/html" in response.headers.get("content-type", "")
    )


def _seen_before_the_end(expected: Expected, response: Response) -> bool:
    """Whether a stream that was cut, capped or stalled had already shown what is asserted of it.

    A socket that goes on in silence has shown that it is not closed.
    """
    rule = expected.stream
    if rule is None:
        return False
    if rule.event is None:
        return rule.closes and response.ended == "stalled"
    return any(each.event == rule.event for each in response.events or ())


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


def _agreeing(verdicts: Sequence[Verdict]) -> Verdict | None:
    """The drift that two attempts agree on, if any."""
    drifted = [each for each in verdicts if each.outcome is Outcome.DRIFTED]
    for number, each in enumerate(drifted):
        if any(each.difference == other.difference for other in drifted[number + 1 :]):
            return each
    return None


def _server_fault(verdict: Verdict) -> bool:
    return verdict.reason is not None and verdict.reason.code == ReasonCode.SERVER_FAULT


def _in_a_word(verdict: Verdict) -> str:
    if verdict.reason is not None:
        return f"{verdict.outcome} ({verdict.reason.code})"
    codes = sorted({finding.code for finding in verdict.findings if finding.drifts})
    return f"{verdict.outcome} ({', '.join(codes)})" if codes else str(verdict.outcome)


def _at(exchange: Exchange, reason: Reason) -> Reason:
    """The reason with the request it belongs to, so that a person can repeat it."""
    where = f"{exchange.request.method} {exchange.request.url}"
    return Reason(reason.code, f"{where}: {reason.detail}" if reason.detail else where)


def _words(response: Response) -> str:
    if response.grpc is not None:
        return f"gRPC status {response.grpc.status}: {response.grpc.message[:160]}"
    body = response.body
    text = body if isinstance(body, str) else str(body) if body is not None else "empty body"
    return f"HTTP {response.status}: {' '.join(text.split())[:160]}"
