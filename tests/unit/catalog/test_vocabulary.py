"""Recognition of an answer by status, values and wording."""

from __future__ import annotations

import re
from typing import Any

from catalog_probe.catalog.envelopes import load_envelope
from catalog_probe.catalog.model import Exchange, Json, Record, Request, Response
from catalog_probe.catalog.model.exchange import Event
from catalog_probe.catalog.recognition.endpoints import EndpointIndex
from catalog_probe.catalog.recognition.vocabulary import ORDINARY_HEADERS, ProviderVocabulary
from catalog_probe.catalog.text.json_values import build_document
from tests.unit.catalog.catalog_factories import ENDPOINT_ADDRESS, LIMITS_ADDRESS, make_record

QUOTA, BUSY, DENIED = (f"pa/errors/general/{slug}" for slug in ("quota", "busy", "denied"))


def error(address: str, **fields: Any) -> Record:
    return make_record(address, **fields)


def body(kind: str, message: str = "No.") -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}}


KNOWN = ProviderVocabulary.from_records(
    [
        error(QUOTA, message_pattern={"pattern": "(?i)quota", "source": "1:1#x"}),
        error(BUSY),
        error(DENIED, http_status=403, type="permission_error", category="permission", code="denied"),
        error("pa/errors/general/other", http_status=403, type="other_error", category="invalid_request"),
        error("pa/errors/general/either", http_status="502/503", type="gone_error"),
        make_record(ENDPOINT_ADDRESS),
        make_record(LIMITS_ADDRESS),
    ]
)


def test_an_answer_is_recognised_by_status_values_and_wording() -> None:
    """Who states the wording that came goes before who states none."""
    cases: list[tuple[int | None, Json, list[str]]] = [
        (429, body("rate_limit_error"), [BUSY]),
        (429, body("rate_limit_error", "Your QUOTA is used up"), [QUOTA]),
        (429, body("permission_error"), []),
        (403, body("permission_error"), [DENIED]),
        (403, body("rate_limit_error"), []),
        (502, body("gone_error"), ["pa/errors/general/either"]),
        (503, body("gone_error"), ["pa/errors/general/either"]),
        (500, body("gone_error"), []),
        (None, body("rate_limit_error"), []),
        (429, "rate_limit_error", []),
        (429, None, []),
        (429, {"error": {"type": "rate_limit_error"}}, [BUSY]),
    ]
    for status, answer, addresses in cases:
        assert [record.address for record in KNOWN.match_answers(status, answer)] == addresses


def test_an_answer_without_values_matches_no_record() -> None:
    bare = ProviderVocabulary.from_records([error(BUSY, type=None)])
    assert bare.match_answers(429, body("anything")) == ()


def test_records_that_an_answer_cannot_tell_apart_come_in_their_order() -> None:
    alike = ProviderVocabulary.from_records([error(BUSY), error(QUOTA)])
    assert [record.address for record in alike.match_answers(429, body("rate_limit_error"))] == [BUSY, QUOTA]


def test_a_permission_refusal_is_a_403_that_says_so() -> None:
    cases: list[tuple[str, int, bool]] = [
        ("permission", 403, True),
        ("invalid_request", 403, False),
        ("permission", 401, False),
    ]
    for category, status, permission in cases:
        (answer,) = ProviderVocabulary.from_records([error(DENIED, http_status=status, category=category)]).answers
        assert answer.is_permission_refusal is permission, (category, status)


def test_a_status_is_documented_where_any_record_has_it() -> None:
    assert [status for status in (200, 403, 429, 500, 502, 503, None) if KNOWN.has_status(status)] == [
        403,
        429,
        502,
        503,
    ]


def test_a_body_matches_the_envelope_that_holds_its_message() -> None:
    cases: list[tuple[Json, bool]] = [
        (body("never_heard_of"), True),
        ({"error": {"type": "x"}}, False),
        ({"error": {"message": 3}}, False),
        ("error", False),
        (None, False),
        ([], False),
    ]
    for answer, stands in cases:
        assert KNOWN.is_in_envelope(answer) is stands


