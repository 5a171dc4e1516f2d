"""Real answers that people published, and the judge's verdict on each as an answer to a record.

They lie beside the checkout. Neither they nor the names in them are committed: headers are translated to stand-ins.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import Attempt, Exchange, Finding, Outcome, Record, Request, Response
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.reading.expectations import expectations
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.traffic.hosts import infer_dialect
from catalog_probe.probes.wire.answer import parse_body
from tests.harness.command import CHECKOUT
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.probes.judging.verdict import Verdict

CAPTURES = CHECKOUT.parent / "shared" / "captures" / "captures.jsonl"

INVENTED_ID = "FAKE"
"""Part of the ids that replace real ones."""

Capture = dict[str, Any]


@cache
def load_captures() -> tuple[Capture, ...]:
    if not CAPTURES.exists():
        return ()
    lines = CAPTURES.read_text(encoding="utf-8").splitlines()
    return tuple(capture for capture in map(json.loads, lines) if capture["certainty"] == "sure")


def list_answers() -> list[Capture]:
    """Return the whole HTTP answers of our four providers that name a row of the documents."""
    return [
        capture
        for capture in load_captures()
        if capture["provider"].lower() in providers()
        and capture["surface"] == "http"
        and isinstance(capture.get("expect"), dict)
    ]


@cache
def load_vocabulary(provider: str) -> ProviderVocabulary:
    return ProviderVocabulary.from_records(catalog().select(provider=provider))


def make_response(capture: Capture) -> Response:
    """Return the answer as the wire would have observed it."""
    headers = {name.lower(): str(value) for name, value in (capture["headers"] or {}).items()}
    provider = capture["provider"].lower()
    dialect = infer_dialect(provider, load_vocabulary(provider).headers, headers)
    body = capture["body"]
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode() if body is not None else b""
    value, body_type = parse_body(raw)
    return Response(capture["http_status"], dialect.headers_in(_one_request_id(headers, value)), value, body_type)


def _one_request_id(headers: dict[str, str], body: Any) -> dict[str, str]:
    """Put the body's request id into the headers: whoever replaced the ids invented one for each place."""
    request_id = str(body.get("request_id", "")) if isinstance(body, dict) else ""
    are_invented = INVENTED_ID in request_id and INVENTED_ID in headers.get("request-id", "")
    return {**headers, "request-id": request_id} if are_invented else headers


def judge_capture(record: Record, capture: Capture) -> Iterator[tuple[Expected, Outcome, tuple[Finding, ...]]]:
    """Judge a capture as an answer to each label of a record."""
    response = make_response(capture)
    for expected in asserted_expectations(record, catalog().__getitem__):
        verdict = judge_response(response, expected)
        yield expected, verdict.outcome, verdict.findings


def judge_response(response: Response, expected: Expected) -> Verdict:
    """Judge an answer to one label."""
    exchange = Exchange(expected.label, Request("POST", "https://provider.example"), response)
    return judge([expected], Attempt("", 0.0, (exchange,)), load_vocabulary(expected.provider))


@cache
def list_expectations(provider: str) -> tuple[Expected, ...]:
    """Return the expectations of a provider's records, one of each form."""
    records = (record for record in catalog().select(provider=provider) if record.surface not in (None, "client"))
    all_expected = [expected for record in records for expected in expectations(record, catalog().__getitem__)]
    return tuple({_form(expected): expected for expected in all_expected}.values())


def _form(expected: Expected) -> Hashable:
    """Return the comparisons that an expectation makes, without the values and words that it compares with."""
    return (
        expected.envelope.name,
        expected.status,
        expected.body_status,
        frozenset(expected.wire),
        expected.message_pattern is None,
        frozenset((rule.rule, rule.format) for rule in expected.headers),
        frozenset(expected.fields),
        repr(expected.stream),
        frozenset((relation.kind, relation.at, relation.other) for relation in expected.relations),
        expected.failure,
    )


def find_records(capture: Capture) -> list[Record]:
    """Return the error records of the row that a capture belongs to."""
    expect = capture["expect"]
    names = {str(expect[key]) for key in ("type", "status", "code") if expect.get(key)}
    records = [
        record
        for record in catalog().select(provider=capture["provider"].lower(), kind="errors")
        if str(expect["http"]).split(" ")[0] in str(record.data.get("http_status")).split("/")
        and "stream" not in record.data
    ]
    exact = [record for record in records if names & {str(record.data.get("type")), str(record.data.get("code"))}]
    return exact or records
