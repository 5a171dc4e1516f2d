"""Event streams, sockets, gRPC calls and what fails in the client: each difference is one finding."""

from __future__ import annotations

from typing import Any

import pytest

from catalog_probe.catalog.envelopes.envelope import Envelope
from catalog_probe.catalog.model import Close, Event, GrpcStatus, Reason, Response
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.catalog.reading.streams import StreamRule
from tests.unit.probes.comparing import SCHEMA, WIRE, came, found, told, wanted


def streamed(*names: str, **more: Any) -> Response:
    return came(None, 200, "empty", events=tuple(Event(name, {"n": 1}) for name in names), **more)


def stream(**rule: Any) -> Expected:
    plain = Envelope("e", {"required": ["n"]}, {}, "json")
    return wanted(status=200, envelope=plain, stream=StreamRule(**{"protocol": "sse", **rule}))


@pytest.mark.parametrize(
    ("rule", "names", "findings"),
    [
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
    ],
)
def test_events_come_in_their_order(rule: dict[str, Any], names: str, findings: list[Any]) -> None:
    assert told(stream(**rule), streamed(*names)) == findings


def test_an_order_has_no_one_place() -> None:
    (finding,) = found(stream(events=("a", "b")), streamed("b", "a"))
    assert (finding.location, finding.message) == ("", 'event: documented ["a", "b"], observed ["b", "a"]')


def test_what_the_client_sent_is_no_event_of_the_provider() -> None:
    sent = Event("a", "hello", sent=True)
    response = came(None, 200, "empty", events=(Event("b", {"n": 1}), sent))
    assert told(stream(events=("a",)), response) == [("event:a", "event-missing", "a", ["b"])]
    assert told(stream(terminal="b"), response) == []


def test_of_many_events_the_last_ones_are_told() -> None:
    ((*_, observed),) = told(stream(events=("z",)), streamed(*(f"e{number}" for number in range(30))))
    assert observed == [f"e{number}" for number in range(22, 30)]
    ((*_, observed),) = told(stream(events=("b", "a")), streamed("a", "b", *("c" for _ in range(30))))
    assert len(observed) == 20


def test_the_data_of_the_documented_event_is_the_body() -> None:
    response = came(None, 200, "empty", events=(Event("e", {"n": 1}), Event("other", {}), Event("e", {})))
    assert [within for within, *_ in told(stream(event="e"), response)] == ["body"]
    assert told(stream(events=("e",)), response) == []


@pytest.mark.parametrize(
    ("rule", "asked"),
    [({"event": "e", "terminal": "z"}, "e"), ({"terminal": "z"}, "z"), ({"events": ("a",)}, "sse")],
)
def test_a_stream_that_never_began_is_told_once(rule: dict[str, Any], asked: str) -> None:
    assert told(stream(**rule), came(None, 200, "empty")) == [
        ("event", "stream-not-started", asked, "HTTP 200, no stream")
    ]


def test_a_stream_out_of_its_syntax_is_malformed() -> None:
    broken = [("event", "stream-malformed", "sse as specified", "broken")]
    assert told(stream(events=("a",)), streamed("a", ended="malformed")) == broken
    assert told(stream(events=("a",)), streamed("a", ended="cut")) == []


def test_events_hold_json_but_for_the_mark_of_the_end() -> None:
    response = came(None, 200, "empty", events=(Event("a", "no json"),))
    assert told(stream(events=("a",)), response) == [("event", "stream-malformed", "JSON data", "no json")]
    end = came(None, 200, "empty", events=(Event("a", "[DONE]"),))
    chat = Expected("answer", "pc/endpoints/x/y", Envelope("e", {}, {}, "json"), 200, stream=StreamRule("sse"))
    assert told(chat, end) == []
    text = Expected("answer", "pa/endpoints/x/y", Envelope("e", {}, {}, "text"), 200, stream=StreamRule("sse"))
    assert told(text, response) == []


CODE: dict[str, Any] = {"protocol": "websocket", "close_code": (4000, 4001)}


