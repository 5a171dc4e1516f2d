"""Causes as a report shows them, and who probably made the mistake behind each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import earlier_runs, run_verdict
from catalog_probe.catalog.evidence.causes import ABSENT, Cause, CauseKey, cause_key, find_causes, observed_class
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Tag
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.catalog.model.explanations import INCONCLUSIVE
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.catalog.reading.record_fields import note
from catalog_probe.catalog.recognition.advice import advise_for_record, advise_for_status
from catalog_probe.catalog.text.readable_text import format_count
from catalog_probe.reports.content.findings import describe_endpoints, shorten_endpoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from catalog_probe.catalog.evidence.results import Run
    from catalog_probe.reports.content.records import ReportedRecord


_ON_A_MOCK = {
    Outcome.DRIFTED: "No provider was asked: on the mock, the mock, the recipe or the record is mistaken.",
    Outcome.FLAKY: "No provider was asked: the mock answered the same request in different ways.",
    Outcome.INCONCLUSIVE: "No provider was asked: the mock, or the way to it, did not answer as it should.",
    Outcome.RESTRICTED: "No provider was asked: the mock refused this key.",
}

_IN_A_RECORDING = {
    Outcome.DRIFTED: (
        "documents or provider",
        "The recording shows this answer. It is the provider's, or that of another server that the client asked.",
    ),
    Outcome.FLAKY: ("provider", "In the recording the same request was answered in different ways."),
    Outcome.INCONCLUSIVE: ("recording", "The recording shows too little to judge it."),
    Outcome.RESTRICTED: ("account", "In the recording the key was refused."),
}

_ON_A_COMPATIBLE_SERVER = {
    Outcome.DRIFTED: "The documents say otherwise, and its control shows that address and key work.",
    Outcome.FLAKY: "The server answered the same request in different ways.",
    Outcome.INCONCLUSIVE: "The server, or the way to it, did not answer so that it could be judged.",
    Outcome.RESTRICTED: "The server refused this key.",
}

# If this many records or more have the same difference, no single recipe is blamed. This prevents that a change at the
# provider is taken for a mistake of ours. It can hide a mistake that several recipes share.
_MIN_ALIKE = 3

INCONCLUSIVE_PARTIES: Mapping[str, str] = {
    **dict.fromkeys(
        (
            ReasonCode.CONNECT_REFUSED,
            ReasonCode.NAME_UNRESOLVED,
            ReasonCode.CONNECT_TIMEOUT,
            ReasonCode.TLS_FAILED,
            ReasonCode.READ_TIMEOUT,
            ReasonCode.CLOSED_WITHOUT_ANSWER,
            ReasonCode.CONNECTION_RESET,
            ReasonCode.PROTOCOL_ERROR,
            ReasonCode.GATEWAY_PAGE,
            ReasonCode.UNASKED_REDIRECT,
        ),
        "network",
    ),
    **dict.fromkeys(
        (
            ReasonCode.BODY_TOO_LARGE,
            ReasonCode.STREAM_STALLED,
            ReasonCode.STREAM_ENDLESS,
            ReasonCode.UNASKED_TIMEOUT,
            ReasonCode.UNASKED_RATE_LIMIT,
            ReasonCode.UNASKED_OVERLOAD,
            ReasonCode.SERVER_FAULT,
            ReasonCode.ATTEMPTS_DISAGREE,
        ),
        "provider",
    ),
    ReasonCode.ONE_ANSWER_TO_EVERYTHING: "account or network",  # a blocked account, or a portal before the provider
    **dict.fromkeys(
        (
            ReasonCode.REGION_REFUSED,
            ReasonCode.NO_CREDIT,
            ReasonCode.ACCOUNT_TROUBLE,
        ),
        "account",
    ),
    **dict.fromkeys(
        (
            ReasonCode.CONTROL_FAILED,
            ReasonCode.SETUP_FAILED,
            ReasonCode.UNSAFE_PATH,
            ReasonCode.FAULT_FREE_NOT_ALLOWED,
            ReasonCode.LANE_STOPPED,
            ReasonCode.BUDGET_SPENT,
            ReasonCode.WAIT_TOO_LONG,
            ReasonCode.NOT_REPORTED,
        ),
        "our side",
    ),
    **dict.fromkeys(
        (
            ReasonCode.ASSUMPTION_FAILED,
            ReasonCode.STEP_UNSEEN,
            ReasonCode.NOTHING_OBSERVED,
            ReasonCode.ANOTHER_REVISION,
        ),
        "our record",
    ),
}
"""Reason code of an inconclusive record -> who is probably responsible, e.g. `no-credit` -> "account"."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who probably made the mistake: `party` is a short name for a badge, `reason` a sentence."""

    party: str
    reason: str


