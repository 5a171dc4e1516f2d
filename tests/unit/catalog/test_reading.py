"""What each reader makes of a record and of the values of an answer, field by field."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.envelopes import Envelope, find_message, find_param, unwrap, wire_values
from catalog_probe.catalog.files.schemas import resolve_ref
from catalog_probe.catalog.model import Close, Event, GrpcStatus, Json, Record, Response
from catalog_probe.catalog.observed import LastSeen, is_not_from_provider, last_seen, seen_on, target_of
from catalog_probe.catalog.reading.expectations import (
    Expected,
    StreamRule,
    answer_body,
    documented_answers,
    expectations,
    message_of,
    own_expectation,
    param_of,
    parse_stream_rule,
)
from catalog_probe.catalog.reading.rate_limits import EndpointGroup, LimitHeaders, rate_limits
from catalog_probe.catalog.reading.record_fields import (
    DisplayRow,
    DocumentedStatus,
    RetryAdvice,
    classification,
    documented_fields,
    documented_rows,
    documented_status,
    keywords,
    meaning,
    note,
    observed_rows,
    pinned_reason,
    retry_advice,
)
from catalog_probe.catalog.reading.response_headers import HeaderRule, header_names
from catalog_probe.catalog.text.json_values import ABSENT, find_value
from tests.unit.catalog.catalog_factories import ENDPOINT_ADDRESS, ERROR_ADDRESS, LIMITS_ADDRESS, make_record

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json

RULE = {"rule": "present", "source": "1:5.1#request-id"}


def make_error(**fields: Any) -> Record:
    return make_record(ERROR_ADDRESS, **fields)


def make_endpoint(**fields: Any) -> Record:
    return make_record(ENDPOINT_ADDRESS, **fields)


def limits(**fields: Any) -> Record:
    return make_record(LIMITS_ADDRESS, **fields)


def make_expectation(record: Record, label: str = "answer") -> Expected:
    expected = own_expectation(record, label)
    assert expected is not None
    return expected


def test_a_status_is_one_a_group_a_class_or_none() -> None:
    cases: list[tuple[Json, DocumentedStatus]] = [
        (429, DocumentedStatus((429,))),
        ("502/503/504/529", DocumentedStatus((502, 503, 504, 529))),
        ("4xx", DocumentedStatus(hundreds=4)),
        (None, DocumentedStatus()),
    ]
    for written, read in cases:
        assert documented_status(make_error(http_status=written)) == read


def test_a_group_has_an_answer_for_each_member_and_causes_have_one_each() -> None:
    grouped = documented_answers(make_error(http_status="502/503"))
    assert [(expected.label, expected.status) for expected in grouped] == [("502", 502), ("503", 503)]
    caused = make_error(causes={"first": "one", "second": "other"}, same_body=True)
    labels = [
        (expected.label, tuple((relation.kind, relation.of) for relation in expected.relations if relation.of))
        for expected in expectations(caused, lambda address: caused)
    ]
    assert labels == [("first", ()), ("second", (("equals", ("first",)),))]


def test_a_stream_begins_with_a_status_of_its_own() -> None:
    cases: list[tuple[dict[str, Json], int, bool]] = [
        ({"http_status": 429}, 429, True),
        ({"http_status": 429}, 403, False),
        ({"http_status": "4xx"}, 418, True),
        ({"http_status": "4xx"}, 500, False),
        ({"http_status": None}, 403, True),
        ({"http_status": None, "stream": {"protocol": "sse"}}, 200, True),
        ({"http_status": None, "stream": {"protocol": "sse"}}, 403, False),
        ({"http_status": 403, "stream": {"protocol": "websocket"}}, 101, True),
        ({"http_status": 403, "stream": {"protocol": "websocket"}}, 403, False),
    ]
    for fields, status, allowed in cases:
        expected = make_expectation(make_error(**fields))
        assert expected.allows(status) is allowed, (fields, status)
        assert expected.is_answered_by(Response(status)) is allowed, (fields, status)


def test_a_grpc_answer_is_known_by_its_status() -> None:
    cases: list[tuple[GrpcStatus | None, bool]] = [(GrpcStatus(8), True), (GrpcStatus(7), False), (None, False)]
    for grpc, answered in cases:
        expected = make_expectation(
            make_error(http_status=None, surface="pd_grpc", stream={"protocol": "grpc", "grpc_status": 8})
        )
        assert expected.is_answered_by(Response(grpc=grpc)) is answered


def test_how_a_stream_is_read() -> None:
    cases: list[tuple[Json, StreamRule | None]] = [
        (None, None),
        (True, None),
        ({"protocol": "sse", "event": "error", "events": ["a", "b"]}, StreamRule("sse", "error", events=("a", "b"))),
        ({"protocol": "sse", "events": [], "terminal": None}, StreamRule("sse")),
        ({"protocol": "websocket", "close_code": 1008}, StreamRule("websocket", close_code=(1008, 1008))),
        ({"protocol": "websocket", "close_code": [1000, 1011]}, StreamRule("websocket", close_code=(1000, 1011))),
        ({"protocol": "grpc", "grpc_status": 0}, StreamRule("grpc", grpc_status=0)),
    ]
    for written, read in cases:
        assert parse_stream_rule(written) == read


def test_whether_a_close_is_documented() -> None:
    cases: list[tuple[dict[str, Json], bool]] = [
        ({"close_code": 1000}, True),
        ({"close_clean": False}, True),
        ({"close_reason": True}, True),
        ({}, False),
    ]
    for fields, closes in cases:
        rule = parse_stream_rule({"protocol": "websocket", **fields})
        assert rule is not None, fields
        assert rule.describes_close is closes, fields


def test_an_array_of_header_names_rules_nothing_but_names_them() -> None:
    header_names_only = make_error(response_headers=["request-id", "retry-after"])
    assert make_expectation(header_names_only).headers == ()
    assert header_names(header_names_only) == {"request-id", "retry-after"}
    assert header_names(make_endpoint(response=None)) == frozenset()


def test_the_headers_of_limits_hold_for_the_labels_they_name() -> None:
    family = {"family": "requests", "part": "limit"}
    always = {"name": "x-limit", **RULE, **family, "optional": ["limited"], "on": ["answer", "limited"]}
    sample = {"name": "x-sample", "sample": "1s"}
    refused = {"name": "retry-after", "rule": "absent", "source": "2:8.2#retry-after", "on": ["limited"]}
    record = limits(headers=[always, sample, refused])

    plain = HeaderRule("x-limit", "present", family="requests", part="limit", source=RULE["source"])
    assert make_expectation(record, "answer").headers == (plain,)
    assert [(rule.name, rule.optional) for rule in make_expectation(record, "limited").headers] == [
        ("x-limit", True),
        ("retry-after", False),
    ]
    assert [make_expectation(record, label).status for label in ("answer", "limited")] == [200, 429]
    assert own_expectation(record, "elsewhere") is None
    assert header_names(record) == {"x-limit", "x-sample", "retry-after"}


def test_a_star_in_a_header_name_matches_anything() -> None:
    cases: list[tuple[dict[str, str], str]] = [({"b-limit-x": "2", "a-limit": "1"}, "a-limit"), ({}, "*limit*")]
    for headers, name in cases:
        assert HeaderRule("*limit*", "absent").name_in(headers) == name
        assert HeaderRule("a-limit", "present").name_in(headers) == "a-limit"


def test_an_endpoint_itself_states_its_success_alone() -> None:
    record = make_endpoint(
        auth={"missing": ERROR_ADDRESS, "wrong": None}, request={"rules": [{"label": "a", "answer": "x"}]}
    )
    assert make_expectation(record, "success").status == 200
    assert own_expectation(record, "missing_credential") is None
    assert [expected.label for expected in expectations(record, lambda address: make_error())] == [
        "success",
        "missing_credential",
        "a",
    ]


def test_the_answer_is_in_the_last_documented_event() -> None:
    first, last, own_event = ({"error": {"message": message}} for message in ("first", "last", "ours"))
    events = (
        Event("error", first),
        Event("error", last),
        Event("error", own_event, sent=True),
        Event("ping", own_event),
    )
    expected = make_expectation(make_error(http_status=None, stream={"protocol": "sse", "event": "error"}))
    assert answer_body(expected, Response(200, events=events)) == last
    assert message_of(expected, Response(200, events=events)) == "last"
    assert answer_body(expected, Response(200, events=(Event("ping"),))) is ABSENT
    assert message_of(expected, Response(200, events=())) is None
    assert message_of(expected, Response(101, close=Close(1000, "Bye."))) is None


def test_message_and_param_are_texts_or_nothing() -> None:
    cases: list[tuple[Json, str | None, str | None]] = [
        ({"error": {"message": "No.", "param": "model"}}, "No.", "model"),
        ({"error": {"message": 3, "param": None}}, None, None),
        ("Forbidden", None, None),
        (None, None, None),
    ]
    for body, message, param in cases:
        expected = make_expectation(make_error(surface="pc"))
        assert message_of(expected, Response(400, body=body)) == message
        assert param_of(expected, Response(400, body=body)) == param


NOTE = "drifted, seen on live in run r1 at 2026-11-20T06:00:00.000Z: answer status 403"
AT = datetime(2026, 11, 20, 6, tzinfo=UTC)
DAY = date(2026, 11, 20)
BLOCK = {"result": "drifted", "target": "live", "run": "r1", "observed_at": "2026-11-20T06:00:00Z"}


def test_what_was_last_seen() -> None:
    cases: list[tuple[Record, LastSeen | None]] = [
        (make_error(), None),
        (make_error(observed={"verified_at": "2026-11-20", "note": None}), LastSeen(DAY)),
        (
            make_error(observed={"verified_at": "2026-11-20", "note": NOTE}),
            LastSeen(DAY, AT, "drifted", "live", "answer status 403"),
        ),
        (
            make_endpoint(verification={**BLOCK, "verified_at": "2026-11-20", "seen": ["a", "b"]}),
            LastSeen(DAY, AT, "drifted", "live", "a; b"),
        ),
        (
            make_endpoint(verification={"result": "drifted", "verified_at": "2026-11-20", "seen": {"status": 422}}),
            LastSeen(DAY, None, "drifted", "", "status: 422"),
        ),
        (
            make_endpoint(verification={"result": "drifted", "verified_at": "2026-11-20", "seen": "by hand"}),
            LastSeen(DAY, None, "drifted", "", "by hand"),
        ),
        (limits(retrieved_at="2026-11-20"), None),
        (
            limits(retrieved_at="2026-11-01", observed_for_this_key={**BLOCK, "verified_at": "2026-11-20"}),
            LastSeen(DAY, AT, "drifted", "live", ""),
        ),
    ]
    for record, read in cases:
        assert last_seen(record) == read
        assert seen_on(record) == (read.day if read else None)
        assert target_of(record) == (read.target if read else "")


def test_targets_that_are_no_provider_are_recognized_by_name() -> None:
    cases: list[tuple[str, bool]] = [
        ("mock", True),
        ("mock:dressed", True),
        ("gateway:eu", True),
        ("mockery", False),
        ("gateway", False),
        ("", False),
    ]
    for target, is_no_provider in cases:
        assert is_not_from_provider(target) is is_no_provider


def test_documented_fields_are_distinguished_from_observed_ones() -> None:
    plain = make_error(fields={"/seen": {"properties": {"seen": {}}}})
    looked_at = {"status": ["LIVE_VERIFIED"], "observed": {"verified_at": "2026-11-20"}, "live_messages": ["Slow."]}
    after = Record(plain.address, {**plain.data, **looked_at, "example": {"error": {}}, "note": "A note."})
    assert documented_fields(after) == documented_fields(plain)
    assert documented_fields(make_error(http_status=503)) != documented_fields(make_error())
    assert documented_fields(make_error(fields={"/seen": {"properties": {}}})) != documented_fields(plain)


def test_whether_to_send_it_again() -> None:
    cases: list[tuple[Json, bool | None, str]] = [
        (True, True, "yes"),
        (False, False, "no"),
        (None, None, "not said"),
        ("poll", None, "poll"),
    ]
    for retryable, helps, words in cases:
        read = retry_advice(make_error(retryable=retryable, backoff="1 s"))
        assert read == RetryAdvice(helps, "poll" if retryable == "poll" else "", "1 s", "Wait, then send it again.")
        assert read.in_words == words, retryable


def test_how_an_error_is_named() -> None:
    cases: list[tuple[str, bool]] = [("permission", True), ("authentication", False), ("capacity", False)]
    for category, permission in cases:
        with_category = classification(make_error(code=None, category=category))
        assert (with_category.type, with_category.code, with_category.category) == ("rate_limit_error", "", category)
        assert with_category.is_permission is permission, category


def test_what_a_rate_limit_record_states() -> None:
    header = {"rule": "format", "format": "integer", "source": "2:8.2#x", "family": "requests"}
    cause = {"meaning": "m", "retryable": True, "retry_after": "absent", "action": "wait"}
    read = rate_limits(
        limits(
            documented={
                "messages": {"tiers": {"start": {"rpm": 50}, "build": {"rpm": 1_000}, "custom": {"rpm": None}}},
                "endpoint_groups": [
                    {"paths": ["/v1/messages"], "limit": "/documented/messages/tiers/start/rpm"},
                    {"paths": ["/v1/messages/batches"], "limit": "/documented/messages/tiers/build/rpm"},
                    {"paths": ["/v1/other"], "limit": "/documented/messages/tiers/custom/rpm"},
                ],
            },
            headers={
                "x-limit": {**header, "part": "limit", "unit": "requests", "metric": "rpm"},
                "x-reset": {**header, "part": "reset", "unit": "seconds"},
                "x-limited": {**header, "part": "remaining", "unit": "tokens", "on": ["limited"]},
            },
            error_semantics_429={"spend": cause, "rate": {**cause, "delay_in_message": True, "record": ERROR_ADDRESS}},
        )
    )
    start, build = EndpointGroup(("/v1/messages",), 50), EndpointGroup(("/v1/messages/batches",), 1_000)
    assert read.groups == (start, build)
    assert [read.group_of("GET", path) for path in ("/v1/messages/batches/1", "/v1/messages", "/v1/x")] == [
        build,
        start,
        None,
    ]
    assert read.limit_headers == (LimitHeaders("requests", limit="x-limit", reset="x-reset"),)
    assert [read.matching_tiers({"x-limit": header_value}) for header_value in ("50", "51", "many")] == [
        ["messages: start"],
        [],
        [],
    ]
    assert read.matching_tiers({}) == []
    assert read.delay_in_message
    assert not rate_limits(limits(error_semantics_429={"spend": cause})).delay_in_message


def test_a_record_for_people() -> None:
    record = make_error(
        code=None, retryable=None, note="Open.", pinned=True, pinned_reason="By mail.", live_messages=["a", "b"]
    )
    rows = {fact.label: fact.value for fact in documented_rows(record)}
    assert rows["HTTP status"] == 429
    assert rows["retryable"] == "not said"
    assert rows["headers"] == {"request-id": "present", "x-should-retry": "equals false"}
    assert "code" not in rows
    assert tuple(observed_rows(record)) == (
        DisplayRow("messages seen live", "a\nb"),
        DisplayRow("note", "Open."),
        DisplayRow("pinned reason", "By mail."),
    )
    assert (meaning(record), meaning(make_endpoint()), note(record)) == ("Too many requests.", "", "Open.")
    assert next(documented_rows(make_endpoint())) == DisplayRow("request", "POST /v1/messages")
    assert keywords(record) == {"429", "rate_limit_error", "DOCUMENTED", "UNVERIFIED"}
    assert (
        pinned_reason(record),
        pinned_reason(make_error(pinned=True)),
        pinned_reason(make_error(pinned_reason="By mail.")),
    ) == (
        "By mail.",
        "no reason given",
        None,
    )


def test_one_pointer_for_all() -> None:
    cases: list[tuple[str, Json]] = [
        ("/a/0", 1),
        ("/a/*", 1),
        ("/a/9", ABSENT),
        ("/a/²", ABSENT),
        ("/a~1b", 2),
        ("", ...),
    ]
    for pointer, value in cases:
        document: Json = {"a": [1], "a/b": 2}
        assert find_value(document, pointer) == (document if value is ... else value)


def test_a_reference_is_followed_by_the_same_pointer() -> None:
    value = resolve_ref("#/$defs/http_status", "urn:catalog:shared")
    assert value is not None
    assert value[0]["type"] == "integer"
    assert value[1] == "urn:catalog:shared"
    assert resolve_ref("urn:catalog:shared#/$defs/nothing", "urn:catalog:error") is None
    assert resolve_ref("urn:catalog:nothing", "urn:catalog:error") is None


WIRE = {"type": "/error/type", "code": "/error/code", "param": "/error/param", "message": "/error/message"}
PLAIN = Envelope("e", {}, WIRE, "json")
IN_AN_ARRAY = Envelope("e", {}, WIRE, "json", unwrap=True)
ERROR: Json = {"error": {"type": "overloaded", "code": None, "param": "model", "message": "Busy."}}


def test_each_value_is_found() -> None:
    cases: list[tuple[Envelope, Json]] = [
        (PLAIN, ERROR),
        (IN_AN_ARRAY, ERROR),
        (IN_AN_ARRAY, [ERROR, {"error": {"type": "other"}}]),
    ]
    for envelope, body in cases:
        assert wire_values(envelope, body) == {"type": "overloaded", "code": None, "param": "model"}
        assert (find_message(envelope, body), find_param(envelope, body)) == ("Busy.", "model")


def test_values_missing_from_envelope_or_body_are_left_out() -> None:
    of_types = Envelope("e", {}, {"type": "/error/type"}, "json")
    assert wire_values(of_types, ERROR) == {"type": "overloaded"}
    assert wire_values(PLAIN, {"error": {"code": 7}}) == {"code": 7}
    assert find_message(of_types, ERROR) is find_param(of_types, ERROR) is None
    assert find_message(PLAIN, {"error": {"message": 7}}) is find_param(PLAIN, {"error": {"param": None}}) is None


def test_an_array_is_unwrapped_only_where_the_surface_has_one() -> None:
    assert unwrap(PLAIN, [ERROR]) == [ERROR]
    assert unwrap(IN_AN_ARRAY, []) == []
