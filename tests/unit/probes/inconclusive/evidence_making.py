"""Make the evidence that inconclusive rules see: of one answer, or of all answers to one key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import anyio

from catalog_probe.catalog.model import Attempt, Exchange, Outcome, Reason, Request, Response
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.attempts import conclude_record
from catalog_probe.probes.judging.comparison.basis import weigh_findings
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.judging.control import expect_control
from catalog_probe.probes.judging.inconclusive.evidence import MOCK_SESSION, Evidence, KeyEvidence, TargetFacts
from catalog_probe.probes.judging.inconclusive.not_implemented import describe_missing_family, family_of
from catalog_probe.probes.judging.inconclusive.one_answer import judge_fault_free, list_suspicions
from catalog_probe.probes.judging.inconclusive.provisional import (
    ProbedRecord,
    ProvisionalVerdict,
    finish_verdict,
    gather_key_evidence,
)
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdict import Verdict
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running.fault_free import check_endpoints
from tests.unit.probes.judging_one import load_steps, load_vocabulary

if TYPE_CHECKING:
    from catalog_probe.catalog.reading.expectations import Expected

HTML_HEADERS = {"content-type": "text/html; charset=utf-8"}
HTML_PAGE = "<html>Bad gateway</html>"
URL = "https://provider.example/v1/messages"

REQUEST = Request("POST", URL)
MISMATCH = Verdict(Outcome.DRIFTED)


def load_expected(address: str, label: str = "answer", **fields: Any) -> Expected:
    """Return what a shipped record expects under a label, with some of its fields changed."""
    return load_steps(address, label, **fields)[0]


def make_evidence(
    expected: Expected,
    response: Response,
    verdict: Verdict = MISMATCH,
    *,
    vocabulary: ProviderVocabulary | None = None,
    request: Request | None = None,
    **fields: Any,
) -> Evidence:
    """Return the evidence of one answer and its verdict so far; live by default."""
    exchange = Exchange(expected.label, request or REQUEST, response)
    return Evidence(expected, exchange, verdict, vocabulary or ProviderVocabulary(), **{"live": True, **fields})


def error_body(kind: str, message: str = "no") -> dict[str, Any]:
    """Return an error in PA's envelope."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


@dataclass(frozen=True)
class AnsweredRecord:
    """A record with the answer that each of its attempts gets."""

    expected: Expected
    response: Response
    endpoint: str
    request: Request = REQUEST
    own_key: bool = True
    attempts: int = 2

    @property
    def address(self) -> str:
        return self.expected.address


@dataclass
class KeyProbes:
    """The probes of all records with one key of PA, for rules that need all of its answers."""

    facts: TargetFacts = field(default_factory=TargetFacts)
    live: bool = True
    fault_free: Mapping[str, Response | None] = field(default_factory=dict)
    """What the request without its fault is answered, by endpoint; where it is missing, it may not be sent."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """The addresses of services that no control confirms."""
    is_compatible: bool = False

    def finish(self, records: Iterable[AnsweredRecord]) -> list[Verdict]:
        """Answer all records, and return their final verdicts."""
        return [finish_verdict(provisional) for provisional in self.answer(records)]

    def answer(self, records: Iterable[AnsweredRecord]) -> list[ProvisionalVerdict]:
        """Answer all records and the fault-free requests, and return the provisional verdicts."""
        key = KeyEvidence(self.facts, is_compatible=self.is_compatible)
        provisional_verdicts = [self._add(key, record) for record in records]
        self._ask_families(key)
        self._ask_fault_free(key)
        anyio.run(check_endpoints, key, key.endpoints_with_another_error, self._send_fault_free, "pa")
        return provisional_verdicts

    def _add(self, key: KeyEvidence, probe: AnsweredRecord) -> ProvisionalVerdict:
        request = probe.request if self.live else to_mock(probe.request)
        exchange = Exchange(probe.expected.label, request, probe.response, endpoint=probe.endpoint)
        attempt = Attempt("", 0.0, (exchange,))
        step_verdicts = [
            judge([probe.expected], attempt, load_vocabulary("pa")).step_verdicts for _ in range(probe.attempts)
        ]
        is_error = "/errors/" in probe.address
        probed = ProbedRecord(
            provider="pa",
            expected=[probe.expected],
            vocabulary=load_vocabulary("pa"),
            live=self.live,
            faults={probe.expected.label: probe.address} if is_error else {},
            other_key_labels=set() if probe.own_key else {probe.expected.label},
            unconfirmed_hosts=self.hosts,
        )
        return gather_key_evidence(probed, conclude_record(step_verdicts), [exchange], key)

    def _ask_families(self, key: KeyEvidence) -> None:
        for family in key.suspected_families:
            answers = [
                Exchange("twin", REQUEST, answer)
                for endpoint, answer in self.fault_free.items()
                if family_of(endpoint) == family
            ]
            key.missing_families[family] = describe_missing_family(family, answers, {})

    def _ask_fault_free(self, key: KeyEvidence) -> None:
        while suspicions := list_suspicions(key):
            suspicion = suspicions[0]
            answer = self.fault_free.get(suspicion.endpoint)
            failure = Reason("cost-not-allowed") if answer is None else None
            exchange = Exchange("twin", REQUEST, answer, failure)
            key.fault_free_answers[suspicion] = judge_fault_free(
                suspicion, exchange, expect_control("pa"), load_vocabulary("pa")
            )

    async def _send_fault_free(self, endpoint: str) -> Exchange:
        answer = self.fault_free.get(endpoint)
        if answer is None:
            raise ProbeStopped(Reason("cost-not-allowed", "add --allow billable"))
        return Exchange("twin", REQUEST, answer)


def to_mock(request: Request) -> Request:
    """Return the same request as a mock receives it."""
    return replace(request, headers={**request.headers, MOCK_SESSION: "one"})


def reason_of(verdict: Verdict) -> str:
    """Return the reason code of a verdict, or its outcome if there is none."""
    return str(verdict.reason.code) if verdict.reason is not None else str(verdict.outcome)


def make_compared_evidence(expected: Expected, response: Response, *, live: bool = True) -> Evidence:
    """Return the evidence of one answer, with the findings of its comparison."""
    exchange = Exchange(expected.label, REQUEST, response)
    findings = tuple(weigh_findings(expected, compare(expected, exchange)))
    outcome = Outcome.DRIFTED if any(finding.is_drift for finding in findings) else Outcome.CONFORMS
    return Evidence(expected, exchange, Verdict(outcome, None, findings), load_vocabulary(expected.provider), live)