class Attributor:
    """Attributes each result, by comparing it with the whole run."""

    def __init__(self, run: Run, records: Sequence[ReportedRecord]) -> None:
        self._run = run
        self._record_counts: Counter[CauseKey] = Counter()
        """Cause -> number of records that drift because of it."""
        for record in records:
            self._record_counts.update({_cause_key(record, finding) for finding in record.result.drifts})

    def attribute(self, record: ReportedRecord) -> Attribution | None:
        """Return the most probable party, or None if nothing is wrong."""
        outcome = record.outcome
        if self._run.answered_by is AnsweredBy.RECORDING and outcome in _IN_A_RECORDING:
            return Attribution(*_IN_A_RECORDING[outcome])
        if self._run.answered_by is AnsweredBy.COMPATIBLE and outcome in _ON_A_COMPATIBLE_SERVER:
            return Attribution("server", _ON_A_COMPATIBLE_SERVER[outcome])
        if not self._run.live and outcome in _ON_A_MOCK:
            return Attribution("our side", _ON_A_MOCK[outcome])
        match outcome:
            case Outcome.DRIFTED:
                return self._attribute_drift(record)
            case Outcome.FLAKY:
                reason = (
                    "The same request was answered in different ways: two backends, or a change that is rolling out."
                )
                return Attribution("provider", reason)
            case Outcome.HARNESS_ERROR:
                return Attribution("our recipe", "The probe itself failed before there was anything to compare.")
            case Outcome.RESTRICTED:
                return Attribution("account", "The documented permission refusal came: this key may not see it.")
            case Outcome.INCONCLUSIVE:
                return _attribute_inconclusive(record)
        return None

    def _attribute_drift(self, record: ReportedRecord) -> Attribution:
        """Attribute a drift. The first rule that applies wins.

        A statement that no live run ever confirmed comes first: the provider may never have done what it says, so no
        other rule proves a change. Then the provider is blamed for what it did before and does not do now. Without any
        earlier verdict, the other records of this run decide, and at last this record alone.
        """
        shared_drift, number = self._most_shared_drift(record)
        is_shared = number >= _MIN_ALIKE
        alike = f"{number} records of {record.provider.upper()} differ in the same way"
        matching_records = _records_with_this_answer(record)
        if earlier_runs.is_pending(record.result):
            reason = "No live run has confirmed the statement yet, and the drift was first observed a few days ago."
            return Attribution("documents, record or account", reason)
        never_confirmed = earlier_runs.list_never_confirmed(record.result)
        is_regression = bool(earlier_runs.list_regressions(record.result))  # of another statement of the record
        if never_confirmed and not is_regression:
            first = min(entry["first"] for entry in never_confirmed.values())
            reason = f"No live run has confirmed the statement since its first observation, on {first}."
            return Attribution("documents, record or account", f"{reason} {alike}." if is_shared else reason)
        if record.conformed_before:
            if matching_records:
                today = f"Today it gets the answer of {matching_records}."
            elif is_shared:
                today = f"Today {alike}."
            else:
                today = "Today it differs."
            reason = f"The record was seen as documented on {record.conformed_before}. {today}"
            return Attribution("provider", f"{reason} Unless the record was edited since, the provider changed.")
        if is_shared:
            return Attribution("documents or provider", f"{alike} ({shared_drift}), so it is not this recipe alone.")
        if self._run.traffic is not None:  # recorded traffic that was judged for a target; no probe was sent
            reason = "It has not been seen as documented, and no control shows that key and host worked."
            return Attribution("documents or provider", reason)
        if matching_records:
            reason = f"The answer is the documented one of {matching_records}: "
            return Attribution("our recipe", f"{reason}our request probably provokes that condition instead.")
        # The note of a record says what the documents leave open.
        if Tag.UNVERIFIED in record.result.parsed_record.tags or note(record.result.parsed_record):
            reason = "The record rests on what the documents leave open, and it was never seen to hold."
            return Attribution("documents", reason)
        reason = "It has never been seen as documented, while the control shows that key and host work."
        return Attribution("documents", reason)

    def _most_shared_drift(self, record: ReportedRecord) -> tuple[str, int]:
        """Return that drift of the record which most records of the run share, and how many records these are.

        Example: the record drifts in its status, as no other does, and lacks a header, as 12 records do ->
        `("header-missing retry-after", 12)`.
        """
        counts = [(self._record_counts[_cause_key(record, finding)], finding) for finding in record.result.drifts]
        if not counts:  # only in a results.jsonl that was edited
            return "", 0
        number, finding = max(counts, key=itemgetter(0))
        return f"{finding.code} {finding.location}".rstrip(), number