def test_a_message_is_found_in_each_envelope_of_the_provider() -> None:
    surfaces = ("pa", "pc_response_failed")
    vocabulary = ProviderVocabulary.from_records(
        [error(f"pa/errors/general/{surface}", surface=surface) for surface in surfaces]
    )
    places = {load_envelope(surface).wire["message"] for surface in surfaces}
    assert len(places) > 1
    assert [vocabulary.find_message(build_document({place: "No."})) for place in sorted(places)] == ["No."] * len(
        places
    )


def test_names_are_those_of_every_kind_of_record() -> None:
    assert {"request-id", "x-should-retry"} <= KNOWN.headers
    assert KNOWN.types == {"rate_limit_error", "permission_error", "other_error", "gone_error"}
    assert KNOWN.codes == {"denied"}
    assert ProviderVocabulary.from_records([error(BUSY, type=None)]).types == set()


def test_headers_of_http_and_its_edges_are_ordinary() -> None:
    assert {"accept-ranges", "cf-ray", "date", "set-cookie", "vary", "x-xss-protection"} <= ORDINARY_HEADERS
    assert "retry-after-ms" not in ORDINARY_HEADERS
    assert {name for name in ORDINARY_HEADERS if name.startswith("sec-")} == {
        f"sec-websocket-{part}" for part in ("accept", "extensions", "protocol")
    }
    assert [name for name in ORDINARY_HEADERS if len(name) < 3 or not re.fullmatch(r"[a-z]+(-[a-z]+)*", name)] == []


def make_endpoint(slug: str, method: str, path: str) -> Record:
    return make_record(f"pa/endpoints/messages/{slug}", method=method, path=path)


SERVED = EndpointIndex.from_records(
    [
        make_endpoint("list", "GET", "/v1/files"),
        make_endpoint("get", "GET", "/v1/files/{file_id}"),
        make_endpoint("content", "GET", "/v1/files/{file_id}/content"),
        make_endpoint("stream", "SSE", "/v1/messages"),
        make_endpoint("create", "POST", "/v1/messages"),
        make_endpoint("generate", "POST", "/v1/models/{model}:generate"),
        make_endpoint("proxy", "*", "/v1/proxy/*"),
        make_record(),
    ]
)


def test_a_request_goes_to_the_endpoint_of_its_method_and_path() -> None:
    cases: list[tuple[str, str, str]] = [
        ("GET", "https://x.example/v1/files", "list"),
        ("GET", "https://x.example/v1/files?limit=2", "list"),
        ("GET", "https://x.example/base/v1/files/f1", "get"),
        ("GET", "https://x.example/v1/files/f1/content", "content"),
        ("GET", "/v1/files/f1", "get"),
        ("DELETE", "https://x.example/v1/files/f1", ""),
        ("GET", "https://x.example/v1/files/f1/other", ""),
        ("GET", "https://x.example/v1/filesx", ""),
        ("POST", "https://x.example/v1/models/m-1:generate", "generate"),
        ("POST", "https://x.example/v1/models/a/b:generate", ""),
        ("PATCH", "https://x.example/v1/proxy/any/thing", "proxy"),
        ("POST", "https://x.example/v1/messages", "create"),
    ]
    for method, url, slug in cases:
        assert SERVED.find_by_request(method, url) == (f"pa/endpoints/messages/{slug}" if slug else "")


def test_a_post_that_was_answered_by_events_went_to_the_streamed_form() -> None:
    cases: list[tuple[str, tuple[Event, ...] | None, str]] = [
        ("POST", (Event("a"),), "stream"),
        ("POST", (), "stream"),
        ("POST", None, "create"),
        ("GET", (Event("a"),), ""),
    ]
    for method, events, slug in cases:
        request = Request(method, "https://x.example/v1/messages")
        exchange = Exchange("answer", request, Response(200, events=events))
        assert SERVED.find(exchange) == (f"pa/endpoints/messages/{slug}" if slug else ""), (method, events)
        assert SERVED.find(Exchange("answer", Request("POST", request.url))) == "pa/endpoints/messages/create", (
            method,
            events,
        )


