"""Named faults, and the records on which each is looked at: what a gateway, a proxy, an edge or a provider does."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from zlib import crc32

from catalog_probe.catalog.reading.error_records import documented_status
from tests.harness import fault_changes as to
from tests.harness.engines import catalog
from tests.harness.faults import Act, Fault, Where

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

ERRORS = range(400, 600)
SUCCESSES = range(200, 300)
TO_PROBES = Where(control=False)

APART = "^pc/errors/(client/|websocket/steered)"
"""Left out where it is not asked for: servers of the probes' own, a time limit of 0.4 s, a close that takes 1 s."""

PROVIDERS = "^p"
UNCOUNTED = "^p(?!a/endpoints/limits/)"
"""All but what spends a limit: some hundred exchanges a record, of which each may meet the fault."""
STREAMS = (
    "/(errors/(stream|interactions_(stream|blocked|generation))|outcomes)/|create_(message|response|chat)|/stream_"
)
SOCKETS = "^pb/(errors|endpoints)/live/|/websocket/"
CALLS = "/grpc/"
IN_ENVELOPES = "/(errors)/(general|admin|compliance|invalid_|not_found|permission|authentication|request|quota|inter)"
LIMITS = (
    "/rate_limits?/|/errors/.*(limit|quota|resource|overload|capacity|unavailable)"
    "|/endpoints/(limits/(token_counting_rules|compliance)$|.*/create_)"
)
ENDPOINTS = "/endpoints/(?!grpc|live/connect|websocket)"


@dataclass(frozen=True)
class Named:
    """A fault by its name, and over which records it is looked at: of those that fit `over`, one in `one_in`.

    Which one is told by its address alone, so that a new record leaves the others where they are. Where `statuses` are
    named, it is looked at over records that document one of them: on others it would fall nowhere. `target` is
    changed in every provider of the target; probes of a lane come one after another.
    """

    name: str
    faults: tuple[Fault, ...]
    over: str = PROVIDERS
    one_in: int = 8
    target: Mapping[str, Any] = field(default_factory=dict)
    statuses: Container[int] = ()

    def sample(self, addresses: Iterable[str]) -> list[str]:
        return [
            address
            for address in addresses
            if re.search(self.over, address)
            and (self.over == SOCKETS or not re.search(APART, address))
            and crc32(address.encode()) % self.one_in == 0
            and (self.statuses == () or any(each in self.statuses for each in documented(address)))
        ]

    @property
    def settings(self) -> dict[str, Any]:
        return {"concurrency": 1, **self.target}


def documented(address: str) -> Iterator[int]:
    """The statuses that an error record documents."""
    status = documented_status(catalog()[address])
    return (each for each in ERRORS if each in status.members or each // 100 == status.hundreds)


def enveloped(error: str, code: int, status: str, message: str) -> dict[str, str]:
    """The same error in the envelope of each provider (2:7.1)."""
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


def in_own_envelope(number: int, error: str, status: str, message: str, where: Where = TO_PROBES) -> tuple[Fault, ...]:
    """One answer, in the envelope of the provider that is asked."""
    bodies = enveloped(error, number, status, message)
    return tuple(Fault(where, answer=to.instead(number, body)).only(provider=name) for name, body in bodies.items())


def on(answer: to.Change, **where: Any) -> tuple[Fault, ...]:
    return (Fault(answer=answer).only(**where),)


def instead(answer: to.Change, **where: Any) -> tuple[Fault, ...]:
    """Another answer to everything that is no control, and no gRPC call."""
    return (Fault(TO_PROBES, answer=answer).only(**where),)


def value(change: to.OfValue, **where: Any) -> tuple[Fault, ...]:
    return (Fault(value=change).only(**where),)


def broken_off(**where: Any) -> tuple[Fault, ...]:
    """An overload or a fault in the midst of each stream, after its first event (1:6)."""
    failures: dict[str, Any] = {
        "pa": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        "pb": {"event_type": "error", "error": {"code": "service_unavailable", "message": "Unavailable"}},
        "pc": {"type": "error", "code": "server_error", "message": "Fault", "param": None, "sequence_number": 1},
    }
    return tuple(
        Fault(Where(protocol="http"), event=to.broken_off_by(f"event: error\ndata: {json.dumps(failure)}")).only(
            provider=name, **where
        )
        for name, failure in failures.items()
    )


def swapped(name: str, of: Mapping[int, int], over: str = "/errors/", one_in: int = 2) -> Named:
    """One status where another is documented; headers and body stay."""
    return Named(name, (Fault(Where(statuses=of), answer=to.status(of)),), over, one_in, statuses=of)


def streamed(name: str, one_in: int = 3, **fault: Any) -> Named:
    return Named(name, (Fault(Where(protocol="http"), **fault),), STREAMS, one_in)


def on_sockets(name: str, **fault: Any) -> Named:
    """A fault of WebSockets; where a message is waited for in vain, eight wait together."""
    return Named(name, (Fault(Where(protocol="websocket"), **fault),), SOCKETS, 1, {"concurrency": 8})


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
    Named("page-500", instead(to.page(500, "Internal Server Error"))),
    Named("page-502", instead(to.page(502, "Bad Gateway"))),
    Named("page-503", instead(to.page(503, "Service Unavailable"))),
    Named("page-504", instead(to.page(504, "Gateway Time-out"))),
    Named("page-529", instead(to.page(529, "Site is overloaded"))),
    Named("page-404", instead(to.page(404, "Not Found"))),
    Named("bare-500", instead(to.instead(500, BARE))),
    Named("bare-502", instead(to.instead(502, BARE))),
    Named("enveloped-500", in_own_envelope(500, "api_error", "INTERNAL", "Internal server error")),
    Named("enveloped-503", in_own_envelope(503, "overloaded_error", "UNAVAILABLE", "Overloaded")),
    Named("enveloped-529", in_own_envelope(529, "overloaded_error", "UNAVAILABLE", "Overloaded")),
    Named("page-502-for-one-in-ten", on(to.page(502, "Bad Gateway"), share=0.1), UNCOUNTED, 4),
    Named("bare-500-for-one-in-twenty", on(to.instead(500, BARE), share=0.05), UNCOUNTED, 4),
    Named("page-503-for-each-delete", on(to.page(503, "Service Unavailable"), method="DELETE"), "delete|/agents/", 1),
    Named("page-502-for-first-attempts", on(to.page(502, "Bad Gateway"), attempts=(1,)), one_in=16),
)

