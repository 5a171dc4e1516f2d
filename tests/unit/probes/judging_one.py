"""Judge one answer to one shipped record, to which a test may add fields."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import Attempt, Exchange, Record, Request, Response
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.judge import judge
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.model.assertion import Observation
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.probes.judging.verdict import Verdict

RATE_LIMIT = "pa/errors/general/rate_limit"
ENDPOINT = "pa/endpoints/messages/create_message"
MESSAGES_URL = "https://provider.example/v1/messages"


@cache
def load_vocabulary(provider: str) -> ProviderVocabulary:
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
RATE_LIMITED = Response(429, HEADERS, BODY, "json")
MESSAGE = {"usage": {"input_tokens": 1}, "stop_reason": "end_turn", "type": "message", "model": "mock-small"}
SUCCEEDED = Response(200, HEADERS, MESSAGE, "json")
NOT_FOUND = Response(404, {}, None, "empty")
# Assertions of PA's envelope besides its shape: the assumed location of the id, and its equality with the header.
REQUEST_ID_KEYS = ("body:/request_id", "relation:equals:/request_id", "relation:contains")


def load_steps(address: str, label: str | None = None, **fields: Any) -> list[Expected]:
    """Return what a shipped record, with some fields replaced, expects under a label, or under all labels."""
    shipped = catalog()[address]
    steps = asserted_expectations(Record(shipped.address, {**shipped.data, **fields}), catalog().__getitem__)
    return [step for step in steps if label in (None, step.label)]


def judge_exchanges(steps: Sequence[Expected], *exchanges: Exchange) -> Verdict:
    """Return the verdict on one attempt with these exchanges."""
    return judge(steps, Attempt("", 0.0, exchanges), load_vocabulary(steps[0].provider))


def judge_answer(
    address: str, response: Response, fields: dict[str, Any], label: str = "answer", request: Request | None = None
) -> Verdict:
    """Return the verdict on one label of a shipped record, with some fields replaced."""
    exchange = Exchange(label, request or Request("POST", MESSAGES_URL), response)
    return judge_exchanges(load_steps(address, label, **fields), exchange)


def get_observation(verdict: Verdict) -> Observation:
    (observation,) = verdict.observations
    return observation