def test_of_endpoints_that_fit_the_claimed_one_goes_first() -> None:
    twins = EndpointIndex.from_records(
        [make_endpoint("a", "POST", "/v1/x"), make_endpoint("b", "POST", "/v1/x"), make_endpoint("c", "GET", "/v1/x")]
    )
    claimed = ["pa/endpoints/messages/b"]
    assert twins.find_by_request("POST", "https://x.example/v1/x") == "pa/endpoints/messages/a"
    assert twins.find_by_request("POST", "https://x.example/v1/x", claimed) == "pa/endpoints/messages/b"
    assert twins.find_by_request("GET", "https://x.example/v1/x", claimed) == "pa/endpoints/messages/c"
    assert twins.find_by_request("PUT", "https://x.example/v1/x", claimed) == "pa/endpoints/messages/b"
    assert twins.find_by_request("PUT", "https://x.example/v1/x") == ""


def test_of_records_with_one_path_that_is_named_first_on_which_most_errors_occur() -> None:
    limit, create = make_endpoint("a_limit", "POST", "/v1/x"), make_endpoint("create", "POST", "/v1/x")
    error = make_record("pa/errors/general/refused", endpoints=[str(create.address)])
    index = EndpointIndex.from_records([limit, create, error])
    assert index.find_by_request("POST", "/v1/x") == str(create.address)
    assert index.list_by_request("POST", "/v1/x") == (str(create.address), str(limit.address))


def test_a_longer_path_with_another_method_takes_nothing_from_a_shorter_one() -> None:
    index = EndpointIndex.from_records(
        [make_endpoint("ask", "POST", "/v1/{name}"), make_endpoint("read", "GET", "/v1/{a_longer_name}")]
    )
    assert index.list_by_request("POST", "/v1/x") == ("pa/endpoints/messages/ask",)
    assert index.list_by_request("GET", "/v1/x") == ("pa/endpoints/messages/read",)


def test_several_records_may_speak_of_one_endpoint() -> None:
    index = EndpointIndex.from_records(
        [
            make_endpoint("a", "POST", "/v1/x"),
            make_endpoint("any", "*", "/v1/x"),
            make_endpoint("c", "GET", "/v1/x"),
            make_endpoint("events", "SSE", "/v1/x"),
            make_endpoint("wide", "*", "/*"),
        ]
    )
    url = "https://x.example/v1/x"
    in_one_file = "pa/endpoints/messages/"
    assert index.list_by_request("POST", url) == (f"{in_one_file}a", f"{in_one_file}any")
    assert index.list_by_request("POST", url, streamed=True) == tuple(
        f"{in_one_file}{slug}" for slug in ("a", "any", "events")
    )
    assert index.list_by_request("POST", "https://x.example/y") == (f"{in_one_file}wide",)
    assert (
        EndpointIndex.from_records([make_endpoint("a", "POST", "/v1/x")]).list_by_request(
            "POST", "https://x.example/elsewhere"
        )
        == ()
    )


def test_a_refusal_of_the_key_is_a_401_and_one_of_its_rights_a_403() -> None:
    def refusing(slug: str, status: int, category: str) -> Record:
        return error(f"pa/errors/general/{slug}", http_status=status, type=f"{slug}_error", category=category)

    vocabulary = ProviderVocabulary.from_records(
        [
            refusing("wrong_key", 401, "authentication"),
            refusing("no_right", 403, "permission"),
            refusing("bad_key_header", 400, "authentication"),
            refusing("no_session", 401, "invalid_request"),
        ]
    )
    addresses = {
        answer.address.rpartition("/")[2]: (answer.is_key_refusal, answer.is_permission_refusal)
        for answer in vocabulary.answers
    }
    assert addresses == {
        "wrong_key": (True, False),
        "no_right": (False, True),
        "bad_key_header": (False, False),
        "no_session": (False, False),
    }
    assert vocabulary.refusal_addresses == {"pa/errors/general/wrong_key", "pa/errors/general/no_right"}


def test_the_paths_that_are_assumed_are_those_of_endpoints() -> None:
    reason, more = "No document shows it.", {"ask/body:/x": "Nor this."}
    vocabulary = ProviderVocabulary.from_records(
        [
            make_record(ENDPOINT_ADDRESS, assumed={"ask/path": reason, **more}),
            make_record(f"{ENDPOINT_ADDRESS}s", assumed=more),
            error(QUOTA, assumed={"ask/path": reason}),
        ]
    )
    assert vocabulary.assumed_paths == {ENDPOINT_ADDRESS: reason}
