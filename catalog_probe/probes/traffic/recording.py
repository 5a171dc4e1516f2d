"""Recordings: what a file of traffic contains, before names are translated and secrets hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from catalog_probe.catalog.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from catalog_probe.catalog.model import Exchange

T = TypeVar("T")


class TrafficError(UserError):
    """A recording that cannot be used."""


@dataclass(frozen=True, slots=True)
class RecordedAttempt:
    """One exchange of another client, or all exchanges of one attempt of ours, in order.

    What the recording does not say is empty: a published answer has no request, and often no time.
    """

    location: str
    """The file and the position in it, for a person: `night.har, entry 12`."""
    exchanges: tuple[Exchange, ...]
    """As they were on the wire: names are the provider's own, and nothing is hidden yet."""
    at: str = ""
    """When the request was sent, RFC 3339."""
    provider: str = ""
    """The provider, if the recording names it."""
    record: str = ""
    """The address of the record that it was a probe of; only in a run of ours."""
    headers_complete: bool | None = None
    """Whether all headers of the answer were kept; None if the recording does not say."""
    unusable_reason: str = ""
    """Why the answer is no evidence: its body was not kept, or a cache gave it. Empty if it is."""

    def __post_init__(self) -> None:
        """Raise a TrafficError if a request URL cannot be parsed, because later code parses it without a check."""
        for exchange in self.exchanges:
            try:
                urlsplit(exchange.request.url)
            except ValueError:
                what = f"{self.location}: request.url is no address"  # not quoted: it may hold a key
                raise TrafficError(what, "record it again, or leave it out") from None


@dataclass(frozen=True, slots=True)
class Recording:
    """The content of one file."""

    name: str
    attempts: tuple[RecordedAttempt, ...]
    unreadable: tuple[str, ...] = ()
    """A line with its position for each part that cannot be read."""
    is_from_mock: bool = False
    """Whether the recording itself says that no provider was asked."""


def read_parts(name: str, parts: Iterable[T], read: Callable[[T], Iterable[RecordedAttempt]]) -> Recording:
    """Read a recording part by part; a part that cannot be read is listed, and the others are used.

    Raises:
        TrafficError: no part can be read.
    """
    attempts: list[RecordedAttempt] = []
    unreadable: list[str] = []
    for part in parts:
        try:
            attempts += read(part)
        except UserError as error:
            unreadable.append(str(error))
    if unreadable and not attempts:
        raise TrafficError(unreadable[0])
    return Recording(name, tuple(attempts), tuple(unreadable))
