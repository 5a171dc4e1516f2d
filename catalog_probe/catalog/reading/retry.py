"""Whether a request may be sent again after an error, when, and what a client should do: as the documents say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Record


@dataclass(frozen=True, slots=True)
class RetryAdvice:
    """The advice of an error record (1:2.2)."""

    helps: bool | None = None
    """Whether sending it again can help; None where the documents do not say, or where it depends."""
    depends: str = ""
    """On what it depends, in the documents' words: `conditional`, `poll`, `n/a`."""
    backoff: str = ""
    """How long to wait before the next try, in words."""
    action: str = ""
    """What a client should do."""

    @property
    def in_words(self) -> str:
        """Whether it helps, for a person."""
        return self.depends or {True: "yes", False: "no", None: "not said"}[self.helps]


def retry_advice(record: Record) -> RetryAdvice:
    """What an error record says of sending the request again."""
    helps = record.data.get("retryable")
    return RetryAdvice(
        helps=helps if isinstance(helps, bool) else None,
        depends=helps if isinstance(helps, str) else "",
        backoff=record.data.get("backoff") or "",
        action=record.data.get("recommended_action") or "",
    )
