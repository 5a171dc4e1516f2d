"""Named faults of gateways, proxies, edges and providers, and the records that each is tried on."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from zlib import crc32

from catalog_probe.catalog.reading.record_fields import documented_status
from tests.harness import fault_changes as edits
from tests.harness.engines import catalog
from tests.harness.faults import Act, Fault, FaultScope

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

ERRORS = range(400, 600)
SUCCESSES = range(200, 300)
PROBES_ONLY = FaultScope(control=False)

ONLY_WHERE_NAMED = "^pc/errors/(client/|websocket/steered)"
"""Tried with faults of sockets only: records with servers of their own, a time limit of 0.4 s, or a wait of 1 s."""

PROVIDERS = "^p"
WITHOUT_LIMITS = "^p(?!a/endpoints/limits/)"
"""All but the records that exhaust a limit: each sends a hundred requests, and any of them may meet the fault."""

STREAMS = (
    "/(errors/(stream|interactions_(stream|blocked|generation))|outcomes)/|create_(message|response|chat)|/stream_"
)
SOCKETS = "^pb/(errors|endpoints)/live/|/websocket/"
CALLS = "/grpc/"
WITH_ENVELOPE = "/(errors)/(general|admin|compliance|invalid_|not_found|permission|authentication|request|quota|inter)"
LIMITS = (
    "/rate_limits?/|/errors/.*(limit|quota|resource|overload|capacity|unavailable)"
    "|/endpoints/(limits/(token_counting_rules|compliance)$|.*/create_)"
)
ENDPOINTS = "/endpoints/(?!grpc|live/connect|websocket)"


@dataclass(frozen=True)
class NamedFault:
    """A fault with its name, and the records that it is tried on: one in `one_in` of those that match `pattern`.

    The choice depends on the address alone, so a new record does not change it for others. With `statuses`, only
    records that document one of them: on others the fault would do nothing. `target` are changes of every provider.
    Probes of a lane come one after another by default.
    """

    name: str
    faults: tuple[Fault, ...]
    pattern: str = PROVIDERS
    one_in: int = 8
    target: Mapping[str, Any] = field(default_factory=dict)
    statuses: Container[int] = ()

    def sample(self, addresses: Iterable[str]) -> list[str]:
        return [
            address
            for address in addresses
            if re.search(self.pattern, address)
            and (self.pattern == SOCKETS or not re.search(ONLY_WHERE_NAMED, address))
            and crc32(address.encode()) % self.one_in == 0
            and (self.statuses == () or any(status in self.statuses for status in documented_statuses(address)))
        ]

    @property
    def settings(self) -> dict[str, Any]:
        return {"concurrency": 1, **self.target}


def documented_statuses(address: str) -> Iterator[int]:
    """Return the statuses that an error record documents."""
    documented = documented_status(catalog()[address])
    return (status for status in ERRORS if status in documented.members or status // 100 == documented.hundreds)


def build_error_bodies(error: str, code: int, status: str, message: str) -> dict[str, str]:
    """Return the JSON of one error in the envelope of each provider (2:7.1)."""
    bodies: dict[str, Any] = {
        "pa": {
            "type": "error",
            "error": {"type": error, "message": message},
            "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy",
        },
        "pb": {"error": {"code": code, "message": message, "status": status}},
        "pc": {"error": {"message": message, "type": error, "param": None, "code": None}},
        "pd": {"code": message, "error": message},
    }
    return {name: json.dumps(body) for name, body in bodies.items()}


def answer_in_own_envelope(
    number: int, error: str, status: str, message: str, scope: FaultScope = PROBES_ONLY
) -> tuple[Fault, ...]:
    """Replace answers by one error, in the envelope of each provider."""
    bodies = build_error_bodies(error, number, status, message)
    return tuple(
        Fault(scope, answer=edits.replace_answer(number, body)).only(provider=name) for name, body in bodies.items()
    )


def edit_answers(answer: edits.AnswerEdit, **scope: Any) -> tuple[Fault, ...]:
    return (Fault(answer=answer).only(**scope),)


def edit_probe_answers(answer: edits.AnswerEdit, **scope: Any) -> tuple[Fault, ...]:
    """Edit every answer but those to controls and gRPC calls."""
    return (Fault(PROBES_ONLY, answer=answer).only(**scope),)


def edit_values(edit: edits.ValueEdit, **scope: Any) -> tuple[Fault, ...]:
    return (Fault(value=edit).only(**scope),)


def fail_streams(**scope: Any) -> tuple[Fault, ...]:
    """Break off each stream after its first event, by an overload or a server fault (1:6)."""
    failures: dict[str, Any] = {
        "pa": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        "pb": {"event_type": "error", "error": {"code": "service_unavailable", "message": "Unavailable"}},
        "pc": {"type": "error", "code": "server_error", "message": "Fault", "param": None, "sequence_number": 1},
    }
    return tuple(
        Fault(
            FaultScope(protocol="http"), event=edits.fail_after_first(f"event: error\ndata: {json.dumps(failure)}")
        ).only(provider=name, **scope)
        for name, failure in failures.items()
    )


def swap_statuses(name: str, swaps: Mapping[int, int], pattern: str = "/errors/", one_in: int = 2) -> NamedFault:
    """Replace documented statuses; headers and body stay."""
    return NamedFault(
        name, (Fault(FaultScope(statuses=swaps), answer=edits.set_status(swaps)),), pattern, one_in, statuses=swaps
    )


def stream_fault(name: str, one_in: int = 3, **fault: Any) -> NamedFault:
    return NamedFault(name, (Fault(FaultScope(protocol="http"), **fault),), STREAMS, one_in)


def socket_fault(name: str, **fault: Any) -> NamedFault:
    """Return a fault of WebSockets; eight probes at once, because some wait for a message that never comes."""
    return NamedFault(name, (Fault(FaultScope(protocol="websocket"), **fault),), SOCKETS, 1, {"concurrency": 8})


TYPES = ("/error/type", "/error/status", "/type")
CODES = ("/error/code", "/code", "/response/error/code", "/reason")
MESSAGES = ("/error/message", "/error", "/message", "/response/error/message")
SENTENCE = "Something went wrong. Please try again."
MAINTENANCE = "<!doctype html><html><body><h1>We will be back soon</h1></body></html>"
BARE = json.dumps({"message": "Internal server error"})
BAD_REQUEST = ("invalid_request_error", "INVALID_ARGUMENT", "Your request could not be processed.")
DEAD_KEY = ("authentication_error", "UNAUTHENTICATED", "invalid x-api-key")
COMPLIANCE_KEY = "mock-pa-compliance"
LAST_OF_A_STREAM = (
    *("message_stop", "interaction.completed", "response.completed", "response.incomplete", "response.failed"),
    *("error", "[DONE]"),
)

PAGES = (
    NamedFault("page-500", edit_probe_answers(edits.replace_by_page(500, "Internal Server Error"))),
    NamedFault("page-502", edit_probe_answers(edits.replace_by_page(502, "Bad Gateway"))),
    NamedFault("page-503", edit_probe_answers(edits.replace_by_page(503, "Service Unavailable"))),
    NamedFault("page-504", edit_probe_answers(edits.replace_by_page(504, "Gateway Time-out"))),
    NamedFault("page-529", edit_probe_answers(edits.replace_by_page(529, "Site is overloaded"))),
    NamedFault("page-404", edit_probe_answers(edits.replace_by_page(404, "Not Found"))),
    NamedFault("bare-500", edit_probe_answers(edits.replace_answer(500, BARE))),
    NamedFault("bare-502", edit_probe_answers(edits.replace_answer(502, BARE))),
    NamedFault("enveloped-500", answer_in_own_envelope(500, "api_error", "INTERNAL", "Internal server error")),
    NamedFault("enveloped-503", answer_in_own_envelope(503, "overloaded_error", "UNAVAILABLE", "Overloaded")),
    NamedFault("enveloped-529", answer_in_own_envelope(529, "overloaded_error", "UNAVAILABLE", "Overloaded")),
    NamedFault(
        "page-502-for-one-in-ten", edit_answers(edits.replace_by_page(502, "Bad Gateway"), share=0.1), WITHOUT_LIMITS, 4
    ),
    NamedFault(
        "bare-500-for-one-in-twenty", edit_answers(edits.replace_answer(500, BARE), share=0.05), WITHOUT_LIMITS, 4
    ),
    NamedFault(
        "page-503-for-each-delete",
        edit_answers(edits.replace_by_page(503, "Service Unavailable"), method="DELETE"),
        "delete|/agents/",
        1,
    ),
    NamedFault(
        "page-502-for-first-attempts", edit_answers(edits.replace_by_page(502, "Bad Gateway"), attempts=(1,)), one_in=16
    ),
)

ONE_ANSWER = (
    NamedFault("maintenance-page-to-all", edit_answers(edits.replace_answer(200, MAINTENANCE, edits.HTML)), one_in=12),
    NamedFault("maintenance-page-to-probes", edit_probe_answers(edits.replace_answer(200, MAINTENANCE, edits.HTML))),
    NamedFault("page-403-to-all", edit_answers(edits.replace_by_page(403, "Forbidden")), one_in=12),
    NamedFault("page-403-for-one-in-five", edit_answers(edits.replace_by_page(403, "Forbidden"), share=0.2), one_in=4),
    NamedFault(
        "one-400-to-each-post",
        tuple(fault.only(method="POST") for fault in answer_in_own_envelope(400, *BAD_REQUEST)),
        one_in=4,
    ),
    NamedFault("one-401-to-probes", answer_in_own_envelope(401, *DEAD_KEY)),
    NamedFault(
        "a-key-that-dies",
        tuple(
            fault.only(credential=COMPLIANCE_KEY, first=25)
            for fault in answer_in_own_envelope(401, *DEAD_KEY, scope=FaultScope())
        ),
        "^pa/.*/compliance",
        2,
    ),
    NamedFault(
        "redirect-to-probes",
        edit_probe_answers(edits.replace_answer(302, "", edits.HTML, location="https://provider.example/login")),
        one_in=16,
    ),
)

CONNECTIONS = (
    NamedFault("reset-for-one-in-twenty", (Fault(FaultScope(share=0.05), act=Act.RESET),), WITHOUT_LIMITS, 4),
    NamedFault("reset-to-probes", (Fault(PROBES_ONLY, act=Act.RESET),), one_in=12),
    NamedFault("closed-for-one-in-ten", (Fault(FaultScope(share=0.1), act=Act.CLOSE),), WITHOUT_LIMITS, 8),
    NamedFault(
        "body-cut-in-the-middle",
        (Fault(FaultScope(protocol="http", statuses=ERRORS), cut_after=2),),
        "/errors/",
        16,
    ),
    NamedFault("hang", (Fault(act=Act.HANG),), "^pa/endpoints/models/list_models$", 1, {"timeout_s": 3.0}),
)

STATUSES = (
    swap_statuses("400-becomes-422", {400: 422}),
    swap_statuses("429-becomes-400", {429: 400}, "/errors/(general|quota|rate_limit|compliance)", 1),
    swap_statuses("404-becomes-400", {404: 400}),
    swap_statuses("401-becomes-403", {401: 403}),
    swap_statuses("403-becomes-401", {403: 401}),
    swap_statuses("500-becomes-503", {500: 503}, "/errors/(general|server|interactions)", 1),
    swap_statuses("503-becomes-529", {503: 529}, "/errors/(general|server|interactions)", 1),
    swap_statuses("529-becomes-503", {529: 503}, "/errors/general", 1),
    swap_statuses("504-becomes-503", {504: 503}, "/errors/general", 1),
    NamedFault("200-becomes-202", edit_answers(edits.set_status({200: 202}), control=False), ENDPOINTS, 2),
)

HEADERS = (
    NamedFault("request-id-removed", edit_answers(edits.remove_headers("*request-id"))),
    NamedFault("request-id-emptied", edit_answers(edits.empty_headers("*request-id"))),
    NamedFault("request-id-renamed", edit_answers(edits.rename_headers("*request-id"))),
    NamedFault("request-id-of-another", edit_answers(edits.set_headers("*request-id", "req_of_another"))),
    NamedFault("should-retry-removed", edit_answers(edits.remove_headers("x-should-retry")), "^pa/", 4),
    NamedFault("should-retry-of-no-meaning", edit_answers(edits.set_headers("x-should-retry", "maybe")), "^pa/", 4),
    NamedFault("retry-after-removed", edit_answers(edits.remove_headers("retry-after")), LIMITS, 2),
    NamedFault("retry-after-in-words", edit_answers(edits.set_headers("retry-after", "soon")), LIMITS, 2),
    NamedFault("rate-limits-removed", edit_answers(edits.remove_headers("*ratelimit*")), LIMITS, 2),
    NamedFault("rate-limits-emptied", edit_answers(edits.empty_headers("*ratelimit*")), LIMITS, 2),
    NamedFault(
        "rate-limits-without-bound", edit_answers(edits.set_headers("*ratelimit*remaining*", "99999999999")), LIMITS, 2
    ),
    NamedFault("unknown-header", edit_answers(edits.add_header("x-novelty", "yes"))),
    NamedFault("content-type-of-text", edit_answers(edits.add_header("content-type", "text/plain"), protocol="http")),
)

ENVELOPES = (
    NamedFault("type-renamed", edit_values(edits.set_text(TYPES, "renamed_error"), statuses=ERRORS), WITH_ENVELOPE, 3),
    NamedFault("code-renamed", edit_values(edits.set_text(CODES, "renamed_code")), "/errors/", 6),
    NamedFault("message-emptied", edit_values(edits.set_text(MESSAGES, "")), "/errors/", 6),
    NamedFault("message-of-one-sentence", edit_values(edits.set_text(MESSAGES, SENTENCE)), "/errors/", 6),
    NamedFault("param-renamed", edit_values(edits.set_text(("/error/param", "/param"), "renamed")), "^pc/errors/", 2),
    NamedFault("in-a-list", edit_values(lambda body: [body], statuses=ERRORS), WITH_ENVELOPE, 6),
    NamedFault("flattened", edit_values(edits.flatten_error, statuses=ERRORS), WITH_ENVELOPE, 6),
    NamedFault("nested-once-more", edit_values(lambda body: {"detail": body}, statuses=ERRORS), WITH_ENVELOPE, 6),
    NamedFault(
        "body-of-text",
        edit_answers(edits.edit_body(lambda raw: SENTENCE.encode(), "text/plain"), statuses=ERRORS),
        "/errors/",
        8,
    ),
    NamedFault("body-emptied", edit_answers(edits.edit_body(lambda raw: b""), statuses=ERRORS), "/errors/", 8),
    NamedFault(
        "body-of-html",
        edit_answers(edits.edit_body(lambda raw: MAINTENANCE.encode(), edits.HTML), statuses=ERRORS),
        "/errors/",
        8,
    ),
    NamedFault(
        "name-twice",
        edit_answers(edits.edit_body(edits.duplicate_name_in_body), protocol="http"),
        "/errors/|/endpoints/models/",
        8,
    ),
    NamedFault(
        "half-of-the-json",
        edit_answers(edits.edit_body(lambda raw: raw[: len(raw) // 2]), statuses=ERRORS),
        "/errors/",
        16,
    ),
    NamedFault(
        "success-without-first-field", edit_values(edits.drop_field(0), statuses=SUCCESSES, control=False), ENDPOINTS, 2
    ),
    NamedFault(
        "success-without-second-field",
        edit_values(edits.drop_field(1), statuses=SUCCESSES, control=False),
        ENDPOINTS,
        2,
    ),
    NamedFault(
        "usage-emptied",
        edit_values(edits.edit_at(("/usage", "/usageMetadata"), lambda usage: {})),
        "create_|generat|/outcomes/|reasons",
        2,
    ),
)

EVENTS = (
    stream_fault("first-event-dropped", event=edits.drop_event_number(0)),
    stream_fault("last-event-dropped", event=edits.drop_events(*LAST_OF_A_STREAM)),
    stream_fault("event-line-dropped", event=edits.drop_lines("event:")),
    stream_fault("data-of-no-json", event=edits.replace_text("data: {", "data: oops {")),
    stream_fault("name-twice-in-each-event", event=edits.duplicate_name_in_event),
    stream_fault("error-event-renamed", event=edits.replace_text("event: error", "event: failure")),
    stream_fault("kept-alive-by-comments", event=edits.insert_before_each(": ping")),
    stream_fault("kept-alive-by-empty-events", event=edits.insert_before_each("event: ping")),
    stream_fault("preamble", event=edits.insert_before_first("retry: 3000")),
    stream_fault(
        "media-type-of-another-case", answer=edits.edit_headers("content-type", lambda name, kind: {name: kind.title()})
    ),
    stream_fault("stream-cut", cut_after=2),
    stream_fault("stream-without-events", event=lambda block, before: ()),
    NamedFault("streams-broken-off", fail_streams(), STREAMS, 3),
    NamedFault("streams-broken-off-once", fail_streams(attempts=(1,)), STREAMS, 3),
    stream_fault("stream-refused", one_in=6, answer=edits.replace_stream(400, BARE)),
)

MESSAGES_OF_SOCKETS = (
    socket_fault("messages-renamed", frame=edits.rename_frame("renamed")),
    socket_fault("name-twice-in-each-message", frame=edits.duplicate_name_in_frame),
    socket_fault("messages-twice", frame=edits.duplicate_frame),
    socket_fault("close-code-changed", ending=edits.set_ending(number=4999)),
    socket_fault("close-reason-removed", ending=edits.set_ending(message="")),
    socket_fault("socket-cut", cut_after=1),
    socket_fault("handshake-refused", answer=edits.replace_by_page(403, "Forbidden")),
)

GRPC = (
    NamedFault(
        "grpc-status-changed",
        (Fault(ending=edits.set_grpc_status({5: 2, 7: 16, 16: 7, 13: 14, 14: 8, 8: 14, 3: 9})),),
        CALLS,
        1,
    ),
    NamedFault("grpc-message-emptied", (Fault(ending=edits.set_ending(message="")),), CALLS, 1),
)

FAULTS: tuple[NamedFault, ...] = (
    NamedFault("none", ()),
    *PAGES,
    *ONE_ANSWER,
    *CONNECTIONS,
    *STATUSES,
    *HEADERS,
    *ENVELOPES,
    *EVENTS,
    *MESSAGES_OF_SOCKETS,
    *GRPC,
)