def _cause_key(record: ReportedRecord, finding: Finding) -> CauseKey:
    return cause_key(record.provider, finding)


def _records_with_this_answer(record: ReportedRecord) -> str:
    """Return the addresses of the other records that document the observed answer, or an empty string."""
    for finding in record.result.findings:
        if finding.code == FindingCode.MATCHES_ANOTHER_RECORD:
            addresses = finding.observed if isinstance(finding.observed, list) else [finding.observed or ""]
            return " or ".join(map(str, addresses))
    return ""


def _attribute_inconclusive(record: ReportedRecord) -> Attribution:
    """Attribute by the reason code; a stopped lane by the code of what stopped it.

    A code that is not ours comes only from a results.jsonl that was edited.
    """
    code = record.reason_code
    means = INCONCLUSIVE[code].means if code in INCONCLUSIVE else "Nothing could be judged."
    cause = record.result.reason.cause if record.result.reason is not None else None
    return Attribution(INCONCLUSIVE_PARTIES.get(cause or code, "unknown"), means)


CLIENT_EFFECTS: Mapping[Aspect, str] = {
    Aspect.STATUS: "code that branches on the status takes another path",
    Aspect.TYPE: "code that compares the type does not match",
    Aspect.CODE: "code that compares the code does not match",
    Aspect.PARAM: "code that reads which field is wrong reads another",
    Aspect.MESSAGE: "the text that people read is another",
    Aspect.HEADER: "code that reads the header gets another value",
    Aspect.BODY: "code that reads the field gets another value",
    Aspect.EVENT: "a reader of the stream meets other events",
    Aspect.CLOSE: "code that branches on how the connection closes takes another path",
    Aspect.RELATION: "code that relies on the relation of the values errs",
    Aspect.STATE: "code that relies on the state afterwards errs",
}
"""Aspect -> what its drift changes for a client that was written by the documents."""

_LEAST_ERROR_STATUS = 400


def describe_client_effect(finding: Finding) -> str:
    """Return what a difference changes for a client.

    Example: status 200 documented and 403 observed -> "a request that should succeed fails".
    """
    documented, observed = finding.documented, finding.observed
    if finding.aspect is Aspect.STATUS and isinstance(documented, int) and isinstance(observed, int):
        if documented < _LEAST_ERROR_STATUS <= observed:
            return "a request that should succeed fails"
        if observed < _LEAST_ERROR_STATUS <= documented:
            return "a request that should be refused is accepted"
    if finding.aspect in (Aspect.HEADER, Aspect.BODY) and observed_class(finding) == ABSENT:
        return f"code that reads the {'header' if finding.aspect is Aspect.HEADER else 'field'} finds nothing"
    return CLIENT_EFFECTS[finding.aspect] if finding.aspect is not None else ""


MAX_ADDRESSES = 3  # named beside a cause; the others are counted


