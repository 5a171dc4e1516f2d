"""What each finding code and reason code means, and what to do about it: data for `catalog explain` and the reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.model.codes import FindingCode, ReasonCode

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a person is told about a code. `means` and `next_step` are each one or two sentences."""

    code: FindingCode | ReasonCode
    means: str
    next_step: str


def _table(*rows: tuple[FindingCode | ReasonCode, str, str]) -> Mapping[str, Explanation]:
    return {code: Explanation(code, means, next_step) for code, means, next_step in rows}


_F, _R = FindingCode, ReasonCode  # short, so that a row of the tables can be one line

FINDINGS = _table(
    (
        _F.STATUS_DIFFERS,
        "The answer's HTTP status is not the documented one.",
        "Read the body beside the record's section: the provider changed, or our request no longer provokes this.",
    ),
    (
        _F.TYPE_DIFFERS,
        "The error type in the envelope is not the documented one.",
        "If clients branch on the type, tell their authors; accept it in the ledger once the provider confirms.",
    ),
    (
        _F.CODE_DIFFERS,
        "The error code in the envelope is not the documented one.",
        "Compare with the neighbouring records of the family; the provider may have split or renamed the code.",
    ),
    (
        _F.PARAM_DIFFERS,
        "The envelope names another field than the documented `param`, or none.",
        "Check which field the recipe spoils; if it is the documented one, the provider's naming changed.",
    ),
    (
        _F.MESSAGE_DIFFERS,
        "The message does not carry the wording that the documents state.",
        "Clients that match on the wording break; read the new wording in the exchange.",
    ),
    (
        _F.HEADER_MISSING,
        "A response header that the documents promise is absent.",
        "Look at the whole header list in the exchange: it may have been renamed or dropped by an edge.",
    ),
    (
        _F.HEADER_UNEXPECTED,
        "A response header is present where the documents say it must not be.",
        "Clients that read its absence as a sign are misled; read the value in the exchange.",
    ),
    (
        _F.HEADER_DIFFERS,
        "A response header has another value than documented.",
        "Compare the value with the record's section; for x-should-retry, SDKs obey it before the status.",
    ),
    (
        _F.HEADER_MALFORMED,
        "A response header is present, but its value is not in the documented format or unit.",
        "A parser of the documented format fails on it; compare with the samples of section 8.",
    ),
    (
        _F.HEADER_INCONSISTENT,
        "Rate-limit headers contradict each other: remaining above limit, or a reset in the past.",
        "Pace by the tighter value and report it; this usually means two limiters answer in turn.",
    ),
    (
        _F.BODY_SHAPE,
        "The body does not have the shape of the provider's documented envelope.",
        "Read the JSON pointer in the finding; parsers built for the envelope fail here.",
    ),
    (
        _F.BODY_MALFORMED,
        "The body is not of the documented kind: not JSON where JSON is due, or text where an envelope is.",
        "Read the first bytes in the exchange; a gateway may answer in the provider's place.",
    ),
    (
        _F.BODY_NOT_EMPTY,
        "A body was sent where the documents say it is empty.",
        "Clients that skip parsing lose it; read it in the exchange.",
    ),
    (
        _F.FIELD_MISSING,
        "A field that the documents name is absent from the answer.",
        "See whether it moved or was renamed in the exchange's body.",
    ),
    (
        _F.FIELD_DIFFERS,
        "A field that the documents name has another type or value.",
        "Compare the pointer's documented schema, left, with the value, right.",
    ),
    (
        _F.FIELD_UNEXPECTED,
        "A field is present that the documents say must be absent.",
        "Read its value in the exchange; a client that takes its absence as a sign is misled.",
    ),
    (
        _F.EVENT_MISSING,
        "The documented stream event never arrived.",
        "Follow the timeline in the exchange to see how the stream ended instead.",
    ),
    (
        _F.EVENT_ORDER,
        "Stream events arrived in another order than documented.",
        "A state machine built on the documented order fails; read the timeline.",
    ),
    (
        _F.EVENT_DATA,
        "The data of a stream event does not match the documented shape.",
        "Read the event in the timeline beside the record.",
    ),
    (
        _F.STREAM_NOT_STARTED,
        "The outcome came as a plain HTTP answer where the documents put it into a stream, or the other way round.",
        "Clients must handle both; note which one this is in the record.",
    ),
    (
        _F.STREAM_UNTERMINATED,
        "The stream ended without its documented terminal event.",
        "A client waiting for the terminal event hangs or loses output; see the last event in the timeline.",
    ),
    (
        _F.STREAM_MALFORMED,
        "The stream carried data that is not what its protocol or its documented events allow.",
        "Read the malformed event in the timeline.",
    ),
    (
        _F.CLOSE_CODE_DIFFERS,
        "The WebSocket was closed with another code than documented.",
        "Reconnect logic that branches on the code misbehaves; read code and reason in the exchange.",
    ),
    (
        _F.CLOSE_UNCLEAN,
        "The WebSocket ended without a closing handshake.",
        "The peer or the network dropped the connection; look for a preceding goAway.",
    ),
    (
        _F.CLOSE_REASON_MISSING,
        "The WebSocket was closed without the reason that the documents promise.",
        "Clients that show the reason have nothing to show; read the close frame in the exchange.",
    ),
    (
        _F.CLOSE_MISSING,
        "The socket stayed open where the documents say it is closed.",
        "See in the timeline what arrived instead of the close frame.",
    ),
    (
        _F.GRPC_STATUS_DIFFERS,
        "The gRPC status is not the documented one.",
        "Compare with the mapping of document 2 section 7.6; retry policies branch on it.",
    ),
    (
        _F.TRAILER_MISSING,
        "A gRPC trailer that the documents promise is absent.",
        "Read the trailers in the exchange.",
    ),
    (
        _F.MAPPING_DIFFERS,
        "The HTTP status and the gRPC status of the same condition do not map as documented.",
        "Compare both records with the mapping of document 2 section 7.6.",
    ),
    (
        _F.STATE_DIFFERS,
        "The state after the exchange is not the documented one.",
        "Follow the steps of the probe in the exchange list: the first step that differs tells which side moved.",
    ),
    (
        _F.BODIES_DIFFER,
        "Two causes that are documented to be answered alike are not.",
        "Compare the two exchanges; the difference tells a caller what the provider meant to hide.",
    ),
    (
        _F.VALUES_UNEQUAL,
        "Values that are documented to be the same are not: two places of one answer, or of two answers.",
        "Compare the two places in the exchanges; a client that uses one for the other goes wrong.",
    ),
    (
        _F.VALUES_REPEATED,
        "The same came again where the documents say that something else follows: a cursor did not go on.",
        "Compare the two answers; a client that walks on by it never ends.",
    ),
    (
        _F.VALUES_BEYOND,
        "Something came that is not among what was asked for, or among what another answer has.",
        "Read the values that are too many: a filter was not heeded, or the other answer leaves something out.",
    ),
    (
        _F.VALUES_REMAIN,
        "Something is there that another answer or the request says must not be, as what was deleted or listed before.",
        "Read the values in both exchanges; a client that reconciles by them counts twice or keeps what is gone.",
    ),
    (
        _F.VALUES_MISSING,
        "Nothing stands where the documents promise something.",
        "Look whether the field moved or was renamed, or the account has nothing to list.",
    ),
    (
        _F.VALUE_INVALID,
        "One of the values, each of which is documented to be so, is otherwise.",
        "Compare the documented schema, left, with the value, right.",
    ),
    (
        _F.BOUND_EXCEEDED,
        "A size, a count or an instant is above what was asked for or is documented.",
        "Read the value beside its bound in the request: a limit, a cap or the end of a window was not heeded.",
    ),
    (
        _F.BOUND_UNDERCUT,
        "A size, a count or an instant is below what was asked for or is documented.",
        "Read the value beside its bound in the request: the beginning of a window was not heeded, or too little came.",
    ),
    (
        _F.PREFIX_DIFFERS,
        "An identifier does not begin as the documents say.",
        "Clients tell kinds of ids by their beginning; read the whole value in the exchange.",
    ),
    (
        _F.PATTERN_DIFFERS,
        "A value is not written as the documents say.",
        "A parser of the documented form fails on it; read the whole value in the exchange.",
    ),
    (
        _F.ORDER_DIFFERS,
        "Items are not in the documented order.",
        "A client that stops at the first item it knows misses others; compare the two neighbours named.",
    ),
    (
        _F.MATCHES_ANOTHER_RECORD,
        "The answer is the one that another record documents.",
        "Read that record: our request probably provoked its condition, or the provider merged the two.",
    ),
    (
        _F.UNDOCUMENTED_HEADER,
        "A response header that no record of this provider names.",
        "Nothing to mend; document it if clients could use it (a candidate for LIVE_DISCOVERED).",
    ),
    (
        _F.UNDOCUMENTED_FIELD,
        "A field in the envelope that the documents do not name.",
        "Nothing to mend; document it if clients could use it (a candidate for LIVE_DISCOVERED).",
    ),
    (
        _F.UNDOCUMENTED_CODE,
        "An error type or code that no record of this provider names.",
        "Add a record for it (a candidate for LIVE_DISCOVERED).",
    ),
    (
        _F.NOT_LOOKED_AT,
        "A part of the record was left out, for the target does not allow it or lacks what it takes.",
        "Nothing to mend; the detail says what to allow or to add to the target to see that part too.",
    ),
    (
        _F.UNASKED_ANSWER,
        "An overload, limit or timeout answer arrived in the probe's way and does not itself match its own record.",
        "The verdict is inconclusive; the difference is told here because the answer is documented elsewhere.",
    ),
    (
        _F.GENERIC_MESSAGE,
        "Different faults of this endpoint are answered with the same message; without a fault the request succeeds.",
        "The verdict stands. Tell such errors apart by status, type and code, for their message does not.",
    ),
    (
        _F.STALE_DIVERGENCE,
        "The ledger accepts a divergence that is no longer there, names no record, or is past its review date.",
        "Remove or renew the entry in catalog/divergences.json.",
    ),
)

