"""Provisional verdicts: a record's verdict until all answers to its key are there.

Some rules need all answers to the same key: a refusal of one endpoint is no drift if every endpoint refuses this key in
the same words. So a record is judged in two stages:

1. `gather_key_evidence`, once the attempts at the record ended, adds what its answers show to the evidence of the key.
2. `finish_verdict`, once all records of the key are there, applies the rules with that evidence.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.exchange import SETUP
from catalog_probe.probes.judging.comparison.basis import is_no_refusal
from catalog_probe.probes.judging.inconclusive.account import add_rights_refusal, explain_refusal_of_key
from catalog_probe.probes.judging.inconclusive.another_error import has_another_error
from catalog_probe.probes.judging.inconclusive.assumptions import (
    add_confirmed_host,
    add_reached_endpoint,
    find_blamed_values,
    find_service,
)
from catalog_probe.probes.judging.inconclusive.evidence import Evidence, is_of_a_mock
from catalog_probe.probes.judging.inconclusive.foreign import add_foreign_body
from catalog_probe.probes.judging.inconclusive.not_implemented import (
    add_suspected_family,
    explain_missing_family,
    may_be_missing,
)
from catalog_probe.probes.judging.inconclusive.one_answer import add_answer, note_shared_message
from catalog_probe.probes.judging.inconclusive.table import RuleScope, apply_rules
from catalog_probe.probes.judging.verdict import judge_record, retract

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.judging.inconclusive.evidence import KeyEvidence
    from catalog_probe.probes.judging.verdict import StepKey, Verdict


@dataclass(frozen=True, slots=True)
class ProbedRecord:
    """What is known of the requests of a record before anything is answered."""

    provider: str
    expected: Sequence[Expected]
    vocabulary: ProviderVocabulary
    live: bool
    faults: Mapping[str, str] = field(default_factory=dict)
    """Label -> the row of the error that its request provokes, e.g. `"answer" -> "2:7.3#400 missing max_tokens"`."""
    other_key_labels: Container[str] = ()
    """The labels that were sent with another key than the lane's."""
    unconfirmed_hosts: Mapping[str, str] = field(default_factory=dict)
    """Service -> its address, of the services that the recipe asks and whose address no control shows to be right."""


@dataclass(frozen=True, slots=True)
class ProvisionalVerdict:
    """The verdict of a record before the other answers to its key are considered."""

    verdict: Verdict
    retractable: Mapping[StepKey, Evidence] = field(default_factory=dict)
    """Step -> its evidence, of the steps whose verdict the other answers may retract."""
    refused_setups: Mapping[str, KeyEvidence] = field(default_factory=dict)
    """Endpoint -> the evidence of the key, of set-up requests that a compatible server answered as if it had no such
    endpoint; empty if the record has a verdict."""

    @property
    def is_final(self) -> bool:
        """Whether no other answer can change the verdict."""
        return not self.retractable and not self.refused_setups


def gather_key_evidence(
    probed: ProbedRecord, verdict: Verdict, exchanges: Sequence[Exchange], key: KeyEvidence
) -> ProvisionalVerdict:
    """Add what a record's answers show to the evidence of its key, and return its verdict as provisional.

    `verdict` is over all attempts. If it is a drift, a control succeeded after it.
    """
    expected_by_label = {expected.label: expected for expected in probed.expected}
    # Setups count too: any answer may show that a path exists.
    for exchange in exchanges:
        add_reached_endpoint(key, exchange, probed.provider, probed.vocabulary)
        add_suspected_family(key, exchange, probed.vocabulary)
        if exchange.label in expected_by_label:
            add_foreign_body(key, expected_by_label[exchange.label], exchange, probed.vocabulary)
    evidence_by_step = dict(_gather_steps(probed, verdict.step_verdicts, exchanges, key))
    for evidence in evidence_by_step.values():
        add_confirmed_host(key, evidence)
        add_rights_refusal(key, evidence)
        if has_another_error(evidence):
            key.endpoints_with_another_error.add(evidence.endpoint)
        # A refusal that the rights of the key or a wrong value explain is no sign of one answer to everything.
        is_explained = explain_refusal_of_key(evidence) or find_blamed_values(evidence, key.target.unconfirmed_values)
        if not is_explained:
            add_answer(key, evidence)
    retractable = {step_key: evidence for step_key, evidence in evidence_by_step.items() if _is_retractable(evidence)}
    refused_setups = {
        exchange.endpoint or probed.vocabulary.endpoints.find(exchange): key
        for exchange in exchanges
        if verdict.outcome is Outcome.INCONCLUSIVE
        and exchange.label == SETUP
        and may_be_missing(key, exchange.response.status if exchange.response is not None else None)
    }
    return ProvisionalVerdict(verdict, retractable, refused_setups)


