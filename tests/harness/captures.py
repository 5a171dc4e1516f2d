"""Real answers that people published, and what the judge says of each as an answer to a record.

They lie beside the checkout and are never committed, nor are the names in them: headers are translated to stand-ins.
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
from catalog_probe.probes.wire.body import parse_body
from tests.harness.command import CHECKOUT
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.probes.judging.verdicts.verdict import Verdict

CAPTURES = CHECKOUT.parent / "shared" / "captures" / "captures.jsonl"

INVENTED_ID = "FAKE"
"""In ids that were put in the place of real ones before the answers were handed on."""

Capture = dict[str, Any]


@cache
def load_captures() -> tuple[Capture, ...]:
    if not CAPTURES.exists():
        return ()
    lines = CAPTURES.read_text(encoding="utf-8").splitlines()
    return tuple(each for each in map(json.loads, lines) if each["certainty"] == "sure")


def list_answers() -> list[Capture]:
    """Those of our four providers, whole HTTP answers, that name a row."""
    return [
        each
        for each in load_captures()
        if each["provider"].lower() in providers()
        and each["surface"] == "http"
        and isinstance(each.get("expect"), dict)
    ]


@cache
def load_vocabulary(provider: str) -> ProviderVocabulary:
    return ProviderVocabulary.from_records(catalog().select(provider=provider))


def make_response(capture: Capture) -> Response:
    """The answer as the wire would have observed it."""
    headers = {name.lower(): str(value) for name, value in (capture["headers"] or {}).items()}
    provider = capture["provider"].lower()
    dialect = infer_dialect(provider, load_vocabulary(provider).headers, headers)
    body = capture["body"]
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode() if body is not None else b""
    value, body_type = parse_body(raw)
    return Response(capture["http_status"], dialect.headers_in(_one_request_id(headers, value)), value, body_type)


def _one_request_id(headers: dict[str, str], body: Any) -> dict[str, str]:
    """The headers with the body's request id: whoever made the ids unknown gave each place one of its own."""
    told = str(body.get("request_id", "")) if isinstance(body, dict) else ""
    are_made_up = INVENTED_ID in told and INVENTED_ID in headers.get("request-id", "")
    return {**headers, "request-id": told} if are_made_up else headers


def judge_capture(record: Record, capture: Capture) -> Iterator[tuple[Expected, Outcome, tuple[Finding, ...]]]:
    """The verdict on the capture, as an answer to each label of a record, as a run has it."""
    response = make_response(capture)
    for expected in asserted_expectations(record, catalog().__getitem__):
        verdict = judge_response(response, expected)
        yield expected, verdict.outcome, verdict.findings


def judge_response(response: Response, expected: Expected) -> Verdict:
    """What the judge says of an answer to one label."""
    exchange = Exchange(expected.label, Request("POST", "https://provider.example"), response)
    return judge([expected], Attempt("", 0.0, (exchange,)), load_vocabulary(expected.provider))


@cache
def list_expectations(provider: str) -> tuple[Expected, ...]:
    """What a provider's records expect of an answer, once where several expect the same but for values and words."""
    records = (each for each in catalog().select(provider=provider) if each.surface not in (None, "client"))
    found = [each for record in records for each in expectations(record, catalog().__getitem__)]
    return tuple({_form(each): each for each in found}.values())


def _form(expected: Expected) -> Hashable:
    """Which comparisons an expectation asks for, whatever it compares with."""
    return (
        expected.envelope.name,
        expected.status,
        expected.body_status,
        frozenset(expected.wire),
        expected.message_pattern is None,
        frozenset((each.rule, each.format) for each in expected.headers),
        frozenset(expected.fields),
        repr(expected.stream),
        frozenset((each.kind, each.at, each.other) for each in expected.relations),
        expected.failure,
    )


def find_records(capture: Capture) -> list[Record]:
    """The error records of the row that the capture belongs to."""
    expect = capture["expect"]
    named = {str(expect[key]) for key in ("type", "status", "code") if expect.get(key)}
    found = [
        record
        for record in catalog().select(provider=capture["provider"].lower(), kind="errors")
        if str(expect["http"]).split(" ")[0] in str(record.data.get("http_status")).split("/")
        and "stream" not in record.data
    ]
    exact = [each for each in found if named & {str(each.data.get("type")), str(each.data.get("code"))}]
    return exact or found
