"""The outcome of a record: verdict, findings, and the closed lists of codes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.text.readable_text import quote_if_ambiguous, shorten

if TYPE_CHECKING:
    from catalog_probe.catalog.text.json_values import Json


class Outcome(StrEnum):
    """The verdict on one record in one run."""

    CONFORMS = "conforms"
    DRIFTED = "drifted"
    FLAKY = "flaky"
    RESTRICTED = "restricted"
    INCONCLUSIVE = "inconclusive"
    NOT_PROBED = "not_probed"
    HARNESS_ERROR = "harness_error"

    @property
    def is_conclusive(self) -> bool:
        """Whether the behaviour itself was observed and judged."""
        return self in (Outcome.CONFORMS, Outcome.DRIFTED)

    @property
    def words(self) -> str:
        """The outcome in a sentence or a heading of any view: `not probed`, and `our fault` for a harness error."""
        return "our fault" if self is Outcome.HARNESS_ERROR else self.replace("_", " ")

    @property
    def query_word(self) -> str:
        """The outcome in a query, after `outcome:`, e.g. `not-probed`."""
        return self.words.replace(" ", "-")

    @property
    def letter(self) -> str:
        """The outcome in a line of the history, e.g. `n` for `not_probed`: seven different first letters."""
        return self[0]


class AcceptanceState(StrEnum):
    """The state of an accepted difference after a result of its record."""

    ACCOUNTED = "accounted"
    """Every drift of the record is accepted; or, of an inconclusive record, that it is not observed."""
    NEW_ASPECTS = "new_aspects"
    """The record drifts in more than what is accepted."""
    STALE = "stale"
    """The accepted difference is gone, or its review is overdue."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why there is no verdict: a `ReasonCode`, and the detail that a person needs to act on it."""

    code: str
    detail: str = ""
    advice: str | None = None
    """The end of the detail, if it says what to do: `look at PA_API_KEY`. Our own words, never those of an answer."""
    cause: str | None = None
    """Of a stopped lane: the code of what stopped it, e.g. `wait-too-long`."""

    @classmethod
    def with_advice(cls, code: str, detail: str, advice: str) -> Self:
        """Return a reason whose detail ends with what to do: `HTTP 402: pay; look at the account of PA_API_KEY`."""
        return cls(code, f"{detail}; {advice}", advice)


class Severity(StrEnum):
    """`must`: a documented assertion differs, which is drift. `should`: an assumed one differs. `info`: a note."""

    MUST = "must"
    SHOULD = "should"
    INFO = "info"


class Aspect(StrEnum):
    """The part of an answer that a finding is about."""

    STATUS = "status"
    TYPE = "type"
    CODE = "code"
    PARAM = "param"
    MESSAGE = "message"
    HEADER = "header"
    BODY = "body"
    EVENT = "event"
    CLOSE = "close"
    RELATION = "relation"
    STATE = "state"


MAX_VALUE_CHARACTERS = 120  # of each value in the words of a difference


