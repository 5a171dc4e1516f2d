"""Makes what an inconclusive rule may see: one answer, or all answers to one key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import Attempt, Exchange, Outcome, Reason, Record, Request, Response
from catalog_probe.catalog.model.labels import SUCCESS
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.comparison.basis import is_no_refusal, weigh_findings
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.judging.control import expect_control
from catalog_probe.probes.judging.inconclusive.evidence import MOCK_SESSION, Evidence
from catalog_probe.probes.judging.inconclusive.key_evidence import KeyEvidence, TargetFacts
from catalog_probe.probes.judging.inconclusive.one_answer import judge_fault_free, list_suspicions
from catalog_probe.probes.judging.inconclusive.settling import PendingRecord, ProbedRecord, add_record, settle_record
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdicts.attempts import conclude_record
from catalog_probe.probes.judging.verdicts.verdict import Verdict
from tests.harness.engines import catalog
from tests.unit.probes.judging_one import known

if TYPE_CHECKING:
    from catalog_probe.catalog.reading.expected import Expected

HTML = {"content-type": "text/html; charset=utf-8"}
PAGE = "<html>Bad gateway</html>"
URL = "https://provider.example/v1/messages"

REQUEST = Request("POST", URL)
MISMATCH = Verdict(Outcome.DRIFTED)


def stated(address: str, label: str = "answer", **fields: Any) -> Expected:
    """What a shipped record states under a label, with some of its fields changed."""
    shipped = catalog()[address]
    record = Record(shipped.address, {**shipped.data, **fields})
    return next(each for each in asserted_expectations(record, catalog().__getitem__) if each.label == label)


def evidence(
    expected: Expected,
    response: Response,
    verdict: Verdict = MISMATCH,
    *,
    of: ProviderVocabulary | None = None,
    request: Request | None = None,
    **more: Any,
) -> Evidence:
    """One answer, live unless told, and what is thought of it so far."""
    exchange = Exchange(expected.label, request or REQUEST, response)
    return Evidence(expected, exchange, verdict, of or ProviderVocabulary(), **{"live": True, **more})


def error_body(kind: str, message: str = "no") -> dict[str, Any]:
    """An error in PA's envelope."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


@dataclass(frozen=True)
class AnsweredRecord:
    """A record that was answered so, in each attempt."""

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
class Night:
    """All answers to one key of PA: what rules that see all of them make of each record."""

    facts: TargetFacts = field(default_factory=TargetFacts)
    live: bool = True
    fault_free: Mapping[str, Response | None] = field(default_factory=dict)
    """What the request without its fault is answered, by endpoint; where it is missing, it may not be sent."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """The addresses of services that no control confirms."""

    def settle(self, records: Iterable[AnsweredRecord]) -> list[Verdict]:
        """The verdicts on these records, once all were answered."""
        return [settle_record(pending) for pending in self.answer(records)]

    def answer(self, records: Iterable[AnsweredRecord]) -> list[PendingRecord]:
        """What is known of these records once all were answered, and the requests without a fault as well."""
        key = KeyEvidence(self.facts)
        pending = [self._add(key, record) for record in records]
        self._ask_fault_free(key)
        return pending

    def _add(self, key: KeyEvidence, probe: AnsweredRecord) -> PendingRecord:
        request = probe.request if self.live else to_mock(probe.request)
        exchange = Exchange(probe.expected.label, request, probe.response, endpoint=probe.endpoint)
        attempt = Attempt("", 0.0, (exchange,))
        judged = [judge([probe.expected], attempt, known("pa")).step_verdicts for _ in range(probe.attempts)]
        is_error = "/errors/" in probe.address
        probed = ProbedRecord(
            provider="pa",
            expected=[probe.expected],
            vocabulary=known("pa"),
            live=self.live,
            record=catalog()[probe.address],
            faults={probe.expected.label: probe.address} if is_error else {},
            other_key_labels=set() if probe.own_key else {probe.expected.label},
            success=documented_success,
            unconfirmed_hosts=self.hosts,
        )
        return add_record(probed, conclude_record(judged), [exchange], key)

    def _ask_fault_free(self, key: KeyEvidence) -> None:
        while suspicions := list_suspicions(key):
            on = suspicions[0]
            answer = self.fault_free.get(on.endpoint)
            failure = Reason("cost-not-allowed") if answer is None else None
            exchange = Exchange("twin", REQUEST, answer, failure)
            key.fault_free_answers[on] = judge_fault_free(on, exchange, expect_control("pa"), known("pa"))


def to_mock(request: Request) -> Request:
    """The same request as it is sent to a mock."""
    return replace(request, headers={**request.headers, MOCK_SESSION: "one"})


def documented_success(endpoint: str) -> Expected | None:
    """What is documented of an endpoint's success."""
    record = catalog()[endpoint]
    labels = asserted_expectations(record, catalog().__getitem__)
    return next((each for each in labels if each.label == SUCCESS and is_no_refusal(each.status)), None)


def reason_of(verdict: Verdict) -> str:
    """The code of the reason, or the outcome where there is none."""
    return str(verdict.reason.code) if verdict.reason is not None else str(verdict.outcome)


def compared(expected: Expected, response: Response, *, live: bool = True) -> Evidence:
    """One answer, and how it differs from what is stated."""
    exchange = Exchange(expected.label, REQUEST, response)
    findings = tuple(weigh_findings(expected, compare(expected, exchange)))
    outcome = Outcome.DRIFTED if any(finding.is_drift for finding in findings) else Outcome.CONFORMS
    return Evidence(expected, exchange, Verdict(outcome, None, findings), known(expected.provider), live)