INCONCLUSIVE = _table(
    (_R.CONNECT_REFUSED, "Nothing listens at the address.", "Check the target's address and that the server runs."),
    (_R.NAME_UNRESOLVED, "The host name cannot be resolved.", "Check the target's address and the machine's DNS."),
    (_R.CONNECT_TIMEOUT, "No connection within the time limit.", "Check the network and firewalls, then run again."),
    (_R.TLS_FAILED, "The TLS handshake failed.", "Check the certificate chain and the machine's clock and CA bundle."),
    (
        _R.READ_TIMEOUT,
        "The server accepted the request and did not answer in time.",
        "Run again; if it stays, look at the provider's status page.",
    ),
    (
        _R.CLOSED_WITHOUT_ANSWER,
        "The connection was closed before any answer.",
        "Run again; a proxy may be dropping it.",
    ),
    (_R.CONNECTION_RESET, "The connection broke in the middle of the answer.", "Run again."),
    (
        _R.PROTOCOL_ERROR,
        "The answer is not valid HTTP, or broke its protocol's rules.",
        "Look at what listens at the address.",
    ),
    (
        _R.BODY_TOO_LARGE,
        "The answer was larger than the cap and was not read to its end.",
        "Look at the first bytes kept; raise `max_body_bytes` in the target if it is real.",
    ),
    (_R.STREAM_STALLED, "The stream stopped sending without ending.", "Run again; a proxy may be buffering."),
    (
        _R.STREAM_ENDLESS,
        "The stream went on beyond the caps on events, bytes or time.",
        "Look at the events kept; lower the request's output limit.",
    ),
    (
        _R.GATEWAY_PAGE,
        "A gateway answered in the provider's place (HTML, or no provider envelope on a 5xx).",
        "Run again; if it stays, look at the provider's status page.",
    ),
    (
        _R.UNASKED_REDIRECT,
        "A redirect was answered; it is not followed, because keys must not travel.",
        "Put the final address into the target.",
    ),
    (_R.UNASKED_TIMEOUT, "A 408 or 504 was answered where something else was asked for.", "Run again later."),
    (
        _R.UNASKED_RATE_LIMIT,
        "A 429 was answered where something else was asked for.",
        "Lower the lane's rate in the target, or run later.",
    ),
    (_R.UNASKED_OVERLOAD, "A 502, 503 or 529 was answered where something else was asked for.", "Run again later."),
    (
        _R.SERVER_FAULT,
        "A 500 was answered, but not on every attempt or without a green control.",
        "Run again; report it with the request id if it stays.",
    ),
    (
        _R.CONTROL_FAILED,
        "The cheapest free request with the same credential failed, so an error proves nothing.",
        "Mend the credential or the network named in the detail first.",
    ),
    (
        _R.SETUP_FAILED,
        "A step that the probe relies on did not succeed.",
        "Read the setup exchange named in the detail.",
    ),
    (
        _R.STEP_UNSEEN,
        "A step on which this one depends was not seen as documented.",
        "Look at that step first; it has a finding or a reason of its own.",
    ),
    (
        _R.REGION_REFUSED,
        "The provider does not serve the place that this run comes from.",
        "Run from a region that the provider serves.",
    ),
    (
        _R.ACCOUNT_TROUBLE,
        "The account has no credit, quota or billing left, and that was answered in place of what was asked.",
        "Top the account up or raise its limit, then probe again; it says nothing about the provider.",
    ),
    (
        _R.ONE_ANSWER_TO_EVERYTHING,
        "Three faults or more of one endpoint got the same answer, and so did the request without any fault.",
        "Read that answer: something about the key or the account stands before everything else.",
    ),
    (
        _R.TWIN_NOT_ALLOWED,
        "Three faults or more of one endpoint got the same message; only a request without fault, which costs"
        " something, could tell whether that is the provider's way.",
        "Allow it with `--allow billable`, or accept in the ledger that these records are not looked at.",
    ),
    (
        _R.ASSUMPTION_FAILED,
        "What the documents do not show of the request was assumed, and the provider refused it.",
        "Correct what is assumed of the request in the record and its recipe; it says nothing about the provider.",
    ),
    (
        _R.LANE_STOPPED,
        "The lane was stopped before this probe was sent.",
        "Mend the cause named in the detail, then run again.",
    ),
    (
        _R.BUDGET_SPENT,
        "The provider's budget of requests or tokens was spent before this probe.",
        "Raise the budget in the target, or select fewer records.",
    ),
    (
        _R.WAIT_TOO_LONG,
        "The provider asked for a longer wait than the lane's budget allows.",
        "Run later, or raise `max_wait_s` in the target.",
    ),
    (_R.ATTEMPTS_DISAGREE, "Attempts were conclusive and inconclusive in turn.", "Run again."),
    (
        _R.NOT_REPORTED,
        "The run selected this record, and the process that was to probe it ended before it reported a result.",
        "Look for what killed it (memory, a time limit, Ctrl-C), then run again; what was reported is kept.",
    ),
)

