"""Settles a record once all answers to its key are there: gathers evidence, then applies the rules that see it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Outcome
from catalog_probe.catalog.model.exchange import NO_SUCH_PATH, SETUP, SUCCESS
from catalog_probe.catalog.observed import was_matched
from catalog_probe.catalog.reading.expectations import expected_http_status, http_status_of
from catalog_probe.probes.judging.comparison.basis import is_no_refusal
from catalog_probe.probes.judging.inconclusive.account import explain_refusal_of_key, is_accepted_key
from catalog_probe.probes.judging.inconclusive.assumptions import (
    confirms_host,
    find_blamed_values,
    find_service,
    is_failed_setup,
)
from catalog_probe.probes.judging.inconclusive.evidence import Evidence
from catalog_probe.probes.judging.inconclusive.foreign import classify_foreign_body
from catalog_probe.probes.judging.inconclusive.one_answer import add_refusal, describe_generic_message, is_generic
from catalog_probe.probes.judging.inconclusive.table import RuleScope, apply_rules
from catalog_probe.probes.judging.verdict import judge_record

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange, Record
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.judging.inconclusive.evidence import KeyEvidence
    from catalog_probe.probes.judging.verdict import StepKey, Verdict


def no_success(_endpoint: str) -> None:
    """The default of `ProbedRecord.success`: no endpoint's success is vocabulary."""


@dataclass(frozen=True, slots=True)
class ProbedRecord:
    """What is known of the requests of a record before anything is answered."""

    provider: str
    expected: Sequence[Expected]
    vocabulary: ProviderVocabulary
    live: bool
    record: Record | None = None
    """None for expectations of no record, such as a control's."""
    faults: Mapping[str, str] = field(default_factory=dict)
    """By label, what is wrong with a request that should be refused: the row that says so."""
    other_key_labels: Container[str] = ()
    """The labels that were sent with another key than the lane's."""
    success: Callable[[str], Expected | None] = no_success
    """Returns the documented success of an endpoint."""
    unconfirmed_hosts: Mapping[str, str] = field(default_factory=dict)
    """The addresses, by service, that the recipe asks and no control shows to be right."""


@dataclass(frozen=True, slots=True)
class PendingRecord:
    """A record that waits for the other answers of its key."""

    verdict: Verdict
    retractable: Mapping[StepKey, Evidence] = field(default_factory=dict)
    """The steps that other answers may retract."""

    @property
    def is_pending(self) -> bool:
        return bool(self.retractable)


def add_record(
    probed: ProbedRecord, verdict: Verdict, exchanges: Sequence[Exchange], key: KeyEvidence
) -> PendingRecord:
    """Add what a record's answers show to the evidence of its key.

    `verdict` is over all attempts; a drift was confirmed by a control that succeeded after it.
    """
    evidence_by_step = {
        step_key: replace(evidence, key=key) for step_key, evidence in _gather_evidence(probed, verdict, exchanges)
    }
    expected_by_label = {expected.label: expected for expected in probed.expected}
    for exchange in exchanges:
        _add_exchange(key, exchange, expected_by_label.get(exchange.label), probed)
    for evidence in evidence_by_step.values():
        _add_evidence(key, evidence)
    retractable = {step_key: evidence for step_key, evidence in evidence_by_step.items() if _is_retractable(evidence)}
    return PendingRecord(verdict, retractable)


def settle_record(pending: PendingRecord) -> Verdict:
    """Return the verdict of a record once all answers to its key are there."""
    settled = {}
    for step_key, evidence in pending.retractable.items():
        verdict = apply_rules(evidence, RuleScope.KEY)
        if verdict.outcome is Outcome.CONFORMS and is_generic(evidence):
            verdict = replace(verdict, findings=(*verdict.findings, describe_generic_message(evidence)))
        settled[step_key] = verdict
    step_verdicts = {**pending.verdict.step_verdicts, **settled}
    return pending.verdict if step_verdicts == pending.verdict.step_verdicts else judge_record(step_verdicts)