@dataclass(frozen=True, slots=True)
class Difference:
    """A documented or assumed value beside the observed one, in words.

    Each view words a difference by this class, and none takes its words apart: what a view shows by itself, such as a
    value that is struck out, is an attribute here.
    """

    subject: str
    """What differs: `status`, `header retry-after`, `body /data`; empty if the context says so."""
    documented: str
    """The documented value, or the assumed one."""
    observed: str
    """The observed value, or its class if several were observed (`absent`, `malformed`, `out-of-range`)."""
    is_assumed: bool = False

    @classmethod
    def between(cls, subject: str, documented: Json, observed: Json, *, is_assumed: bool = False) -> Difference:
        """Put two values into words: long ones are cut, and `"404"` is told from `404`.

        >>> str(Difference.between("status", "404", 404))
        'status: documented "404", observed 404'
        """
        return cls(
            subject,
            shorten(quote_if_ambiguous(documented, observed), MAX_VALUE_CHARACTERS),
            shorten(quote_if_ambiguous(observed, documented), MAX_VALUE_CHARACTERS),
            is_assumed=is_assumed,
        )

    @property
    def values(self) -> str:
        """Both values without the subject: `assumed 200, observed 201`."""
        return f"{'assumed' if self.is_assumed else 'documented'} {self.documented}, observed {self.observed}"

    def __str__(self) -> str:
        return f"{self.subject}: {self.values}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference between what a record states and an answer, or a remark on the answer.

    `code` is stable; `catalog-probe catalog explain CODE` explains it. `label` names the exchange in which it was
    observed. `location` narrows the aspect: a header name, a JSON pointer, an event name. `assertion` is the key of the
    mismatched assertion within its record, or empty if no record states anything of it. `endpoints` are the addresses
    of the endpoints on which it was observed; they are not part of its identity from night to night.
    """

    code: str
    aspect: Aspect
    severity: Severity
    remark: str = ""
    """What was found, if the two values do not say it: `x-new: not named by the documents`."""
    label: str = ""
    location: str = ""
    documented: Json = None
    observed: Json = None
    assertion: str = ""
    endpoints: tuple[str, ...] = ()

    @property
    def is_drift(self) -> bool:
        return self.severity is Severity.MUST

    @property
    def subject(self) -> str:
        """What the finding is about: `status`, `header retry-after`."""
        location = self.location if self.location != self.aspect else ""
        return f"{self.aspect} {location}".rstrip()

    @property
    def difference(self) -> Difference:
        """The two values in words. A finding that is no drift but a difference is one from what we assumed."""
        is_assumed = self.severity is Severity.SHOULD
        return Difference.between(self.subject, self.documented, self.observed, is_assumed=is_assumed)

    @property
    def message(self) -> str:
        """The finding in one line: its remark, or else `status: documented 400, observed 500`."""
        return self.remark or str(self.difference)


class FindingCode(StrEnum):
    """The kind of difference of a finding."""

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
    STREAM_NOT_STARTED = "stream-not-started"
    STREAM_UNTERMINATED = "stream-unterminated"
    STREAM_MALFORMED = "stream-malformed"
    CLOSE_CODE_DIFFERS = "close-code-differs"
    CLOSE_UNCLEAN = "close-unclean"
    CLOSE_REASON_MISSING = "close-reason-missing"
    CLOSE_MISSING = "close-missing"
    GRPC_STATUS_DIFFERS = "grpc-status-differs"
    STATE_DIFFERS = "state-differs"
    BODIES_DIFFER = "bodies-differ"
    VALUES_UNEQUAL = "values-unequal"
    VALUES_REPEATED = "values-repeated"
    VALUES_BEYOND = "values-beyond"
    VALUES_REMAIN = "values-remain"
    VALUES_MISSING = "values-missing"
    VALUE_NOWHERE = "value-nowhere"
    VALUE_INVALID = "value-invalid"
    BOUND_EXCEEDED = "bound-exceeded"
    BOUND_UNDERCUT = "bound-undercut"
    VERSION_DIFFERS = "version-differs"
    PREFIX_DIFFERS = "prefix-differs"
    PATTERN_DIFFERS = "pattern-differs"
    ORDER_DIFFERS = "order-differs"
    MATCHES_ANOTHER_RECORD = "matches-another-record"
    UNDOCUMENTED_HEADER = "undocumented-header"
    UNDOCUMENTED_FIELD = "undocumented-field"
    UNDOCUMENTED_CODE = "undocumented-code"
    DUPLICATE_NAME = "duplicate-name"
    NOT_OBSERVED = "not-observed"
    UNASKED_ANSWER = "unasked-answer"
    GENERIC_MESSAGE = "generic-message"
    STALE_DIVERGENCE = "stale-divergence"


class ReasonCode(StrEnum):
    """Why a record is neither `conforms` nor `drifted`."""

    # inconclusive: it could not be observed
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
    UNSAFE_PATH = "unsafe-path"
    ASSUMPTION_FAILED = "assumption-failed"
    STEP_UNSEEN = "step-unseen"
    NOTHING_OBSERVED = "nothing-observed"
    ANOTHER_REVISION = "another-revision"
    REGION_REFUSED = "region-refused"
    NO_CREDIT = "no-credit"
    ACCOUNT_TROUBLE = "account-trouble"
    ONE_ANSWER_TO_EVERYTHING = "one-answer-to-everything"
    FAULT_FREE_NOT_ALLOWED = "twin-not-allowed"  # "twin" was the word for a fault-free request; results keep it
    LANE_STOPPED = "lane-stopped"
    BUDGET_SPENT = "budget-spent"
    WAIT_TOO_LONG = "wait-too-long"
    ATTEMPTS_DISAGREE = "attempts-disagree"
    NOT_REPORTED = "not-reported"

    # not probed: not allowed here, or nothing can provoke it here
    NO_RECIPE = "no-recipe"
    PROVIDER_ONLY_CAUSE = "provider-only-cause"
    COST_NOT_ALLOWED = "cost-not-allowed"
    BEYOND_BUDGET = "beyond-budget"
    CREDENTIAL_MISSING = "credential-missing"
    CREDENTIAL_EMPTY = "credential-empty"
    VALUE_MISSING = "value-missing"
    VALUE_NOT_FOUND = "value-not-found"
    PROVIDER_NOT_CONFIGURED = "provider-not-configured"
    ADDRESS_MISSING = "address-missing"
    NOT_ON_THE_WIRE = "not-on-the-wire"
    INVISIBLE_TO_CLIENT = "invisible-to-client"
    SURFACE_OUT_OF_REACH = "surface-out-of-reach"
    NO_DOCUMENTED_SETUP = "no-documented-setup"
    NOTHING_DOCUMENTED = "nothing-documented"
    STOPPED_EARLY = "stopped-early"
    NOT_IN_TRAFFIC = "not-in-traffic"
    FAMILY_MISSING = "family-missing"
    UPSTREAM_NOT_ASKED = "upstream-not-asked"

    # restricted: this account may not see it
    PROBE_REFUSED = "probe-refused"

    # harness error: our own fault
    RECIPE_ERROR = "recipe-error"
    RECIPE_INCOMPLETE = "recipe-incomplete"
    DEADLINE_PASSED = "deadline-passed"
    WORKER_LOST = "worker-lost"
    SELF_TEST_SILENT = "self-test-silent"

    # flaky: attempts disagree
    ATTEMPTS_DIFFER = "attempts-differ"
