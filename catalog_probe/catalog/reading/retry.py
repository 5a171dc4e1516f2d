"""The advice of an error record on whether and when to send the request again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Record


@dataclass(frozen=True, slots=True)
class RetryAdvice:
    """The documented advice (1:2.2)."""

    helps: bool | None = None
    """Whether a retry can help; None if the documents do not say, or if it depends."""
    depends: str = ""
    """What it depends on, in the documents' words: `conditional`, `poll`, `n/a`."""
    backoff: str = ""
    """How long to wait, in words."""
    action: str = ""
    """What a client should do."""

    @property
    def in_words(self) -> str:
        """Whether a retry helps, for a person."""
        return self.depends or {True: "yes", False: "no", None: "not said"}[self.helps]


def retry_advice(record: Record) -> RetryAdvice:
    """Return the advice of an error record."""
    helps = record.data.get("retryable")
    return RetryAdvice(
        helps=helps if isinstance(helps, bool) else None,
        depends=helps if isinstance(helps, str) else "",
        backoff=record.data.get("backoff") or "",
        action=record.data.get("recommended_action") or "",
    )
