"""Status, headers and body: each difference between what is documented and what came is one finding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.envelopes import Envelope
from catalog_probe.catalog.model import Aspect, Json, Response
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.exchange import Truncation
from catalog_probe.catalog.reading.response_headers import HeaderRule

if TYPE_CHECKING:
    import pytest

    from catalog_probe.catalog.reading.expectations import Expected

from tests.unit.probes.comparing import SCHEMA, WIRE, find_differences, make_expected, make_response, summarize_findings

ANY_JSON = Envelope("e", {}, {}, "json")


def test_documented_answer_has_no_finding() -> None:
    expected = make_expected(
        wire={"type": "overloaded_error", "code": None}, body_status=529, message_pattern="(?i)overload"
    )
    assert summarize_findings(expected, make_response()) == []
    assert summarize_findings(expected, None) == []


def test_status_is_compared(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], int | None, list[Any]]] = [
        ({"status": 400}, 400, []),
        ({"status": 400}, 404, [("status", "status-differs", 400, 404)]),
        ({"status": 400}, None, [("status", "status-differs", 400, None)]),
        ({"status": None, "status_class": 4}, 429, []),
        ({"status": None, "status_class": 4}, 500, [("status", "status-differs", "4xx", 500)]),
        ({"status": None}, 204, []),
    ]
    for changes, status, findings in cases:
        with subtests.test(changes=changes):
            assert summarize_findings(make_expected(**changes), make_response(status=status)) == findings


PRESENT = HeaderRule("request-id", "present")
ABSENT = HeaderRule("x-legacy", "absent")
EQUALS = HeaderRule("x-should-retry", "equals", value="true")
SECONDS = HeaderRule("retry-after", "format", format="seconds")


def test_header_is_held_to_its_rule(subtests: pytest.Subtests) -> None:
    cases: list[tuple[HeaderRule, dict[str, str], list[Any]]] = [
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
    ]
    for rule, sent, findings in cases:
        with subtests.test(rule=rule):
            assert summarize_findings(make_expected(headers=(rule,)), make_response(headers=sent)) == findings


def test_finding_names_the_received_header() -> None:
    rule = HeaderRule("pa-limit-*", "format", format="integer")
    (finding,) = find_differences(make_expected(headers=(rule,)), make_response(headers={"pa-limit-input": "many"}))
    assert (finding.location, finding.assertion, finding.aspect) == (
        "pa-limit-input",
        "answer/header:pa-limit-*",
        Aspect.HEADER,
    )
    assert finding.message == "header pa-limit-input: documented integer, observed many"


def make_limit_rule(part: str, **fields: Any) -> HeaderRule:
    return HeaderRule(f"limit-{part}", "format", format="integer", family="requests", part=part, **fields)


def test_contradicting_headers_of_one_limit_are_a_finding() -> None:
    rules = (make_limit_rule("limit"), make_limit_rule("remaining"))
    assert (
        summarize_findings(
            make_expected(headers=rules), make_response(headers={"limit-limit": "5", "limit-remaining": "5"})
        )
        == []
    )
    ((key, *_),) = summarize_findings(
        make_expected(headers=rules), make_response(headers={"limit-limit": "5", "limit-remaining": "6"})
    )
    assert key == "header:limit-remaining"


def expect_body(body: str) -> Expected:
    return make_expected(
        envelope=Envelope("e", SCHEMA, WIRE, body), wire={"type": "overloaded_error"}, fields={"/a": False}
    )


def test_body_kind_is_checked_before_its_contents(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Response, list[Any]]] = [
        ("empty", make_response(None, body_type="empty"), []),
        ("empty", make_response({}, body_type="json"), [("body", "body-not-empty", "empty", {})]),
        ("json", make_response("<html>", body_type="text"), [("body", "body-malformed", "JSON", "text: <html>")]),
        ("json", make_response(None, body_type="empty"), [("body", "body-malformed", "JSON", "empty: None")]),
        ("any", make_response({"a": 1}), [("body:/a", "field-unexpected", "absent", 1)]),
        ("any", make_response("text", body_type="text"), []),
    ]
    for kind, response, findings in cases:
        with subtests.test(kind=kind):
            assert summarize_findings(expect_body(kind), response) == findings


def test_assumed_item_field_is_not_missing_from_an_empty_list() -> None:
    item_field, other_field = "/data/*/id", "/total"
    key = AssertionKey("answer", "body", item_field)
    assumed = Assertion("pa/errors/x/y", key, {"type": "string"}, Basis.ASSUMED)
    documented = make_expected(envelope=ANY_JSON, fields={item_field: {"type": "string"}, other_field: True})
    with_assumption = replace(documented, assertions={str(key): assumed})
    missing_by_location = {
        location: (f"body:{location}", "field-missing", documented.fields[location], "absent")
        for location in documented.fields
    }
    assert summarize_findings(with_assumption, make_response({"data": []})) == [missing_by_location[other_field]]
    assert summarize_findings(with_assumption, make_response({"data": [{}]})) == [
        missing_by_location[item_field],
        missing_by_location[other_field],
    ]
    assert summarize_findings(documented, make_response({"data": []})) == [
        missing_by_location[item_field],
        missing_by_location[other_field],
    ]


def test_envelope_is_held_to_its_schema() -> None:
    assert summarize_findings(make_expected(), make_response({"error": {"type": "x", "message": 3}})) == [
        ("body", "body-shape", {"type": "string"}, 3)
    ]
    assert summarize_findings(make_expected(), make_response({})) == [
        ("body", "body-shape", {"required": ["error"]}, {})
    ]
    (finding,) = find_differences(make_expected(), make_response({"error": {"type": "x", "message": 3}}))
    assert finding.location == "$.error.message"


def test_shape_findings_are_limited_and_sorted_by_location() -> None:
    names = [f"n{number}" for number in range(9)]
    schema: dict[str, Json] = {"properties": {name: {"type": "string"} for name in reversed(names)}}
    findings = find_differences(
        make_expected(envelope=Envelope("e", schema, {}, "json")), make_response(dict.fromkeys(names, 1))
    )
    assert [finding.location for finding in findings] == [f"$.{name}" for name in names[:6]]


def test_large_schema_rule_is_named_instead_of_quoted() -> None:
    values = [f"value {number}" for number in range(60)]
    schema: dict[str, Json] = {"properties": {"a": {"enum": values}}}
    assert summarize_findings(make_expected(envelope=Envelope("e", schema, {}, "json")), make_response({"a": 1})) == [
        ("body", "body-shape", "enum", 1)
    ]


def test_wire_values_are_compared(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Json], dict[str, Json], list[Any]]] = [
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
    ]
    for wire, error, findings in cases:
        with subtests.test(wire=wire):
            assert summarize_findings(make_expected(wire=wire), make_response({"error": error})) == findings


def test_status_in_body_is_compared(subtests: pytest.Subtests) -> None:
    cases: list[tuple[int | None, int | None, list[Any]]] = [
        (400, 400, []),
        (404, 400, [("status:/error/status", "code-differs", 400, 404)]),
        (404, None, []),
        (200, 101, []),
        (None, 400, [("status:/error/status", "code-differs", 400, None)]),
    ]
    for status, body_status, findings in cases:
        with subtests.test(status=status):
            body: Json = {"error": {"type": "a", "status": status}}
            assert summarize_findings(make_expected(body_status=body_status), make_response(body)) == findings


def test_message_matches_its_pattern(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str | None, str, list[Any]]] = [
        ("^Over", "Overloaded", []),
        ("loaded", "Overloaded", []),
        (None, "anything", []),
        ("^over", "Overloaded", [("message", "message-differs", "^over", "Overloaded")]),
        ("x", "y" * 1999 + "x", []),
    ]
    for pattern, message, findings in cases:
        with subtests.test(pattern=pattern):
            assert (
                summarize_findings(
                    make_expected(message_pattern=pattern), make_response({"error": {"type": "a", "message": message}})
                )
                == findings
            )


def test_only_the_beginning_of_a_message_is_searched() -> None:
    (finding,) = find_differences(
        make_expected(message_pattern="x"), make_response({"error": {"type": "a", "message": "y" * 2000 + "x"}})
    )
    assert finding.code == "message-differs"
    assert len(str(finding.observed)) < 300


def test_envelope_without_message_has_no_wording_check() -> None:
    assert summarize_findings(make_expected(envelope=ANY_JSON, message_pattern="x"), make_response({})) == []


def test_absent_message_is_a_difference() -> None:
    assert summarize_findings(make_expected(message_pattern="x"), make_response({"error": {"type": "a"}})) == [
        ("message", "message-differs", "x", "absent")
    ]


def test_body_is_unwrapped_from_an_array() -> None:
    wrapping = Envelope("e", {}, WIRE, "json", unwrap=True)
    expected = make_expected(envelope=wrapping, wire={"type": "a"}, fields={"/error/type": {"const": "a"}})
    assert summarize_findings(expected, make_response([{"error": {"type": "a"}}])) == []
    assert [key for key, *_ in summarize_findings(expected, make_response([{"error": {"type": "b"}}]))] == [
        "type",
        "body:/error/type",
    ]


def test_field_is_held_to_its_schema(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Json, Json, list[Any]]] = [
        (False, {}, []),
        (False, {"a": None}, [("body:/a", "field-unexpected", "absent", None)]),
        ({"type": "string"}, {"a": "x"}, []),
        ({"type": "string"}, {"a": 1}, [("body:/a", "field-differs", {"type": "string"}, 1)]),
        ({"type": "string"}, {}, [("body:/a", "field-missing", {"type": "string"}, "absent")]),
        ({"type": "string"}, None, [("body:/a", "field-missing", {"type": "string"}, "absent")]),
    ]
    for schema, body, findings in cases:
        with subtests.test(schema=schema):
            assert (
                summarize_findings(make_expected(envelope=ANY_JSON, fields={"/a": schema}), make_response(body))
                == findings
            )


def test_one_matching_item_is_enough(subtests: pytest.Subtests) -> None:
    cases: list[tuple[list[Json], int]] = [([1, "x"], 0), ([1, 2], 1), ([], 1)]
    for items, findings in cases:
        with subtests.test(items=items):
            assert (
                len(
                    summarize_findings(
                        make_expected(envelope=ANY_JSON, fields={"/a/*": {"type": "string"}}),
                        make_response({"a": items}),
                    )
                )
                == findings
            )


def test_truncated_body_is_read_from_its_kept_values() -> None:
    truncation = Truncation(100_000, "0" * 64, {"/a": 2})
    expected = make_expected(envelope=ANY_JSON, fields={"/a": {"const": 1}})
    assert summarize_findings(expected, make_response("{" + " " * 20, cut=truncation)) == [
        ("body:/a", "field-differs", {"const": 1}, 2)
    ]


def test_long_observed_value_is_cut(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Json, Json]] = [
        ("b" * 238, "b" * 238),
        ("é" * 238, "é" * 238),
        ("b" * 239, '"' + "b" * 238 + "…"),
        (["é" * 1000], '["' + "é" * 237 + "…"),
        (["b" * 1000], '["' + "b" * 237 + "…"),
    ]
    for value, observed in cases:
        with subtests.test(value=value):
            assert summarize_findings(
                make_expected(envelope=ANY_JSON, fields={"/a": False}), make_response({"a": value})
            ) == [("body:/a", "field-unexpected", "absent", observed)]


def test_long_value_in_a_message_is_cut(subtests: pytest.Subtests) -> None:
    cases: list[tuple[int, str]] = [(120, "b" * 120), (121, "b" * 119 + "…")]
    for length, quoted in cases:
        with subtests.test(length=length):
            (finding,) = find_differences(
                make_expected(envelope=ANY_JSON, fields={"/a": False}), make_response({"a": "b" * length})
            )
            assert finding.message == f"body /a: documented absent, observed {quoted}"


def test_mismatch_of_several_forms_is_reported_for_the_nearest(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Json, str, Json]] = [
        ([{"error": {"code": "400"}}], "$[0].error.code", {"type": "integer"}),
        ({"error": {"code": "400"}}, "$.error.code", {"type": "integer"}),
        ([], "$", {"minItems": 1}),
        (
            "no",
            "$",
            {"oneOf": [{"$ref": "#/$defs/one"}, {"type": "array", "items": {"$ref": "#/$defs/one"}, "minItems": 1}]},
        ),
    ]
    for body, location, documented in cases:
        with subtests.test(body=body):
            code = {"type": "object", "properties": {"code": {"type": "integer"}}}
            error_form: Json = {"type": "object", "properties": {"error": code}, "required": ["error"]}
            forms: Json = [{"$ref": "#/$defs/one"}, {"type": "array", "items": {"$ref": "#/$defs/one"}, "minItems": 1}]
            (finding,) = find_differences(
                make_expected(envelope=Envelope("e", {"oneOf": forms, "$defs": {"one": error_form}}, {}, "json")),
                make_response(body),
            )
            assert (finding.code, finding.location, finding.documented) == ("body-shape", location, documented)


def test_message_distinguishes_a_number_from_its_text() -> None:
    (finding,) = find_differences(
        make_expected(envelope=ANY_JSON, fields={"/a": {"const": 400}}), make_response({"a": "400"})
    )
    assert finding.message == 'body /a: documented {"const": 400}, observed "400"'


def test_message_says_location_and_both_values() -> None:
    (finding,) = find_differences(make_expected(status=400), make_response())
    assert (finding.message, finding.location, finding.aspect) == (
        "status: documented 400, observed 529",
        "",
        Aspect.STATUS,
    )
    (finding,) = find_differences(make_expected(wire={"type": "a"}), make_response())
    assert finding.message == "type: documented a, observed overloaded_error"
    (finding,) = find_differences(make_expected(wire={"code": "a"}), make_response())
    assert finding.message == "code: documented a, observed absent"
