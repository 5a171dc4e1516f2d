"""Error tables: a row describes the refusal of one fault, and makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

# The sources of rows that no section of the documents states.
CLIENTS = "official clients send or read it"
OURS = "the documents are silent; the mock's choice"

ENVELOPE = "envelope"  # the usual shape of a provider's error body (2:7.1)


@dataclass(frozen=True)
class ErrorRow:
    """A row of a provider's error table.

    Args:
        section: the section of the documents, or `CLIENTS` or `OURS`.
        message: a format string, whose values the call gives.
        type: the error's type, or the status name of an RPC-style envelope.
        param: the field that the error names.
        headers: the headers of every refusal of this row.
        shape: the shape of the body (2:7.1).
    """

    section: str
    status: int
    message: str = ""
    type: str | None = None
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    shape: str = ENVELOPE

    def with_message(self, message: str, *, param: str | None = None, shape: str | None = None) -> ErrorRow:
        """Return the row of a fault that differs in its message only."""
        return replace(self, message=message, param=param or self.param, shape=shape or self.shape)

    def __call__(
        self,
        *,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
        **values: object,
    ) -> Refusal:
        """Make the refusal of one request.

        `values` fill in the message; `extra` are further members of the body.
        """
        message, all_headers = self.message.format(**values), {**self.headers, **(headers or {})}
        return Refusal(self, message, param or self.param, all_headers, extra)


class Refusal(Exception):
    """The refusal of a request by a row; the gateway turns it into a response."""

    def __init__(
        self,
        row: ErrorRow,
        message: str,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.row = row
        self.message = message
        self.param = param
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})