def _gather_evidence(
    probed: ProbedRecord, verdict: Verdict, exchanges: Iterable[Exchange]
) -> Iterable[tuple[StepKey, Evidence]]:
    """Yield the evidence of each step that was answered; of several exchanges of one step the last counts."""
    last_exchanges = {(exchange.label, exchange.endpoint): exchange for exchange in exchanges}
    expected_by_label = {expected.label: expected for expected in probed.expected}
    for step_key, step_verdict in verdict.step_verdicts.items():
        label, exchange = step_key[0], last_exchanges.get(step_key)
        if exchange is None and is_failed_setup(step_verdict):
            exchange = last_exchanges.get((SETUP, ""))
        if exchange is None or exchange.response is None:
            continue
        expected = expected_by_label[label]
        own_key = label not in probed.other_key_labels
        evidence = Evidence(expected, exchange, step_verdict, probed.vocabulary, probed.live, own_key=own_key)
        # What an endpoint documents is slow to read, and only an unexpected success needs it.
        is_unexpected_success = step_verdict.outcome is not Outcome.CONFORMS and is_no_refusal(evidence.status)
        yield (
            step_key,
            replace(
                evidence,
                fault=probed.faults.get(label, "") if own_key else "",
                provokes_refusal=own_key and (label in probed.faults or _is_always_refused(expected)),
                success=probed.success(evidence.endpoint) if is_unexpected_success else None,
                unconfirmed_host=find_service(exchange.request, probed.unconfirmed_hosts),
                assumed_path_reason=_explain_assumed_path(probed, evidence),
            ),
        )


def _explain_assumed_path(probed: ProbedRecord, evidence: Evidence) -> str:
    """Return why an error's endpoint has an assumed path; empty if it has none, or a night saw the refusal there."""
    endpoint, status_key = evidence.endpoint, f"{evidence.expected.label}/{Aspect.STATUS}"
    record = probed.record
    if record is None or record.kind != "errors" or was_matched(record, endpoint, status_key):
        return ""
    return probed.vocabulary.assumed_paths.get(endpoint, "")


def _is_always_refused(expected: Expected) -> bool:
    """Whether all that an endpoint documents of itself is a refusal."""
    return expected.label == SUCCESS and (expected_http_status(expected) or 0) >= 400


def _add_exchange(key: KeyEvidence, exchange: Exchange, expected: Expected | None, probed: ProbedRecord) -> None:
    """Remember where an answer came from, and whether no document promises its body."""
    response = exchange.response
    if response is None:
        return
    endpoint = exchange.endpoint or probed.vocabulary.endpoints.find(exchange)
    status = http_status_of(response, probed.provider)
    if status is not None and status not in NO_SUCH_PATH:
        key.reached_endpoints.add(endpoint)
    kind = classify_foreign_body(expected, response) if expected is not None else ""
    if kind:
        source = endpoint or f"{exchange.request.method} {exchange.request.url}"
        key.foreign_bodies.setdefault(kind, set()).add(source)


def _add_evidence(key: KeyEvidence, evidence: Evidence) -> None:
    """Remember what an observation shows of the key."""
    if evidence.unconfirmed_host and confirms_host(evidence):
        key.confirmed_hosts.add(evidence.unconfirmed_host)
    code = explain_refusal_of_key(evidence)
    if code is not None and evidence.fingerprint.message:
        key.success_refusals[evidence.fingerprint] = code
    is_explained = is_accepted_key(evidence) or bool(find_blamed_values(evidence, key.target.unconfirmed_values))
    if code is None and not is_explained:
        add_refusal(key, evidence)


def _is_retractable(evidence: Evidence) -> bool:
    """Whether other answers to the key may retract an observation: not a success that conforms."""
    verdict = evidence.verdict
    if verdict.outcome is Outcome.CONFORMS:
        return bool(evidence.unconfirmed_host) or not is_no_refusal(evidence.status)
    return evidence.is_judged or verdict.outcome is Outcome.RESTRICTED or is_failed_setup(verdict)
