"""Nights with faults: the records and faults of each, and what the run must conclude.

That is its exit status, outcomes that no record may have, reasons and words that some must have, and whether anything
may be written into the catalog.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.errors import Exit
from tests.harness import fault_changes as edits
from tests.harness.fault_table import (
    BARE,
    COMPLIANCE_KEY,
    DEAD_KEY,
    MAINTENANCE,
    PROBES_ONLY,
    SENTENCE,
    answer_in_own_envelope,
    build_error_bodies,
)
from tests.harness.faults import Act, Ending, Fault, FaultScope


@dataclass(frozen=True)
class NightCase:
    """Faults over the records whose addresses have one of the prefixes, and what the night must conclude."""

    prefixes: tuple[str, ...]
    faults: tuple[Fault, ...]
    exit_status: Exit
    forbidden_outcomes: frozenset[Outcome] = frozenset(
        {Outcome.DRIFTED, Outcome.FLAKY, Outcome.RESTRICTED, Outcome.HARNESS_ERROR}
    )
    reasons: frozenset[str] = frozenset()
    """Codes that some record must have as its reason."""
    words: tuple[str, ...] = ()
    """Words that some reason must contain."""
    drifts: frozenset[str] = frozenset()
    """The only codes that drifts may have; empty for the usual two."""
    drifting_prefixes: tuple[str, ...] = ()
    """Address prefixes of the drifted records; at least one record drifts for each."""
    is_written: bool = False
    settings: dict[str, Any] = field(default_factory=lambda: {"concurrency": 1})


def replace_probe_answers(number: int, body: str, **scope: Any) -> tuple[Fault, ...]:
    return (Fault(PROBES_ONLY, answer=edits.replace_answer(number, body)).only(**scope),)


def from_answer(fault: Fault, first: int = 12) -> tuple[Fault, ...]:
    """Apply a fault from this answer of each key on, also to controls."""
    return (replace(fault, scope=replace(fault.scope, control=None)).only(first=first),)


PC_ERROR = {"error": {"message": "no", "type": "invalid_request_error", "param": None, "code": None}}
PA_DISABLED = {
    "type": "error",
    "error": {"type": "invalid_request_error", "message": "This organization has been disabled."},
    "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy",
}
LOW_CREDIT = build_error_bodies("invalid_request_error", 400, "", "Your credit balance is too low to access the API.")[
    "pa"
]
UNPAID = build_error_bodies("billing_error", 402, "", "There is a problem with your billing.")["pa"]
REGION = json.dumps(
    {"error": {**PC_ERROR["error"], "code": "unsupported_country_region_territory", "message": "not here"}}
)
QUOTA = json.dumps({"error": {**PC_ERROR["error"], "type": "insufficient_quota", "code": "insufficient_quota"}})
NO_CREDITS = json.dumps({"code": "The caller has no permission", "error": "Your team has used all of its credits."})
PA_DEAD = build_error_bodies(*DEAD_KEY[:1], 401, *DEAD_KEY[1:])["pa"]
PC_DEAD = json.dumps({"error": {**PC_ERROR["error"], "code": "invalid_api_key"}})
COMPLIANCE = ("pa/errors/compliance/", "pa/endpoints/compliance_")
PA = ("pa/errors/general/", "pa/errors/invalid_request/", "pa/endpoints/messages/", "pa/endpoints/models/")
PAID = ("pa/errors/invalid_request/", "pa/endpoints/messages/", "pa/endpoints/models/")
PC = ("pc/errors/request/", "pc/errors/not_found/", "pc/endpoints/models/", "pc/endpoints/responses/")
PD = ("pd/errors/request/", "pd/errors/not_found/", "pd/endpoints/")
DELETES = ("pa/endpoints/compliance_chats/", "pa/endpoints/compliance_projects/", "pa/endpoints/compliance_files/")
LIVE = ("pb/errors/live/session_time_exceeded_video",)
GRPC = ("pd/errors/grpc/", "pd/endpoints/grpc/")
STREAMS = (
    "pa/endpoints/messages/create_message",
    "pb/endpoints/interactions/stream_interaction_v1",
    "pc/endpoints/responses/create_response",
)
SSE = ("pa/errors/stream/", "pc/errors/stream/", "pb/errors/interactions_blocked/")

CASES_WITHOUT_DRIFT: dict[str, NightCase] = {
    "a key of PA dies in the middle": NightCase(
        COMPLIANCE,
        from_answer(
            Fault(FaultScope(provider="pa", credential=COMPLIANCE_KEY), answer=edits.replace_answer(401, PA_DEAD)), 25
        ),
        Exit.BLIND,
        reasons=frozenset({"control-failed", "lane-stopped"}),
        words=("look at PA_COMPLIANCE_KEY",),
    ),
    "a key of PC dies in the middle": NightCase(
        PC,
        from_answer(Fault(FaultScope(provider="pc"), answer=edits.replace_answer(401, PC_DEAD))),
        Exit.BLIND,
        reasons=frozenset({"control-failed"}),
        words=("look at PC_INFERENCE_KEY", "pc/errors/authentication/invalid_api_key"),
    ),
    "a maintenance page from the start": NightCase(
        PC,
        (Fault(answer=edits.replace_answer(200, MAINTENANCE, edits.HTML)),),
        Exit.BLIND,
        reasons=frozenset({"gateway-page"}),
    ),
    "a maintenance page in the middle": NightCase(
        PC,
        from_answer(Fault(answer=edits.replace_answer(200, MAINTENANCE, edits.HTML))),
        Exit.BLIND,
        reasons=frozenset({"gateway-page"}),
    ),
    "the challenge of an edge": NightCase(
        PA, (Fault(answer=edits.replace_by_page(403, "Forbidden")),), Exit.BLIND, reasons=frozenset({"gateway-page"})
    ),
    "the challenge of an edge, to probes alone": NightCase(
        PA,
        (Fault(PROBES_ONLY, answer=edits.replace_by_page(403, "Forbidden")),),
        Exit.BLIND,
        reasons=frozenset({"gateway-page"}),
    ),
    "the challenge of an edge, one time in five": NightCase(
        PC, (Fault(FaultScope(share=0.2), answer=edits.replace_by_page(403, "Forbidden")),), Exit.FINE, is_written=True
    ),
    "the block of an edge in plain text": NightCase(
        PC,
        (Fault(answer=edits.replace_answer(403, "error code: 1020", "text/plain; charset=UTF-8")),),
        Exit.BLIND,
        reasons=frozenset({"gateway-page"}),
        words=("error code: 1020",),
    ),
    "an edge's refusal in plain text, one time in twenty": NightCase(
        PC,
        (Fault(FaultScope(share=0.05), answer=edits.replace_answer(425, "too early", "text/plain")),),
        Exit.FINE,
        is_written=True,
    ),
    "a proxy that wants a key of its own, one time in twenty": NightCase(
        PC,
        (
            Fault(
                FaultScope(share=0.05),
                answer=edits.replace_answer(407, json.dumps({"message": "Proxy Authentication Required"})),
            ),
        ),
        Exit.FINE,
        is_written=True,
    ),
    "a portal before all that is posted": NightCase(
        PC,
        (
            Fault(PROBES_ONLY, answer=edits.replace_answer(200, json.dumps({"error": "captcha_required"}))).only(
                method="POST"
            ),
        ),
        Exit.BLIND,
        reasons=frozenset({"one-answer-to-everything"}),
        words=("was answered alike: 200", "captcha_required"),
    ),
    "a firewall before all that is posted, where few faults are": NightCase(
        ("pd/errors/request/", "pd/errors/invalid_argument/", "pd/endpoints/tokenize/", "pd/endpoints/models/"),
        (
            Fault(PROBES_ONLY, answer=edits.replace_answer(403, json.dumps({"message": "Forbidden"}))).only(
                method="POST"
            ),
        ),
        Exit.BLIND,
        reasons=frozenset({"one-answer-to-everything"}),
        words=("without a fault was answered alike: 403",),
    ),
    "a firewall before all that is asked for but one list": NightCase(
        (*PC, "pc/errors/permission/", "pc/errors/oauth/", "pc/endpoints/agents/", "pc/endpoints/fine_tuning/"),
        (
            Fault(PROBES_ONLY, answer=edits.replace_answer(403, json.dumps({"message": "Forbidden"}))).only(
                path="^(?!.*/models$)"
            ),
        ),
        Exit.BLIND,
        reasons=frozenset({"one-answer-to-everything"}),
        words=("without a fault was answered alike: 403",),
    ),
    "a portal where no success is shown": NightCase(
        PD,
        (
            Fault(PROBES_ONLY, answer=edits.replace_answer(200, json.dumps({"error": "captcha_required"}))).only(
                method="POST"
            ),
        ),
        Exit.BLIND,
        reasons=frozenset({"one-answer-to-everything"}),
        words=("each request that should be refused (400, 401, 404, 405, 415, 422) was answered alike: 200",),
    ),
    "a firewall before all that is posted, which may as well blame what we assumed of a request": NightCase(
        ("pd/errors/request/", "pd/errors/invalid_argument/", "pd/endpoints/tokenize/", "pd/endpoints/models/"),
        (
            Fault(PROBES_ONLY, answer=edits.replace_answer(400, json.dumps({"message": "Bad Request"}))).only(
                method="POST"
            ),
        ),
        Exit.BLIND,
        reasons=frozenset({"one-answer-to-everything"}),
        words=("without a fault was answered alike: 400",),
    ),
    "a gateway before all that is posted, whose status is that of one of the faults": NightCase(
        (
            "pd/errors/request/unsupported_media_type",
            "pd/errors/request/wrong_type",
            "pd/errors/invalid_argument/bad_body",
            "pd/endpoints/tokenize/",
            "pd/endpoints/models/",
        ),
        (
            Fault(PROBES_ONLY, answer=edits.replace_answer(415, json.dumps({"message": "No such type"}))).only(
                method="POST"
            ),
        ),
        Exit.BLIND,
        reasons=frozenset({"one-answer-to-everything"}),
        words=("without a fault was answered alike: 415",),
    ),
    "an organization that is disabled": NightCase(
        PA,
        (Fault(answer=edits.replace_answer(400, json.dumps(PA_DISABLED))),),
        Exit.BLIND,
        reasons=frozenset({"control-failed"}),
        words=("was answered 400: This organization has been disabled; look at PA_",),
    ),
    "a region that is not served": NightCase(
        PC,
        (Fault(answer=edits.replace_answer(403, REGION)),),
        Exit.BLIND,
        reasons=frozenset({"region-refused"}),
        words=("unsupported_country_region_territory",),
    ),
    "a region that is not served, to probes alone": NightCase(
        PC, replace_probe_answers(403, REGION), Exit.BLIND, reasons=frozenset({"region-refused"})
    ),
    "a quota that ends in the middle": NightCase(
        (*PC, "pc/errors/rate_limit/rate_limit_exceeded"),
        (Fault(FaultScope(provider="pc", control=False, first=20), answer=edits.replace_answer(429, QUOTA)),),
        Exit.BLIND,
        reasons=frozenset({"no-credit"}),
        words=(
            "this account has no credit",
            "pc/errors/rate_limit/insufficient_quota",
        ),
    ),
    "no credit from the start, as a 400": NightCase(
        (*PAID, "pa/rate_limits/limits/general"),
        (Fault(FaultScope(provider="pa", control=False, method="POST"), answer=edits.replace_answer(400, LOW_CREDIT)),),
        Exit.BLIND,
        reasons=frozenset({"no-credit"}),
        words=("this account has no credit", "credit balance is too low"),
    ),
    "no credit from the start, as a 402": NightCase(
        (*PAID, "pa/rate_limits/limits/general", "pa/endpoints/limits/scope"),
        (Fault(FaultScope(provider="pa", control=False, method="POST"), answer=edits.replace_answer(402, UNPAID)),),
        Exit.BLIND,
        reasons=frozenset({"no-credit"}),
        words=("this account has no credit", "pa/errors/general/payment_problem"),
    ),
    "credits that end in the middle": NightCase(
        PD,
        (Fault(FaultScope(provider="pd", control=False, first=4), answer=edits.replace_answer(403, NO_CREDITS)),),
        Exit.BLIND,
        reasons=frozenset({"no-credit"}),
        words=("this account has no credit", "used all of its credits"),
    ),
    "one answer in a hundred is a gateway's page": NightCase(
        ("pa/",),
        (Fault(FaultScope(share=0.01), answer=edits.replace_by_page(502, "Bad Gateway")),),
        Exit.FINE,
        is_written=True,
    ),
    "one answer in a hundred is a reset": NightCase(
        ("pa/",), (Fault(FaultScope(share=0.01), act=Act.RESET),), Exit.FINE, is_written=True
    ),
    "one answer in twenty is a server fault": NightCase(
        (*PA, *DELETES),
        (Fault(FaultScope(share=0.05), answer=edits.replace_answer(500, BARE)),),
        Exit.FINE,
        is_written=True,
    ),
    "nothing can be deleted": NightCase(
        DELETES,
        (Fault(FaultScope(method="DELETE"), answer=edits.replace_by_page(503, "Service Unavailable")),),
        Exit.BLIND,
        reasons=frozenset({"gateway-page"}),
    ),
    "three server faults that differ": NightCase(
        ("pa/errors/general/unknown_model", "pa/endpoints/models/get_model"),
        tuple(
            fault.only(attempts=(attempt,), provider="pa")
            for attempt, kind in enumerate(("api_error", "overloaded_error", "timeout_error"), start=1)
            for fault in answer_in_own_envelope(500, kind, "INTERNAL", f"fault {attempt}")
        ),
        Exit.BLIND,
        reasons=frozenset({"server-fault"}),
    ),
    "a key dies in the middle, over gRPC": NightCase(
        GRPC,
        (Fault(FaultScope(protocol="grpc", first=6), ending=lambda was: Ending(16, "Invalid key")),),
        Exit.BLIND,
        reasons=frozenset({"control-failed"}),
    ),
    "the control over gRPC is refused": NightCase(
        (*GRPC, *PD),
        (Fault(FaultScope(protocol="grpc", control=True), ending=lambda was: Ending(16, "Invalid key")),),
        Exit.BLIND,
        reasons=frozenset({"control-failed"}),
        is_written=True,
    ),
    "one stream in ten is cut": NightCase(
        SSE, (Fault(FaultScope(share=0.1), cut_after=1),), Exit.FINE, is_written=True
    ),
    "one handshake in ten is a gateway's page": NightCase(
        ("pc/errors/websocket/previous_response_not_found", "pc/errors/websocket/connection_limit_reached"),
        (Fault(FaultScope(protocol="websocket", attempts=(1,)), answer=edits.replace_by_page(502, "Bad Gateway")),),
        Exit.FINE,
        is_written=True,
    ),
}

CASES_OF_DRIFT: dict[str, NightCase] = {
    "a control loses a header": NightCase(
        PA,
        (
            Fault(
                FaultScope(provider="pa", path="/v1/models$", statuses=(200,)),
                answer=edits.remove_headers("request-id"),
            ),
        ),
        Exit.DRIFT,
        drifts=frozenset({"header-missing"}),
        drifting_prefixes=("pa/endpoints/models/list_models", "pa/endpoints/models/get_model"),
    ),
    "one error becomes a page of HTML": NightCase(
        PA,
        (
            Fault(
                FaultScope(provider="pa", path="/v1/models/.", statuses=(404,)),
                answer=edits.edit_body(lambda raw: MAINTENANCE.encode(), edits.HTML),
            ),
        ),
        Exit.DRIFT,
        drifts=frozenset({"body-malformed"}),
        drifting_prefixes=("pa/endpoints/models/get_model", "pa/errors/general/unknown_model"),
    ),
    "one error changes its envelope": NightCase(
        PA,
        (Fault(FaultScope(provider="pa", path="/v1/models/.", statuses=(404,)), value=lambda body: {"detail": body}),),
        Exit.DRIFT,
        drifts=frozenset({"body-shape", "type-differs"}),
        drifting_prefixes=("pa/endpoints/models/get_model", "pa/errors/general/unknown_model"),
    ),
    "what is not there can be deleted": NightCase(
        DELETES,
        (Fault(FaultScope(provider="pa", method="DELETE", statuses=(404,)), answer=edits.replace_answer(200, "{}")),),
        Exit.DRIFT,
        drifts=frozenset({"status-differs", "type-differs", "body-shape", "message-differs", "header-missing"}),
        drifting_prefixes=DELETES,
    ),
    "an overload has another status for ever": NightCase(
        ("pa/errors/general/overloaded", "pa/errors/general/internal_error"),
        (Fault(FaultScope(provider="pa", statuses=(529,)), answer=edits.set_status({529: 503})),),
        Exit.DRIFT,
        drifts=frozenset({"status-differs"}),
        drifting_prefixes=("pa/errors/general/overloaded",),
    ),
    "what remains of a limit is beyond any": NightCase(
        ("pa/rate_limits/", "pa/endpoints/models/"),
        (Fault(answer=edits.set_headers("*ratelimit*remaining*", "99999999999")),),
        Exit.DRIFT,
        drifts=frozenset({"header-inconsistent", "header-malformed"}),
        drifting_prefixes=("pa/rate_limits/limits/general",),
    ),
    "what remains of a limit is a number that nobody can read": NightCase(
        ("pa/rate_limits/", "pc/rate_limits/", "pa/errors/compliance/compliance_rate_limit_exceeded"),
        (Fault(answer=edits.set_headers("*ratelimit*remaining*", "9" * 5000)),),
        Exit.DRIFT,
        drifts=frozenset({"header-malformed"}),
        drifting_prefixes=("pa/rate_limits/", "pc/rate_limits/", "pa/errors/compliance/compliance_rate_limit_exceeded"),
    ),
    "errors of another envelope are called HTML, and are JSON": NightCase(
        ("pc/errors/not_found/", "pc/endpoints/models/"),
        (
            Fault(
                FaultScope(provider="pc", statuses=(404,)),
                answer=edits.edit_body(lambda raw: b'{"detail": 1}', edits.HTML),
            ),
        ),
        Exit.DRIFT,
        drifts=frozenset({"body-shape", "type-differs", "code-differs", "message-differs", "body-not-empty"}),
        drifting_prefixes=("pc/errors/not_found/",),
    ),
    "a message of a WebSocket is renamed": NightCase(
        LIVE,
        (Fault(FaultScope(protocol="websocket"), frame=edits.rename_frame("renamed")),),
        Exit.DRIFT,
        drifts=frozenset({"event-missing", "close-missing"}),
        drifting_prefixes=LIVE,
    ),
    "an event of a stream is renamed": NightCase(
        ("pb/errors/interactions_blocked/",),
        (Fault(FaultScope(provider="pb"), event=edits.replace_text("event: error", "event: failure")),),
        Exit.DRIFT,
        drifts=frozenset({"event-missing"}),
        drifting_prefixes=("pb/errors/interactions_blocked/",),
    ),
    "an event of PA has no name any more": NightCase(
        ("pa/errors/stream/",),
        (Fault(FaultScope(provider="pa"), event=edits.drop_lines("event:")),),
        Exit.DRIFT,
        drifts=frozenset({"event-missing"}),
        drifting_prefixes=("pa/errors/stream/overloaded",),
    ),
    "a stream holds no event": NightCase(
        STREAMS,
        (Fault(event=lambda block, before: ()),),
        Exit.DRIFT,
        drifts=frozenset({"values-missing", "event-missing", "stream-unterminated"}),
        drifting_prefixes=STREAMS,
    ),
    "the data of a stream is no JSON": NightCase(
        STREAMS,
        (Fault(event=edits.replace_text("data: {", "data: oops {")),),
        Exit.DRIFT,
        drifts=frozenset({"stream-malformed", "body-shape", "code-differs"}),
        drifting_prefixes=STREAMS,
    ),
    "a status of gRPC changes": NightCase(
        GRPC,
        (Fault(ending=edits.set_grpc_status({5: 2})),),
        Exit.DRIFT,
        drifts=frozenset({"grpc-status-differs"}),
        drifting_prefixes=("pd/errors/grpc/not_found",),
    ),
    "all messages become one sentence": NightCase(
        ("pa/errors/invalid_request/",),
        (Fault(FaultScope(statuses=range(400, 500)), value=edits.set_text(("/error/message",), SENTENCE)),),
        Exit.DRIFT,
        drifts=frozenset({"message-differs"}),
        drifting_prefixes=("pa/errors/invalid_request/removed_completion_path",),
        reasons=frozenset({"generic-message"}),
    ),
}
