"""The types that every other package uses: records and addresses, exchanges, findings, outcomes."""

from catalog_probe.catalog.model.exchange import Attempt, Close, Event, Exchange, GrpcStatus, Request, Response
from catalog_probe.catalog.model.outcome import AcceptanceState, Aspect, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.record import KINDS, RATE_LIMIT_FAMILY, Address, Record, Tag
from catalog_probe.catalog.text.json_values import Json

__all__ = [
    "KINDS",
    "RATE_LIMIT_FAMILY",
    "AcceptanceState",
    "Address",
    "Aspect",
    "Attempt",
    "Close",
    "Event",
    "Exchange",
    "Finding",
    "GrpcStatus",
    "Json",
    "Outcome",
    "Reason",
    "Record",
    "Request",
    "Response",
    "Severity",
    "Tag",
]
