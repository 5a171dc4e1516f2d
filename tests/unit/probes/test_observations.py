"""What one exchange shows of each assertion: matched, mismatched, or not observed and why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.envelopes import load_envelope
from catalog_probe.catalog.model import Close, Exchange, GrpcStatus, Outcome, Reason, Request, Response
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.exchange import Event
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import Expected, StreamRule
from catalog_probe.catalog.reading.relations import parse_relation as parse_relation
from catalog_probe.catalog.reading.response_headers import HeaderRule
from catalog_probe.probes.judging.comparison.observations import is_answered, observe
from tests.unit.probes.inconclusive.evidence_making import to_mock
from tests.unit.probes.judging_one import (
    BODY,
    HEADERS,
    MESSAGES_URL,
    RATE_LIMIT,
    RATE_LIMITED,
    get_observation,
    judge_answer,
    judge_exchanges,
    load_steps,
    load_vocabulary,
)

if TYPE_CHECKING:
    import pytest

    from catalog_probe.catalog.model.assertion import Observation

STREAM_ERROR = "pa/errors/stream/overloaded"
LIVE = "pb/endpoints/live/connect"
LIST_MODELS = "pa/endpoints/models/list_models"
STREAM_HEADERS = {name: HEADERS[name] for name in ("request-id", "pa-organization-id", "pa-workspace-id")}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def observe_answer(
    address: str, response: Response, label: str = "answer", fields: dict[str, Any] | None = None
) -> Observation:
    return get_observation(judge_answer(address, response, fields or {}, label))


def test_stream_with_its_event_matches_event_and_body() -> None:
    observation = observe_answer(STREAM_ERROR, Response(200, STREAM_HEADERS, events=(Event("error", OVERLOADED),)))
    assert not observation.mismatched
    assert not observation.not_observed
    assert {"status", "event", "event:error", "body", "type"} <= set(observation.matched)


def test_missing_event_hides_its_body() -> None:
    observation = observe_answer(STREAM_ERROR, Response(200, STREAM_HEADERS, events=(Event("ping", {}),)))
    assert observation.mismatched == {"event:error": "absent"}
    assert observation.not_observed["type"] == observation.not_observed["body"] == "no-body"
    assert not {"body", "type"} & set(observation.matched)


def test_plain_body_hides_events_and_their_contents() -> None:
    observation = observe_answer(STREAM_ERROR, Response(200, STREAM_HEADERS, OVERLOADED, "json"))
    assert observation.mismatched["event"] == "absent"
    assert observation.not_observed == {"event:error": "no-stream", "body": "no-body", "type": "no-body"}
    assert observation.matched[0] == "status"


def test_body_that_is_no_json_hides_its_fields(subtests: pytest.Subtests) -> None:
    for body_type in ["text", "binary", "empty"]:
        with subtests.test(body_type=body_type):
            observation = observe_answer(
                RATE_LIMIT, Response(429, HEADERS, "slow" if body_type != "empty" else None, body_type)
            )
            assert observation.mismatched["body"] == "malformed"
            assert observation.not_observed["type"] == observation.not_observed["body:/request_id"] == "no-body"
            assert "status" in observation.matched


def test_json_of_another_shape_hides_nothing() -> None:
    observation = observe_answer(RATE_LIMIT, Response(429, HEADERS, {"type": "error", "request_id": "req_1"}, "json"))
    assert observation.mismatched["body"]
    assert "type" in observation.mismatched
    assert "body:/request_id" in observation.matched


def test_empty_list_hides_assumed_item_fields() -> None:
    local_key = "body:/data/*/id"
    key = AssertionKey("success", "body", "/data/*/id")
    assumed = Assertion(LIST_MODELS, key, {"type": "string"}, Basis.ASSUMED)
    expected = Expected(
        "success",
        LIST_MODELS,
        load_envelope("any"),
        200,
        fields={key.location: {"type": "string"}},
        assertions={str(key): assumed},
    )

    def observe_items(*items: dict[str, str]) -> Observation:
        exchange = Exchange("success", Request("GET", MESSAGES_URL), Response(200, {}, {"data": [*items]}, "json"))
        return get_observation(judge_exchanges((expected,), exchange))

    assert (observe_items().matched, observe_items().not_observed) == ((), {local_key: "nothing-there"})
    assert observe_items({"id": "m"}).matched == (local_key,)
    assert list(observe_items({}).mismatched) == [local_key]


def test_another_status_hides_everything_else() -> None:
    observation = observe_answer(
        RATE_LIMIT, replace(RATE_LIMITED, status=400, body={**BODY, "error": {"type": "x", "message": "no"}})
    )
    assert observation.mismatched["status"] == "400"
    assert set(observation.not_observed.values()) == {"another-answer"}
    assert not observation.matched


def test_other_success_status_than_assumed_hides_nothing() -> None:
    """Another error status than the assumed one does hide the rest."""
    assumed = {"assumed": {"success/status": "not shown"}}
    created = observe_answer(LIST_MODELS, Response(201, HEADERS, {"data": []}, "json"), "success", assumed)
    assert created.mismatched["status"] == "201"
    assert "another-answer" not in created.not_observed.values()
    assumed = {"assumed": {"answer/status": "not shown"}}
    refused = observe_answer(RATE_LIMIT, replace(RATE_LIMITED, status=400), fields=assumed)
    assert refused.mismatched == {"status": "400"}
    assert "another-answer" in refused.not_observed.values()


def test_lost_answer_hides_everything_and_documented_failure_is_observed() -> None:
    lost = observe_exchange(
        RATE_LIMIT, Exchange("answer", Request("POST", MESSAGES_URL), None, Reason(ReasonCode.READ_TIMEOUT))
    )
    assert set(lost.not_observed.values()) == {"read-timeout"}
    refused = "pc/errors/client/connection_refused"
    observation = observe_exchange(
        refused, Exchange("answer", Request("POST", MESSAGES_URL), None, Reason(ReasonCode.CONNECT_REFUSED))
    )
    assert (set(observation.not_observed), bool(observation.matched)) == (set(), True)


def test_exchange_without_answer_or_failure_hides_everything() -> None:
    observation = observe_exchange(RATE_LIMIT, Exchange("answer", Request("POST", MESSAGES_URL)))
    assert (observation.matched, observation.mismatched, set(observation.not_observed.values())) == (
        (),
        {},
        {"no-answer"},
    )


def test_text_body_hides_all_envelope_fields(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, int, set[str]]] = [
        ("pb/errors/general/overloaded", "answer", 503, {"type", "status:/error/code", "body:/error/details"}),
        ("pc/errors/request/service_tier_not_allowed", "flex", 400, {"type", "code", "param"}),
        ("pd/errors/request/wrong_type", "answer", 422, {"message"}),
    ]
    for address, label, status, hidden in cases:
        with subtests.test(address=address):
            observation = observe_answer(address, Response(status, {}, "no", "text"), label)
            assert observation.matched == ("status",)
            assert observation.not_observed == dict.fromkeys(hidden, "no-body")


def observe_exchange(address: str, exchange: Exchange) -> Observation:
    expected = load_steps(address, exchange.label)
    return get_observation(judge_exchanges(expected, exchange))


def test_absent_optional_header_is_not_observed() -> None:
    limits = "pc/rate_limits/limits/general"
    optional = [rule.name for step in load_steps(limits, "answer") for rule in step.headers if rule.optional]
    observation = observe_answer(limits, Response(200, {}, {}, "json"))
    assert optional
    assert {observation.not_observed.get(f"header:{name}") for name in optional if "*" not in name} == {"not-shown"}
    assert not {f"header:{name}" for name in optional} & set(observation.matched)


def test_one_of_several_optional_headers_is_enough() -> None:
    key = AssertionKey("answer", "header", "x-left-*")
    rule = HeaderRule("x-left-*", "present", optional=True)
    assertion = Assertion(RATE_LIMIT, key, "present", Basis.DOCUMENTED)
    expected = Expected(
        "answer", RATE_LIMIT, load_envelope("any"), 429, headers=(rule,), assertions={str(key): assertion}
    )

    def observe_headers(**headers: str) -> Observation:
        exchange = Exchange("answer", Request("POST", MESSAGES_URL), Response(429, headers, None, "empty"))
        return get_observation(judge_exchanges((expected,), exchange))

    assert observe_headers(**{"x-left-a": "1"}).matched == ("header:x-left-*",)
    assert observe_headers().not_observed == {"header:x-left-*": "not-shown"}


def test_another_grpc_status_hides_everything_else() -> None:
    relation = parse_relation({"is": "non_empty", "at": "header:x-id"}, "")
    keys = [AssertionKey("answer", "relation", relation.local_key.partition(":")[2]), AssertionKey("answer", "message")]
    record_assertions = {str(key): Assertion(LIST_MODELS, key, "present", Basis.DOCUMENTED) for key in keys}
    rule = StreamRule("grpc", grpc_status=5)
    expected = Expected(
        "answer",
        LIST_MODELS,
        load_envelope("any"),
        None,
        stream=rule,
        relations=(relation,),
        assertions=record_assertions,
    )
    for status, not_observed in ((5, {}), (7, {relation.local_key: "another-answer"})):
        response = Response(None, {"x-id": "1"}, grpc=GrpcStatus(status, "no"))
        observation = observe(
            expected,
            Exchange("answer", Request("POST", MESSAGES_URL), response),
            (),
            None,
            load_vocabulary("pa").endpoints,
        )
        assert observation.not_observed == not_observed


def test_plain_body_hides_the_last_event() -> None:
    key = AssertionKey("stream", "order", "last")
    assertion = Assertion(LIST_MODELS, key, "message_stop", Basis.DOCUMENTED)
    rule = StreamRule("sse", terminal="message_stop")
    expected = Expected("stream", LIST_MODELS, load_envelope("any"), 200, stream=rule, assertions={str(key): assertion})
    exchange = Exchange("stream", Request("POST", MESSAGES_URL), Response(200, {}, {}, "json"))
    assert get_observation(judge_exchanges((expected,), exchange)).not_observed == {"order:last": "no-stream"}


def test_event_of_another_shape_hides_nothing() -> None:
    event_data = {**OVERLOADED, "type": 5}
    observation = observe_answer(
        STREAM_ERROR, Response(200, STREAM_HEADERS, None, "empty", events=(Event("error", event_data),))
    )
    assert observation.mismatched["body"]
    assert "type" in observation.matched


def test_endpoint_comes_from_record_recipe_or_path() -> None:
    other_endpoint = "pa/endpoints/messages/count_tokens"
    own = observe_exchange(
        LIST_MODELS, Exchange("success", Request("POST", MESSAGES_URL), RATE_LIMITED, endpoint=other_endpoint)
    )
    assert own.endpoint == LIST_MODELS
    assert (
        observe_exchange(
            RATE_LIMIT, Exchange("answer", Request("POST", MESSAGES_URL), RATE_LIMITED, endpoint=other_endpoint)
        ).endpoint
        == other_endpoint
    )
    by_path = observe_exchange(RATE_LIMIT, Exchange("answer", Request("POST", MESSAGES_URL), RATE_LIMITED))
    assert by_path.endpoint == "pa/endpoints/messages/create_message"


def test_promised_credential_that_a_socket_refuses_is_drift(subtests: pytest.Subtests) -> None:
    """1:5.2: ephemeral tokens are also accepted; the control is a session that the key opened."""
    cases: list[tuple[Close, bool, Outcome]] = [
        (TOKEN_REFUSED, True, Outcome.DRIFTED),
        (TOKEN_REFUSED, False, Outcome.INCONCLUSIVE),
        (Close(1011, "Internal error."), True, Outcome.INCONCLUSIVE),
    ]
    expected = [step for step in load_steps(LIVE) if step.label in ("success", "ephemeral_token")]
    request = to_mock(Request("GET", "wss://provider.example/live"))
    opened = Response(101, events=(SETUP_COMPLETE,))
    for close, has_control, outcome in cases:
        with subtests.test(close=close, has_control=has_control):
            refused = Response(101, events=(), close=close)
            exchanges = [Exchange("ephemeral_token", request, refused)]
            if has_control:
                exchanges.append(Exchange("success", request, opened))
            verdict = judge_exchanges(expected, *exchanges).step_verdicts["ephemeral_token", ""]
            assert verdict.outcome is outcome
            assert [finding.assertion for finding in verdict.findings if finding.is_drift] == (
                ["ephemeral_token/event"] if outcome is Outcome.DRIFTED else []
            )


SOCKET, EVENT_STREAM = (StreamRule(protocol, event="setupComplete") for protocol in ("websocket", "sse"))
GO_AWAY, SETUP_COMPLETE = Event("goAway", {"goAway": {}}), Event("setupComplete", {"setupComplete": {}})
TOKEN_REFUSED = Close(1008, "The ephemeral token is unknown.")


def test_stream_refused_after_opening_is_no_answer(subtests: pytest.Subtests) -> None:
    cases: list[tuple[StreamRule, tuple[Event, ...], Close | None, bool]] = [
        (SOCKET, (SETUP_COMPLETE,), None, True),
        (SOCKET, (SETUP_COMPLETE, GO_AWAY), Close(1000), True),
        (SOCKET, (GO_AWAY,), None, True),
        (SOCKET, (GO_AWAY,), TOKEN_REFUSED, False),
        (SOCKET, (Event("error", {"error": {"code": 403}}),), None, False),
        (StreamRule("websocket", close_code=(1000, 1011)), (GO_AWAY,), TOKEN_REFUSED, True),
        (StreamRule("websocket", event="goAway", close_code=(1000, 1011)), (GO_AWAY,), TOKEN_REFUSED, True),
        (StreamRule("websocket"), (GO_AWAY,), TOKEN_REFUSED, True),
        (EVENT_STREAM, (SETUP_COMPLETE,), None, True),
        (EVENT_STREAM, (Event("setup", {"error": None}),), None, True),
        (EVENT_STREAM, (Event("message", {"error": {"message": "no"}}),), None, False),
        (StreamRule("sse", event="error"), (Event("error", {}),), None, True),
    ]
    for rule, events, close, answered in cases:
        with subtests.test(rule=rule):
            expected = Expected("success", RATE_LIMIT, load_envelope("any"), 101, stream=rule)
            assert is_answered(expected, Response(101, events=events, close=close)) is answered


def test_socket_closed_after_handshake_is_inconclusive(subtests: pytest.Subtests) -> None:
    cases: list[tuple[tuple[Event, ...], Close | None, Outcome]] = [
        ((SETUP_COMPLETE,), None, Outcome.CONFORMS),
        ((GO_AWAY,), TOKEN_REFUSED, Outcome.INCONCLUSIVE),
    ]
    for events, close, outcome in cases:
        with subtests.test(events=events):
            response = Response(101, events=events, close=close)
            verdict = judge_answer(LIVE, response, {}, "ephemeral_token")
            (step_verdict,) = verdict.step_verdicts.values()
            assert step_verdict.outcome is outcome
            if outcome is Outcome.INCONCLUSIVE:
                assert step_verdict.reason is not None
                assert step_verdict.reason.code == ReasonCode.NOTHING_OBSERVED
                assert "closed with 1008 The ephemeral token is unknown." in step_verdict.reason.detail
                assert not get_observation(verdict).matched