NOT_PROBED = _table(
    (
        _R.NO_RECIPE,
        "Nobody has written how to provoke it.",
        "Add a recipe in probes/recipes, or a reason of this list to UNPROBED there; see `python -m probes check`.",
    ),
    (
        _R.PROVIDER_ONLY_CAUSE,
        "Only the provider can cause this, and this target is not the mock.",
        "Nothing to do: it is covered on the mock, and recorded live when it happens.",
    ),
    (
        _R.COST_NOT_ALLOWED,
        "The probe's cost class is not allowed in this run.",
        "Add `--allow` with the class named in the detail.",
    ),
    (
        _R.CREDENTIAL_MISSING,
        "The target has no value for the credential the probe needs.",
        "Set the variable named in the detail.",
    ),
    (
        _R.CREDENTIAL_EMPTY,
        "The variable of the credential is set and holds nothing: a CI sets one so whose secret it cannot find.",
        "Set the secret that the detail names; unset the variable where this account has no such key.",
    ),
    (
        _R.VALUE_MISSING,
        "The target names no model or fixture of the kind the probe needs.",
        "Add the value named in the detail to the target.",
    ),
    (_R.PROVIDER_NOT_CONFIGURED, "The target does not configure this provider.", "Add the provider to the target."),
    (
        _R.ADDRESS_MISSING,
        "The target has no address for the host this probe needs.",
        "Add the address named in the detail to the target.",
    ),
    (_R.NOT_ON_THE_WIRE, "The documents name it, but it never travels over the network.", "Nothing to do."),
    (_R.INVISIBLE_TO_CLIENT, "The one who causes it is no longer there to see the answer.", "Nothing to do."),
    (
        _R.SURFACE_OUT_OF_REACH,
        "It travels over a surface that this suite does not speak.",
        "Check it with a client of that surface.",
    ),
    (
        _R.NO_DOCUMENTED_SETUP,
        "The documents show no way to make the state that the probe needs.",
        "Supply a fixture in the target if you have one.",
    ),
    (_R.MOCK_CANNOT, "The mock does not simulate this, for the reason in the detail.", "Probe it live."),
    (_R.PLANNED_ONLY, "The run was asked to plan and sent nothing.", "Run without --plan."),
    (_R.STOPPED_EARLY, "The run was told to stop at a failure (-x, --maxfail) and had one.", "Run without it."),
)

