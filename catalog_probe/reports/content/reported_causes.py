"""Causes as a report shows them: a change at a provider is shown once, however many records it affects."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.causes import Cause, find_causes
from catalog_probe.catalog.text.readable_text import format_count
from catalog_probe.reports.content.finding_endpoints import describe_endpoints

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from catalog_probe.reports.content.attribution import Attributor
    from catalog_probe.reports.content.reported_records import ReportedRecord

MAX_ADDRESSES = 3  # named beside a cause; the others are counted

# The message of most findings, and so the summary of most causes. It is taken apart again because a drift period of the
# history has the sentence alone.
_DIFFERENCE = re.compile(r"(.*?): documented (.*), observed (.*)", re.DOTALL)


class Difference(NamedTuple):
    """The parts of a summary."""

    subject: str
    documented: str
    observed: str


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
    """Whether the cause before it has the same records, so that one change is probably behind both."""

    @property
    def since(self) -> date | None:
        """The first day of the drift that has gone on longest; None if no record has one."""
        return min((record.since for record in self.records if record.since is not None), default=None)

    @property
    def difference(self) -> Difference | None:
        """The parts of its summary; None if that has another form."""
        return parse_summary(self.cause.summary)

    @property
    def extent(self) -> str:
        """`12 records on 3 endpoints`; for a single record, on which of all that it asked."""
        records = format_count(len(self.records), "record")
        if len(self.records) == 1:
            endpoints = describe_endpoints(self.cause.endpoints, self.records[0].result)
        elif self.cause.endpoints:
            endpoints = f"on {format_count(len(self.cause.endpoints), 'endpoint')}"
        else:
            endpoints = ""
        return f"{records} {endpoints}".strip()

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


def parse_summary(summary: str) -> Difference | None:
    """Return the parts of `status: documented 400, observed 500`; None if the summary has another form."""
    match = _DIFFERENCE.fullmatch(summary)
    return Difference(*match.groups()) if match else None


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
        # Of two parties with as many records the later in the alphabet: some rule, so that the order does not matter.
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
