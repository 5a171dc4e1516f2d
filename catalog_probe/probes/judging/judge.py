"""Documented against observed: findings, and from them the outcome. Pure: no clock, no network, no files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Attempt, Exchange, Finding, Outcome, Reason, Response, Severity
from catalog_probe.catalog.model.codes import FindingCode, ReasonCode
from catalog_probe.catalog.reading.assertions import TRIGGER
from catalog_probe.catalog.reading.expectations import ASKED_FOR
from catalog_probe.catalog.reading.expected import Expected, answer_body, asked_of
from catalog_probe.catalog.reading.grpc_statuses import status_of
from catalog_probe.catalog.recognition.known import TOO_MANY, Known
from catalog_probe.probes.judging.comparison.basis import failed_assumption, succeeds, weighed
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.judging.comparison.message import wording
from catalog_probe.probes.judging.comparison.observations import is_answered, observe, shows_documented
from catalog_probe.probes.judging.comparison.relations import NO_OTHERS, Answers
from catalog_probe.probes.judging.comparison.revisions import held, not_holding
from catalog_probe.probes.judging.comparison.undocumented import repeated_names, seen_on_the_way
from catalog_probe.probes.judging.inconclusive.assumed_requests import of_this_request
from catalog_probe.probes.judging.inconclusive.unasked import (
    broken_off,
    held_to_its_own_record,
    is_of_a_mock,
    is_page,
    is_refusal_in_text,
    is_success_without_body,
    message_in_words,
    of_the_account,
    tells_of_the_limit,
    unasked,
    words,
)
from catalog_probe.probes.judging.verdicts.cells import Asked, Cell, answers_beside
from catalog_probe.probes.judging.verdicts.record_verdict import record_verdict
from catalog_probe.probes.judging.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def judge(expected: Sequence[Expected], attempt: Attempt, known: Known, stopped: Reason | None = None) -> Verdict:
    """The verdict of one attempt, cell by cell: a difference on one endpoint leaves the others' looks as they are.

    `stopped` is why the attempt ended before its end, if it did: what was seen until then is judged all the same.
    """
    asked = Asked.of(attempt)
    cells = asked.cells(expected)
    verdicts = [_judge_cell(cell.chosen, cell, known) for cell in cells]
    # A success of this very record under another label clears what was assumed of the request: whoever blamed that is
    # judged again without the excuse.
    shown = _shown_to_work(verdicts, cells)
    verdicts = [
        _judge_cell(_without(cell, shown), cell, known) if shown and each.blames_us else each
        for each, cell in zip(verdicts, cells, strict=True)
    ]
    # Only what conforms may stand beside another answer: a comparison with a wrong one would blame the right one. And
    # only what has a verdict is compared at all, so that an overload does not become a difference.
    seen = [cell for each, cell in zip(verdicts, cells, strict=True) if each.outcome is Outcome.CONFORMS]
    beside = [answers_beside(cell, cells, seen) for cell in cells]
    verdicts = [
        _judge_cell(_without(cell, shown), cell, known, others) if others and each.outcome.conclusive else each
        for each, cell, others in zip(verdicts, cells, beside, strict=True)
    ]
    verdicts = _after_what_they_depend_on(_blaming_us_alike(verdicts, cells, known), cells)
    looked = {
        (cell.label, cell.endpoint): _with_its_observation(cell, each, others, known)
        for each, cell, others in zip(verdicts, cells, beside, strict=True)
    }
    judged = {cell.label for cell in cells}
    wrong = [cell.label for each, cell in zip(verdicts, cells, strict=True) if each.outcome is not Outcome.CONFORMS]
    missing = {
        (each.label, ""): _never_asked(each.label, stopped, wrong) for each in expected if each.label not in judged
    }
    return record_verdict({**looked, **missing})


def _with_its_observation(cell: Cell, verdict: Verdict, others: Answers, known: Known) -> Verdict:
    seen = observe(cell.expected, cell.exchange, verdict.findings, verdict.reason, known.endpoints, others)
    return replace(verdict, observations=(seen,), shows_documented=shows_documented(cell.expected, seen))


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


def _conforming(verdicts: Sequence[Verdict], cells: Sequence[Cell], endpoint: str | None = None) -> set[str]:
    """The labels that were seen as documented: on one endpoint, or on any."""
    both = zip(verdicts, cells, strict=True)
    return {
        cell.label
        for each, cell in both
        if each.outcome is Outcome.CONFORMS and (endpoint is None or cell.endpoint == endpoint)
    }


def _blaming_us_alike(verdicts: Sequence[Verdict], cells: Sequence[Cell], known: Known) -> list[Verdict]:
    """Whoever was refused in the words in which a success was, for a header that we assumed, blames that header too.

    One that nobody should have sent may be refused before anybody looks at the key or at the fault.
    """
    pairs = tuple(zip(verdicts, cells, strict=True))
    blamed = {_words_on(cell, known): each.reason for each, cell in pairs if each.blames_us and _assumed_headers(cell)}
    return [
        Verdict(Outcome.INCONCLUSIVE, blamed[words_on])
        if each.outcome is Outcome.DRIFTED and _assumed_headers(cell) and (words_on := _words_on(cell, known)) in blamed
        else each
        for each, cell in pairs
    ]


def _assumed_headers(cell: Cell) -> bool:
    """Whether the request has headers that we assumed."""
    return any(within.startswith("header:") for within in cell.chosen.asked)


def _words_on(cell: Cell, known: Known) -> tuple[str, int | None, str]:
    """The endpoint, the status and the words of an answer."""
    response = cell.exchange.response
    said = wording(cell.chosen, response, known) if response is not None else ""
    return cell.endpoint, response.status if response is not None else None, said


def _after_what_they_depend_on(verdicts: Sequence[Verdict], cells: Sequence[Cell]) -> list[Verdict]:
    """A label counts only if all that it depends on were seen as documented, there or anywhere.

    What was never deleted need not be gone, and what is gone nevertheless shows nothing of the delete.
    """
    there = {(cell.label, cell.endpoint) for cell in cells}
    judged = []
    for each, cell in zip(verdicts, cells, strict=True):
        missed = []
        if cell.expected.depends and each.outcome.conclusive:
            own, anywhere = _conforming(verdicts, cells, cell.endpoint), _conforming(verdicts, cells)
            missed = [
                label
                for label in cell.expected.depends
                if label not in (own if (label, cell.endpoint) in there else anywhere)
            ]
        if missed:
            reason = Reason(ReasonCode.STEP_UNSEEN, f"{cell.label} means something only after {', '.join(missed)}")
            judged.append(Verdict(Outcome.INCONCLUSIVE, reason))
        else:
            judged.append(each)
    return judged


def _shown_to_work(verdicts: Sequence[Verdict], cells: Sequence[Cell]) -> frozenset[tuple[str, str]]:
    """What is assumed of requests and a success of this very record rests on, by endpoint: not to blame there."""
    succeeded = (
        (cell.endpoint, within)
        for each, cell in zip(verdicts, cells, strict=True)
        if each.outcome is Outcome.CONFORMS and succeeds(cell.chosen.status) and cell.chosen.status != ASKED_FOR
        for within in of_this_request(cell.chosen, cell.exchange.request).asked
    )
    return frozenset(succeeded)


def _without(cell: Cell, shown: frozenset[tuple[str, str]]) -> Expected:
    asked = {key: why for key, why in cell.chosen.asked.items() if (cell.endpoint, key) not in shown}
    return replace(cell.chosen, asked=asked)


def _judge_cell(expected: Expected, cell: Cell, known: Known, others: Answers = NO_OTHERS) -> Verdict:
    """The verdict on one exchange; none where the answer that is stated is of another revision."""
    if f"{expected.label}/status" in not_holding(expected, cell.exchange.request):
        told = f"{expected.label} is stated of another revision than was asked under"
        return Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.ANOTHER_REVISION, told))
    return _judge_exchange(expected, cell, known, others)


def _judge_exchange(expected: Expected, cell: Cell, known: Known, others: Answers) -> Verdict:
    """The verdict on one exchange, held against what was chosen of its expectation, beside others of the attempt."""
    exchange = cell.exchange
    if exchange.failure is not None and expected.failure is None:
        return Verdict(Outcome.INCONCLUSIVE, _at(exchange, exchange.failure))
    if exchange.response is not None:
        reason = (
            of_the_account(expected, exchange.response, known)
            or unasked(expected, exchange.response, known.events)
            or broken_off(expected, exchange.response, known)
        )
        beside = tuple(held_to_its_own_record(expected, exchange, exchange.response, known)) if reason else ()
        # A look at a limit means the limit's own refusal: another, as of a gateway, is nobody's. How long it tells to
        # wait is no sign of whose it is.
        is_documented = all(finding.aspect is Aspect.RELATION for finding in beside)
        if reason is not None and is_documented and tells_of_the_limit(reason, expected, exchange.request):
            reason = None
        if reason is not None and reason.code != ReasonCode.SERVER_FAULT:
            return Verdict(Outcome.INCONCLUSIVE, _at(exchange, reason), beside)
    else:
        reason = None
    findings = tuple(held(weighed(expected, compare(expected, exchange, others)), expected, exchange.request))
    # From here on only a server fault has a reason: three of them alike are a drift, and must say of what.
    if reason is not None and exchange.response is not None:
        own = _is_the_providers(expected, exchange.response, known)
        return Verdict(Outcome.INCONCLUSIVE, _at(exchange, reason), findings if own else ())
    if any(finding.drifts for finding in findings):
        if exchange.response is not None:
            if not is_of_a_mock(exchange.request) and _refused(expected, exchange.response, known):
                return Verdict(Outcome.RESTRICTED, Reason(ReasonCode.PROBE_REFUSED, words(exchange.response)))
            asked = of_this_request(expected, exchange.request)
            assumed = failed_assumption(asked, exchange.response, findings, known)
            if assumed:
                said = message_in_words(exchange.response, known)
                blamed = Reason(ReasonCode.ASSUMPTION_FAILED, f"{said}; what we assumed may be why: {assumed}")
                untriggered = assumed.startswith(f"{TRIGGER}: ")
                return Verdict(Outcome.INCONCLUSIVE, _at(exchange, blamed), untriggered=untriggered)
            if (
                is_page(expected, exchange.response)
                or is_refusal_in_text(expected, exchange.response)
                or is_success_without_body(expected, exchange.response)
            ):
                page = Reason(ReasonCode.GATEWAY_PAGE, words(exchange.response))
                return Verdict(Outcome.INCONCLUSIVE, _at(exchange, page), findings)
            findings += tuple(_recognised(expected, exchange.response, known))
            findings += tuple(repeated_names(expected, exchange.response))
        return Verdict(Outcome.DRIFTED, None, findings)
    return _without_drift(expected, exchange, findings, known)


def _without_drift(expected: Expected, exchange: Exchange, findings: tuple[Finding, ...], known: Known) -> Verdict:
    """The verdict on an exchange in which nothing documented differs: a silence has shown nothing."""
    if exchange.response is None:
        return Verdict(Outcome.CONFORMS, None, findings)
    if not is_answered(expected, exchange.response):
        close = exchange.response.close
        end = f"closed with {close.code} {close.reason}".rstrip() if close is not None else exchange.response.ended
        detail = f"no answer came before it was {end}"
        return Verdict(Outcome.INCONCLUSIVE, _at(exchange, Reason(ReasonCode.NOTHING_OBSERVED, detail)))
    told = seen_on_the_way(expected, exchange.response, known)
    return Verdict(Outcome.CONFORMS, None, (*findings, *told))


def _is_the_providers(expected: Expected, response: Response, known: Known) -> bool:
    """Whether a server fault comes from the provider: in an error envelope of its own, by gRPC, or a bare sibling.

    (A sibling is a server fault where another one is stated. One that breaks off a stream was known by its envelope.)
    """
    if (
        response.grpc is not None
        or response.events is not None
        or (expected.is_bare(response.body) and (asked_of(expected) or 0) >= 500)
    ):
        return True
    return known.has_envelope_of(response.body)


def _refused(expected: Expected, response: Response, known: Known) -> bool:
    """Whether a success was asked for and the documented permission refusal came.

    A live account may lack the right. A mock's keys have those of their roles, so there a refusal is drift.
    """
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
