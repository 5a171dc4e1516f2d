"""Status, headers and body: each difference between what is documented and what came is one finding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.envelopes.envelope import Envelope
from catalog_probe.catalog.model import Aspect, Json, Response
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.exchange import Truncation
from catalog_probe.catalog.reading.headers import HeaderRule

if TYPE_CHECKING:
    from catalog_probe.catalog.reading.expected import Expected

from tests.unit.probes.comparing import SCHEMA, WIRE, came, found, told, wanted


def test_what_is_as_documented_is_no_finding() -> None:
    full = wanted(wire={"type": "overloaded_error", "code": None}, body_status=529, message_pattern="(?i)overload")
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
    assert (finding.location, finding.assertion, finding.aspect) == (
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


def test_what_is_assumed_of_items_is_missing_in_no_empty_list_and_hides_no_other_field() -> None:
    of_an_item, beside = "/data/*/id", "/total"
    key = AssertionKey("answer", "body", of_an_item)
    assumed = Assertion("pa/errors/x/y", key, {"type": "string"}, Basis.ASSUMED)
    plain = wanted(envelope=Envelope("e", {}, {}, "json"), fields={of_an_item: {"type": "string"}, beside: True})
    ours = replace(plain, assertions={str(key): assumed})
    missing = {place: (f"body:{place}", "field-missing", plain.fields[place], "absent") for place in plain.fields}
    assert told(ours, came({"data": []})) == [missing[beside]]
    assert told(ours, came({"data": [{}]})) == [missing[of_an_item], missing[beside]]
    assert told(plain, came({"data": []})) == [missing[of_an_item], missing[beside]]


def test_the_envelope_is_held_to_its_schema() -> None:
    assert told(wanted(), came({"error": {"type": "x", "message": 3}})) == [
        ("body", "body-shape", {"type": "string"}, 3)
    ]
    assert told(wanted(), came({})) == [("body", "body-shape", {"required": ["error"]}, {})]
    (finding,) = found(wanted(), came({"error": {"type": "x", "message": 3}}))
    assert finding.location == "$.error.message"


def test_a_body_of_another_kind_altogether_is_told_in_a_few_findings_in_the_order_of_their_places() -> None:
    names = [f"n{number}" for number in range(9)]
    schema: dict[str, Json] = {"properties": {name: {"type": "string"} for name in reversed(names)}}
    findings = found(wanted(envelope=Envelope("e", schema, {}, "json")), came(dict.fromkeys(names, 1)))
    assert [each.location for each in findings] == [f"$.{name}" for name in names[:6]]


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
    ("status", "body_status", "findings"),
    [
        (400, 400, []),
        (404, 400, [("status:/error/status", "code-differs", 400, 404)]),
        (404, None, []),
        (200, 101, []),
        (None, 400, [("status:/error/status", "code-differs", 400, None)]),
    ],
)
def test_the_status_that_an_envelope_repeats_is_that_of_the_error(
    status: int | None, body_status: int | None, findings: list[Any]
) -> None:
    body: Json = {"error": {"type": "a", "status": status}}
    assert told(wanted(body_status=body_status), came(body)) == findings


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
    cut = Truncation(100_000, "0" * 64, {"/a": 2})
    stated = wanted(envelope=plain, fields={"/a": {"const": 1}})
    assert told(stated, came("{" + " " * 20, cut=cut)) == [("body:/a", "field-differs", {"const": 1}, 2)]


@pytest.mark.parametrize(
    ("value", "observed"),
    [
        ("b" * 238, "b" * 238),
        ("é" * 238, "é" * 238),
        ("b" * 239, '"' + "b" * 238 + "…"),
        (["é" * 1000], '["' + "é" * 237 + "…"),
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


@pytest.mark.parametrize(
    ("body", "at", "documented"),
    [
        ([{"error": {"code": "400"}}], "$[0].error.code", {"type": "integer"}),
        ({"error": {"code": "400"}}, "$.error.code", {"type": "integer"}),
        ([], "$", {"minItems": 1}),
        (
            "no",
            "$",
            {"oneOf": [{"$ref": "#/$defs/one"}, {"type": "array", "items": {"$ref": "#/$defs/one"}, "minItems": 1}]},
        ),
    ],
)
def test_of_several_forms_it_is_told_what_parts_the_body_from_the_nearest(
    body: Json, at: str, documented: Json
) -> None:
    code = {"type": "object", "properties": {"code": {"type": "integer"}}}
    one: Json = {"type": "object", "properties": {"error": code}, "required": ["error"]}
    several: Json = [{"$ref": "#/$defs/one"}, {"type": "array", "items": {"$ref": "#/$defs/one"}, "minItems": 1}]
    (finding,) = found(
        wanted(envelope=Envelope("e", {"oneOf": several, "$defs": {"one": one}}, {}, "json")), came(body)
    )
    assert (finding.code, finding.location, finding.documented) == ("body-shape", at, documented)


def test_a_message_tells_a_number_from_the_text_of_it() -> None:
    plain = Envelope("e", {}, {}, "json")
    (finding,) = found(wanted(envelope=plain, fields={"/a": {"const": 400}}), came({"a": "400"}))
    assert finding.message == 'body /a: documented {"const": 400}, observed "400"'


def test_a_message_says_place_and_both_sides() -> None:
    (finding,) = found(wanted(status=400), came())
    assert (finding.message, finding.location, finding.aspect) == (
        "status: documented 400, observed 529",
        "",
        Aspect.STATUS,
    )
    (finding,) = found(wanted(wire={"type": "a"}), came())
    assert finding.message == "type: documented a, observed overloaded_error"
    (finding,) = found(wanted(wire={"code": "a"}), came())
    assert finding.message == "code: documented a, observed absent"
