"""What one answer showed of each assertion: as stated, otherwise, or nothing, and then why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.model import Attempt, Close, Exchange, GrpcStatus, Outcome, Reason, Request, Response
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.exchange import Event
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.catalog.reading.headers import HeaderRule
from catalog_probe.catalog.reading.relations import parse_relation as relation_of
from catalog_probe.catalog.reading.streams import StreamRule
from catalog_probe.probes.judging.comparison.observations import is_answered, observe
from catalog_probe.probes.judging.judge import judge
from tests.harness.engines import catalog
from tests.unit.probes.judging_one import ASKED, BODY, HEADERS, LIMITED, RATE_LIMIT, judged, known, seen

if TYPE_CHECKING:
    from catalog_probe.catalog.model.observation import Observation

ENDED_IN_AN_EVENT = "pa/errors/stream/overloaded"
LIST_MODELS = "pa/endpoints/models/list_models"
STREAMED = {name: HEADERS[name] for name in ("request-id", "pa-organization-id", "pa-workspace-id")}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def looked(
    address: str, response: Response, label: str = "answer", fields: dict[str, Any] | None = None
) -> Observation:
    return seen(judged(address, response, fields or {}, label))


def test_a_stream_shows_its_event_and_what_is_in_it() -> None:
    told = looked(ENDED_IN_AN_EVENT, Response(200, STREAMED, events=(Event("error", OVERLOADED),)))
    assert not told.mismatched
    assert not told.not_observed
    assert {"status", "event", "event:error", "body", "type"} <= set(told.matched)


def test_a_stream_without_its_event_shows_nothing_of_the_event() -> None:
    told = looked(ENDED_IN_AN_EVENT, Response(200, STREAMED, events=(Event("ping", {}),)))
    assert told.mismatched == {"event:error": "absent"}
    assert told.not_observed["type"] == told.not_observed["body"] == "no-body"
    assert not {"body", "type"} & set(told.matched)


def test_a_body_in_place_of_a_stream_shows_neither_events_nor_what_would_stand_in_them() -> None:
    told = looked(ENDED_IN_AN_EVENT, Response(200, STREAMED, OVERLOADED, "json"))
    assert told.mismatched["event"] == "absent"
    assert told.not_observed == {"event:error": "no-stream", "body": "no-body", "type": "no-body"}
    assert told.matched[0] == "status"


@pytest.mark.parametrize("body_type", ["text", "binary", "empty"])
def test_a_body_that_is_no_json_hides_what_would_stand_in_it(body_type: str) -> None:
    told = looked(RATE_LIMIT, Response(429, HEADERS, "slow" if body_type != "empty" else None, body_type))
    assert told.mismatched["body"] == "malformed"
    assert told.not_observed["type"] == told.not_observed["body:/request_id"] == "no-body"
    assert "status" in told.matched


def test_another_shape_of_json_hides_nothing() -> None:
    told = looked(RATE_LIMIT, Response(429, HEADERS, {"type": "error", "request_id": "req_1"}, "json"))
    assert told.mismatched["body"]
    assert "type" in told.mismatched
    assert "body:/request_id" in told.matched


def test_an_empty_list_shows_nothing_of_what_is_assumed_of_its_items() -> None:
    within = "body:/data/*/id"
    key = AssertionKey("success", "body", "/data/*/id")
    assumed = Assertion(LIST_MODELS, key, {"type": "string"}, Basis.ASSUMED)
    expected = Expected(
        "success",
        LIST_MODELS,
        envelope("any"),
        200,
        fields={key.location: {"type": "string"}},
        assertions={str(key): assumed},
    )

    def shown(*items: dict[str, str]) -> Observation:
        came = Exchange("success", Request("GET", ASKED), Response(200, {}, {"data": [*items]}, "json"))
        return seen(judge((expected,), Attempt("", 0.0, (came,)), known("pa")))

    assert (shown().matched, shown().not_observed) == ((), {within: "nothing-there"})
    assert shown({"id": "m"}).matched == (within,)
    assert list(shown({}).mismatched) == [within]


def test_another_status_shows_nothing_else_of_the_stated_answer() -> None:
    told = looked(RATE_LIMIT, replace(LIMITED, status=400, body={**BODY, "error": {"type": "x", "message": "no"}}))
    assert told.mismatched["status"] == "400"
    assert set(told.not_observed.values()) == {"another-answer"}
    assert not told.matched


def test_another_success_than_the_assumed_one_is_the_stated_answer_all_the_same() -> None:
    """Another refusal than the assumed one is another answer."""
    assumed = {"assumed": {"success/status": "not shown"}}
    created = looked(LIST_MODELS, Response(201, HEADERS, {"data": []}, "json"), "success", assumed)
    assert created.mismatched["status"] == "201"
    assert "another-answer" not in created.not_observed.values()
    assumed = {"assumed": {"answer/status": "not shown"}}
    refused = looked(RATE_LIMIT, replace(LIMITED, status=400), fields=assumed)
    assert refused.mismatched == {"status": "400"}
    assert "another-answer" in refused.not_observed.values()


def test_without_an_answer_nothing_was_seen_and_of_a_failure_there_is_no_answer() -> None:
    lost = asked(RATE_LIMIT, Exchange("answer", Request("POST", ASKED), None, Reason(ReasonCode.READ_TIMEOUT)))
    assert set(lost.not_observed.values()) == {"read-timeout"}
    refused = "pc/errors/client/connection_refused"
    told = asked(refused, Exchange("answer", Request("POST", ASKED), None, Reason(ReasonCode.CONNECT_REFUSED)))
    assert (set(told.not_observed), bool(told.matched)) == (set(), True)


def test_where_neither_an_answer_nor_a_failure_was_kept_nothing_was_seen() -> None:
    told = asked(RATE_LIMIT, Exchange("answer", Request("POST", ASKED)))
    assert (told.matched, told.mismatched, set(told.not_observed.values())) == ((), {}, {"no-answer"})


@pytest.mark.parametrize(
    ("address", "label", "status", "hidden"),
    [
        ("pb/errors/general/overloaded", "answer", 503, {"type", "status:/error/code", "body:/error/details"}),
        ("pc/errors/request/service_tier_not_allowed", "flex", 400, {"type", "code", "param"}),
        ("pd/errors/request/wrong_type", "answer", 422, {"message"}),
    ],
)
def test_all_that_an_envelope_carries_is_hidden_by_what_is_no_json(
    address: str, label: str, status: int, hidden: set[str]
) -> None:
    told = looked(address, Response(status, {}, "no", "text"), label)
    assert told.matched == ("status",)
    assert told.not_observed == dict.fromkeys(hidden, "no-body")


def asked(address: str, exchange: Exchange) -> Observation:
    expected = [
        each
        for each in asserted_expectations(catalog()[address], catalog().__getitem__)
        if each.label == exchange.label
    ]
    return seen(judge(expected, Attempt("", 0.0, (exchange,)), known(address.partition("/")[0])))


def test_a_header_that_may_be_absent_and_is_was_not_seen() -> None:
    limits = "pc/rate_limits/limits/general"
    optional = [
        rule.name
        for each in asserted_expectations(catalog()[limits], catalog().__getitem__)
        if each.label == "answer"
        for rule in each.headers
        if rule.optional
    ]
    bare = looked(limits, Response(200, {}, {}, "json"))
    assert optional
    assert {bare.not_observed.get(f"header:{name}") for name in optional if "*" not in name} == {"not-shown"}
    assert not {f"header:{name}" for name in optional} & set(bare.matched)


def test_of_many_headers_that_may_be_absent_one_that_came_is_enough() -> None:
    key = AssertionKey("answer", "header", "x-left-*")
    rule = HeaderRule("x-left-*", "present", optional=True)
    stated = Assertion(RATE_LIMIT, key, "present", Basis.DOCUMENTED)
    expected = Expected("answer", RATE_LIMIT, envelope("any"), 429, headers=(rule,), assertions={str(key): stated})

    def left(**headers: str) -> Observation:
        exchange = Exchange("answer", Request("POST", ASKED), Response(429, headers, None, "empty"))
        return seen(judge((expected,), Attempt("", 0.0, (exchange,)), known("pa")))

    assert left(**{"x-left-a": "1"}).matched == ("header:x-left-*",)
    assert left().not_observed == {"header:x-left-*": "not-shown"}


def test_what_is_beside_another_grpc_status_is_not_compared() -> None:
    relation = relation_of({"is": "non_empty", "at": "header:x-id"}, "")
    keys = [AssertionKey("answer", "relation", relation.local_key.partition(":")[2]), AssertionKey("answer", "message")]
    stated = {str(key): Assertion(LIST_MODELS, key, "present", Basis.DOCUMENTED) for key in keys}
    rule = StreamRule("grpc", grpc_status=5)
    expected = Expected(
        "answer", LIST_MODELS, envelope("any"), None, stream=rule, relations=(relation,), assertions=stated
    )
    for status, unseen in ((5, {}), (7, {relation.local_key: "another-answer"})):
        response = Response(None, {"x-id": "1"}, grpc=GrpcStatus(status, "no"))
        told = observe(expected, Exchange("answer", Request("POST", ASKED), response), (), None, known("pa").endpoints)
        assert told.not_observed == unseen


def test_without_a_stream_nothing_is_seen_of_which_event_is_the_last() -> None:
    key = AssertionKey("stream", "order", "last")
    stated = Assertion(LIST_MODELS, key, "message_stop", Basis.DOCUMENTED)
    rule = StreamRule("sse", terminal="message_stop")
    expected = Expected("stream", LIST_MODELS, envelope("any"), 200, stream=rule, assertions={str(key): stated})
    whole = Exchange("stream", Request("POST", ASKED), Response(200, {}, {}, "json"))
    assert seen(judge((expected,), Attempt("", 0.0, (whole,)), known("pa"))).not_observed == {"order:last": "no-stream"}


def test_an_event_of_another_shape_hides_nothing_that_stands_in_it() -> None:
    odd = {**OVERLOADED, "type": 5}
    told = looked(ENDED_IN_AN_EVENT, Response(200, STREAMED, None, "empty", events=(Event("error", odd),)))
    assert told.mismatched["body"]
    assert "type" in told.matched


def test_the_endpoint_is_the_records_own_or_what_the_recipe_named_or_what_was_asked() -> None:
    named = "pa/endpoints/messages/count_tokens"
    own = asked(LIST_MODELS, Exchange("success", Request("POST", ASKED), LIMITED, endpoint=named))
    assert own.endpoint == LIST_MODELS
    assert asked(RATE_LIMIT, Exchange("answer", Request("POST", ASKED), LIMITED, endpoint=named)).endpoint == named
    plain = asked(RATE_LIMIT, Exchange("answer", Request("POST", ASKED), LIMITED))
    assert plain.endpoint == "pa/endpoints/messages/create_message"


SOCKET, EVENTS = (StreamRule(protocol, event="setupComplete") for protocol in ("websocket", "sse"))
GO_AWAY, SET_UP = Event("goAway", {"goAway": {}}), Event("setupComplete", {"setupComplete": {}})
REFUSED = Close(1008, "The ephemeral token is unknown.")


@pytest.mark.parametrize(
    ("rule", "events", "close", "answered"),
    [
        (SOCKET, (SET_UP,), None, True),
        (SOCKET, (SET_UP, GO_AWAY), Close(1000), True),
        (SOCKET, (GO_AWAY,), None, True),
        (SOCKET, (GO_AWAY,), REFUSED, False),
        (SOCKET, (Event("error", {"error": {"code": 403}}),), None, False),
        (StreamRule("websocket", close_code=(1000, 1011)), (GO_AWAY,), REFUSED, True),
        (StreamRule("websocket", event="goAway", close_code=(1000, 1011)), (GO_AWAY,), REFUSED, True),
        (StreamRule("websocket"), (GO_AWAY,), REFUSED, True),
        (EVENTS, (SET_UP,), None, True),
        (EVENTS, (Event("setup", {"error": None}),), None, True),
        (EVENTS, (Event("message", {"error": {"message": "no"}}),), None, False),
        (StreamRule("sse", event="error"), (Event("error", {}),), None, True),
    ],
)
def test_what_was_opened_and_then_refused_has_answered_nothing(
    rule: StreamRule, events: tuple[Event, ...], close: Close | None, answered: bool
) -> None:
    expected = Expected("success", RATE_LIMIT, envelope("any"), 101, stream=rule)
    assert is_answered(expected, Response(101, events=events, close=close)) is answered


@pytest.mark.parametrize(
    ("events", "close", "outcome"),
    [((SET_UP,), None, Outcome.CONFORMS), ((GO_AWAY,), REFUSED, Outcome.INCONCLUSIVE)],
)
def test_a_handshake_is_no_acceptance(events: tuple[Event, ...], close: Close | None, outcome: Outcome) -> None:
    opened = Response(101, events=events, close=close)
    verdict = judged("pb/endpoints/live/connect", opened, {}, "ephemeral_token")
    (cell,) = verdict.step_verdicts.values()
    assert cell.outcome is outcome
    if outcome is Outcome.INCONCLUSIVE:
        assert cell.reason is not None
        assert cell.reason.code == ReasonCode.NOTHING_OBSERVED
        assert "closed with 1008 The ephemeral token is unknown." in cell.reason.detail
        assert not seen(verdict).matched