@dataclass(frozen=True, slots=True)
class ReportedCause:
    """A cause, the records that drift because of it, and who is probably wrong."""

    cause: Cause
    records: tuple[ReportedRecord, ...]
    """By address. A record with several causes is listed under each."""
    party: str
    """Who is probably wrong, by most of the records; or empty."""
    party_reason: str
    """The reason for that, if it is the same for all records; or empty."""
    is_same_as_previous: bool = False
    """Whether the previous cause of the list has the same records: one change is probably behind both causes."""

    @property
    def since(self) -> date | None:
        """The first day of the drift that has gone on longest; None if no record has one."""
        return min((record.since for record in self.records if record.since is not None), default=None)

    @property
    def extent(self) -> str:
        """On how much the cause shows: `12 records on 3 endpoints`, or `1 record on 2 of 28 endpoints: …`."""
        records = format_count(len(self.records), "record")
        if len(self.records) == 1:
            endpoints = describe_endpoints(self.cause.endpoints, self.records[0].result)
        elif self.cause.endpoints:
            endpoints = f"on {format_count(len(self.cause.endpoints), 'endpoint')}"
        else:
            endpoints = ""
        return f"{records} {endpoints}".strip()

    @property
    def place(self) -> str:
        """The first endpoint that shows it, and how many others do: `messages/create_message and 2 more`."""
        if not self.cause.endpoints:
            return ""
        first, *others = map(shorten_endpoint, self.cause.endpoints)
        return f"{first} and {len(others)} more" if others else first

    @property
    def client_effect(self) -> str:
        """What changes for a client: `code that branches on the status takes another path; retry: no → unknown`."""
        finding = self.cause.shown_finding
        return "; ".join(filter(None, (describe_client_effect(finding), self._retry_effect(finding))))

    def _retry_effect(self, finding: Finding) -> str:
        """Return how the decision to send again changes: `retry: no → unknown`; empty if it does not.

        Clients obey `x-should-retry` before the status (2:7.1). Else an undocumented answer leaves a client its status.
        """
        if finding.aspect is Aspect.HEADER and finding.location.endswith("should-retry"):
            words = {"true": "yes", "false": "no"}
            before, after = (words.get(str(value), "by the status") for value in (finding.documented, finding.observed))
            return f"retry: {before} → {after}" if before != after else ""
        if finding.aspect is Aspect.HEADER and "retry-after" in finding.location:
            return "wait: as the header says → a guess of the client" if observed_class(finding) == ABSENT else ""
        if finding.code != FindingCode.STATUS_DIFFERS or not isinstance(finding.observed, int):
            return ""
        documented = {
            advise_for_record(record.result.parsed_record).may
            for record in self.records
            if record.result.address.kind == "errors" and record.provider in providers()
        }
        observed = advise_for_status(finding.observed, self.cause.provider).may if documented else ""
        before = " or ".join(sorted(documented))
        return f"retry: {before} → {observed}" if documented and documented != {observed} else ""

    @property
    def label(self) -> str:
        """The label of the exchanges that show it, if all records have the same; else empty."""
        labels = {drift.finding.label for drift in self.cause.drifts}
        return labels.pop() if len(labels) == 1 else ""

    @property
    def acceptance_terms(self) -> str:
        """The reason for which it is accepted and the day of its review; empty if it is not accepted."""
        terms = set()
        for record in self.records:
            if run_verdict.is_accepted(record.result):
                reason = run_verdict.acceptance_field(record.result, "reason")
                review_by = run_verdict.acceptance_field(record.result, "review_by")
                terms.add(f"{reason}; review by {review_by}" if review_by else reason)
        return "; or ".join(sorted(filter(None, terms)))

    @property
    def addresses(self) -> str:
        """The first addresses, and how many more there are."""
        addresses = ", ".join(record.address for record in self.records[:MAX_ADDRESSES])
        hidden = len(self.records) - MAX_ADDRESSES
        return f"{addresses} and {hidden} more" if hidden > 0 else addresses


def report_causes(records: Sequence[ReportedRecord], attributor: Attributor) -> tuple[ReportedCause, ...]:
    """Find the causes behind these records; that of the most records comes first."""
    record_by_address = {record.address: record for record in records}
    causes = find_causes(record.result for record in records)
    reported = []
    previous_addresses: tuple[str, ...] = ()
    for cause in causes:
        drifted_records = tuple(record_by_address[address] for address in cause.records)
        attributions = [
            attribution for record in drifted_records if (attribution := attributor.attribute(record)) is not None
        ]
        counts = Counter(attribution.party for attribution in attributions)
        # If two parties have equally many records, the later one in the alphabet is shown. The rule means nothing, but
        # with it the order of the records does not matter.
        party = max(counts, key=lambda name: (counts[name], name), default="")
        reasons = {attribution.reason for attribution in attributions}
        party_reason = reasons.pop() if len(reasons) == 1 else ""
        is_same = cause.records == previous_addresses
        reported.append(ReportedCause(cause, drifted_records, party, party_reason, is_same))
        previous_addresses = cause.records
    return tuple(reported)


def list_providers(causes: Sequence[ReportedCause]) -> list[str]:
    """Return the providers of these causes, sorted."""
    return sorted({cause.cause.provider for cause in causes})


def format_cause_heading(title: str, record_count: int, cause_count: int) -> str:
    """Return `Regressed (41 records, 4 causes)`."""
    return f"{title} ({format_count(record_count, 'record')}, {format_count(cause_count, 'cause')})"
