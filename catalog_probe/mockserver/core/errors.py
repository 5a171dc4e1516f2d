"""Error tables: a row says what a refusal for one fault looks like, and is called to make the refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

ENVELOPE = "envelope"
"""The usual shape of a provider's error body (2:7.1)."""


@dataclass(frozen=True)
class ErrorRow:
    """A row of a provider's error table.

    Args:
        section: where the documents state it.
        status: the HTTP status.
        message: what the client reads; `{name}` is filled in by whoever refuses.
        type: the error's type, or the status name of an RPC-style envelope.
        code: the error's code.
        param: the field that the error names.
        headers: those that come with every refusal of this row.
        shape: which shape of the provider's bodies it has (2:7.1).
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
        """The row of one fault among those that share all else."""
        return replace(self, message=message, param=param or self.param, shape=shape or self.shape)

    def __call__(
        self,
        *,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
        **values: object,
    ) -> Refusal:
        """Make the refusal of one request: `values` fill in the message, `extra` goes beside the usual members."""
        message, all_headers = self.message.format(**values), {**self.headers, **(headers or {})}
        return Refusal(self, message, param or self.param, all_headers, extra)


class Refusal(Exception):
    """A request that is refused as a row says; the provider's gateway makes an answer of it."""

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
