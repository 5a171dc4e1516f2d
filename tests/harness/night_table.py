"""What may befall a night, row by row: faults over some records, and what the night must make of them.

That is its exit status, what no record may be, what some of them must be, the words that a person needs, and whether
anything may be written into the catalog.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.exits import Exit
from tests.harness import fault_changes as to
from tests.harness.fault_table import (
    BARE,
    COMPLIANCE_KEY,
    DEAD_KEY,
    MAINTENANCE,
    SENTENCE,
    TO_PROBES,
    enveloped,
    in_own_envelope,
)
from tests.harness.faults import Act, Ending, Fault, Where


@dataclass(frozen=True)
class Row:
    """One thing that may befall a night, over the records whose addresses begin so."""

    over: tuple[str, ...]
    faults: tuple[Fault, ...]
    exits: Exit
    never: frozenset[Outcome] = frozenset({Outcome.DRIFTED, Outcome.FLAKY, Outcome.RESTRICTED, Outcome.HARNESS_ERROR})
    reasons: frozenset[str] = frozenset()
    """Codes that some record must have as its reason."""
    words: tuple[str, ...] = ()
    """What some reason must say."""
    drifts: frozenset[str] = frozenset()
    """The codes of all findings that drift."""
    drifting: tuple[str, ...] = ()
    """What the addresses of all that drift begin with; one of each at least."""
    written: bool = False
    settings: dict[str, Any] = field(default_factory=lambda: {"concurrency": 1})


def answered(number: int, body: str, **where: Any) -> tuple[Fault, ...]:
    return (Fault(TO_PROBES, answer=to.instead(number, body)).only(**where),)


def mid_run(fault: Fault, first: int = 12) -> tuple[Fault, ...]:
    """From the so-manieth answer of each key on, controls and all."""
    return (replace(fault, where=replace(fault.where, control=None)).only(first=first),)


PC_ERROR = {"error": {"message": "no", "type": "invalid_request_error", "param": None, "code": None}}
PA_DISABLED = {
    "type": "error",
    "error": {"type": "invalid_request_error", "message": "This organization has been disabled."},
    "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy",
}
LOW_CREDIT = enveloped("invalid_request_error", 400, "", "Your credit balance is too low to access the API.")["pa"]
UNPAID = enveloped("billing_error", 402, "", "There is a problem with your billing.")["pa"]
REGION = json.dumps(
    {"error": {**PC_ERROR["error"], "code": "unsupported_country_region_territory", "message": "not here"}}
)
QUOTA = json.dumps({"error": {**PC_ERROR["error"], "type": "insufficient_quota", "code": "insufficient_quota"}})
NO_CREDITS = json.dumps({"code": "The caller has no permission", "error": "Your team has used all of its credits."})
PA_DEAD = enveloped(*DEAD_KEY[:1], 401, *DEAD_KEY[1:])["pa"]
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

NOBODYS: dict[str, Row] = {
    "a key of PA dies in the middle": Row(
        COMPLIANCE,
        mid_run(Fault(Where(provider="pa", credential=COMPLIANCE_KEY), answer=to.instead(401, PA_DEAD)), 25),
        Exit.BLIND,
        reasons=frozenset({"control-failed", "lane-stopped"}),
        words=("look at PA_COMPLIANCE_KEY",),
    ),
    "a key of PC dies in the middle": Row(
        PC,
        mid_run(Fault(Where(provider="pc"), answer=to.instead(401, PC_DEAD))),
        Exit.BLIND,
        reasons=frozenset({"control-failed"}),
        words=("look at PC_INFERENCE_KEY", "pc/errors/authentication/invalid_api_key"),
    ),
    "a maintenance page from the start": Row(
        PC, (Fault(answer=to.instead(200, MAINTENANCE, to.HTML)),), Exit.BLIND, reasons=frozenset({"gateway-page"})
    ),
    "a maintenance page in the middle": Row(
        PC,
        mid_run(Fault(answer=to.instead(200, MAINTENANCE, to.HTML))),
        Exit.BLIND,
        reasons=frozenset({"gateway-page"}),
    ),
    "the challenge of an edge": Row(
        PA, (Fault(answer=to.page(403, "Forbidden")),), Exit.BLIND, reasons=frozenset({"gateway-page"})
    ),
    "the challenge of an edge, to probes alone": Row(
        PA,
        (Fault(TO_PROBES, answer=to.page(403, "Forbidden")),),
        Exit.BLIND,
        reasons=frozenset({"gateway-page"}),
    ),
    "the challenge of an edge, one time in five": Row(
        PC, (Fault(Where(share=0.2), answer=to.page(403, "Forbidden")),), Exit.FINE, written=True
    ),
    "the block of an edge in plain text": Row(
        PC,
        (Fault(answer=to.instead(403, "error code: 1020", "text/plain; charset=UTF-8")),),
        Exit.BLIND,
        reasons=frozenset({"gateway-page"}),
        words=("error code: 1020",),
    ),
    "an edge's refusal in plain text, one time in twenty": Row(
        PC, (Fault(Where(share=0.05), answer=to.instead(425, "too early", "text/plain")),), Exit.FINE, written=True
    ),
    "a proxy that wants a key of its own, one time in twenty": Row(
        PC,
        (Fault(Where(share=0.05), answer=to.instead(407, json.dumps({"message": "Proxy Authentication Required"}))),),
        Exit.FINE,
        written=True,
    ),
    "a portal before all that is posted": Row(
        PC,
        (Fault(TO_PROBES, answer=to.instead(200, json.dumps({"error": "captcha_required"}))).only(method="POST"),),
        Exit.BLIND,
        reasons=frozenset({"one-answer-to-everything"}),
        words=("without a fault was answered alike", "captcha_required"),
    ),
    "a firewall before all that is posted, where few faults are": Row(
        ("pd/errors/request/", "pd/errors/invalid_argument/", "pd/endpoints/tokenize/", "pd/endpoints/models/"),
        (Fault(TO_PROBES, answer=to.instead(403, json.dumps({"message": "Forbidden"}))).only(method="POST"),),
        Exit.BLIND,
        reasons=frozenset({"one-answer-to-everything"}),
        words=("without a fault was answered alike: 403",),
    ),
    "a firewall before all that is asked for but one list": Row(
        (*PC, "pc/errors/permission/", "pc/errors/oauth/", "pc/endpoints/agents/", "pc/endpoints/fine_tuning/"),
        (Fault(TO_PROBES, answer=to.instead(403, json.dumps({"message": "Forbidden"}))).only(path="^(?!.*/models$)"),),
        Exit.BLIND,
        reasons=frozenset({"one-answer-to-everything"}),
        words=("without a fault was answered alike: 403",),
    ),
    "a portal where no success is shown": Row(
        PD,
        (Fault(TO_PROBES, answer=to.instead(200, json.dumps({"error": "captcha_required"}))).only(method="POST"),),
        Exit.BLIND,
        reasons=frozenset({"one-answer-to-everything"}),
        words=("was answered alike: 200", "captcha_required"),
    ),
    "a firewall before all that is posted, which may as well blame what we assumed of a request": Row(
        ("pd/errors/request/", "pd/errors/invalid_argument/", "pd/endpoints/tokenize/", "pd/endpoints/models/"),
        (Fault(TO_PROBES, answer=to.instead(400, json.dumps({"message": "Bad Request"}))).only(method="POST"),),
        Exit.BLIND,
        reasons=frozenset({"one-answer-to-everything"}),
        words=("without a fault was answered alike: 400",),
    ),
    "a gateway before all that is posted, whose status is that of one of the faults": Row(
        (
            "pd/errors/request/unsupported_media_type",
            "pd/errors/request/wrong_type",
            "pd/errors/invalid_argument/bad_body",
            "pd/endpoints/tokenize/",
            "pd/endpoints/models/",
        ),
        (Fault(TO_PROBES, answer=to.instead(415, json.dumps({"message": "No such type"}))).only(method="POST"),),
        Exit.BLIND,
        reasons=frozenset({"one-answer-to-everything"}),
        words=("without a fault was answered alike: 415",),
    ),
    "an organization that is disabled": Row(
        PA,
        (Fault(answer=to.instead(400, json.dumps(PA_DISABLED))),),
        Exit.BLIND,
        reasons=frozenset({"control-failed"}),
        words=("was answered 400: This organization has been disabled; look at PA_",),
    ),
    "a region that is not served": Row(
        PC,
        (Fault(answer=to.instead(403, REGION)),),
        Exit.BLIND,
        reasons=frozenset({"region-refused"}),
        words=("unsupported_country_region_territory",),
    ),
    "a region that is not served, to probes alone": Row(
        PC, answered(403, REGION), Exit.BLIND, reasons=frozenset({"region-refused"})
    ),
    "a quota that ends in the middle": Row(
        (*PC, "pc/errors/rate_limit/rate_limit_exceeded"),
        (Fault(Where(provider="pc", control=False, first=20), answer=to.instead(429, QUOTA)),),
        Exit.BLIND,
        reasons=frozenset({"no-credit"}),
        words=(
            "this account has no credit",
            "pc/errors/rate_limit/insufficient_quota",
        ),
    ),
    "no credit from the start, as a 400": Row(
        (*PAID, "pa/rate_limits/limits/general"),
        (Fault(Where(provider="pa", control=False, method="POST"), answer=to.instead(400, LOW_CREDIT)),),
        Exit.BLIND,
        reasons=frozenset({"no-credit"}),
        words=("this account has no credit", "credit balance is too low"),
    ),
    "no credit from the start, as a 402": Row(
        (*PAID, "pa/rate_limits/limits/general", "pa/endpoints/limits/scope"),
        (Fault(Where(provider="pa", control=False, method="POST"), answer=to.instead(402, UNPAID)),),
        Exit.BLIND,
        reasons=frozenset({"no-credit"}),
        words=("this account has no credit", "pa/errors/general/payment_problem"),
    ),
    "credits that end in the middle": Row(
        PD,
        (Fault(Where(provider="pd", control=False, first=4), answer=to.instead(403, NO_CREDITS)),),
        Exit.BLIND,
        reasons=frozenset({"no-credit"}),
        words=("this account has no credit", "used all of its credits"),
    ),
    "one answer in a hundred is a gateway's page": Row(
        ("pa/",), (Fault(Where(share=0.01), answer=to.page(502, "Bad Gateway")),), Exit.FINE, written=True
    ),
    "one answer in a hundred is a reset": Row(
        ("pa/",), (Fault(Where(share=0.01), act=Act.RESET),), Exit.FINE, written=True
    ),
    "one answer in twenty is a server fault": Row(
        (*PA, *DELETES), (Fault(Where(share=0.05), answer=to.instead(500, BARE)),), Exit.FINE, written=True
    ),
    "nothing can be deleted": Row(
        DELETES,
        (Fault(Where(method="DELETE"), answer=to.page(503, "Service Unavailable")),),
        Exit.BLIND,
        reasons=frozenset({"gateway-page"}),
    ),
    "three server faults that differ": Row(
        ("pa/errors/general/unknown_model", "pa/endpoints/models/get_model"),
        tuple(
            each.only(attempts=(attempt,), provider="pa")
            for attempt, kind in enumerate(("api_error", "overloaded_error", "timeout_error"), start=1)
            for each in in_own_envelope(500, kind, "INTERNAL", f"fault {attempt}")
        ),
        Exit.BLIND,
        reasons=frozenset({"server-fault"}),
    ),
    "a key dies in the middle, over gRPC": Row(
        GRPC,
        (Fault(Where(protocol="grpc", first=6), ending=lambda was: Ending(16, "Invalid key")),),
        Exit.BLIND,
        reasons=frozenset({"control-failed"}),
    ),
    "the control over gRPC is refused": Row(
        (*GRPC, *PD),
        (Fault(Where(protocol="grpc", control=True), ending=lambda was: Ending(16, "Invalid key")),),
        Exit.BLIND,
        reasons=frozenset({"control-failed"}),
        written=True,
    ),
    "one stream in ten is cut": Row(SSE, (Fault(Where(share=0.1), cut_after=1),), Exit.FINE, written=True),
    "one handshake in ten is a gateway's page": Row(
        ("pc/errors/websocket/previous_response_not_found", "pc/errors/websocket/connection_limit_reached"),
        (Fault(Where(protocol="websocket", attempts=(1,)), answer=to.page(502, "Bad Gateway")),),
        Exit.FINE,
        written=True,
    ),
}

SOMEBODYS: dict[str, Row] = {
    "a control loses a header": Row(
        PA,
        (Fault(Where(provider="pa", path="/v1/models$", statuses=(200,)), answer=to.removed("request-id")),),
        Exit.DRIFT,
        drifts=frozenset({"header-missing"}),
        drifting=("pa/endpoints/models/list_models", "pa/endpoints/models/get_model"),
    ),
    "one error becomes a page of HTML": Row(
        PA,
        (
            Fault(
                Where(provider="pa", path="/v1/models/.", statuses=(404,)),
                answer=to.body(lambda raw: MAINTENANCE.encode(), to.HTML),
            ),
        ),
        Exit.DRIFT,
        drifts=frozenset({"body-malformed"}),
        drifting=("pa/endpoints/models/get_model", "pa/errors/general/unknown_model"),
    ),
    "one error changes its envelope": Row(
        PA,
        (Fault(Where(provider="pa", path="/v1/models/.", statuses=(404,)), value=lambda body: {"detail": body}),),
        Exit.DRIFT,
        drifts=frozenset({"body-shape", "type-differs"}),
        drifting=("pa/endpoints/models/get_model", "pa/errors/general/unknown_model"),
    ),
    "what is not there can be deleted": Row(
        DELETES,
        (Fault(Where(provider="pa", method="DELETE", statuses=(404,)), answer=to.instead(200, "{}")),),
        Exit.DRIFT,
        drifts=frozenset({"status-differs", "type-differs", "body-shape", "message-differs", "header-missing"}),
        drifting=DELETES,
    ),
    "an overload has another status for ever": Row(
        ("pa/errors/general/overloaded", "pa/errors/general/internal_error"),
        (Fault(Where(provider="pa", statuses=(529,)), answer=to.status({529: 503})),),
        Exit.DRIFT,
        drifts=frozenset({"status-differs"}),
        drifting=("pa/errors/general/overloaded",),
    ),
    "what remains of a limit is beyond any": Row(
        ("pa/rate_limits/", "pa/endpoints/models/"),
        (Fault(answer=to.said("*ratelimit*remaining*", "99999999999")),),
        Exit.DRIFT,
        drifts=frozenset({"header-inconsistent", "header-malformed"}),
        drifting=("pa/rate_limits/limits/general",),
    ),
    "what remains of a limit is a number that nobody can read": Row(
        ("pa/rate_limits/", "pc/rate_limits/", "pa/errors/compliance/compliance_rate_limit_exceeded"),
        (Fault(answer=to.said("*ratelimit*remaining*", "9" * 5000)),),
        Exit.DRIFT,
        drifts=frozenset({"header-malformed"}),
        drifting=("pa/rate_limits/", "pc/rate_limits/", "pa/errors/compliance/compliance_rate_limit_exceeded"),
    ),
    "errors of another envelope are called HTML, and are JSON": Row(
        ("pc/errors/not_found/", "pc/endpoints/models/"),
        (Fault(Where(provider="pc", statuses=(404,)), answer=to.body(lambda raw: b'{"detail": 1}', to.HTML)),),
        Exit.DRIFT,
        drifts=frozenset({"body-shape", "type-differs", "code-differs", "message-differs", "body-not-empty"}),
        drifting=("pc/errors/not_found/",),
    ),
    "a message of a WebSocket is renamed": Row(
        LIVE,
        (Fault(Where(protocol="websocket"), frame=to.frame_renamed("renamed")),),
        Exit.DRIFT,
        drifts=frozenset({"event-missing", "close-missing"}),
        drifting=LIVE,
    ),
    "an event of a stream is renamed": Row(
        ("pb/errors/interactions_blocked/",),
        (Fault(Where(provider="pb"), event=to.replaced("event: error", "event: failure")),),
        Exit.DRIFT,
        drifts=frozenset({"event-missing"}),
        drifting=("pb/errors/interactions_blocked/",),
    ),
    "an event of PA has no name any more": Row(
        ("pa/errors/stream/",),
        (Fault(Where(provider="pa"), event=to.without_line("event:")),),
        Exit.DRIFT,
        drifts=frozenset({"event-missing"}),
        drifting=("pa/errors/stream/overloaded",),
    ),
    "a stream holds no event": Row(
        STREAMS,
        (Fault(event=lambda block, before: ()),),
        Exit.DRIFT,
        drifts=frozenset({"values-missing", "event-missing", "stream-unterminated"}),
        drifting=STREAMS,
    ),
    "the data of a stream is no JSON": Row(
        STREAMS,
        (Fault(event=to.replaced("data: {", "data: oops {")),),
        Exit.DRIFT,
        drifts=frozenset({"stream-malformed", "body-shape", "code-differs"}),
        drifting=STREAMS,
    ),
    "a status of gRPC changes": Row(
        GRPC,
        (Fault(ending=to.status_of_calls({5: 2})),),
        Exit.DRIFT,
        drifts=frozenset({"grpc-status-differs"}),
        drifting=("pd/errors/grpc/not_found",),
    ),
    "all messages become one sentence": Row(
        ("pa/errors/invalid_request/",),
        (Fault(Where(statuses=range(400, 500)), value=to.text_at(("/error/message",), SENTENCE)),),
        Exit.DRIFT,
        drifts=frozenset({"message-differs"}),
        drifting=("pa/errors/invalid_request/removed_completion_path",),
        reasons=frozenset({"generic-message"}),
    ),
}
