"""Parse the fields of an error record: its HTTP status, its classification, and the advice on a retry."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json, Record

STREAM_START_STATUS: Mapping[str, int] = MappingProxyType({"sse": 200, "websocket": 101})
"""Protocol -> the HTTP status with which a stream begins, even if an error follows; gRPC has none that matters."""


@dataclass(frozen=True, slots=True)
class DocumentedStatus:
    """The parsed `http_status` (1:2.2): one status, a group (`502/503/504/529`), a class (`4xx`), or none."""

    members: tuple[int, ...] = ()
    """One status, or those of a group."""
    hundreds: int | None = None
    """4 if the documents say only `4xx`."""


def documented_status(record: Record) -> DocumentedStatus:
    """Parse the status of an error record; of a streamed error it is the status that the body repeats, if any."""
    status: Json = record.data.get("http_status")
    if isinstance(status, int):
        return DocumentedStatus((status,))
    if not isinstance(status, str):
        return DocumentedStatus()
    if status.endswith("xx"):
        return DocumentedStatus(hundreds=int(status[0]))
    return DocumentedStatus(tuple(int(part) for part in status.split("/")))


@dataclass(frozen=True, slots=True)
class Classification:
    """The names of an error (1:2.2), even if its surface does not carry them; empty if the documents give none."""

    type: str = ""
    code: str = ""
    category: str = ""

    @property
    def is_permission(self) -> bool:
        """Whether the account may not do what it asked for."""
        return self.category in ("permission", "auth")

    @property
    def is_of_the_key(self) -> bool:
        """Whether the key is not valid."""
        return self.category == "authentication"


def classification(record: Record) -> Classification:
    """Return the names of an error record."""
    return Classification(*(record.data.get(field) or "" for field in ("type", "code", "category")))


def own_row(record: Record) -> str:
    """Return the row that an error record was transcribed from: the first that it cites.

    Two records with the same row describe the same fault.
    """
    return str(record.data.get("source") or record.address).partition("; ")[0]


@dataclass(frozen=True, slots=True)
class RetryAdvice:
    """The advice on whether and when to send the request again (1:2.2).

    It is documented, but for an action without a source, which is ours.
    """

    helps: bool | None = None
    """Whether a retry can help; None if the documents do not say, or if it depends."""
    depends: str = ""
    """What it depends on, in the documents' words: `conditional`, `poll`, `n/a`."""
    backoff: str = ""
    """How long to wait, in words."""
    action: str = ""
    """What a client should do."""
    action_source: str = ""
    """The rows that give the action, e.g. `2:7.2#chat_not_found`; empty if the action is our own advice."""

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
        action_source=record.data.get("action_source") or "",
    )


def label_action(action: str, source: str) -> tuple[str, str]:
    """Return a label and a text for an action: documented with its rows, or our own advice without any.

    >>> label_action("Poll.", "2:7.6#202 deferred result not ready")
    ('what to do', 'Poll. (2:7.6#202 deferred result not ready)')
    >>> label_action("Use another key.", "")
    ('our advice', 'Use another key.')
    """
    return ("what to do", f"{action} ({source})") if source else ("our advice", action)
