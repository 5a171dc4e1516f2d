"""Another client's answer is evidence of a record only by what it says, never because no other record is left."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from catalog_probe.catalog.model import Address, Exchange, Record, Request, Response
from catalog_probe.catalog.openapi import build_example
from catalog_probe.catalog.reading.expectations import documented_answers
from catalog_probe.catalog.reading.record_fields import occurs_on, request_line
from catalog_probe.probes.traffic.matching import Matcher, Unmatched
from tests.harness.engines import catalog


@cache
def load_matcher(provider: str) -> Matcher:
    return Matcher(provider, catalog())


def match(provider: str, method: str, path: str, status: int, body: Any, **headers: str) -> set[str]:
    """Return the records that the traffic of another client is evidence of."""
    response = Response(status, {"content-type": "application/json", **headers}, body, "json")
    request = Request(method, f"https://provider.example{path}", {"authorization": "Bearer [redacted]"}, {})
    matches = load_matcher(provider).match(Exchange("", request, response))
    return set() if isinstance(matches, Unmatched) else {match.record for match in matches}


def pa(kind: str, message: str) -> Any:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def pb(message: str, status: str = "INVALID_ARGUMENT", code: int = 400) -> Any:
    return {"error": {"code": code, "message": message, "status": status}}


@pytest.mark.parametrize(
    ("provider", "method", "path", "status", "body"),
    [
        ("pa", "GET", "/v1/compliance/activities", 403, pa("permission_error", "Not for you.")),
        ("pa", "DELETE", "/v1/compliance/apps/projects/p_1", 409, pa("invalid_request_error", "Not now.")),
        ("pb", "POST", "/v1beta/auth_tokens", 400, pb("This is not possible.")),
        ("pb", "POST", "/v1beta/openai/chat/completions", 400, [pb('Unknown name "depth".')]),
        ("pb", "POST", "/v1beta/openai/chat/completions", 404, [pb("Nothing is here.", "NOT_FOUND", 404)]),
        ("pc", "GET", "/v1/evals/eval_1", 404, None),
        ("pd", "POST", "/v1/tokenize-text", 400, {"code": "invalid-argument", "error": "Say it differently."}),
        ("pd", "POST", "/v1/tokenize-text", 400, "A status, and no more."),
    ],
)
def test_a_record_that_only_the_path_leaves_over_is_no_record(
    provider: str, method: str, path: str, status: int, body: Any
) -> None:
    """The last kind is a body of any words: a status alone proves no record either."""
    absent = {"message": "Gone.", "type": "invalid_request_error", "param": None, "code": None}
    assert match(provider, method, path, status, body if body is not None else {"error": absent}) == set()


def test_status_type_and_code_that_no_other_record_has_are_evidence_at_any_path() -> None:
    for path in ("/v1/messages", "/v1/files", "/v1/nowhere"):
        assert match("pa", "POST", path, 402, pa("billing_error", "Pay first.")) == {
            "pa/errors/general/payment_problem"
        }


def test_a_value_at_a_stated_location_is_evidence_of_the_record_that_states_it() -> None:
    body = pa("rate_limit_error", "Any words.")
    assert match("pa", "POST", "/v1/messages", 429, body) == set()
    body["error"]["details"] = {"error_code": "enforced_spend_limit_reached"}
    assert match("pa", "POST", "/v1/messages", 429, body) == {"pa/errors/general/spend_cap"}


def test_a_message_without_the_documented_words_is_no_evidence() -> None:
    words = "messages[0].content: invalid type, expected a string at line 1 column 7"
    assert match("pd", "POST", "/v1/chat/completions", 422, words) == {"pd/errors/request/wrong_type"}
    assert match("pd", "POST", "/v1/chat/completions", 422, "Unprocessable Entity") == set()


def _make_twins() -> list[tuple[Record, int, dict[str, Any]]]:
    """Return each error record whose status, type and code another record of its provider has, with these values."""
    answers: dict[tuple[Any, ...], list[tuple[Record, int, dict[str, Any]]]] = {}
    for record in catalog().select(kind="errors"):
        for expected in documented_answers(record):
            if expected.status is None or expected.status < 400 or expected.stream is not None:
                continue
            for status in {expected.status, *expected.alternative_statuses}:
                wire = {aspect: expected.wire.get(aspect) for aspect in ("type", "code")}
                key = (record.provider, status, *wire.values())
                answers.setdefault(key, []).append((record, int(str(status)), wire))
    return [
        twin for twins in answers.values() if len({str(record.address) for record, *_ in twins}) > 1 for twin in twins
    ]


TWINS = _make_twins()
WORDS = ["You may not do that.", "API key not valid. Please pass a valid API key.", "messages: Field required", ""]


@settings(deadline=None, max_examples=300)
@given(twin=st.sampled_from(TWINS), message=st.text(max_size=40) | st.sampled_from(WORDS), data=st.data())
def test_another_message_never_proves_a_record_that_shares_status_type_and_code(
    twin: tuple[Record, int, dict[str, Any]], message: str, data: st.DataObject
) -> None:
    record, status, wire = twin
    expected = documented_answers(record)[0]
    assume(expected.message_pattern is None or not re.search(expected.message_pattern, message))
    aspects = {**wire, "message": message, "http_status": status}
    body = build_example(expected.envelope, {aspect: value for aspect, value in aspects.items() if value is not None})
    endpoint = data.draw(st.sampled_from(sorted(occurs_on(record)) or ["pa/endpoints/messages/create_message"]))
    method, path = request_line(catalog()[endpoint])
    proven = match(record.provider, method, path, status, [body] if expected.envelope.unwrap else body)
    assert not {address for address in proven if Address.parse(address).kind == "errors"}


def test_most_error_records_have_a_twin() -> None:
    """The property above is about many records, and not about none."""
    assert len({str(record.address) for record, *_ in TWINS}) > 120
