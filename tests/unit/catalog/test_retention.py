"""What is kept of large answers: beginning, size, digest and the asserted values."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.envelopes.envelope import envelope
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
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.catalog.reading.expected import Expected, answer_body, message_of
from catalog_probe.catalog.reading.streams import StreamRule
from catalog_probe.catalog.text.json_pointer import ABSENT, build_document, find_value
from tests.unit.reports import factories

EXPECTED = Expected("answer", "pa/errors/general/x", envelope("pa"), 400, fields={"/error/type": {}})
ERROR = {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}
LARGE = {"padding": "x" * 3_900_000, **ERROR}


def exchange(body: Json = None, **response: Json) -> Exchange:
    return Exchange("answer", Request("POST", "/v1/messages"), Response(400, body=body, body_type="json", **response))


def answered(given_exchange: Exchange) -> Response:
    assert given_exchange.response is not None
    return given_exchange.response


@pytest.mark.parametrize("body", [None, ERROR, "text", "x" * WHOLE_BYTES, ["é"]])
def test_what_is_small_is_kept_as_it_came(body: Json) -> None:
    small = exchange(body)
    assert trim_exchange(small, EXPECTED) == small


def test_of_a_large_body_is_kept_what_tells_of_it() -> None:
    response = answered(trim_exchange(exchange(LARGE), EXPECTED))
    raw = json.dumps(LARGE, separators=(",", ":")).encode()
    assert response.cut is not None
    assert (response.cut.size, response.cut.sha256) == (len(raw), hashlib.sha256(raw).hexdigest())
    assert response.body == raw[:WHOLE_BYTES].decode()
    assert response.cut.values["/error/type"] == "invalid_request_error"
    assert message_of(EXPECTED, response) == "no", "write-back reads of it what the judge has read"


def test_a_result_with_a_large_body_is_a_short_line_and_reads_back() -> None:
    attempt = trim_attempt(Attempt("2026-11-21T04:00:00Z", 1.0, (exchange(LARGE),)), [EXPECTED])
    result = Result("pa/errors/general/x", {}, Outcome.CONFORMS, attempts=(attempt,))
    line = json.dumps(result.to_json())
    assert len(line) < 70 * 1024
    assert Result.from_json(json.loads(line)) == result
    assert trim_attempt(attempt, [EXPECTED]) == attempt, "what is cut is not cut again"


def test_a_long_value_at_a_pointer_is_kept_in_part() -> None:
    body = {"error": {"type": "t", "message": "m" * 100_000}}
    response = answered(trim_exchange(exchange(body), EXPECTED))
    assert len(message_of(EXPECTED, response) or "") == VALUE_CHARACTERS


def test_events_share_what_may_be_kept_and_ours_are_kept_whole() -> None:
    data = {"text": "y" * 40_000}
    events = (Event("sent", data, sent=True), Event("first", data), Event("second", data), Event("third", {"n": 1}))
    events_kept = answered(trim_exchange(exchange(events=events))).events or ()
    assert [event.cut is None for event in events_kept] == [True, True, False, True]
    assert events_kept[0].data == events_kept[1].data == data
    assert events_kept[3].data == {"n": 1}, "a digest would be no shorter"


def test_the_documented_event_is_read_from_what_is_kept_of_it() -> None:
    expected = replace(EXPECTED, stream=StreamRule("sse", event="error"))
    response = answered(trim_exchange(exchange(events=(Event("error", LARGE),)), expected))
    assert find_value(answer_body(expected, response), "/error/message") == "no"


def test_half_a_character_is_not_kept() -> None:
    response = answered(trim_exchange(exchange("é" * WHOLE_BYTES)))
    assert response.body == "é" * (WHOLE_BYTES // 2)
    assert answered(trim_exchange(exchange("a" + "é" * WHOLE_BYTES))).body == "a" + "é" * (WHOLE_BYTES // 2 - 1)


def test_a_size_is_that_of_what_is_written_down() -> None:
    """Half a surrogate pair is written as its escape."""
    for body, size in (
        ({"a": "é" * WHOLE_BYTES}, 2 * WHOLE_BYTES + 8),
        ({"a": "\ud800" * WHOLE_BYTES}, 6 * WHOLE_BYTES + 8),
    ):
        cut = answered(trim_exchange(exchange(body))).cut
        assert cut is not None
        assert cut.size == size


def test_a_value_that_just_fits_is_kept_beside_as_it_is() -> None:
    listed, own = ["m" * (VALUE_CHARACTERS - 4)], replace(EXPECTED, fields={"/list": {}})
    cut = answered(trim_exchange(exchange({"list": listed, "padding": "x" * WHOLE_BYTES}), own)).cut
    assert cut is not None
    assert cut.values["/list"] == listed


def test_findings_and_observations_hold_no_more_than_a_person_reads() -> None:
    short, long = factories.make_finding(), factories.make_finding(observed="z" * 9000, message="z" * 9000)
    assert trim_finding(short) == short
    assert len(trim_finding(long).observed) == len(trim_finding(long).message) == VALUE_CHARACTERS
    observation = Observation("", "answer", mismatched={"type": "z" * 9000, "code": "short"})
    assert {key: len(value) for key, value in trim_observation(observation).mismatched.items()} == {
        "type": VALUE_CHARACTERS,
        "code": 5,
    }


def test_a_digit_in_a_pointer_is_an_item() -> None:
    assert build_document({"/data/*/id": 1, "/data/0/n": 2, "/a~1b": 3}) == {"data": [{"id": 1, "n": 2}], "a/b": 3}


@given(
    st.dictionaries(
        st.sampled_from(["/a", "/a/b", "/a/b/c", "/d/*/e", "/d", "/f/0"]), st.integers() | st.text(), max_size=6
    )
)
def test_what_was_rebuilt_is_found_where_it_was(values: dict[str, Json]) -> None:
    """The last of two that stand in each other's way counts: a value and what lies within it."""
    document = build_document(values)
    apart = {
        each: value
        for each, value in values.items()
        if not any(
            other_location != each and (other_location.startswith(each) or each.startswith(other_location))
            for other_location in values
        )
    }
    assert all(find_value(document, pointer) == value for pointer, value in apart.items())
    assert find_value(document, "/nothing") is ABSENT