ONE_ANSWER = (
    Named("maintenance-page-to-all", on(to.instead(200, MAINTENANCE, to.HTML)), one_in=12),
    Named("maintenance-page-to-probes", instead(to.instead(200, MAINTENANCE, to.HTML))),
    Named("page-403-to-all", on(to.page(403, "Forbidden")), one_in=12),
    Named("page-403-for-one-in-five", on(to.page(403, "Forbidden"), share=0.2), one_in=4),
    Named(
        "one-400-to-each-post", tuple(each.only(method="POST") for each in in_own_envelope(400, *BAD_REQUEST)), one_in=4
    ),
    Named("one-401-to-probes", in_own_envelope(401, *DEAD_KEY)),
    Named(
        "a-key-that-dies",
        tuple(
            each.only(credential=COMPLIANCE_KEY, first=25) for each in in_own_envelope(401, *DEAD_KEY, where=Where())
        ),
        "^pa/.*/compliance",
        2,
    ),
    Named(
        "redirect-to-probes",
        instead(to.instead(302, "", to.HTML, location="https://provider.example/login")),
        one_in=16,
    ),
)

CONNECTIONS = (
    Named("reset-for-one-in-twenty", (Fault(Where(share=0.05), act=Act.RESET),), UNCOUNTED, 4),
    Named("reset-to-probes", (Fault(TO_PROBES, act=Act.RESET),), one_in=12),
    Named("closed-for-one-in-ten", (Fault(Where(share=0.1), act=Act.CLOSE),), UNCOUNTED, 8),
    Named(
        "body-cut-in-the-middle",
        (Fault(Where(protocol="http", statuses=ERRORS), cut_after=2),),
        "/errors/",
        16,
    ),
    Named("hang", (Fault(act=Act.HANG),), "^pa/endpoints/models/list_models$", 1, {"timeout_s": 3.0}),
)

STATUSES = (
    swapped("400-becomes-422", {400: 422}),
    swapped("429-becomes-400", {429: 400}, "/errors/(general|quota|rate_limit|compliance)", 1),
    swapped("404-becomes-400", {404: 400}),
    swapped("401-becomes-403", {401: 403}),
    swapped("403-becomes-401", {403: 401}),
    swapped("500-becomes-503", {500: 503}, "/errors/(general|server|interactions)", 1),
    swapped("503-becomes-529", {503: 529}, "/errors/(general|server|interactions)", 1),
    swapped("529-becomes-503", {529: 503}, "/errors/general", 1),
    swapped("504-becomes-503", {504: 503}, "/errors/general", 1),
    Named("200-becomes-202", on(to.status({200: 202}), control=False), ENDPOINTS, 2),
)

HEADERS = (
    Named("request-id-removed", on(to.removed("*request-id"))),
    Named("request-id-emptied", on(to.emptied("*request-id"))),
    Named("request-id-renamed", on(to.renamed("*request-id"))),
    Named("request-id-of-another", on(to.said("*request-id", "req_of_another"))),
    Named("should-retry-removed", on(to.removed("x-should-retry")), "^pa/", 4),
    Named("should-retry-of-no-meaning", on(to.said("x-should-retry", "maybe")), "^pa/", 4),
    Named("retry-after-removed", on(to.removed("retry-after")), LIMITS, 2),
    Named("retry-after-in-words", on(to.said("retry-after", "soon")), LIMITS, 2),
    Named("rate-limits-removed", on(to.removed("*ratelimit*")), LIMITS, 2),
    Named("rate-limits-emptied", on(to.emptied("*ratelimit*")), LIMITS, 2),
    Named("rate-limits-without-bound", on(to.said("*ratelimit*remaining*", "99999999999")), LIMITS, 2),
    Named("unknown-header", on(to.added("x-novelty", "yes"))),
    Named("content-type-of-text", on(to.added("content-type", "text/plain"), protocol="http")),
)

