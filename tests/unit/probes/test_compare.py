"""Each difference between what is documented and what came is one finding; what is as documented is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from catalog.envelopes.envelope import Envelope
from catalog.model import Aspect, Close, Event, Exchange, GrpcStatus, Json, Reason, Request, Response, Severity
from catalog.model.exchange import Cut
from catalog.reading.expected import Expected
from catalog.reading.headers import HeaderRule
from catalog.reading.streams import StreamRule
from probes.judging.compare import compare

if TYPE_CHECKING:
    from catalog.model import Finding

SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"error": {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["type"]}},
    "required": ["error"],
}
WIRE = {
    "type": "/error/type",
    "code": "/error/code",
    "param": "/error/param",
    "message": "/error/message",
    "http_status": "/error/status",
}
ENVELOPE = Envelope("e", SCHEMA, WIRE, "json")
FINE: dict[str, Json] = {"error": {"type": "overloaded_error", "message": "Overloaded", "status": 529}}


def wanted(**stated: Any) -> Expected:
    return Expected(**{"label": "answer", "address": "pa/errors/x/y", "envelope": ENVELOPE, "status": 529, **stated})


def came(body: Json = FINE, status: int | None = 529, body_type: str = "json", **more: Any) -> Response:
    return Response(status, body=body, body_type=body_type, **more)


def found(expected: Expected, response: Response | None, failure: Reason | None = None) -> list[Finding]:
    return list(compare(expected, Exchange("answer", Request("GET", "https://x"), response, failure)))


def told(expected: Expected, response: Response | None, failure: Reason | None = None) -> list[tuple[Json, ...]]:
    """Of each finding the key without its label, the code, and what was documented and observed."""
    findings = found(expected, response, failure)
    assert all(each.label == "answer" and each.severity is Severity.MUST for each in findings)
    return [(each.assertion.removeprefix("answer/"), each.code, each.documented, each.observed) for each in findings]


def test_what_is_as_documented_is_no_finding() -> None:
    full = wanted(wire={"type": "overloaded_error", "code": None}, told_status=529, message_pattern="(?i)overload")
    assert told(full, came()) == []
    assert told(full, None) == []


@pytest.mark.parametrize(
    ("stated", "status", "findings"),
    [
        ({"status": 400}, 400, []),
        ({"status": 400}, 404, [("status", "status-differs", 400, 404)]),
        ({"status": 400}, None, [("status", "status-differs", 400, None)]),
        ({"status": None, "status_class": 4}, 429, []),
        ({"status": None, "status_class": 4}, 500, [("status", "status-differs", "4xx", 500)]),
        ({"status": None}, 204, []),
    ],
)
def test_a_status_is_the_documented_one(stated: dict[str, Any], status: int, findings: list[Any]) -> None:
    assert told(wanted(**stated), came(status=status)) == findings


PRESENT = HeaderRule("request-id", "present")
ABSENT = HeaderRule("x-legacy", "absent")
EQUALS = HeaderRule("x-should-retry", "equals", value="true")
SECONDS = HeaderRule("retry-after", "format", format="seconds")


@pytest.mark.parametrize(
    ("rule", "sent", "findings"),
    [
        (PRESENT, {"request-id": "req_1"}, []),
        (PRESENT, {}, [("header:request-id", "header-missing", "present", "absent")]),
        (PRESENT, {"request-id": " "}, [("header:request-id", "header-malformed", "present", " ")]),
        (ABSENT, {}, []),
        (ABSENT, {"x-legacy": "1"}, [("header:x-legacy", "header-unexpected", "absent", "1")]),
        (EQUALS, {"x-should-retry": "true"}, []),
        (EQUALS, {"x-should-retry": "false"}, [("header:x-should-retry", "header-differs", "true", "false")]),
        (EQUALS, {"x-should-retry": ""}, [("header:x-should-retry", "header-differs", "true", "")]),
        (EQUALS, {}, [("header:x-should-retry", "header-missing", "true", "absent")]),
        (SECONDS, {"retry-after": "3"}, []),
        (SECONDS, {"retry-after": "soon"}, [("header:retry-after", "header-malformed", "seconds", "soon")]),
        (HeaderRule("retry-after", "format", format="seconds", optional=True), {}, []),
        (HeaderRule("pa-limit-*", "present"), {"pa-limit-input": "1"}, []),
        (HeaderRule("pa-limit-*", "present"), {}, [("header:pa-limit-*", "header-missing", "present", "absent")]),
    ],
)
def test_a_header_keeps_its_rule(rule: HeaderRule, sent: dict[str, str], findings: list[Any]) -> None:
    assert told(wanted(headers=(rule,)), came(headers=sent)) == findings


def test_a_finding_names_the_header_that_came() -> None:
    rule = HeaderRule("pa-limit-*", "format", format="integer")
    (finding,) = found(wanted(headers=(rule,)), came(headers={"pa-limit-input": "many"}))
    assert (finding.at, finding.assertion, finding.aspect) == (
        "pa-limit-input",
        "answer/header:pa-limit-*",
        Aspect.HEADER,
    )
    assert finding.message == "header pa-limit-input: documented integer, observed many"


def of_one_limit(part: str, **more: Any) -> HeaderRule:
    return HeaderRule(f"limit-{part}", "format", format="integer", family="requests", part=part, **more)


def test_headers_of_one_limit_that_contradict_each_other_are_told() -> None:
    rules = (of_one_limit("limit"), of_one_limit("remaining"))
    assert told(wanted(headers=rules), came(headers={"limit-limit": "5", "limit-remaining": "5"})) == []
    ((within, *_),) = told(wanted(headers=rules), came(headers={"limit-limit": "5", "limit-remaining": "6"}))
    assert within == "header:limit-remaining"


def of_kind(body: str) -> Expected:
    return wanted(envelope=Envelope("e", SCHEMA, WIRE, body), wire={"type": "overloaded_error"}, fields={"/a": False})


@pytest.mark.parametrize(
    ("kind", "response", "findings"),
    [
        ("empty", came(None, body_type="empty"), []),
        ("empty", came({}, body_type="json"), [("body", "body-not-empty", "empty", {})]),
        ("json", came("<html>", body_type="text"), [("body", "body-malformed", "JSON", "text: <html>")]),
        ("json", came(None, body_type="empty"), [("body", "body-malformed", "JSON", "empty: None")]),
        ("any", came({"a": 1}), [("body:/a", "field-unexpected", "absent", 1)]),
        ("any", came("text", body_type="text"), []),
    ],
)
def test_a_body_is_of_its_kind_before_anything_in_it_counts(kind: str, response: Response, findings: list[Any]) -> None:
    assert told(of_kind(kind), response) == findings


def test_the_envelope_is_held_to_its_schema() -> None:
    assert told(wanted(), came({"error": {"type": "x", "message": 3}})) == [
        ("body", "body-shape", {"type": "string"}, 3)
    ]
    assert told(wanted(), came({})) == [("body", "body-shape", {"required": ["error"]}, {})]
    (finding,) = found(wanted(), came({"error": {"type": "x", "message": 3}}))
    assert finding.at == "$.error.message"


def test_a_body_of_another_kind_altogether_is_told_in_a_few_findings_in_the_order_of_their_places() -> None:
    names = [f"n{number}" for number in range(9)]
    schema: dict[str, Json] = {"properties": {name: {"type": "string"} for name in reversed(names)}}
    findings = found(wanted(envelope=Envelope("e", schema, {}, "json")), came(dict.fromkeys(names, 1)))
    assert [each.at for each in findings] == [f"$.{name}" for name in names[:6]]


def test_a_rule_too_large_to_quote_is_named() -> None:
    values = [f"value {number}" for number in range(60)]
    schema: dict[str, Json] = {"properties": {"a": {"enum": values}}}
    assert told(wanted(envelope=Envelope("e", schema, {}, "json")), came({"a": 1})) == [
        ("body", "body-shape", "enum", 1)
    ]


@pytest.mark.parametrize(
    ("stated", "error", "findings"),
    [
        ({"type": "a"}, {"type": "a"}, []),
        ({"type": "a"}, {"type": "b"}, [("type", "type-differs", "a", "b")]),
        ({"code": "429"}, {"type": "a", "code": 429}, []),
        ({"code": "429"}, {"type": "a", "code": 428}, [("code", "code-differs", "429", 428)]),
        ({"code": 429}, {"type": "a", "code": 429}, []),
        ({"param": None}, {"type": "a"}, []),
        ({"param": None}, {"type": "a", "param": None}, []),
        ({"param": None}, {"type": "a", "param": "x"}, [("param", "param-differs", None, "x")]),
        ({"param": "x"}, {"type": "a"}, [("param", "param-differs", "x", "absent")]),
        ({"param": "x"}, {"type": "a", "param": None}, [("param", "param-differs", "x", None)]),
    ],
)
def test_the_values_on_the_wire_are_the_documented_ones(
    stated: dict[str, Json], error: dict[str, Json], findings: list[Any]
) -> None:
    assert told(wanted(wire=stated), came({"error": error})) == findings


@pytest.mark.parametrize(
    ("status", "told_status", "findings"),
    [
        (400, 400, []),
        (404, 400, [("status:/error/status", "code-differs", 400, 404)]),
        (404, None, []),
        (200, 101, []),
        (None, 400, [("status:/error/status", "code-differs", 400, None)]),
    ],
)
def test_the_status_that_an_envelope_repeats_is_that_of_the_error(
    status: int | None, told_status: int | None, findings: list[Any]
) -> None:
    body: Json = {"error": {"type": "a", "status": status}}
    assert told(wanted(told_status=told_status), came(body)) == findings


@pytest.mark.parametrize(
    ("pattern", "message", "findings"),
    [
        ("^Over", "Overloaded", []),
        ("loaded", "Overloaded", []),
        (None, "anything", []),
        ("^over", "Overloaded", [("message", "message-differs", "^over", "Overloaded")]),
        ("x", "y" * 1999 + "x", []),
    ],
)
def test_a_message_has_the_documented_wording(pattern: str | None, message: str, findings: list[Any]) -> None:
    assert told(wanted(message_pattern=pattern), came({"error": {"type": "a", "message": message}})) == findings


def test_a_message_is_searched_to_a_bound() -> None:
    (finding,) = found(wanted(message_pattern="x"), came({"error": {"type": "a", "message": "y" * 2000 + "x"}}))
    assert finding.code == "message-differs"
    assert len(str(finding.observed)) < 300


def test_an_envelope_without_a_message_promises_no_wording() -> None:
    assert told(wanted(envelope=Envelope("e", {}, {}, "json"), message_pattern="x"), came({})) == []


def test_an_absent_message_is_not_the_documented_one() -> None:
    assert told(wanted(message_pattern="x"), came({"error": {"type": "a"}})) == [
        ("message", "message-differs", "x", "absent")
    ]


def test_a_body_in_the_array_of_its_surface_is_read_out_of_it() -> None:
    wrapping = Envelope("e", {}, WIRE, "json", unwrap=True)
    stated = wanted(envelope=wrapping, wire={"type": "a"}, fields={"/error/type": {"const": "a"}})
    assert told(stated, came([{"error": {"type": "a"}}])) == []
    assert [within for within, *_ in told(stated, came([{"error": {"type": "b"}}]))] == ["type", "body:/error/type"]


@pytest.mark.parametrize(
    ("schema", "body", "findings"),
    [
        (False, {}, []),
        (False, {"a": None}, [("body:/a", "field-unexpected", "absent", None)]),
        ({"type": "string"}, {"a": "x"}, []),
        ({"type": "string"}, {"a": 1}, [("body:/a", "field-differs", {"type": "string"}, 1)]),
        ({"type": "string"}, {}, [("body:/a", "field-missing", {"type": "string"}, "absent")]),
        ({"type": "string"}, None, [("body:/a", "field-missing", {"type": "string"}, "absent")]),
    ],
)
def test_a_field_is_there_as_it_should_be(schema: Json, body: Json, findings: list[Any]) -> None:
    plain = Envelope("e", {}, {}, "json")
    assert told(wanted(envelope=plain, fields={"/a": schema}), came(body)) == findings


@pytest.mark.parametrize(("items", "findings"), [([1, "x"], 0), ([1, 2], 1), ([], 1)])
def test_one_item_as_it_should_be_is_enough(items: list[Json], findings: int) -> None:
    plain = Envelope("e", {}, {}, "json")
    assert len(told(wanted(envelope=plain, fields={"/a/*": {"type": "string"}}), came({"a": items}))) == findings


def test_what_was_too_large_to_keep_is_read_where_it_was_kept() -> None:
    plain = Envelope("e", {}, {}, "json")
    cut = Cut(100_000, "0" * 64, {"/a": 2})
    stated = wanted(envelope=plain, fields={"/a": {"const": 1}})
    assert told(stated, came("{" + " " * 20, cut=cut)) == [("body:/a", "field-differs", {"const": 1}, 2)]


@pytest.mark.parametrize(
    ("value", "observed"),
    [
        ("b" * 238, "b" * 238),
        ("é" * 238, "é" * 238),
        ("b" * 239, '"' + "b" * 238 + "…"),
        (["b" * 1000], '["' + "b" * 237 + "…"),
    ],
)
def test_what_is_long_is_kept_by_its_beginning(value: Json, observed: Json) -> None:
    plain = Envelope("e", {}, {}, "json")
    assert told(wanted(envelope=plain, fields={"/a": False}), came({"a": value})) == [
        ("body:/a", "field-unexpected", "absent", observed)
    ]


@pytest.mark.parametrize(("length", "said"), [(120, "b" * 120), (121, "b" * 119 + "…")])
def test_a_sentence_says_no_more_than_its_beginning(length: int, said: str) -> None:
    plain = Envelope("e", {}, {}, "json")
    (finding,) = found(wanted(envelope=plain, fields={"/a": False}), came({"a": "b" * length}))
    assert finding.message == f"body /a: documented absent, observed {said}"


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
    assert (finding.at, finding.message) == ("", 'event: documented ["a", "b"], observed ["b", "a"]')


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
        ({"close_reason": True}, None, [("close:reason", "close-missing", "closed", "still open")]),
        ({}, None, []),
    ],
)
def test_a_socket_ends_as_documented(rule: dict[str, Any], close: Close | None, findings: list[Any]) -> None:
    assert told(stream(**rule), streamed(close=close)) == findings


def test_how_a_socket_ended_is_judged_though_it_never_carried_anything() -> None:
    response = came(None, 200, "empty", close=Close(1006))
    assert [within for within, *_ in told(stream(**CODE), response)] == ["event", "close:code"]


GRPC = {"protocol": "grpc", "grpc_status": 8, "trailers": ("retry-after",)}


@pytest.mark.parametrize(
    ("grpc", "findings"),
    [
        (GrpcStatus(8, "", {"retry-after": "1"}), []),
        (GrpcStatus(3, "", {"retry-after": "1"}), [("grpc", "grpc-status-differs", 8, 3)]),
        (GrpcStatus(8), [("header:retry-after", "trailer-missing", "present", "absent")]),
        (
            None,
            [
                ("grpc", "grpc-status-differs", 8, "no gRPC status"),
                ("header:retry-after", "trailer-missing", "present", "absent"),
            ],
        ),
    ],
)
def test_a_call_ends_with_its_status_and_trailers(grpc: GrpcStatus | None, findings: list[Any]) -> None:
    assert told(stream(**GRPC), came(None, 200, "empty", grpc=grpc)) == findings


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


def test_a_message_says_place_and_both_sides() -> None:
    (finding,) = found(wanted(status=400), came())
    assert (finding.message, finding.at, finding.aspect) == (
        "status: documented 400, observed 529",
        "",
        Aspect.STATUS,
    )
    (finding,) = found(wanted(wire={"type": "a"}), came())
    assert finding.message == "type: documented a, observed overloaded_error"
    (finding,) = found(wanted(wire={"code": "a"}), came())
    assert finding.message == "code: documented a, observed absent"