def test_a_run_keeps_so_much_of_large_answers_and_of_all_further_ones_little() -> None:
    allowance = RetentionBudget(3 * WHOLE_BYTES)
    trimmed = [answered(trim_exchange(exchange("x" * 4 * WHOLE_BYTES), None, allowance)) for _ in range(6)]
    assert [len(response.body) for response in trimmed] == [WHOLE_BYTES] * 3 + [MIN_BODY_BYTES] * 3
    small = answered(trim_exchange(exchange("y" * MIN_BODY_BYTES), None, allowance))
    assert small.body == "y" * MIN_BODY_BYTES, "what is small is kept whole, however much was kept"


def test_headers_are_kept_in_part_where_they_are_too_large() -> None:
    headers = {f"x-{number}": "v" * 5000 for number in range(90)}
    trimmed = answered(trim_exchange(exchange("b", headers=headers))).headers
    assert trimmed == {name: headers[name] for name in ("x-0", "x-1", "x-2")} | {"…": "87 more"}


@pytest.mark.parametrize(
    ("response", "spent"),
    [
        ({"body": None}, 0),
        ({"body": "x" * MIN_BODY_BYTES}, MIN_BODY_BYTES),
        ({"body": "x" * (WHOLE_BYTES + 1)}, WHOLE_BYTES),
        ({"events": (Event("e", "x" * 2000), Event("e", "x" * 100))}, 2100),
        ({"events": (Event("e", "x" * 2000, sent=True),)}, 0),
    ],
)
def test_what_is_kept_is_spent(response: dict[str, Any], spent: int) -> None:
    allowance = RetentionBudget(1_000_000)
    trim_exchange(exchange(**{"headers": {}, **response}), None, allowance)
    assert 1_000_000 - allowance.left == spent


def test_an_exchange_without_an_answer_is_kept_as_it_is() -> None:
    lost = Exchange("answer", Request("POST", "/v1/messages"))
    assert trim_exchange(lost, EXPECTED) is lost


def test_events_share_the_bytes_that_they_take_and_one_that_is_cut_takes_all() -> None:
    fitting = tuple(Event("e", "x" * (WHOLE_BYTES // 3)) for _ in range(3))
    assert answered(trim_exchange(exchange(events=fitting))).events == fitting
    large = (
        Event("e", "x" * (WHOLE_BYTES + 1)),
        Event("e", "x" * MIN_EVENT_BYTES),
        Event("e", "x" * (MIN_EVENT_BYTES + 1)),
    )
    events_kept = answered(trim_exchange(exchange(events=large))).events or ()
    assert [event.cut is not None for event in events_kept] == [True, False, True]
    assert [len(event.data) for event in events_kept] == [WHOLE_BYTES, MIN_EVENT_BYTES, MIN_EVENT_BYTES]


def test_the_name_of_an_event_is_kept_in_part_where_it_is_too_long() -> None:
    events = (Event("n" * VALUE_CHARACTERS, 1), Event("n" * (VALUE_CHARACTERS + 1), 1))
    events_kept = answered(trim_exchange(exchange(events=events))).events or ()
    assert events_kept[0] == events[0]
    assert len(events_kept[1].event) == VALUE_CHARACTERS


def test_headers_are_all_kept_where_they_just_fit() -> None:
    headers = {f"x-{number}": "v" * (HEADER_CHARACTERS // 16 - 3) for number in range(10)}
    headers |= {f"{number}": "v" * (HEADER_CHARACTERS // 16 - 1) for number in range(6)}
    assert sum(len(name) + len(value) for name, value in headers.items()) == HEADER_CHARACTERS
    assert answered(trim_exchange(exchange(headers=headers))).headers == headers
    trimmed = answered(trim_exchange(exchange(headers={"": "v", **headers}))).headers
    assert list(trimmed) == ["", *list(headers)[:-1], "…"]
    assert trimmed["…"] == "1 more"


def test_what_just_fits_is_no_shorter() -> None:
    fitting = factories.make_finding(observed=["z" * (VALUE_CHARACTERS - 4)], message="z" * VALUE_CHARACTERS)
    assert trim_finding(fitting) == fitting
    assert len(trim_finding(replace(fitting, observed=["z" * (VALUE_CHARACTERS - 3)])).observed) == VALUE_CHARACTERS
    assert (
        len(trim_finding(replace(fitting, observed=None, message="z" * (VALUE_CHARACTERS + 1))).message)
        == VALUE_CHARACTERS
    )
    observation = Observation("", "answer", mismatched={"type": "z" * VALUE_CHARACTERS})
    assert trim_observation(observation) == observation


def test_what_is_asserted_of_a_body_is_kept_beside_it_each_place_once() -> None:
    places = ("/data", "/data", "retry-after", "", "/", "/error/type")
    assertions = {
        str(number): Assertion("pa/errors/general/x", AssertionKey("answer", "body", place), True, Basis.DOCUMENTED)
        for number, place in enumerate(places)
    }
    own = replace(EXPECTED, envelope=replace(EXPECTED.envelope, wire={"type": "/error/type"}), assertions=assertions)
    assert asserted_pointers(replace(own, fields={"/error/type": {}, "/n": {}})) == ("/error/type", "/n", "/data")
