"""Event streams, sockets, gRPC calls and what fails in the client: each difference is one finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.envelopes import Envelope
from catalog_probe.catalog.model import Close, Event, GrpcStatus, Reason, Response
from catalog_probe.catalog.reading.expectations import Expected, StreamRule
from tests.unit.probes.comparing import SCHEMA, WIRE, find_differences, make_expected, make_response, summarize_findings

if TYPE_CHECKING:
    import pytest


def make_stream(*names: str, **fields: Any) -> Response:
    return make_response(None, 200, "empty", events=tuple(Event(name, {"n": 1}) for name in names), **fields)


def expect_stream(**rule: Any) -> Expected:
    plain = Envelope("e", {"required": ["n"]}, {}, "json")
    return make_expected(status=200, envelope=plain, stream=StreamRule(**{"protocol": "sse", **rule}))


def test_event_order_is_compared(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str, list[Any]]] = [
        ({"events": ("a", "b")}, "ab", []),
        ({"events": ("a", "b")}, "axb", []),
        ({"events": ("a", "b")}, "ba", [("order", "event-order", ["a", "b"], ["b", "a"])]),
        ({"events": ("a", "b")}, "a", [("event:b", "event-missing", "b", ["a"])]),
        ({"event": "e"}, "e", []),
        ({"event": "e", "events": ("a",)}, "ae", []),
        ({"event": "e", "events": ("a",)}, "ea", [("order", "event-order", ["a", "e"], ["e", "a"])]),
        ({"event": "e", "events": ("e", "a")}, "ea", []),
        ({"terminal": "z"}, "az", []),
        ({"terminal": "z"}, "za", [("order:last", "stream-unterminated", "z", "a")]),
        ({"terminal": "z"}, "", [("order:last", "stream-unterminated", "z", "nothing")]),
    ]
    for rule, names, findings in cases:
        with subtests.test(rule=rule):
            assert summarize_findings(expect_stream(**rule), make_stream(*names)) == findings


def test_order_finding_has_no_location() -> None:
    (finding,) = find_differences(expect_stream(events=("a", "b")), make_stream("b", "a"))
    assert (finding.location, finding.message) == ("", 'event: documented ["a", "b"], observed ["b", "a"]')


def test_events_sent_by_the_client_are_ignored() -> None:
    sent = Event("a", "hello", sent=True)
    response = make_response(None, 200, "empty", events=(Event("b", {"n": 1}), sent))
    assert summarize_findings(expect_stream(events=("a",)), response) == [("event:a", "event-missing", "a", ["b"])]
    assert summarize_findings(expect_stream(terminal="b"), response) == []


def test_observed_events_are_limited() -> None:
    ((*_, observed),) = summarize_findings(
        expect_stream(events=("z",)), make_stream(*(f"e{number}" for number in range(30)))
    )
    assert observed == [f"e{number}" for number in range(22, 30)]
    ((*_, observed),) = summarize_findings(
        expect_stream(events=("b", "a")), make_stream("a", "b", *("c" for _ in range(30)))
    )
    assert len(observed) == 20


def test_data_of_the_documented_event_is_the_body() -> None:
    response = make_response(None, 200, "empty", events=(Event("e", {"n": 1}), Event("other", {}), Event("e", {})))
    assert [key for key, *_ in summarize_findings(expect_stream(event="e"), response)] == ["body"]
    assert summarize_findings(expect_stream(events=("e",)), response) == []


def test_missing_stream_is_one_finding(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"event": "e", "terminal": "z"}, "e"),
        ({"terminal": "z"}, "z"),
        ({"events": ("a",)}, "sse"),
    ]
    for rule, documented in cases:
        with subtests.test(rule=rule):
            assert summarize_findings(expect_stream(**rule), make_response(None, 200, "empty")) == [
                ("event", "stream-not-started", documented, "HTTP 200, no stream")
            ]


def test_stream_with_broken_syntax_is_malformed() -> None:
    broken = [("event", "stream-malformed", "sse as specified", "broken")]
    assert summarize_findings(expect_stream(events=("a",)), make_stream("a", ended="malformed")) == broken
    assert summarize_findings(expect_stream(events=("a",)), make_stream("a", ended="cut")) == []


def test_event_data_is_json_except_the_end_mark() -> None:
    response = make_response(None, 200, "empty", events=(Event("a", "no json"),))
    assert summarize_findings(expect_stream(events=("a",)), response) == [
        ("event", "stream-malformed", "JSON data", "no json")
    ]
    end = make_response(None, 200, "empty", events=(Event("a", "[DONE]"),))
    chat = Expected("answer", "pc/endpoints/x/y", Envelope("e", {}, {}, "json"), 200, stream=StreamRule("sse"))
    assert summarize_findings(chat, end) == []
    text = Expected("answer", "pa/endpoints/x/y", Envelope("e", {}, {}, "text"), 200, stream=StreamRule("sse"))
    assert summarize_findings(text, response) == []


CODE: dict[str, Any] = {"protocol": "websocket", "close_code": (4000, 4001)}


def test_socket_close_is_compared(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], Close | None, list[Any]]] = [
        (CODE, Close(4000), []),
        (CODE, Close(4001, clean=False), []),
        (CODE, Close(3999), [("close:code", "close-code-differs", "4000 to 4001", 3999)]),
        (CODE, Close(4002), [("close:code", "close-code-differs", "4000 to 4001", 4002)]),
        (CODE, Close(None), [("close:code", "close-code-differs", "4000 to 4001", None)]),
        (CODE, None, [("close:code", "close-missing", "4000 to 4001", "still open")]),
        ({"close_code": (4000, 4000)}, None, [("close:code", "close-missing", 4000, "still open")]),
        ({"close_clean": True}, Close(1000), []),
        (
            {"close_clean": True},
            Close(1000, clean=False),
            [("close:clean", "close-unclean", "a closing handshake", "none")],
        ),
        ({"close_clean": True}, None, [("close:clean", "close-missing", "closed", "still open")]),
        ({"close_clean": False}, Close(1000), []),
        ({"close_reason": True}, Close(1000, "why"), []),
        ({"close_reason": True}, Close(1000), [("close:reason", "close-reason-missing", "a reason", "none")]),
        ({"close_reason": True}, Close(1000, " "), [("close:reason", "close-reason-missing", "a reason", "none")]),
        ({"close_reason": True}, None, [("close:reason", "close-missing", "closed", "still open")]),
        ({}, None, []),
    ]
    for rule, close, findings in cases:
        with subtests.test(rule=rule):
            assert summarize_findings(expect_stream(**rule), make_stream(close=close)) == findings


def test_close_of_an_empty_socket_is_compared() -> None:
    response = make_response(None, 200, "empty", close=Close(1006))
    assert [key for key, *_ in summarize_findings(expect_stream(**CODE), response)] == ["event", "close:code"]


def test_grpc_status_is_compared(subtests: pytest.Subtests) -> None:
    cases: list[tuple[GrpcStatus | None, list[Any]]] = [
        (GrpcStatus(8), []),
        (GrpcStatus(3), [("grpc", "grpc-status-differs", 8, 3)]),
        (None, [("grpc", "grpc-status-differs", 8, "no gRPC status")]),
    ]
    for grpc, findings in cases:
        with subtests.test(grpc=grpc):
            assert (
                summarize_findings(
                    expect_stream(protocol="grpc", grpc_status=8), make_response(None, 200, "empty", grpc=grpc)
                )
                == findings
            )


def test_undocumented_grpc_status_may_be_any() -> None:
    assert (
        summarize_findings(expect_stream(protocol="grpc"), make_response(None, 200, "empty", grpc=GrpcStatus(5))) == []
    )


def test_client_failure_is_compared(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Response | None, Reason | None, list[Any]]] = [
        (None, Reason("read-timeout"), []),
        (None, Reason("connect-refused"), [("state", "state-differs", "read-timeout", "connect-refused")]),
        (make_response(status=200), None, [("state", "state-differs", "read-timeout", "HTTP 200")]),
        (None, None, [("state", "state-differs", "read-timeout", "HTTP None")]),
    ]
    for response, failure, findings in cases:
        with subtests.test(response=response):
            assert summarize_findings(make_expected(failure="read-timeout", status=400), response, failure) == findings


SOCKET = StreamRule("websocket", close_code=(1008, 1008), close_clean=True, close_reason=True)


def test_finding_location(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, dict[str, Any], Response, list[str]]] = [
        ("status", {}, make_response(status=500), [""]),
        ("body", {"envelope": Envelope("e", SCHEMA, WIRE, "empty")}, make_response({}), [""]),
        ("malformed", {}, make_response("<html>", body_type="text"), [""]),
        ("message", {"message_pattern": "nothing of that"}, make_response(), [""]),
        ("no stream", {"stream": StreamRule("sse", event="x")}, make_response(), [""]),
        (
            "broken stream",
            {"stream": StreamRule("sse", terminal="x")},
            make_response(events=(Event("x", {}),), ended="malformed"),
            [""],
        ),
        ("still open", {"stream": SOCKET}, make_response(events=()), [""]),
        (
            "closed",
            {"stream": SOCKET},
            make_response(events=(), close=Close(1000, "", clean=False)),
            ["code", "clean", "reason"],
        ),
        ("grpc", {"stream": StreamRule("grpc", grpc_status=8)}, make_response(), ["grpc"]),
        ("client", {"failure": "dns"}, make_response(), [""]),
    ]
    for case, changes, response, locations in cases:
        with subtests.test(case=case):
            findings = find_differences(make_expected(**changes), response)
            assert [finding.location for finding in findings] == locations
            assert all(
                f"{finding.aspect} {finding.location}:" in finding.message or not finding.location
                for finding in findings
            )


def test_event_data_must_be_json_except_on_untyped_sockets(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, int]] = [
        ("sse", "json", 1),
        ("sse", "any", 1),
        ("websocket", "json", 1),
        ("websocket", "any", 0),
        ("sse", "text", 0),
    ]
    for protocol, body, broken in cases:
        with subtests.test(protocol=protocol):
            expected = make_expected(envelope=Envelope("e", {}, {}, body), stream=StreamRule(protocol, events=("x",)))
            findings = find_differences(expected, make_response(events=(Event("x", "no JSON"),)))
            assert [finding.code for finding in findings] == ["stream-malformed"] * broken


def test_data_that_is_no_json_may_be_the_documented_end() -> None:
    """`data: [DONE]` has no `event:` line, so the event is named `message`."""
    whole = make_response(None, 200, "empty", events=(Event("message", {"a": 1}), Event("message", "[DONE]")))
    cut_off = make_response(None, 200, "empty", events=(Event("message", {"a": 1}),))
    assert summarize_findings(expect_stream(terminal="[DONE]"), whole) == []
    assert [code for _, code, *_ in summarize_findings(expect_stream(terminal="[DONE]"), cut_off)] == [
        "stream-unterminated"
    ]