@pytest.mark.parametrize(
    ("rule", "close", "findings"),
    [
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
    ],
)
def test_a_socket_ends_as_documented(rule: dict[str, Any], close: Close | None, findings: list[Any]) -> None:
    assert told(stream(**rule), streamed(close=close)) == findings


def test_how_a_socket_ended_is_judged_though_it_never_carried_anything() -> None:
    response = came(None, 200, "empty", close=Close(1006))
    assert [within for within, *_ in told(stream(**CODE), response)] == ["event", "close:code"]


@pytest.mark.parametrize(
    ("grpc", "findings"),
    [
        (GrpcStatus(8), []),
        (GrpcStatus(3), [("grpc", "grpc-status-differs", 8, 3)]),
        (None, [("grpc", "grpc-status-differs", 8, "no gRPC status")]),
    ],
)
def test_a_call_ends_with_its_status(grpc: GrpcStatus | None, findings: list[Any]) -> None:
    assert told(stream(protocol="grpc", grpc_status=8), came(None, 200, "empty", grpc=grpc)) == findings


def test_a_call_whose_status_nobody_documents_may_have_any() -> None:
    assert told(stream(protocol="grpc"), came(None, 200, "empty", grpc=GrpcStatus(5))) == []


@pytest.mark.parametrize(
    ("response", "failure", "findings"),
    [
        (None, Reason("read-timeout"), []),
        (None, Reason("connect-refused"), [("state", "state-differs", "read-timeout", "connect-refused")]),
        (came(status=200), None, [("state", "state-differs", "read-timeout", "HTTP 200")]),
        (None, None, [("state", "state-differs", "read-timeout", "HTTP None")]),
    ],
)
def test_what_happens_in_the_client_is_its_failure(
    response: Response | None, failure: Reason | None, findings: list[Any]
) -> None:
    assert told(wanted(failure="read-timeout", status=400), response, failure) == findings


SOCKET = StreamRule("websocket", close_code=(1008, 1008), close_clean=True, close_reason=True)


@pytest.mark.parametrize(
    ("stated", "response", "at"),
    [
        ({}, came(status=500), [""]),
        ({"envelope": Envelope("e", SCHEMA, WIRE, "empty")}, came({}), [""]),
        ({}, came("<html>", body_type="text"), [""]),
        ({"message_pattern": "nothing of that"}, came(), [""]),
        ({"stream": StreamRule("sse", event="x")}, came(), [""]),
        ({"stream": StreamRule("sse", terminal="x")}, came(events=(Event("x", {}),), ended="malformed"), [""]),
        ({"stream": SOCKET}, came(events=()), [""]),
        ({"stream": SOCKET}, came(events=(), close=Close(1000, "", clean=False)), ["code", "clean", "reason"]),
        ({"stream": StreamRule("grpc", grpc_status=8)}, came(), ["grpc"]),
        ({"failure": "dns"}, came(), [""]),
    ],
    ids=[
        "status",
        "body",
        "malformed",
        "message",
        "no stream",
        "broken stream",
        "still open",
        "closed",
        "grpc",
        "client",
    ],
)
def test_where_a_difference_is_said_to_be_is_one_of_several_places_or_none(
    stated: dict[str, Any], response: Response, at: list[str]
) -> None:
    findings = found(wanted(**stated), response)
    assert [each.location for each in findings] == at
    assert all(f"{each.aspect} {each.location}:" in each.message or not each.location for each in findings)


@pytest.mark.parametrize(
    ("protocol", "body", "broken"),
    [("sse", "json", 1), ("sse", "any", 1), ("websocket", "json", 1), ("websocket", "any", 0), ("sse", "text", 0)],
)
def test_data_that_is_no_json_is_broken_where_events_hold_json(protocol: str, body: str, broken: int) -> None:
    stated = wanted(envelope=Envelope("e", {}, {}, body), stream=StreamRule(protocol, events=("x",)))
    findings = found(stated, came(events=(Event("x", "no JSON"),)))
    assert [each.code for each in findings] == ["stream-malformed"] * broken
