"""The replay of recorded requests: listed values, replaced ids, volatile values and the stopped clock."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from tests.verdicts.replay import (
    AHEAD,
    Exchange,
    Request,
    Values,
    compare_answers,
    list_values,
    pair_ids,
    replace_ids,
    stop_clock,
)

if TYPE_CHECKING:
    from tests.verdicts.compare import Difference

JSON = ("content-type", "application/json")
REQUEST = Request("GET", "/pa/v1/files/file_recorded?limit=1", (("x-mock-session", "run/pa/errors/x/1"),), b"")


def compare(old: Values, again: Values, new: Values) -> list[Difference]:
    return list(compare_answers([Exchange(REQUEST, {})], [old], [again], [new]))


def test_answer_values_are_listed_by_location() -> None:
    body = b'{"a": {"b": [1, "x", {}]}, "c": null}'
    assert list_values(200, [JSON, ("X-A", "1"), ("x-a", "2")], body) == {
        "status": "200",
        "header content-type": "application/json",
        "header x-a": "1, 2",
        "body /a/b/0": "1",
        "body /a/b/1": "x",
        "body /a/b/2": "{}",
        "body /c": "null",
    }


def test_text_json_lines_and_compressed_bodies_are_listed() -> None:
    assert list_values(400, [], b"no JSON")["body "] == "no JSON"
    assert list_values(200, [], b'{"a": 1}\n{"a": 2}\n')["body 1 /a"] == "2"
    assert list_values(200, [("content-encoding", "gzip")], gzip.compress(b'{"a": 1}'))["body /a"] == "1"


def test_events_are_listed_separately() -> None:
    stream = b'event: ping\ndata: {"type": "ping"}\n\n: comment\n\ndata: [DONE]\n\n'
    values = list_values(200, [("content-type", "text/event-stream; charset=utf-8")], stream)
    assert values["event 0 event "] == "ping"
    assert values["event 0 data /type"] == "ping"
    assert values["event 2 data "] == "[DONE]"


def test_difference_names_record_request_and_location() -> None:
    (difference,) = compare({"status": "200"}, {"status": "200"}, {"status": "201"})
    assert (difference.case, difference.record) == ("replay", "pa/errors/x")
    assert difference.what == 'GET /pa/v1/files/file_recorded status: "200" -> "201"'


def test_volatile_value_may_differ_but_not_be_absent() -> None:
    old, again = {"header date": "1", "status": "200"}, {"header date": "2", "status": "200"}
    assert compare(old, again, {"header date": "3", "status": "200"}) == []
    (difference,) = compare(old, again, {"status": "200"})
    assert difference.what.endswith('header date: "1" -> absent')


def test_location_of_only_one_old_replay_is_not_compared() -> None:
    assert compare({"body /a": "1"}, {}, {}) == []
    assert compare({}, {"body /a": "1"}, {"body /a": "2"}) == []


def test_new_value_is_a_difference() -> None:
    (difference,) = compare({}, {}, {"header x-new": "1"})
    assert difference.what.endswith('header x-new: absent -> "1"')


def test_ids_of_earlier_answers_are_replaced() -> None:
    ids = pair_ids({"body /id": "file_recorded", "status": "200"}, {"body /id": "file_now", "status": "404"})
    assert ids == {"file_recorded": "file_now"}
    headers = [("content-length", "22"), ("x-file", "file_recorded"), ("x-file", "another")]
    request = replace_ids(Request("POST", "/files/file_recorded", headers, b'{"id":"file_recorded"}'), ids)
    assert request.path == "/files/file_now"
    assert request.body == b'{"id":"file_now"}'
    assert request.headers == [("content-length", "17"), ("x-file", "file_now"), ("x-file", "another")]


def test_clock_is_stopped_and_keeps_the_requested_offset() -> None:
    clocks = {clock: Request("GET", "/", (("x-mock-clock", clock),), b"") for clock in ("+25h", "still", "still+1m")}
    assert stop_clock(REQUEST, "").header("x-mock-clock") == "still"
    assert stop_clock(REQUEST, AHEAD).header("x-mock-clock") == "still+1d1h1m1s"
    headers = [stop_clock(request, AHEAD).header("x-mock-clock") for request in clocks.values()]
    assert headers == ["still+25h1d1h1m1s", "still+1d1h1m1s", "still+1m1d1h1m1s"]
