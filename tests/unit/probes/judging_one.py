"""Judges one answer to one record, to which a test adds fields: what it is that tests of a verdict's basis change."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import Attempt, Exchange, Record, Request, Response
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.judge import judge
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from catalog_probe.catalog.model.observation import Observation
    from catalog_probe.probes.judging.verdicts.verdict import Verdict

RATE_LIMIT = "pa/errors/general/rate_limit"
ENDPOINT = "pa/endpoints/messages/create_message"
ASKED = "https://provider.example/v1/messages"


@cache
def known(provider: str) -> ProviderVocabulary:
    return ProviderVocabulary.from_records(catalog().select(provider=provider))


HEADERS = {
    "request-id": "req_1",
    "pa-organization-id": "org",
    "pa-workspace-id": "wrkspc_1",
    "x-should-retry": "true",
    "retry-after": "7",
}
BODY: dict[str, Any] = {
    "type": "error",
    "error": {"type": "rate_limit_error", "message": "slow"},
    "request_id": "req_1",
}
LIMITED = Response(429, HEADERS, BODY, "json")
MESSAGE = {"usage": {"input_tokens": 1}, "stop_reason": "end_turn", "type": "message", "model": "mock-small"}
SUCCEEDED = Response(200, HEADERS, MESSAGE, "json")
NOT_THERE = Response(404, {}, None, "empty")
OF_THE_ID = ("body:/request_id", "relation:equals:/request_id")
"""What PA's envelope says besides its shape: that the id is in the body, where we assume it, and is the header's."""


def judged(
    address: str, response: Response, fields: dict[str, Any], label: str = "answer", request: Request | None = None
) -> Verdict:
    """The verdict on one label of a record to which some fields were added."""
    shipped = catalog()[address]
    record = Record(shipped.address, {**shipped.data, **fields})
    expected = [each for each in asserted_expectations(record, catalog().__getitem__) if each.label == label]
    exchange = Exchange(label, request or Request("POST", ASKED), response)
    return judge(expected, Attempt("", 0.0, (exchange,)), known(address.partition("/")[0]))


def seen(verdict: Verdict) -> Observation:
    (observation,) = verdict.observations
    return observation
