"""Relations between values of one or several answers: each kind holding, broken and not observed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.envelopes import load_envelope
from catalog_probe.catalog.model import Attempt, Close, Event, Exchange, GrpcStatus, Outcome, Reason, Request, Response
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.reading.expectations import Expected, StreamRule
from catalog_probe.catalog.reading.relations import Location, parse_relation
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.judging.comparison.locations import values_at
from catalog_probe.probes.judging.comparison.relations import OtherAnswer, find_broken_relations, relations_not_observed
from catalog_probe.probes.judging.judge import judge

PATH = "/v1/lists/{list_id}/items/{id}"
URL = "https://x/beta/v1/lists/l%201/items/i_7?limit=2&user[]=u_1&user[]=u_2&from=2026-01-02T00:00:00Z"
REQUEST = Request("POST", URL, {"X-Version": "3"}, {"model": "m_1", "max": 5})


def make_exchange(body: Any, label: str = "page", headers: dict[str, str] | None = None, **fields: Any) -> Exchange:
    return Exchange(label, REQUEST, Response(200, headers or {}, body, "json", **fields))


def expect_relation(label: str = "page", **rule: Any) -> Expected:
    relations = (parse_relation({"is": rule.pop("kind"), **rule}, PATH),) if rule else ()
    return Expected(label, "pa/errors/general/x", load_envelope("any"), 200, relations=relations)


def make_list(*values: Any) -> dict[str, Any]:
    return {"data": [{"id": value} for value in values]}


ITEM_IDS = "/data/*/id"
WHOLE_LIST = make_exchange(make_list("a", "b", "c"), "all")

CASES: list[tuple[dict[str, Any], Any, Any, Any]] = [
    # what is stated, a body for which it holds, one for which it does not, and one that shows nothing
    ({"kind": "equals", "at": "/model", "with": "ask/body:/model"}, {"model": "m_1"}, {"model": "m_2"}, {}),
    ({"kind": "equals", "at": "/id", "with": "ask/path:id"}, {"id": "i_7"}, {"id": "i_8"}, {"id_": "i_8"}),
    ({"kind": "equals", "at": "/list", "with": "ask/path:list_id"}, {"list": "l 1"}, {"list": "l"}, []),
    ({"kind": "equals", "at": "/version", "with": "ask/header:x-version"}, {"version": 3}, {"version": 4}, {}),
    ({"kind": "equals", "at": "/of/*", "value": [1, 2]}, {"of": [1, 2]}, {"of": [2, 1]}, {"of": []}),
    ({"kind": "equals", "of": "all"}, {**make_list("a", "b", "c"), "request_id": "r"}, make_list("a"), None),
    ({"kind": "equals", "of": "all"},
     {**make_list("x", "y", "z"), "id": "i", "sequence_number": 4}, make_list("x"), None),
    ({"kind": "equals", "at": "/version", "value": "12"}, {"version": "12"}, {"version": 12}, {}),
    ({"kind": "equals", "at": "/of", "value": {"a": 1, "b": 2}}, {"of": {"b": 2, "a": 1}}, {"of": {"a": 1}}, {}),
    ({"kind": "differs", "of": "all"}, make_list("a"), {**make_list("x", "y", "z"), "request_id": "r"}, None),
    ({"kind": "differs", "at": "/of/*", "value": [1, 2]}, {"of": [2, 1]}, {"of": [1, 2]}, {"of": []}),
    ({"kind": "subset", "at": "/of/*", "value": [1, 2]}, {"of": [2]}, {"of": [2, 3]}, {"of": []}),
    ({"kind": "none", "at": "/of/*", "value": [1, 2]}, {"of": [3]}, {"of": [3, 2]}, {"of": []}),
    ({"kind": "differs", "at": ITEM_IDS, "of": "all"}, make_list("d"), make_list("a", "b", "c"), make_list()),
    ({"kind": "subset", "at": ITEM_IDS, "of": "all"}, make_list("c", "a"), make_list("a", "d"), make_list()),
    ({"kind": "subset", "at": "/data/*/id", "with": "ask/query:user[]"},
     make_list("u_2"), make_list("u_3"), make_list()),
    ({"kind": "none", "at": ITEM_IDS, "of": "all"}, make_list("d", "e"), make_list("d", "a"), make_list()),
    ({"kind": "none", "at": ITEM_IDS, "with": "ask/path:id"}, make_list("i_6"), make_list("i_6", "i_7"), make_list()),
    ({"kind": "at_most", "at": "/data", "with": "ask/query:limit"}, make_list(1, 2), make_list(1, 2, 3), make_list()),
    ({"kind": "at_most", "at": "/used", "with": "ask/body:/max"}, {"used": 5}, {"used": 6}, {"used": "?"[:0]}),
    ({"kind": "at_most", "at": "/text", "value": 4}, {"text": "ää"}, {"text": "ääa"}, {}),
    ({"kind": "at_most", "at": "/text", "value": 2}, {"text": "99"}, {"text": "990"}, {"text": None}),
    ({"kind": "at_most", "at": "/text", "value": 1}, {"text": "\ud800"}, {"text": "\ud800a"}, {}),
    ({"kind": "at_most", "at": "/input", "value": 16}, {"input": {"a": "ä", "b": 1}},
     {"input": {"a": "äää", "b": 1}}, {}),
    ({"kind": "at_most", "at": "/input", "value": 9}, {"input": {"a": "\ud800"}}, {"input": {"a": "\ud800a"}}, {}),
    ({"kind": "at_most", "at": "/input", "value": 7}, {"input": {"a": 1}}, {"input": {"a": 12}}, {"input": {}}),
    ({"kind": "at_most", "at": "/at", "value": "2026-01-01T00:00:00Z"}, {"at": "2026-01-01T01:00:00+01:00"},
     {"at": "2026-01-01T00:00:01Z"}, {"at": None}),
    ({"kind": "at_most", "at": "/at", "value": "2026-01-01T00:00:00Z"}, None, {"at": "soon"}, {}),
    ({"kind": "at_most", "at": "/used", "value": 5}, None, {"used": True}, {"used": None}),
    ({"kind": "pattern", "at": "/acls/*", "value": "^a"}, {"acls": ["a"]}, {"acls": "a"}, {"acls": []}),
    ({"kind": "pattern", "at": "/acls/*", "value": "^a"}, None, {"acls": {"b": "a"}}, {"acls": None}),
    ({"kind": "prefix", "at": "/key/id", "value": "a"}, {"key": {"id": "a"}}, {"key": "a"}, {"key": {}}),
    ({"kind": "at_most", "at": "/key/uses", "value": 2}, {"key": {"uses": 2}}, {"key": [{"uses": 2}]}, {"key": []}),
    ({"kind": "at_least", "at": "/data/*/id", "with": "ask/query:from"}, make_list("2026-01-02T00:00:00Z"),
     make_list("2026-01-03T00:00:00Z", "2026-01-01T23:59:59Z"), make_list()),
    ({"kind": "contains", "value": "credit_token"}, {"details": [{"credit_token": "t"}]}, {"details": []}, "no object"),
    ({"kind": "contains", "with": "ask/query:from"}, {"error": {"message": "See 2026-01-02T00:00:00Z."}},
     make_list("2026-01-03T00:00:00Z"), None),
    ({"kind": "version_of", "at": "/model", "with": "ask/body:/model"}, {"model": "m_1-0613"}, {"model": "m_10"}, {}),
    ({"kind": "version_of", "at": ITEM_IDS, "value": "m-latest"},
     make_list("m-3-002"), make_list("m-3", "m-lite"), make_list()),
    ({"kind": "version_of", "at": "/name", "with": "ask/path:kind", "path": "/{any}/lists/{kind}/items/{id}"},
     {"name": "l 1-20260102"}, {"name": "l"}, {}),
    ({"kind": "every", "at": ITEM_IDS, "value": {"type": "integer"}}, make_list(1, 2), make_list(1, "2"), make_list()),
    ({"kind": "prefix", "at": ITEM_IDS, "value": "cse_"}, make_list("cse_1"), make_list("cse_1", "x"), make_list()),
    ({"kind": "prefix", "at": "/id", "value": "1"}, {"id": "12"}, {"id": 12}, {}),
    ({"kind": "pattern", "at": ITEM_IDS, "value": "^[a-c]$"}, make_list("a", "c"), make_list("a", "cc"), make_list()),
    ({"kind": "ordered", "at": ITEM_IDS, "value": "ascending"},
     make_list(1, 2, 2, 10), make_list(1, 10, 2), make_list(1)),
    ({"kind": "ordered", "at": ITEM_IDS, "value": "ascending"},
     make_list("a", "a", "b"), make_list("b", "a", "b"), make_list()),
    ({"kind": "ordered", "at": ITEM_IDS, "value": "descending"},
     make_list("b", "b", "a"), make_list("a", "b"), make_list("a", None)),
    ({"kind": "ordered", "at": ITEM_IDS, "value": "descending"}, None, make_list("a", 1), make_list("a")),
    ({"kind": "ordered", "at": ITEM_IDS, "value": "ascending"},
     make_list("2026-01-01T02:00:00+02:00", "2026-01-01T00:30:00Z"),
     make_list("2026-01-01T00:30:00Z", "2026-01-01T02:00:00+02:00"), make_list()),
]  # fmt: skip


def test_relation_holds_is_broken_or_is_not_observed(subtests: pytest.Subtests) -> None:
    for rule, holding, breaking, hiding in CASES:
        with subtests.test(rule=rule):
            expectation = expect_relation(**rule)
            other_answers = {"all": OtherAnswer(expect_relation("all"), WHOLE_LIST)}
            if holding is not None:
                assert list(find_broken_relations(expectation, make_exchange(holding), other_answers)) == []
                assert relations_not_observed(expectation, make_exchange(holding), other_answers) == {}
            if breaking is not None:
                (finding,) = find_broken_relations(expectation, make_exchange(breaking), other_answers)
                assert finding.observed not in (None, [])
                assert relations_not_observed(expectation, make_exchange(breaking), other_answers) == {}
            if hiding is not None:
                assert list(find_broken_relations(expectation, make_exchange(hiding), other_answers)) == []
                assert list(relations_not_observed(expectation, make_exchange(hiding), other_answers).values()) in (
                    ["nothing-there"],
                    ["nothing-to-compare"],
                )


def test_observed_values_of_a_broken_relation_are_limited(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], Any, Any]] = [
        ({"kind": "at_most", "at": "/data", "value": 2}, make_list(1, 2, 3), 3),
        ({"kind": "at_most", "at": "/input", "value": 2}, {"input": {"a": 1}}, 7),
        ({"kind": "at_most", "at": "/text", "value": 2}, {"text": "abc"}, "abc"),
        ({"kind": "at_most", "at": ITEM_IDS, "value": 2}, make_list(1, 2, 3), 3),
        ({"kind": "ordered", "at": ITEM_IDS, "value": "ascending"}, make_list(9, 4, 5), [9, 4]),
        ({"kind": "ordered", "at": ITEM_IDS, "value": "ascending"}, make_list(4, 9, 5), [9, 5]),
        ({"kind": "non_empty", "at": ITEM_IDS}, make_list(), "absent"),
        ({"kind": "non_empty", "at": ITEM_IDS}, make_list(None), None),
        ({"kind": "prefix", "at": ITEM_IDS, "value": "x"}, make_list("a"), "a"),
        ({"kind": "prefix", "at": ITEM_IDS, "value": "x"}, make_list(*"abc"), ["a", "b", "c"]),
        ({"kind": "prefix", "at": ITEM_IDS, "value": "x"}, make_list(*"abcd"), ["a", "b", "c", "and 1 more"]),
        ({"kind": "prefix", "at": ITEM_IDS, "value": "x"}, make_list(*"abxcde"), ["a", "b", "c", "and 2 more"]),
    ]
    for rule, body, observed in cases:
        with subtests.test(rule=rule):
            (finding,) = find_broken_relations(expect_relation(**rule), make_exchange(body), {})
            assert finding.observed == observed


def test_missing_values_break_only_non_empty() -> None:
    expectation = expect_relation(kind="non_empty", at=ITEM_IDS)
    assert list(find_broken_relations(expectation, make_exchange(make_list("a")), {})) == []
    for body in (make_list(), {}, make_list(None, ""), None):
        (finding,) = find_broken_relations(expectation, make_exchange(body), {})
        assert finding.code is FindingCode.VALUES_MISSING
        assert relations_not_observed(expectation, make_exchange(body), {}) == {}


def test_empty_list_hides_an_assumed_non_empty_relation() -> None:
    documented = expect_relation(kind="non_empty", at=ITEM_IDS)
    (relation,) = documented.relations
    key = AssertionKey("page", *relation.local_key.split(":", 1))
    assumed = replace(documented, assertions={str(key): Assertion("pa/errors/general/x", key, "", Basis.ASSUMED)})
    assert relations_not_observed(assumed, make_exchange(make_list()), {}) == {relation.local_key: "nothing-there"}
    assert relations_not_observed(assumed, make_exchange({"data": [{}]}), {}) == {}
    assert [finding.code for finding in find_broken_relations(assumed, make_exchange({"data": [{}]}), {})] == [
        FindingCode.VALUES_MISSING
    ]


def test_header_relation_is_observed_without_the_documented_event() -> None:
    expectation = replace(expect_relation(kind="non_empty", at="header:x-id"), stream=StreamRule("sse", event="done"))
    for headers, codes in (({"x-id": "1"}, []), ({}, [FindingCode.VALUES_MISSING])):
        exchange = Exchange("page", REQUEST, Response(200, headers, events=(Event("ping", {}),)))
        assert [finding.code for finding in find_broken_relations(expectation, exchange, {})] == codes
        assert relations_not_observed(expectation, exchange, {}) == {}


def test_body_equal_to_two_others_names_both() -> None:
    expectation = expect_relation(kind="equals", of=["first", "second"])
    other_answers = {
        label: OtherAnswer(expect_relation(label), make_exchange({"a": label}, label)) for label in ("first", "second")
    }
    (finding,) = compare(expectation, make_exchange({"a": 1}), other_answers)
    assert (finding.code, finding.location) == ("bodies-differ", "first+second")


def test_list_is_a_subset_of_its_pages_together() -> None:
    expectation = expect_relation("all", kind="subset", at=ITEM_IDS, of=["first", "second"])
    pages = {"first": make_exchange(make_list("a", "b"), "first"), "second": make_exchange(make_list("c"), "second")}
    other_answers = {label: OtherAnswer(expect_relation(label), page) for label, page in pages.items()}
    assert list(find_broken_relations(expectation, WHOLE_LIST, other_answers)) == []
    other_answers["second"] = OtherAnswer(expect_relation("second"), make_exchange(make_list("d"), "second"))
    (finding,) = find_broken_relations(expectation, WHOLE_LIST, other_answers)
    assert finding.observed == "c"
    assert relations_not_observed(expectation, WHOLE_LIST, {"first": other_answers["first"]}) == {
        "relation:subset:/data/*/id:first+second": "no-twin"
    }


def test_body_field_equals_a_header() -> None:
    expectation = expect_relation(kind="equals", at="/request_id", **{"with": "header:request-id"})
    assert (
        list(
            find_broken_relations(expectation, make_exchange({"request_id": "r_1"}, headers={"request-id": "r_1"}), {})
        )
        == []
    )
    (finding,) = find_broken_relations(
        expectation, make_exchange({"request_id": "r_1"}, headers={"request-id": "r_2"}), {}
    )
    assert (finding.code, finding.observed) == (FindingCode.VALUES_UNEQUAL, "r_1")
    for headers in ({}, {"request-id": " "}):
        assert relations_not_observed(expectation, make_exchange({"request_id": "r_1"}, headers=headers), {})


def test_values_in_events_and_trailers(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, tuple[Any, ...]]] = [
        ("event", ("one", "two")),
        ("event:two/n", (2,)),
        ("event:*/n", (1, 2)),
        ("event:three/n", ()),
        ("ask/event:sent/n", (0,)),
        ("ask/event:*/n", (0,)),
        ("ask/event:one/n", ()),
        ("header:x-trailer", ("yes",)),
    ]
    for location, values in cases:
        with subtests.test(location=location):
            events = (Event("one", {"n": 1}), Event("sent", {"n": 0}, sent=True), Event("two", {"n": 2}))
            exchange = make_exchange(
                None, events=events, grpc=GrpcStatus(0, "", {"x-trailer": "yes"}), close=Close(1000)
            )
            assert values_at(Location.parse(location), expect_relation(), exchange) == values


def test_request_values_are_read_without_an_answer(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, tuple[Any, ...]]] = [
        ("ask/query:from", ("2026-01-02T00:00:00Z",)),
        ("ask/query:user[]", ("u_1", "u_2")),
        ("ask/query:no", ()),
        ("ask/header:x-version", ("3",)),
        ("ask/path:id", ("i_7",)),
        ("ask/path:no", ()),
        ("ask/body:/max", (5,)),
        ("/data", ()),
        ("header:x-version", ()),
        ("event", ()),
    ]
    for location, values in cases:
        with subtests.test(location=location):
            headers = {"X-Other": "4", "X-Version": "3"}
            exchange = Exchange("page", Request("POST", URL, headers, {"max": 5}), None, Reason("read-timeout"))
            assert values_at(Location.parse(location), expect_relation(), exchange, PATH) == values


def test_empty_parameter_and_repeated_path_name() -> None:
    answered = make_exchange({})
    exchange = Exchange("page", Request("GET", "https://x/a/of/b/items?cursor=&limit=2"), answered.response)
    assert values_at(Location.parse("ask/query:cursor"), expect_relation(), exchange) == ("",)
    assert values_at(Location.parse("ask/path:id"), expect_relation(), exchange, "/{id}/of/{id}/items") == ("a",)


def test_header_is_compared_with_a_bound_as_a_number(subtests: pytest.Subtests) -> None:
    """Numbers of any length are compared; a short text that is no number is not observed."""
    cases: list[tuple[str, str]] = [
        ("60", "as stated"),
        ("61", "broken"),
        ("59.5", "as stated"),
        ("60.5", "broken"),
        ("9" * 23, "broken"),
        ("9" * 5000, "unseen"),
        ("soon", "unseen"),
    ]
    for text, outcome in cases:
        with subtests.test(text=text):
            expectation = expect_relation(kind="at_most", at="header:retry-after", value=60)
            exchange = make_exchange({}, headers={"retry-after": text})
            observed = (
                "broken"
                if list(find_broken_relations(expectation, exchange, {}))
                else "unseen"
                if relations_not_observed(expectation, exchange, {})
                else "as stated"
            )
            assert observed == outcome


def test_location_is_parsed(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, tuple[str, str, str], bool]] = [
        ("", ("body", "", ""), False),
        ("/data/*/id", ("body", "", "/data/*/id"), False),
        ("header:x-id", ("header", "x-id", ""), True),
        ("event", ("event", "", ""), False),
        ("event:error", ("event", "error", ""), False),
        ("event:*/code", ("event", "*", "/code"), False),
        ("ask/header:x-id", ("ask/header", "x-id", ""), True),
        ("ask/query:limit", ("ask/query", "limit", ""), True),
        ("ask/path:id", ("ask/path", "id", ""), True),
        ("ask/body", ("ask/body", "", ""), False),
        ("ask/body:/model", ("ask/body", "", "/model"), False),
        ("ask/event:setup", ("ask/event", "setup", ""), False),
        ("ask/event:setup/model", ("ask/event", "setup", "/model"), False),
    ]
    for text, parts, is_text in cases:
        with subtests.test(text=text):
            location = Location.parse(text)
            assert (location, location.is_text) == (parts, is_text)


def test_bad_location_is_refused_in_one_line(subtests: pytest.Subtests) -> None:
    cases: list[str] = ["data", "header:", "ask/query", "ask/path:a/b", "event:/x", "ask/event", "headers:a"]
    for text in cases:
        with subtests.test(text=text), pytest.raises(ValueError, match=r"is no place in an exchange: write [^\n]+$"):
            Location.parse(text)


def judge_page(
    expectation: Expected, *other_steps: tuple[Expected, Exchange], page: Exchange
) -> tuple[Outcome, dict[str, str]]:
    exchanges = (*(exchange for _, exchange in other_steps), page)
    verdict = judge(
        [*(step for step, _ in other_steps), expectation],
        Attempt("", 0.0, exchanges),
        ProviderVocabulary.from_records(()),
    )
    (observation,) = (step for step in verdict.observations if step.label == expectation.label)
    return verdict.outcome, dict(observation.not_observed)


def test_relation_needs_another_documented_answer() -> None:
    expectation, page = expect_relation(kind="subset", at=ITEM_IDS, of="all"), make_exchange(make_list("d"))
    drifted = Exchange("all", REQUEST, Response(418, {}, make_list("a"), "json"))
    absent = Exchange("all", REQUEST, None, Reason("read-timeout"))
    assert judge_page(expectation, (expect_relation("all"), WHOLE_LIST), page=page)[0] is Outcome.DRIFTED
    assert judge_page(expectation, (expect_relation("all"), absent), page=page)[0] is Outcome.INCONCLUSIVE
    verdict = judge(
        [expect_relation("all"), expectation], Attempt("", 0.0, (drifted, page)), ProviderVocabulary.from_records(())
    )
    assert {finding.label for finding in verdict.findings if finding.is_drift} == {"all"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.datetimes().map(str),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["data", "id", "of"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(
    body=JSON,
    other_body=JSON,
    constant=JSON,
    number=st.integers(0, len(CASES) - 1),
    location=st.sampled_from(["/data", ITEM_IDS, "/of/*"]),
)
def test_no_answer_makes_a_relation_raise(
    body: Any, other_body: Any, constant: Any, number: int, location: str
) -> None:
    rule = {**CASES[number][0], "at": location}
    if "value" in rule and rule["kind"] in ("equals", "at_most"):
        rule["value"] = constant
    expectation, other_answers = (
        expect_relation(**rule),
        {"all": OtherAnswer(expect_relation("all"), make_exchange(other_body, "all"))},
    )
    findings = list(find_broken_relations(expectation, make_exchange(body), other_answers))
    assert bool(findings) + bool(relations_not_observed(expectation, make_exchange(body), other_answers)) <= 1
    if findings and rule["kind"] not in ("equals", "differs"):
        assert list(find_broken_relations(expectation, make_exchange(body), other_answers)) == findings


def test_message_quotes_the_other_value_and_documented_does_not() -> None:
    expectation = expect_relation(kind="equals", at="/request_id", **{"with": "header:request-id"})
    first, second = (
        next(compare(expectation, make_exchange({"request_id": "req_2"}, headers={"request-id": header})))
        for header in ("req_1", "req_3")
    )
    assert "documented the same as header:request-id (req_1), observed req_2" in first.message.replace('"', "")
    assert "(req_3)" in second.message
    assert first.documented == second.documented == "the same as header:request-id"
    of_object = expect_relation(kind="equals", at="/a", **{"with": "/b"})
    message = next(compare(of_object, make_exchange({"a": 1, "b": {"of": "ü"}}))).message
    assert 'documented the same as /b ({"of": "ü"}), observed 1' in message
    other_answers = {"all": OtherAnswer(expect_relation("all"), WHOLE_LIST)}
    finding = next(compare(expect_relation(kind="equals", of="all"), make_exchange(make_list("x")), other_answers))
    assert finding.message.partition(", observed")[0].endswith(f"documented {finding.documented}"), "and no whole body"
    constant = expect_relation(kind="equals", at="/id", value="a")
    assert next(compare(constant, make_exchange({"id": "b"}))).message.endswith("documented the same as a, observed b")
