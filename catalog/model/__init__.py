"""The words that all others use: records and addresses, exchanges, findings, outcomes."""

from catalog.model.address import KINDS, RATE_LIMIT_FAMILY, Address
from catalog.model.exchange import Attempt, Close, Event, Exchange, GrpcStatus, Request, Response
from catalog.model.finding import Aspect, Finding, Severity
from catalog.model.json_value import Json
from catalog.model.outcome import LedgerState, Outcome, Reason
from catalog.model.record import Record, Tag

__all__ = [
    "KINDS",
    "RATE_LIMIT_FAMILY",
    "Address",
    "Aspect",
    "Attempt",
    "Close",
    "Event",
    "Exchange",
    "Finding",
    "GrpcStatus",
    "Json",
    "LedgerState",
    "Outcome",
    "Reason",
    "Record",
    "Request",
    "Response",
    "Severity",
    "Tag",
]
