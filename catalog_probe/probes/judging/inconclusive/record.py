"""The rules over all observations of a record, once all answers to its key are there."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Outcome
from catalog_probe.catalog.model.labels import SETUP, SUCCESS
from catalog_probe.catalog.model.status import NO_SUCH_PATH
from catalog_probe.catalog.observed.cells import was_matched
from catalog_probe.catalog.reading.expected import expected_http_status
from catalog_probe.catalog.reading.grpc_statuses import http_status_of
from catalog_probe.probes.judging.comparison.basis import is_no_refusal
from catalog_probe.probes.judging.inconclusive.confirmations import (
    blamed_values,
    confirms_host,
    find_service,
    is_failed_setup,
)
from catalog_probe.probes.judging.inconclusive.evidence import Evidence
from catalog_probe.probes.judging.inconclusive.fold import apply_rules
from catalog_probe.probes.judging.inconclusive.foreign import foreign_body
from catalog_probe.probes.judging.inconclusive.one_answer import add_refusal, describe_generic_message, is_generic
from catalog_probe.probes.judging.inconclusive.rights import explain_refusal_of_key, is_accepted_key
from catalog_probe.probes.judging.inconclusive.rule import Sees
from catalog_probe.probes.judging.verdicts.record_verdict import judge_record

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange, Record
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.judging.inconclusive.key_evidence import KeyEvidence
    from catalog_probe.probes.judging.verdicts.verdict import StepKey, Verdict


def nothing_of(endpoint: str) -> None:
    """Nothing is known of what any endpoint's success is."""


@dataclass(frozen=True, slots=True)
class Probed:
    """What is known of the requests of a record before anything is answered."""

    provider: str
    expected: Sequence[Expected]
    known: ProviderVocabulary
    live: bool
    record: Record | None = None
    """None where what is expected is of no record."""
    faults: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with the request of each label that is to be refused: the row that says so."""
    with_another_key: Container[str] = ()
    """The labels under which another key was sent than the lane's."""
    success: Callable[[str], Expected | None] = nothing_of
    """What is documented of an endpoint's success."""
    unconfirmed_hosts: Mapping[str, str] = field(default_factory=dict)
    """The addresses, by service, that the recipe asks and no control shows to be right."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A record that waits for the other answers of its key; no observation waits that nothing can take back."""

    verdict: Verdict
    observations: Mapping[StepKey, Evidence] = field(default_factory=dict)

    @property
    def waits(self) -> bool:
        """Whether other answers may take anything of it back."""
        return bool(self.observations)


def add_record(probed: Probed, verdict: Verdict, exchanges: Sequence[Exchange], key: KeyEvidence) -> Pending:
    """Add what a record's answers show to the evidence of its key, and keep what other answers may take back.

    `verdict` is over all attempts; a drift was confirmed by a control that succeeded after it.
    """
    observations = {place: replace(each, key=key) for place, each in _gather(probed, verdict, exchanges)}
    stated = {expected.label: expected for expected in probed.expected}
    for exchange in exchanges:
        _add_exchange(key, exchange, stated.get(exchange.label), probed)
    for evidence in observations.values():
        _add_observation(key, evidence)
    return Pending(verdict, {place: each for place, each in observations.items() if _may_be_taken_back(each)})


def settle_record(pending: Pending) -> Verdict:
    """The verdict on a record once all answers to its key are there."""
    cells = {place: apply_rules(evidence, Sees.KEY) for place, evidence in pending.observations.items()}
    for place, evidence in pending.observations.items():
        if cells[place].outcome is Outcome.CONFORMS and is_generic(evidence):
            cells[place] = replace(cells[place], findings=(*cells[place].findings, describe_generic_message(evidence)))
    cells = {**pending.verdict.step_verdicts, **cells}
    return pending.verdict if cells == pending.verdict.step_verdicts else judge_record(cells)


def _gather(probed: Probed, verdict: Verdict, exchanges: Iterable[Exchange]) -> Iterable[tuple[StepKey, Evidence]]:
    """The observations of a record; of several exchanges in one place the last counts."""
    last = {(each.label, each.endpoint): each for each in exchanges}
    stated = {each.label: each for each in probed.expected}
    for place, cell in verdict.step_verdicts.items():
        label, exchange = place[0], last.get(place)
        if exchange is None and is_failed_setup(cell):
            exchange = last.get((SETUP, ""))
        if exchange is None or exchange.response is None:
            continue
        own_key = label not in probed.with_another_key
        evidence = Evidence(stated[label], exchange, cell, probed.known, probed.live, own_key=own_key)
        yield (
            place,
            replace(
                evidence,
                fault=probed.faults.get(label, "") if own_key else "",
                provokes_refusal=own_key and (label in probed.faults or _is_always_refused(stated[label])),
                success=probed.success(evidence.endpoint) if _may_be_let_through(evidence) else None,
                unconfirmed_host=find_service(exchange.request, probed.unconfirmed_hosts),
                path_guess=_path_guess(probed, evidence),
            ),
        )


def _may_be_let_through(evidence: Evidence) -> bool:
    """Whether it is a success that was not asked for; to read what an endpoint documents takes time."""
    return evidence.verdict.outcome is not Outcome.CONFORMS and is_no_refusal(evidence.status)


def _path_guess(probed: Probed, evidence: Evidence) -> str:
    """Why the path of an error's endpoint is a guess; empty if it is shown, or a night saw the refusal there."""
    endpoint, stated = evidence.endpoint, f"{evidence.expected.label}/{Aspect.STATUS}"
    record = probed.record
    if record is None or record.kind != "errors" or was_matched(record, endpoint, stated):
        return ""
    return probed.known.assumed_paths.get(endpoint, "")


def _is_always_refused(expected: Expected) -> bool:
    """Whether all that an endpoint documents of itself is a refusal."""
    return expected.label == SUCCESS and (expected_http_status(expected) or 0) >= 400


def _add_exchange(key: KeyEvidence, exchange: Exchange, expected: Expected | None, probed: Probed) -> None:
    """Remember where an answer came from, and whether its body is one that no document promises."""
    response = exchange.response
    if response is None:
        return
    where = exchange.endpoint or probed.known.endpoints.find(exchange)
    status = http_status_of(response, probed.provider)
    if status is not None and status not in NO_SUCH_PATH:
        key.reached.add(where)
    kind = foreign_body(expected, response) if expected is not None else ""
    if kind:
        key.foreign_bodies.setdefault(kind, set()).add(where or f"{exchange.request.method} {exchange.request.url}")


def _add_observation(key: KeyEvidence, evidence: Evidence) -> None:
    """Remember what an observation shows of the key; what a right or a wrong value may explain shows nothing else."""
    if evidence.unconfirmed_host and confirms_host(evidence):
        key.confirmed_hosts.add(evidence.unconfirmed_host)
    code = explain_refusal_of_key(evidence)
    if code is not None and evidence.words.message:
        key.refusals[evidence.words] = code
    if code is None and not is_accepted_key(evidence) and not blamed_values(evidence, key.target.unconfirmed_values):
        add_refusal(key, evidence)


def _may_be_taken_back(evidence: Evidence) -> bool:
    """Whether an observation is in question until all answers to its key are there.

    A success that conforms is not, nor is one that was taken back before.
    """
    verdict = evidence.verdict
    if verdict.outcome is Outcome.CONFORMS:
        return bool(evidence.unconfirmed_host) or not is_no_refusal(evidence.status)
    return evidence.is_judged or verdict.outcome is Outcome.RESTRICTED or is_failed_setup(verdict)
