"""What values must be to each other, to the request and to other answers: each kind holding, broken and not seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.envelopes.location import Location
from catalog_probe.catalog.model import Attempt, Close, Event, Exchange, GrpcStatus, Outcome, Reason, Request, Response
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.catalog.reading.relations import parse_relation
from catalog_probe.catalog.reading.streams import StreamRule
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.judging.comparison.locations import values_at
from catalog_probe.probes.judging.comparison.relations import (
    OtherAnswer,
    find_broken_relations,
    relations_not_observed,
)
from catalog_probe.probes.judging.judge import judge

PATH = "/v1/lists/{list_id}/items/{id}"
URL = "https://x/beta/v1/lists/l%201/items/i_7?limit=2&user[]=u_1&user[]=u_2&from=2026-01-02T00:00:00Z"
REQUEST = Request("POST", URL, {"X-Version": "3"}, {"model": "m_1", "max": 5})


def answer(body: Any, label: str = "page", headers: dict[str, str] | None = None, **of: Any) -> Exchange:
    return Exchange(label, REQUEST, Response(200, headers or {}, body, "json", **of))


def expected(label: str = "page", **written: Any) -> Expected:
    relations = (parse_relation({"is": written.pop("kind"), **written}, PATH),) if written else ()
    return Expected(label, "pa/errors/general/x", envelope("any"), 200, relations=relations)


def items(*values: Any) -> dict[str, Any]:
    return {"data": [{"id": value} for value in values]}


IDS = "/data/*/id"
WHOLE_LIST = answer(items("a", "b", "c"), "all")

CASES: list[tuple[dict[str, Any], Any, Any, Any]] = [
    # what is stated, a body for which it holds, one for which it does not, and one that shows nothing
    ({"kind": "equals", "at": "/model", "with": "ask/body:/model"}, {"model": "m_1"}, {"model": "m_2"}, {}),
    ({"kind": "equals", "at": "/id", "with": "ask/path:id"}, {"id": "i_7"}, {"id": "i_8"}, {"id_": "i_8"}),
    ({"kind": "equals", "at": "/list", "with": "ask/path:list_id"}, {"list": "l 1"}, {"list": "l"}, []),
    ({"kind": "equals", "at": "/version", "with": "ask/header:x-version"}, {"version": 3}, {"version": 4}, {}),
    ({"kind": "equals", "at": "/of/*", "value": [1, 2]}, {"of": [1, 2]}, {"of": [2, 1]}, {"of": []}),
    ({"kind": "equals", "of": "all"}, {**items("a", "b", "c"), "request_id": "r"}, items("a"), None),
    ({"kind": "equals", "of": "all"}, {**items("x", "y", "z"), "id": "i", "sequence_number": 4}, items("x"), None),
    ({"kind": "equals", "at": "/version", "value": "12"}, {"version": "12"}, {"version": 12}, {}),
    ({"kind": "equals", "at": "/of", "value": {"a": 1, "b": 2}}, {"of": {"b": 2, "a": 1}}, {"of": {"a": 1}}, {}),
    ({"kind": "differs", "of": "all"}, items("a"), {**items("x", "y", "z"), "request_id": "r"}, None),
    ({"kind": "differs", "at": "/of/*", "value": [1, 2]}, {"of": [2, 1]}, {"of": [1, 2]}, {"of": []}),
    ({"kind": "subset", "at": "/of/*", "value": [1, 2]}, {"of": [2]}, {"of": [2, 3]}, {"of": []}),
    ({"kind": "none", "at": "/of/*", "value": [1, 2]}, {"of": [3]}, {"of": [3, 2]}, {"of": []}),
    ({"kind": "differs", "at": IDS, "of": "all"}, items("d"), items("a", "b", "c"), items()),
    ({"kind": "subset", "at": IDS, "of": "all"}, items("c", "a"), items("a", "d"), items()),
    ({"kind": "subset", "at": "/data/*/id", "with": "ask/query:user[]"}, items("u_2"), items("u_3"), items()),
    ({"kind": "none", "at": IDS, "of": "all"}, items("d", "e"), items("d", "a"), items()),
    ({"kind": "none", "at": IDS, "with": "ask/path:id"}, items("i_6"), items("i_6", "i_7"), items()),
    ({"kind": "at_most", "at": "/data", "with": "ask/query:limit"}, items(1, 2), items(1, 2, 3), items()),
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
    ({"kind": "at_least", "at": "/data/*/id", "with": "ask/query:from"}, items("2026-01-02T00:00:00Z"),
     items("2026-01-03T00:00:00Z", "2026-01-01T23:59:59Z"), items()),
    ({"kind": "version_of", "at": "/model", "with": "ask/body:/model"}, {"model": "m_1-0613"}, {"model": "m_10"}, {}),
    ({"kind": "version_of", "at": IDS, "value": "m-latest"}, items("m-3-002"), items("m-3", "m-lite"), items()),
    ({"kind": "version_of", "at": "/name", "with": "ask/path:kind", "path": "/{any}/lists/{kind}/items/{id}"},
     {"name": "l 1-20260102"}, {"name": "l"}, {}),
    ({"kind": "every", "at": IDS, "value": {"type": "integer"}}, items(1, 2), items(1, "2"), items()),
    ({"kind": "prefix", "at": IDS, "value": "cse_"}, items("cse_1"), items("cse_1", "x"), items()),
    ({"kind": "prefix", "at": "/id", "value": "1"}, {"id": "12"}, {"id": 12}, {}),
    ({"kind": "pattern", "at": IDS, "value": "^[a-c]$"}, items("a", "c"), items("a", "cc"), items()),
    ({"kind": "ordered", "at": IDS, "value": "ascending"}, items(1, 2, 2, 10), items(1, 10, 2), items(1)),
    ({"kind": "ordered", "at": IDS, "value": "ascending"}, items("a", "a", "b"), items("b", "a", "b"), items()),
    ({"kind": "ordered", "at": IDS, "value": "descending"}, items("b", "b", "a"), items("a", "b"), items("a", None)),
    ({"kind": "ordered", "at": IDS, "value": "descending"}, None, items("a", 1), items("a")),
    ({"kind": "ordered", "at": IDS, "value": "ascending"},
     items("2026-01-01T02:00:00+02:00", "2026-01-01T00:30:00Z"),
     items("2026-01-01T00:30:00Z", "2026-01-01T02:00:00+02:00"), items()),
]  # fmt: skip


@pytest.mark.parametrize(("stated", "holding", "breaking", "silent"), CASES, ids=lambda case: str(case)[:60])
def test_a_relation_holds_is_broken_or_is_not_seen(
    stated: dict[str, Any], holding: Any, breaking: Any, silent: Any
) -> None:
    its = expected(**stated)
    others = {"all": OtherAnswer(expected("all"), WHOLE_LIST)}
    if holding is not None:
        assert list(find_broken_relations(its, answer(holding), others)) == []
        assert relations_not_observed(its, answer(holding), others) == {}
    if breaking is not None:
        (found,) = find_broken_relations(its, answer(breaking), others)
        assert found.observed not in (None, [])
        assert relations_not_observed(its, answer(breaking), others) == {}
    if silent is not None:
        assert list(find_broken_relations(its, answer(silent), others)) == []
        assert list(relations_not_observed(its, answer(silent), others).values()) in (
            ["nothing-there"],
            ["nothing-to-compare"],
        )


@pytest.mark.parametrize(
    ("stated", "body", "observed"),
    [
        ({"kind": "at_most", "at": "/data", "value": 2}, items(1, 2, 3), 3),
        ({"kind": "at_most", "at": "/input", "value": 2}, {"input": {"a": 1}}, 7),
        ({"kind": "at_most", "at": "/text", "value": 2}, {"text": "abc"}, "abc"),
        ({"kind": "at_most", "at": IDS, "value": 2}, items(1, 2, 3), 3),
        ({"kind": "ordered", "at": IDS, "value": "ascending"}, items(9, 4, 5), [9, 4]),
        ({"kind": "ordered", "at": IDS, "value": "ascending"}, items(4, 9, 5), [9, 5]),
        ({"kind": "non_empty", "at": IDS}, items(), "absent"),
        ({"kind": "non_empty", "at": IDS}, items(None), None),
        ({"kind": "prefix", "at": IDS, "value": "x"}, items("a"), "a"),
        ({"kind": "prefix", "at": IDS, "value": "x"}, items(*"abc"), ["a", "b", "c"]),
        ({"kind": "prefix", "at": IDS, "value": "x"}, items(*"abcd"), ["a", "b", "c", "and 1 more"]),
        ({"kind": "prefix", "at": IDS, "value": "x"}, items(*"abxcde"), ["a", "b", "c", "and 2 more"]),
    ],
)
def test_what_does_not_fit_is_told_but_of_many_only_the_first(stated: dict[str, Any], body: Any, observed: Any) -> None:
    (found,) = find_broken_relations(expected(**stated), answer(body), {})
    assert found.observed == observed


def test_only_non_empty_says_that_something_must_be_there() -> None:
    its = expected(kind="non_empty", at=IDS)
    assert list(find_broken_relations(its, answer(items("a")), {})) == []
    for body in (items(), {}, items(None, ""), None):
        (found,) = find_broken_relations(its, answer(body), {})
        assert found.code is FindingCode.VALUES_MISSING
        assert relations_not_observed(its, answer(body), {}) == {}


def test_empty_lists_show_nothing_of_items_of_which_it_is_assumed_that_something_stands_in_them() -> None:
    documented = expected(kind="non_empty", at=IDS)
    (its,) = documented.relations
    key = AssertionKey("page", *its.local_key.split(":", 1))
    ours = replace(documented, assertions={str(key): Assertion("pa/errors/general/x", key, "", Basis.ASSUMED)})
    assert relations_not_observed(ours, answer(items()), {}) == {its.local_key: "nothing-there"}
    assert relations_not_observed(ours, answer({"data": [{}]}), {}) == {}
    assert [each.code for each in find_broken_relations(ours, answer({"data": [{}]}), {})] == [
        FindingCode.VALUES_MISSING
    ]


def test_a_stream_without_its_event_may_show_what_stands_beside_it() -> None:
    its = replace(expected(kind="non_empty", at="header:x-id"), stream=StreamRule("sse", event="done"))
    for headers, found in (({"x-id": "1"}, []), ({}, [FindingCode.VALUES_MISSING])):
        came = Exchange("page", REQUEST, Response(200, headers, events=(Event("ping", {}),)))
        assert [each.code for each in find_broken_relations(its, came, {})] == found
        assert relations_not_observed(its, came, {}) == {}


def test_a_body_that_is_to_be_as_two_others_names_both() -> None:
    its = expected(kind="equals", of=["first", "second"])
    others = {label: OtherAnswer(expected(label), answer({"a": label}, label)) for label in ("first", "second")}
    (found,) = compare(its, answer({"a": 1}), others)
    assert (found.code, found.location) == ("bodies-differ", "first+second")


def test_pages_together_cover_the_whole_list() -> None:
    its = expected("all", kind="subset", at=IDS, of=["first", "second"])
    pages = {"first": answer(items("a", "b"), "first"), "second": answer(items("c"), "second")}
    others = {label: OtherAnswer(expected(label), page) for label, page in pages.items()}
    assert list(find_broken_relations(its, WHOLE_LIST, others)) == []
    others["second"] = OtherAnswer(expected("second"), answer(items("d"), "second"))
    (found,) = find_broken_relations(its, WHOLE_LIST, others)
    assert found.observed == "c"
    assert relations_not_observed(its, WHOLE_LIST, {"first": others["first"]}) == {
        "relation:subset:/data/*/id:first+second": "no-twin"
    }


def test_the_same_header_and_field() -> None:
    its = expected(kind="equals", at="/request_id", **{"with": "header:request-id"})
    assert list(find_broken_relations(its, answer({"request_id": "r_1"}, headers={"request-id": "r_1"}), {})) == []
    (found,) = find_broken_relations(its, answer({"request_id": "r_1"}, headers={"request-id": "r_2"}), {})
    assert (found.code, found.observed) == (FindingCode.VALUES_UNEQUAL, "r_1")
    for headers in ({}, {"request-id": " "}):
        assert relations_not_observed(its, answer({"request_id": "r_1"}, headers=headers), {})


@pytest.mark.parametrize(
    ("place", "values"),
    [
        ("event", ("one", "two")),
        ("event:two/n", (2,)),
        ("event:*/n", (1, 2)),
        ("event:three/n", ()),
        ("ask/event:sent/n", (0,)),
        ("ask/event:*/n", (0,)),
        ("ask/event:one/n", ()),
        ("header:x-trailer", ("yes",)),
    ],
)
def test_events_and_trailers_are_places_too(place: str, values: tuple[Any, ...]) -> None:
    events = (Event("one", {"n": 1}), Event("sent", {"n": 0}, sent=True), Event("two", {"n": 2}))
    seen = answer(None, events=events, grpc=GrpcStatus(0, "", {"x-trailer": "yes"}), close=Close(1000))
    assert values_at(Location.parse(place), expected(), seen) == values


@pytest.mark.parametrize(
    ("place", "values"),
    [
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
    ],
)
def test_what_was_asked_stands_there_whether_or_not_an_answer_came(place: str, values: tuple[Any, ...]) -> None:
    headers = {"X-Other": "4", "X-Version": "3"}
    lost = Exchange("page", Request("POST", URL, headers, {"max": 5}), None, Reason("read-timeout"))
    assert values_at(Location.parse(place), expected(), lost, PATH) == values


def test_a_parameter_without_a_value_and_a_name_that_a_path_has_twice() -> None:
    sent = answer({})
    blank = Exchange("page", Request("GET", "https://x/a/of/b/items?cursor=&limit=2"), sent.response)
    assert values_at(Location.parse("ask/query:cursor"), expected(), blank) == ("",)
    assert values_at(Location.parse("ask/path:id"), expected(), blank, "/{id}/of/{id}/items") == ("a",)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("60", "as stated"),
        ("61", "broken"),
        ("59.5", "as stated"),
        ("60.5", "broken"),
        ("9" * 23, "broken"),
        ("9" * 5000, "unseen"),
        ("soon", "unseen"),
    ],
)
def test_a_header_is_held_to_a_bound_by_the_number_that_it_says(text: str, found: str) -> None:
    """However many digits that has, as long as it is one; that a word is short says nothing."""
    its = expected(kind="at_most", at="header:retry-after", value=60)
    seen = answer({}, headers={"retry-after": text})
    told = (
        "broken"
        if list(find_broken_relations(its, seen, {}))
        else "unseen"
        if relations_not_observed(its, seen, {})
        else "as stated"
    )
    assert told == found


@pytest.mark.parametrize(
    ("text", "place", "is_text"),
    [
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
    ],
)
def test_a_place_is_in_a_part_of_an_exchange_of_which_some_are_text_whatever_they_say(
    text: str, place: tuple[str, str, str], is_text: bool
) -> None:
    found = Location.parse(text)
    assert (found, found.is_text) == (place, is_text)


@pytest.mark.parametrize("text", ["data", "header:", "ask/query", "ask/path:a/b", "event:/x", "ask/event", "headers:a"])
def test_what_is_no_place_is_told_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no place in an exchange: write [^\n]+$"):
        Location.parse(text)


def judged(its: Expected, *others: tuple[Expected, Exchange], page: Exchange) -> tuple[Outcome, dict[str, str]]:
    exchanges = (*(exchange for _, exchange in others), page)
    verdict = judge(
        [*(each for each, _ in others), its], Attempt("", 0.0, exchanges), ProviderVocabulary.from_records(())
    )
    (observation,) = (each for each in verdict.observations if each.label == its.label)
    return verdict.outcome, dict(observation.not_observed)


def test_an_answer_is_compared_only_with_one_that_was_seen_as_documented() -> None:
    its, page = expected(kind="subset", at=IDS, of="all"), answer(items("d"))
    drifted = Exchange("all", REQUEST, Response(418, {}, items("a"), "json"))
    absent = Exchange("all", REQUEST, None, Reason("read-timeout"))
    assert judged(its, (expected("all"), WHOLE_LIST), page=page)[0] is Outcome.DRIFTED
    assert judged(its, (expected("all"), absent), page=page)[0] is Outcome.INCONCLUSIVE
    verdict = judge([expected("all"), its], Attempt("", 0.0, (drifted, page)), ProviderVocabulary.from_records(()))
    assert {finding.label for finding in verdict.findings if finding.is_drift} == {"all"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.datetimes().map(str),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["data", "id", "of"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(
    ours=JSON,
    theirs=JSON,
    constant=JSON,
    number=st.integers(0, len(CASES) - 1),
    at=st.sampled_from(["/data", IDS, "/of/*"]),
)
def test_no_answer_makes_a_relation_raise(ours: Any, theirs: Any, constant: Any, number: int, at: str) -> None:
    stated = {**CASES[number][0], "at": at}
    if "value" in stated and stated["kind"] in ("equals", "at_most"):
        stated["value"] = constant
    its, others = expected(**stated), {"all": OtherAnswer(expected("all"), answer(theirs, "all"))}
    found = list(find_broken_relations(its, answer(ours), others))
    assert bool(found) + bool(relations_not_observed(its, answer(ours), others)) <= 1
    if found and stated["kind"] not in ("equals", "differs"):
        assert list(find_broken_relations(its, answer(ours), others)) == found


def test_what_stands_at_the_other_place_is_told_and_is_no_part_of_what_differs() -> None:
    stated = expected(kind="equals", at="/request_id", **{"with": "header:request-id"})
    first, second = (
        next(compare(stated, answer({"request_id": "req_2"}, headers={"request-id": seen})))
        for seen in ("req_1", "req_3")
    )
    assert "documented the same as header:request-id (req_1), observed req_2" in first.message.replace('"', "")
    assert "(req_3)" in second.message
    assert first.documented == second.documented == "the same as header:request-id"
    of_an_object = expected(kind="equals", at="/a", **{"with": "/b"})
    said = next(compare(of_an_object, answer({"a": 1, "b": {"of": "ü"}}))).message
    assert 'documented the same as /b ({"of": "ü"}), observed 1' in said
    others = {"all": OtherAnswer(expected("all"), WHOLE_LIST)}
    whole = next(compare(expected(kind="equals", of="all"), answer(items("x")), others))
    assert whole.message.partition(", observed")[0].endswith(f"documented {whole.documented}"), "and no whole body"
    constant = expected(kind="equals", at="/id", value="a")
    assert next(compare(constant, answer({"id": "b"}))).message.endswith("documented the same as a, observed b")
