"""Provisional verdicts: a record's verdict until all answers to its API key are there.

Some rules need all answers to the same key: a refusal of one endpoint is no drift if every endpoint refuses this key in
the same words. So a record is judged in two stages (words: docs/concepts.md):

1. `gather_key_evidence`, once the attempts at the record ended, adds what its answers show to the evidence of the key.
   Nothing that is added depends on what was added before, so the records may come in any order.
2. `finish_verdict`, once all records of the key are there, applies the rules of scope `KEY` with that evidence.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
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
from catalog_probe.probes.judging.inconclusive.evidence import Evidence, KeyEvidence, is_of_a_mock
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
    """The labels that were sent with another key than the one that the lane's probes share, e.g. a made-up key."""
    unconfirmed_hosts: Mapping[str, str] = field(default_factory=dict)
    """Service -> its address, of the services that the recipe asks and whose address no control shows to be right."""


@dataclass(frozen=True, slots=True)
class ProvisionalVerdict:
    """The verdict of a record before the other answers to its key are considered."""

    verdict: Verdict
    retractable: Mapping[StepKey, Evidence] = field(default_factory=dict)
    """Step -> its evidence, of the steps whose verdict the other answers may change."""
    suspected_setups: Collection[str] = ()
    """Endpoints that answered the set-up of an inconclusive record by 404, 405 or 501: the server may lack them."""
    key_evidence: KeyEvidence = field(default_factory=KeyEvidence)

    @property
    def is_final(self) -> bool:
        """Whether no other answer can change the verdict."""
        return not self.retractable and not self.suspected_setups


def gather_key_evidence(
    probed: ProbedRecord, verdict: Verdict, exchanges: Sequence[Exchange], key_evidence: KeyEvidence
) -> ProvisionalVerdict:
    """Add what a record's answers show to the evidence of its key, and return its verdict as provisional.

    `verdict` is over all attempts. The caller confirms a drift by a control before: the answers to a key that fails
    would be taken for those of a good key.
    """
    expected_by_label = {expected.label: expected for expected in probed.expected}
    # Setups count too: any answer may show that a path exists.
    for exchange in exchanges:
        add_reached_endpoint(key_evidence, exchange, probed.provider, probed.vocabulary)
        add_suspected_family(key_evidence, exchange, probed.vocabulary)
        if exchange.label in expected_by_label:
            add_foreign_body(key_evidence, expected_by_label[exchange.label], exchange, probed.vocabulary)
    evidence_by_step = dict(_gather_steps(probed, verdict.step_verdicts, exchanges, key_evidence))
    unconfirmed_values = key_evidence.target.unconfirmed_values
    for evidence in evidence_by_step.values():
        add_confirmed_host(key_evidence, evidence)
        add_rights_refusal(key_evidence, evidence)
        if has_another_error(evidence):
            key_evidence.endpoints_with_another_error.add(evidence.endpoint)
        # The rule `answer-to-everything` looks for a server that answers every request alike. A refusal shows no such
        # server if the rights of the key explain it, or a value that no look-up found, e.g. a retired model.
        is_explained = explain_refusal_of_key(evidence) or find_blamed_values(evidence, unconfirmed_values)
        if not is_explained:
            add_answer(key_evidence, evidence)
    retractable = {step: evidence for step, evidence in evidence_by_step.items() if _is_retractable(evidence)}
    suspected_setups = [
        exchange.endpoint or probed.vocabulary.endpoints.find(exchange)
        for exchange in exchanges
        if exchange.label == SETUP
        and may_be_missing(key_evidence, exchange.response.status if exchange.response is not None else None)
    ]
    is_undecided = verdict.outcome is Outcome.INCONCLUSIVE
    return ProvisionalVerdict(verdict, retractable, suspected_setups if is_undecided else (), key_evidence)


def list_endpoints_with_another_error(
    probed: ProbedRecord,
    step_verdicts: Mapping[StepKey, Verdict],
    exchanges: Sequence[Exchange],
    key_evidence: KeyEvidence,
) -> set[str]:
    """List the endpoints that answered a fault of this record with the documented error of another record."""
    steps = _gather_steps(probed, step_verdicts, exchanges, key_evidence)
    return {evidence.endpoint for _, evidence in steps if has_another_error(evidence)}


def finish_verdict(provisional: ProvisionalVerdict) -> Verdict:
    """Return the final verdict of a record, once all answers to its key are there."""
    missing = explain_missing_family(provisional.key_evidence, provisional.suspected_setups)
    if missing is not None:
        return replace(retract(provisional.verdict, missing), outcome=Outcome.NOT_PROBED)
    finished = {}
    for step, evidence in provisional.retractable.items():
        verdict = apply_rules(evidence, RuleScope.KEY)
        # A match that survives may still share its message with other faults, which is worth a note.
        note = note_shared_message(evidence) if verdict.outcome is Outcome.CONFORMS else None
        finished[step] = replace(verdict, findings=(*verdict.findings, note)) if note is not None else verdict
    return judge_record({**provisional.verdict.step_verdicts, **finished})


def _gather_steps(
    probed: ProbedRecord,
    step_verdicts: Mapping[StepKey, Verdict],
    exchanges: Iterable[Exchange],
    key_evidence: KeyEvidence,
) -> Iterator[tuple[StepKey, Evidence]]:
    """Yield the evidence of each step that was answered; of several exchanges of one step the last counts."""
    last_exchanges = {(exchange.label, exchange.endpoint): exchange for exchange in exchanges}
    expected_by_label = {expected.label: expected for expected in probed.expected}
    for step, step_verdict in step_verdicts.items():
        label, _ = step
        exchange = last_exchanges.get(step)
        if exchange is None or exchange.response is None:
            continue  # no rule can say anything of an answer that never came
        own_key = label not in probed.other_key_labels
        yield (
            step,
            Evidence(
                expected_by_label[label],
                exchange,
                step_verdict,
                probed.vocabulary,
                live=probed.live and not is_of_a_mock(exchange.request),
                own_key=own_key,
                fault=probed.faults.get(label, "") if own_key else "",
                unconfirmed_host=find_service(exchange.request, probed.unconfirmed_hosts),
                key=key_evidence,
            ),
        )


def _is_retractable(evidence: Evidence) -> bool:
    """Whether other answers to the key may change the verdict of a step.

    - A mismatch is retractable, and so is a refusal that conforms. Example: a documented 401 is retracted if every
      request with this key gets the same 401.
    - A success that conforms is final, unless no control shows that its host is the provider's.
    - A verdict that an earlier rule retracted is final, with two exceptions that may get another reason. If the rights
      of the key (`restricted`) or a failed assumption explained the answer, a value that no look-up found may explain
      it as well, e.g. a misspelt model.
    - If a compatible server answered 404, 405 or 501, each verdict is retractable: it may lack the whole family.
    """
    outcome = evidence.verdict.outcome
    if may_be_missing(evidence.key, evidence.status):
        return True
    if outcome is Outcome.CONFORMS:
        is_success = is_no_refusal(evidence.status)
        return not is_success or bool(evidence.unconfirmed_host)
    return evidence.is_mismatch or outcome is Outcome.RESTRICTED or evidence.verdict.has_failed_assumption