def list_endpoints_with_another_error(
    probed: ProbedRecord, step_verdicts: Mapping[StepKey, Verdict], exchanges: Sequence[Exchange], key: KeyEvidence
) -> set[str]:
    """List the endpoints that answered a fault of this record with the documented error of another one."""
    steps = _gather_steps(probed, step_verdicts, exchanges, key)
    return {evidence.endpoint for _, evidence in steps if has_another_error(evidence)}


def finish_verdict(provisional: ProvisionalVerdict) -> Verdict:
    """Return the final verdict of a record, once all answers to its key are there."""
    for endpoint, key in provisional.refused_setups.items():
        missing = explain_missing_family(key, [endpoint])
        if missing is not None:
            return replace(retract(provisional.verdict, missing), outcome=Outcome.NOT_PROBED)
    finished = {}
    for step_key, evidence in provisional.retractable.items():
        verdict = apply_rules(evidence, RuleScope.KEY)
        # A match that survives may still share its message with other faults, which is worth a note.
        note = note_shared_message(evidence) if verdict.outcome is Outcome.CONFORMS else None
        finished[step_key] = replace(verdict, findings=(*verdict.findings, note)) if note is not None else verdict
    return judge_record({**provisional.verdict.step_verdicts, **finished})


def _gather_steps(
    probed: ProbedRecord, step_verdicts: Mapping[StepKey, Verdict], exchanges: Iterable[Exchange], key: KeyEvidence
) -> Iterator[tuple[StepKey, Evidence]]:
    """Yield the evidence of each step that was answered; of several exchanges of one step the last counts."""
    last_exchanges = {(exchange.label, exchange.endpoint): exchange for exchange in exchanges}
    expected_by_label = {expected.label: expected for expected in probed.expected}
    for step_key, step_verdict in step_verdicts.items():
        label, _ = step_key
        exchange = last_exchanges.get(step_key)
        if exchange is None or exchange.response is None:
            continue  # no rule can say anything of an answer that never came
        own_key = label not in probed.other_key_labels
        yield (
            step_key,
            Evidence(
                expected_by_label[label],
                exchange,
                step_verdict,
                probed.vocabulary,
                probed.live and not is_of_a_mock(exchange.request),
                own_key=own_key,
                fault=probed.faults.get(label, "") if own_key else "",
                unconfirmed_host=find_service(exchange.request, probed.unconfirmed_hosts),
                key=key,
            ),
        )


def _is_retractable(evidence: Evidence) -> bool:
    """Whether other answers to the key may retract the verdict of a step.

    A success that conforms stays, unless its host is unconfirmed. Example: a documented 401 is retracted if every
    request with this key gets the same 401. A verdict that an earlier rule retracted stays retracted. Two of these may
    get another reason here, because both may turn out to be an unconfirmed value: the rights of the key
    (`restricted`), and an assumption of ours (still `is_judged`).
    """
    verdict = evidence.verdict
    if may_be_missing(evidence.key, evidence.status):
        return True
    if verdict.outcome is Outcome.CONFORMS:
        is_success = is_no_refusal(evidence.status)
        return not is_success or bool(evidence.unconfirmed_host)
    return evidence.is_judged or verdict.outcome is Outcome.RESTRICTED
