"""What is kept of large answers: beginning, size, digest and the asserted values."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.envelopes import load_envelope
from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.retention import (
    HEADER_CHARACTERS,
    MIN_BODY_BYTES,
    MIN_EVENT_BYTES,
    VALUE_CHARACTERS,
    WHOLE_BYTES,
    RetentionBudget,
    asserted_pointers,
    trim_attempt,
    trim_exchange,
    trim_finding,
    trim_observation,
)
from catalog_probe.catalog.model import Attempt, Event, Exchange, Json, Outcome, Request, Response
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis, Observation
from catalog_probe.catalog.reading.expectations import Expected, StreamRule, answer_body, message_of
from catalog_probe.catalog.text.json_values import ABSENT, build_document, find_value
from tests.unit.reports import factories

EXPECTED = Expected("answer", "pa/errors/general/x", load_envelope("pa"), 400, fields={"/error/type": {}})
ERROR = {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}
LARGE = {"padding": "x" * 3_900_000, **ERROR}


def make_exchange(body: Json = None, **response: Json) -> Exchange:
    return Exchange("answer", Request("POST", "/v1/messages"), Response(400, body=body, body_type="json", **response))


def get_response(exchange: Exchange) -> Response:
    assert exchange.response is not None
    return exchange.response


def test_a_small_body_is_kept_unchanged() -> None:
    bodies: list[Json] = [None, ERROR, "text", "x" * WHOLE_BYTES, ["é"]]
    for body in bodies:
        small = make_exchange(body)
        assert trim_exchange(small, EXPECTED) == small, body


def test_a_large_body_keeps_beginning_digest_and_asserted_values() -> None:
    response = get_response(trim_exchange(make_exchange(LARGE), EXPECTED))
    raw = json.dumps(LARGE, separators=(",", ":")).encode()
    assert response.cut is not None
    assert (response.cut.size, response.cut.sha256) == (len(raw), hashlib.sha256(raw).hexdigest())
    assert response.body == raw[:WHOLE_BYTES].decode()
    assert response.cut.values["/error/type"] == "invalid_request_error"
    assert message_of(EXPECTED, response) == "no", "write-back reads of it what the judge has read"


def test_a_result_with_a_large_body_is_a_short_line_and_reads_back() -> None:
    attempt = trim_attempt(Attempt("2026-11-21T04:00:00Z", 1.0, (make_exchange(LARGE),)), [EXPECTED])
    result = Result("pa/errors/general/x", {}, Outcome.CONFORMS, attempts=(attempt,))
    line = json.dumps(result.to_json())
    assert len(line) < 70 * 1024
    assert Result.from_json(json.loads(line)) == result
    assert trim_attempt(attempt, [EXPECTED]) == attempt, "what is cut is not cut again"


def test_a_long_asserted_value_is_truncated() -> None:
    body = {"error": {"type": "t", "message": "m" * 100_000}}
    response = get_response(trim_exchange(make_exchange(body), EXPECTED))
    assert len(message_of(EXPECTED, response) or "") == VALUE_CHARACTERS


def test_received_events_share_the_limit_and_sent_ones_are_kept_whole() -> None:
    data = {"text": "y" * 40_000}
    events = (Event("sent", data, sent=True), Event("first", data), Event("second", data), Event("third", {"n": 1}))
    events_kept = get_response(trim_exchange(make_exchange(events=events))).events or ()
    assert [event.cut is None for event in events_kept] == [True, True, False, True]
    assert events_kept[0].data == events_kept[1].data == data
    assert events_kept[3].data == {"n": 1}, "a digest would be no shorter"


def test_values_of_a_truncated_documented_event_are_read() -> None:
    expected = replace(EXPECTED, stream=StreamRule("sse", event="error"))
    response = get_response(trim_exchange(make_exchange(events=(Event("error", LARGE),)), expected))
    assert find_value(answer_body(expected, response), "/error/message") == "no"


def test_half_a_character_is_not_kept() -> None:
    response = get_response(trim_exchange(make_exchange("é" * WHOLE_BYTES)))
    assert response.body == "é" * (WHOLE_BYTES // 2)
    assert get_response(trim_exchange(make_exchange("a" + "é" * WHOLE_BYTES))).body == "a" + "é" * (
        WHOLE_BYTES // 2 - 1
    )


def test_the_size_is_that_of_the_serialized_body() -> None:
    """Half a surrogate pair is written as its escape."""
    for body, size in (
        ({"a": "é" * WHOLE_BYTES}, 2 * WHOLE_BYTES + 8),
        ({"a": "\ud800" * WHOLE_BYTES}, 6 * WHOLE_BYTES + 8),
    ):
        cut = get_response(trim_exchange(make_exchange(body))).cut
        assert cut is not None
        assert cut.size == size


def test_a_value_at_the_limit_is_kept_unchanged() -> None:
    listed, own = ["m" * (VALUE_CHARACTERS - 4)], replace(EXPECTED, fields={"/list": {}})
    cut = get_response(trim_exchange(make_exchange({"list": listed, "padding": "x" * WHOLE_BYTES}), own)).cut
    assert cut is not None
    assert cut.values["/list"] == listed


def test_a_digit_in_a_pointer_is_an_item() -> None:
    assert build_document({"/data/*/id": 1, "/data/0/n": 2, "/a~1b": 3}) == {"data": [{"id": 1, "n": 2}], "a/b": 3}


@given(
    st.dictionaries(
        st.sampled_from(["/a", "/a/b", "/a/b/c", "/d/*/e", "/d", "/f/0"]), st.integers() | st.text(), max_size=6
    )
)
def test_values_of_a_rebuilt_document_are_found_at_their_pointers(values: dict[str, Json]) -> None:
    """A pointer that is the beginning of another is left out, as only the last of the two counts."""
    document = build_document(values)
    for pointer, value in values.items():
        others = values.keys() - {pointer}
        if not any(other.startswith(pointer) or pointer.startswith(other) for other in others):
            assert find_value(document, pointer) == value
    assert find_value(document, "/nothing") is ABSENT


def test_a_run_keeps_little_of_answers_beyond_its_budget() -> None:
    allowance = RetentionBudget(3 * WHOLE_BYTES)
    trimmed = [get_response(trim_exchange(make_exchange("x" * 4 * WHOLE_BYTES), None, allowance)) for _ in range(6)]
    assert [len(response.body) for response in trimmed] == [WHOLE_BYTES] * 3 + [MIN_BODY_BYTES] * 3
    small = get_response(trim_exchange(make_exchange("y" * MIN_BODY_BYTES), None, allowance))
    assert small.body == "y" * MIN_BODY_BYTES, "what is small is kept whole, however much was kept"


def test_large_headers_are_truncated() -> None:
    headers = {f"x-{number}": "v" * 5000 for number in range(90)}
    trimmed = get_response(trim_exchange(make_exchange("b", headers=headers))).headers
    assert trimmed == {name: headers[name] for name in ("x-0", "x-1", "x-2")} | {"…": "87 more"}


def test_the_budget_is_reduced_by_the_kept_size() -> None:
    cases: list[tuple[dict[str, Any], int]] = [
        ({"body": None}, 0),
        ({"body": "x" * MIN_BODY_BYTES}, MIN_BODY_BYTES),
        ({"body": "x" * (WHOLE_BYTES + 1)}, WHOLE_BYTES),
        ({"events": (Event("e", "x" * 2000), Event("e", "x" * 100))}, 2100),
        ({"events": (Event("e", "x" * 2000, sent=True),)}, 0),
    ]
    for response, spent in cases:
        allowance = RetentionBudget(1_000_000)
        trim_exchange(make_exchange(**{"headers": {}, **response}), None, allowance)
        assert 1_000_000 - allowance.left == spent, response


def test_an_exchange_without_an_answer_is_kept_as_it_is() -> None:
    lost = Exchange("answer", Request("POST", "/v1/messages"))
    assert trim_exchange(lost, EXPECTED) is lost


def test_a_truncated_event_uses_the_whole_limit() -> None:
    fitting = tuple(Event("e", "x" * (WHOLE_BYTES // 3)) for _ in range(3))
    assert get_response(trim_exchange(make_exchange(events=fitting))).events == fitting
    large = (
        Event("e", "x" * (WHOLE_BYTES + 1)),
        Event("e", "x" * MIN_EVENT_BYTES),
        Event("e", "x" * (MIN_EVENT_BYTES + 1)),
    )
    events_kept = get_response(trim_exchange(make_exchange(events=large))).events or ()
    assert [event.cut is not None for event in events_kept] == [True, False, True]
    assert [len(event.data) for event in events_kept] == [WHOLE_BYTES, MIN_EVENT_BYTES, MIN_EVENT_BYTES]


def test_a_long_event_name_is_truncated() -> None:
    events = (Event("n" * VALUE_CHARACTERS, 1), Event("n" * (VALUE_CHARACTERS + 1), 1))
    events_kept = get_response(trim_exchange(make_exchange(events=events))).events or ()
    assert events_kept[0] == events[0]
    assert len(events_kept[1].event) == VALUE_CHARACTERS


def test_headers_at_the_limit_are_all_kept() -> None:
    headers = {f"x-{number}": "v" * (HEADER_CHARACTERS // 16 - 3) for number in range(10)}
    headers |= {f"{number}": "v" * (HEADER_CHARACTERS // 16 - 1) for number in range(6)}
    assert sum(len(name) + len(value) for name, value in headers.items()) == HEADER_CHARACTERS
    assert get_response(trim_exchange(make_exchange(headers=headers))).headers == headers
    trimmed = get_response(trim_exchange(make_exchange(headers={"": "v", **headers}))).headers
    assert list(trimmed) == ["", *list(headers)[:-1], "…"]
    assert trimmed["…"] == "1 more"


def test_findings_and_observations_are_truncated_beyond_the_limit() -> None:
    fitting = factories.make_finding(observed=["z" * (VALUE_CHARACTERS - 4)], remark="z" * VALUE_CHARACTERS)
    assert trim_finding(fitting) == fitting
    assert len(trim_finding(replace(fitting, observed=["z" * (VALUE_CHARACTERS - 3)])).observed) == VALUE_CHARACTERS
    assert (
        len(trim_finding(replace(fitting, observed=None, remark="z" * (VALUE_CHARACTERS + 1))).message)
        == VALUE_CHARACTERS
    )
    observation = Observation("", "answer", mismatched={"type": "z" * VALUE_CHARACTERS})
    assert trim_observation(observation) == observation
    too_long = Observation("", "answer", mismatched={"type": "z" * (VALUE_CHARACTERS + 1), "code": "short"})
    assert {key: len(value) for key, value in trim_observation(too_long).mismatched.items()} == {
        "type": VALUE_CHARACTERS,
        "code": 5,
    }


def test_each_asserted_location_of_a_body_is_kept_once() -> None:
    places = ("/data", "/data", "retry-after", "", "/", "/error/type")
    assertions = {
        str(number): Assertion("pa/errors/general/x", AssertionKey("answer", "body", place), True, Basis.DOCUMENTED)
        for number, place in enumerate(places)
    }
    own = replace(EXPECTED, envelope=replace(EXPECTED.envelope, wire={"type": "/error/type"}), assertions=assertions)
    assert asserted_pointers(replace(own, fields={"/error/type": {}, "/n": {}})) == ("/error/type", "/n", "/data")