ENVELOPES = (
    Named("type-renamed", value(to.text_at(TYPES, "renamed_error"), statuses=ERRORS), IN_ENVELOPES, 3),
    Named("code-renamed", value(to.text_at(CODES, "renamed_code")), "/errors/", 6),
    Named("message-emptied", value(to.text_at(MESSAGES, "")), "/errors/", 6),
    Named("message-of-one-sentence", value(to.text_at(MESSAGES, SENTENCE)), "/errors/", 6),
    Named("param-renamed", value(to.text_at(("/error/param", "/param"), "renamed")), "^pc/errors/", 2),
    Named("in-a-list", value(lambda body: [body], statuses=ERRORS), IN_ENVELOPES, 6),
    Named("flattened", value(to.flattened, statuses=ERRORS), IN_ENVELOPES, 6),
    Named("nested-once-more", value(lambda body: {"detail": body}, statuses=ERRORS), IN_ENVELOPES, 6),
    Named("body-of-text", on(to.body(lambda raw: SENTENCE.encode(), "text/plain"), statuses=ERRORS), "/errors/", 8),
    Named("body-emptied", on(to.body(lambda raw: b""), statuses=ERRORS), "/errors/", 8),
    Named(
        "body-of-html",
        on(to.body(lambda raw: MAINTENANCE.encode(), to.HTML), statuses=ERRORS),
        "/errors/",
        8,
    ),
    Named("name-twice", on(to.body(to.body_with_a_name_twice), protocol="http"), "/errors/|/endpoints/models/", 8),
    Named("half-of-the-json", on(to.body(lambda raw: raw[: len(raw) // 2]), statuses=ERRORS), "/errors/", 16),
    Named("success-without-first-field", value(to.without_field(0), statuses=SUCCESSES, control=False), ENDPOINTS, 2),
    Named("success-without-second-field", value(to.without_field(1), statuses=SUCCESSES, control=False), ENDPOINTS, 2),
    Named(
        "usage-emptied",
        value(to.at(("/usage", "/usageMetadata"), lambda usage: {})),
        "create_|generat|/outcomes/|reasons",
        2,
    ),
)

EVENTS = (
    streamed("first-event-dropped", event=to.without_event_number(0)),
    streamed("last-event-dropped", event=to.without_events(*LAST_OF_A_STREAM)),
    streamed("event-line-dropped", event=to.without_line("event:")),
    streamed("data-of-no-json", event=to.replaced("data: {", "data: oops {")),
    streamed("name-twice-in-each-event", event=to.event_with_a_name_twice),
    streamed("error-event-renamed", event=to.replaced("event: error", "event: failure")),
    streamed("kept-alive-by-comments", event=to.before_each(": ping")),
    streamed("kept-alive-by-empty-events", event=to.before_each("event: ping")),
    streamed("preamble", event=to.before_the_first("retry: 3000")),
    streamed("media-type-of-another-case", answer=to.headers("content-type", lambda name, kind: {name: kind.title()})),
    streamed("stream-cut", cut_after=2),
    streamed("stream-without-events", event=lambda block, before: ()),
    Named("streams-broken-off", broken_off(), STREAMS, 3),
    Named("streams-broken-off-once", broken_off(attempts=(1,)), STREAMS, 3),
    streamed("stream-refused", one_in=6, answer=to.instead_of_stream(400, BARE)),
)

MESSAGES_OF_SOCKETS = (
    on_sockets("messages-renamed", frame=to.frame_renamed("renamed")),
    on_sockets("name-twice-in-each-message", frame=to.frame_with_a_name_twice),
    on_sockets("messages-twice", frame=to.every_frame_twice),
    on_sockets("close-code-changed", ending=to.ending(number=4999)),
    on_sockets("close-reason-removed", ending=to.ending(message="")),
    on_sockets("socket-cut", cut_after=1),
    on_sockets("handshake-refused", answer=to.page(403, "Forbidden")),
)

GRPC = (
    Named(
        "grpc-status-changed",
        (Fault(ending=to.status_of_calls({5: 2, 7: 16, 16: 7, 13: 14, 14: 8, 8: 14, 3: 9})),),
        CALLS,
        1,
    ),
    Named("grpc-message-emptied", (Fault(ending=to.ending(message="")),), CALLS, 1),
)

FAULTS: tuple[Named, ...] = (
    Named("none", ()),
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
