"""Every finding code and reason code: closed and stable. What each means is told in `explanations`."""

from __future__ import annotations

from enum import StrEnum


class FindingCode(StrEnum):
    """What kind of difference a finding tells of."""

    STATUS_DIFFERS = "status-differs"
    TYPE_DIFFERS = "type-differs"
    CODE_DIFFERS = "code-differs"
    PARAM_DIFFERS = "param-differs"
    MESSAGE_DIFFERS = "message-differs"
    HEADER_MISSING = "header-missing"
    HEADER_UNEXPECTED = "header-unexpected"
    HEADER_DIFFERS = "header-differs"
    HEADER_MALFORMED = "header-malformed"
    HEADER_INCONSISTENT = "header-inconsistent"
    BODY_SHAPE = "body-shape"
    BODY_MALFORMED = "body-malformed"
    BODY_NOT_EMPTY = "body-not-empty"
    FIELD_MISSING = "field-missing"
    FIELD_DIFFERS = "field-differs"
    FIELD_UNEXPECTED = "field-unexpected"
    EVENT_MISSING = "event-missing"
    EVENT_ORDER = "event-order"
    EVENT_DATA = "event-data"
    STREAM_NOT_STARTED = "stream-not-started"
    STREAM_UNTERMINATED = "stream-unterminated"
    STREAM_MALFORMED = "stream-malformed"
    CLOSE_CODE_DIFFERS = "close-code-differs"
    CLOSE_UNCLEAN = "close-unclean"
    CLOSE_REASON_MISSING = "close-reason-missing"
    CLOSE_MISSING = "close-missing"
    GRPC_STATUS_DIFFERS = "grpc-status-differs"
    TRAILER_MISSING = "trailer-missing"
    MAPPING_DIFFERS = "mapping-differs"
    STATE_DIFFERS = "state-differs"
    BODIES_DIFFER = "bodies-differ"
    MATCHES_ANOTHER_RECORD = "matches-another-record"
    UNDOCUMENTED_HEADER = "undocumented-header"
    UNDOCUMENTED_FIELD = "undocumented-field"
    UNDOCUMENTED_CODE = "undocumented-code"
    NOT_LOOKED_AT = "not-looked-at"
    UNASKED_ANSWER = "unasked-answer"
    STALE_DIVERGENCE = "stale-divergence"


class ReasonCode(StrEnum):
    """Why a record has no verdict of `conforms` or `drifted`, or what ended in the way of one."""

    # inconclusive: it could not be looked at
    CONNECT_REFUSED = "connect-refused"
    NAME_UNRESOLVED = "name-unresolved"
    CONNECT_TIMEOUT = "connect-timeout"
    TLS_FAILED = "tls-failed"
    READ_TIMEOUT = "read-timeout"
    CLOSED_WITHOUT_ANSWER = "closed-without-answer"
    CONNECTION_RESET = "connection-reset"
    PROTOCOL_ERROR = "protocol-error"
    BODY_TOO_LARGE = "body-too-large"
    STREAM_STALLED = "stream-stalled"
    STREAM_ENDLESS = "stream-endless"
    GATEWAY_PAGE = "gateway-page"
    UNASKED_REDIRECT = "unasked-redirect"
    UNASKED_TIMEOUT = "unasked-timeout"
    UNASKED_RATE_LIMIT = "unasked-rate-limit"
    UNASKED_OVERLOAD = "unasked-overload"
    SERVER_FAULT = "server-fault"
    CONTROL_FAILED = "control-failed"
    SETUP_FAILED = "setup-failed"
    ASSUMPTION_FAILED = "assumption-failed"
    STEP_UNSEEN = "step-unseen"
    REGION_REFUSED = "region-refused"
    LANE_STOPPED = "lane-stopped"
    BUDGET_SPENT = "budget-spent"
    WAIT_TOO_LONG = "wait-too-long"
    ATTEMPTS_DISAGREE = "attempts-disagree"
    NOT_REPORTED = "not-reported"

    # not probed: not allowed here, or nothing can provoke it here
    NO_RECIPE = "no-recipe"
    PROVIDER_ONLY_CAUSE = "provider-only-cause"
    COST_NOT_ALLOWED = "cost-not-allowed"
    CREDENTIAL_MISSING = "credential-missing"
    VALUE_MISSING = "value-missing"
    PROVIDER_NOT_CONFIGURED = "provider-not-configured"
    ADDRESS_MISSING = "address-missing"
    NOT_ON_THE_WIRE = "not-on-the-wire"
    INVISIBLE_TO_CLIENT = "invisible-to-client"
    SURFACE_OUT_OF_REACH = "surface-out-of-reach"
    NO_DOCUMENTED_SETUP = "no-documented-setup"
    MOCK_CANNOT = "mock-cannot"
    PLANNED_ONLY = "planned-only"
    STOPPED_EARLY = "stopped-early"

    # restricted: this account may not see it
    PERMISSION_REFUSED = "permission-refused"
    PROBE_REFUSED = "probe-refused"

    # harness error: our own fault
    RECIPE_ERROR = "recipe-error"
    RECIPE_INCOMPLETE = "recipe-incomplete"
    DEADLINE_PASSED = "deadline-passed"

    # flaky: attempts disagree
    ATTEMPTS_DIFFER = "attempts-differ"
