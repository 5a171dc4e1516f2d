"""Tables that all providers share: error rows, field rows, routes, limits, completion streams."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from catalog_probe.mockserver.core.errors import CLIENTS, ErrorRow, Refusal
from catalog_probe.mockserver.core.fields import (
    BOOLEAN,
    NULL,
    OBJECT,
    STRING,
    STRINGS,
    Breach,
    Field,
    Value,
    array,
    find_violations,
    format_path,
    integer,
    number,
    object_of,
    one_of,
)
from catalog_probe.mockserver.core.gateway import Endpoint, RouteMatch, Router
from catalog_probe.mockserver.core.generation import (
    count_tokens,
    echo_text,
    encode_event,
    encode_typed,
    make_chat_chunks,
    make_response_events,
    number_events,
    truncate_text,
)
from catalog_probe.mockserver.core.limits import Limit, charge_all
from catalog_probe.mockserver.core.sessions import Session

TABLE = object_of(
    Field("name", Value(("string",), max_length=3), CLIENTS, required=True),
    Field("kind", one_of("a", "b"), CLIENTS),
    Field("count", integer(1, 8), CLIENTS),
    Field("share", number(0, 1), CLIENTS),
    Field("words", array(STRING, at_least=1, at_most=2), CLIENTS),
    Field("choice", STRING | OBJECT, CLIENTS),
    Field("inner", object_of(Field("flag", BOOLEAN, CLIENTS), extra=True), CLIENTS),
)
WORDS = {name: f"<{name}>" for name in ("string", "integer", "number", "boolean", "array", "object", "null")}


def breaches(body: Any, *, null_is_absent: bool = True) -> list[tuple[str, Breach]]:
    return [
        (format_path(violation.path), violation.breach)
        for violation in find_violations(body, TABLE, null_is_absent=null_is_absent)
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x"},
        {"name": "x", "kind": "b", "count": 8, "share": 1, "words": ["a", "b"]},
        {"name": "x", "share": 0.5, "choice": {"any": 1}, "inner": {"other": 1}},
        {"name": "x", "choice": "word", "count": None},
    ],
)
def test_a_body_that_keeps_to_its_table_breaks_nothing(body: dict[str, Any]) -> None:
    assert breaches(body) == []


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ([], [("", Breach.TYPE)]),
        ({}, [("name", Breach.MISSING)]),
        ({"name": None}, [("name", Breach.TYPE)]),
        ({"name": "long"}, [("name", Breach.TOO_LONG)]),
        ({"name": "x", "more": 1}, [("more", Breach.UNKNOWN)]),
        ({"name": "x", "kind": "c"}, [("kind", Breach.OPTION)]),
        ({"name": "x", "count": 0}, [("count", Breach.BELOW)]),
        ({"name": "x", "count": 9}, [("count", Breach.ABOVE)]),
        ({"name": "x", "count": True}, [("count", Breach.TYPE)]),
        ({"name": "x", "count": 1.0}, [("count", Breach.TYPE)]),
        ({"name": "x", "share": 1.1}, [("share", Breach.ABOVE)]),
        ({"name": "x", "words": []}, [("words", Breach.TOO_FEW)]),
        ({"name": "x", "words": ["a", "b", 3]}, [("words", Breach.TOO_MANY), ("words[2]", Breach.TYPE)]),
        ({"name": "x", "choice": []}, [("choice", Breach.TYPE)]),
        ({"name": "x", "inner": {"flag": 1}}, [("inner.flag", Breach.TYPE)]),
        ({"kind": 1, "count": 0}, [("name", Breach.MISSING), ("kind", Breach.TYPE), ("count", Breach.BELOW)]),
    ],
)
def test_each_violation_has_its_location(body: Any, broken: list[tuple[str, Breach]]) -> None:
    assert breaches(body) == broken


def test_null_is_a_value_where_it_does_not_mean_absent() -> None:
    assert breaches({"name": "x", "kind": None}, null_is_absent=False) == [("kind", Breach.TYPE)]
    table = object_of(Field("kind", NULL | one_of("a"), CLIENTS))
    assert not [*find_violations({"kind": None}, table, null_is_absent=False)]
    assert [violation.breach for violation in find_violations({"kind": "b"}, table)] == [Breach.OPTION]


def test_either_of_two_values_keeps_the_bounds_of_both() -> None:
    either = STRING | array(integer(1), at_most=1)
    assert [violation.breach for violation in find_violations([0, 1], either)] == [Breach.TOO_MANY, Breach.BELOW]
    assert not [*find_violations("text", either)]
    assert [violation.breach for violation in find_violations(7, either | STRINGS)] == [Breach.TYPE]


def test_a_violation_is_refused_in_the_words_of_its_row() -> None:
    rows = {
        Breach.ABOVE: ErrorRow("1:1", 400, "{path}: {value} > {bound} at {line}", code="too_much"),
        Breach.TYPE: ErrorRow("1:1", 422, "{path}: {found}, not {wanted}"),
        Breach.OPTION: ErrorRow("1:1", 400, "{path}: none of {options}"),
    }

    def find_refusal(body: Any) -> Refusal:
        (broken,) = find_violations({"name": "x", **body}, TABLE)
        return broken.make_refusal(rows, WORDS, line=7)

    too_large = find_refusal({"count": 9})
    assert (too_large.row.status, too_large.row.code, too_large.param) == (400, "too_much", "count")
    assert too_large.message == "count: 9 > 8 at 7"
    assert find_refusal({"choice": 1}).message == "choice: <integer>, not <string> or <object>"
    assert find_refusal({"kind": "c"}).message == "kind: none of 'a', 'b'"


def test_rows_of_one_kind_share_all_but_their_words() -> None:
    kind = ErrorRow("1:1", 404, type="gone", code="missing", headers={"x-should-retry": "false"})
    refusal = kind.with_message("No {what} {{here}}.", param="id")(what="file", headers={"x-more": "1"}, extra={"a": 1})
    assert (refusal.row.status, refusal.row.type, refusal.row.code) == (404, "gone", "missing")
    assert (refusal.message, refusal.param) == ("No file {here}.", "id")
    assert (refusal.headers, refusal.extra) == ({"x-should-retry": "false", "x-more": "1"}, {"a": 1})
    assert kind(param="other").param == "other"


def test_text_of_a_request_is_not_formatted_as_a_template() -> None:
    assert ErrorRow("1:1", 400, "Unknown {name}.")(name="{secret}").message == "Unknown {secret}."


BEYOND = ErrorRow("1:1", 429)
REQUESTS = Limit("requests_per_second", "requests", BEYOND, "1:1", window_s=1)
TOKENS = Limit("tokens_per_minute", "tokens", BEYOND, "1:1")


def test_limits_charge_all_of_a_request_or_nothing() -> None:
    numbers = SimpleNamespace(requests_per_second=2, tokens_per_minute=600)
    meters = Session("").open_meters([REQUESTS, TOKENS], numbers, "a team")
    assert charge_all(meters, {"requests": 1, "tokens": 599}, now=0) == []
    (excess,) = charge_all(meters, {"requests": 1, "tokens": 11}, now=0)
    assert (excess.meter.limit.name, round(excess.wait_s, 6)) == ("tokens_per_minute", 1.0)
    assert [meter.bucket.remaining(0) for meter in meters] == [1, 1]
    assert charge_all(meters, {"requests": 1, "tokens": 11}, now=1) == []


def test_a_scope_shares_its_limits_and_a_number_of_none_is_no_limit() -> None:
    session, numbers = Session(""), SimpleNamespace(requests_per_second=2, tokens_per_minute=None)
    (meter,) = session.open_meters([REQUESTS, TOKENS], numbers, "a team")
    (same_team,) = session.open_meters([REQUESTS, TOKENS], numbers, "a team")
    (other_team,) = session.open_meters([REQUESTS, TOKENS], numbers, "another team")
    assert charge_all([meter], {"requests": 2}, now=0) == []
    assert [team.bucket.remaining(0) for team in (same_team, other_team)] == [0, 2]


def test_the_model_repeats_its_input_cut_between_characters() -> None:
    assert echo_text("x" * 300) == f"The mock heard: {'x' * 200}"
    assert (count_tokens(""), count_tokens("abcde")) == (0, 2)
    assert (truncate_text("abcdefgh", 1), truncate_text("ab", 1), truncate_text("abcde", None)) == (
        "abcd",
        "ab",
        "abcde",
    )
    assert truncate_text("abcäöü", 1) == "abc"


TOOL_CALL = {"id": "call_1", "type": "function", "function": {"name": "sun", "arguments": '{"unit": "celsius or so"}'}}


def completion(message: dict[str, Any]) -> dict[str, Any]:
    return {"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {"total": 1}}


def test_the_chunks_of_a_completion_add_up_to_it() -> None:
    *chunks, last = make_chat_chunks(completion({"content": "word " * 20}), with_usage=True)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0]["role"] == "assistant"
    assert "".join(delta.get("content", "") for delta in deltas) == "word " * 20
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert (last["choices"], last["usage"], "usage" in chunks[0]) == ([], {"total": 1}, False)


@pytest.mark.parametrize("in_one_piece", [True, False])
def test_a_function_call_comes_in_one_piece_or_several(in_one_piece: bool) -> None:
    chunks = make_chat_chunks(completion({"content": None, "tool_calls": [TOOL_CALL]}), whole_calls=in_one_piece)
    calls = [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", ())]
    assert calls[0]["function"]["name"] == "sun"
    assert "".join(call["function"]["arguments"] for call in calls) == TOOL_CALL["function"]["arguments"]  # type: ignore[index]
    assert (len(calls) == 1) is in_one_piece


def test_the_events_of_a_response_are_numbered_and_add_up_to_it() -> None:
    part = {"type": "output_text", "text": "word " * 20, "annotations": []}
    call = {"type": "function_call", "id": "fc_1", "name": "sun", "arguments": "{}"}
    output = [{"type": "message", "id": "msg_1", "content": [part]}, call]
    events = [
        *number_events(make_response_events({"id": "resp_1", "status": "completed", "output": output, "usage": {}}))
    ]
    assert [event["sequence_number"] for event in events] == [*range(len(events))]
    deltas = [event["delta"] for event in events if event["type"] == "response.output_text.delta"]
    assert (len(deltas) > 1, "".join(deltas)) == (True, part["text"])
    assert [event["item"] for event in events if event["type"] == "response.output_item.done"] == output
    assert (events[0]["response"]["output"], events[-1]["type"]) == ([], "response.completed")


def test_an_event_is_lines_of_name_and_data() -> None:
    assert encode_event({"a": 1}) == b'data: {"a":1}\n\n'
    name, data = encode_typed({"type": "ping"}).decode().strip().split("\n")
    assert (name, json.loads(data.removeprefix("data: "))) == ("event: ping", {"type": "ping"})


def test_a_router_tells_a_wrong_method_from_a_wrong_path() -> None:
    listing, detail = Endpoint("GET", "/a", list, "1:1"), Endpoint("GET", "/a/{id}", str, "1:1")
    router = Router([listing, detail])

    def find(method: str, path: str) -> RouteMatch[Endpoint]:
        return router.find({"method": method, "path": f"/mount{path}", "root_path": "/mount"})

    assert find("GET", "/a").row == listing
    assert (find("HEAD", "/a/7").row, find("HEAD", "/a/7").params) == (detail, {"id": "7"})
    assert (find("POST", "/a").row, find("POST", "/a").is_known_path) == (None, True)
    assert not find("GET", "/b").is_known_path
    with pytest.raises(ValueError, match="two rows"):
        Router([Endpoint("GET", "/a", list, "1:1"), Endpoint("GET", "/a", str, "1:1")])