RESTRICTED = _table(
    (
        _R.PERMISSION_REFUSED,
        "A documented permission refusal came on the control: this account may not see the family.",
        "Use a key with the permission named in the detail, or leave it out of the target.",
    ),
    (
        _R.PROBE_REFUSED,
        "The documented permission refusal came where a success was asked for.",
        "Use a key with the permission named in the detail.",
    ),
)

HARNESS = _table(
    (_R.RECIPE_ERROR, "The recipe raised an error of our own.", "Report it: the detail names the place."),
    (
        _R.RECIPE_INCOMPLETE,
        "The recipe ended without an exchange that its record must be judged by.",
        "Mend the recipe: the detail names the label.",
    ),
    (
        _R.DEADLINE_PASSED,
        "The probe did not finish within its deadline.",
        "Report it: no wait may be without a deadline.",
    ),
    (
        _R.WORKER_LOST,
        "A process that probed ended before its work did; another one may have finished it, but why is not known.",
        "Look for what killed it (memory, a signal, a crash of Python) and run again.",
    ),
    (
        _R.TRIPWIRE_SILENT,
        "An assertion that is false on purpose did not come out as drift at the end, so no drift could have.",
        "Trust nothing of this run. If no line of its results was changed by hand, report it.",
    ),
)

DISAGREEMENT = _table(
    (
        _R.ATTEMPTS_DIFFER,
        "Attempts were conclusive and did not agree.",
        "Read the attempts side by side; two backends may answer in turn.",
    ),
)

REASONS = {**INCONCLUSIVE, **NOT_PROBED, **RESTRICTED, **HARNESS, **DISAGREEMENT}
ALL = {**FINDINGS, **REASONS}
"""By code. A code that an older run wrote may be in none of these: look it up, do not index blindly."""
