"""What a recording has, and where in it: before names are translated and secrets hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from catalog_probe.catalog.model.errors import UserError
from catalog_probe.catalog.text.phrases import shorten

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange


class TrafficError(UserError):
    """A recording that cannot be used: one line saying which, where in it, and what to do."""


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """An exchange that somebody else made, or all of one attempt of ours, in order.

    What a recording does not tell is empty: a published answer has no request, and often no time.
    """

    where: str
    """The file and the place in it, for a person: `night.har, entry 12`."""
    exchanges: tuple[Exchange, ...]
    """As they were on the wire: names are the provider's own, and nothing is hidden yet."""
    at: str = ""
    """When the request was sent, RFC 3339."""
    provider: str = ""
    """The provider, where the recording names it."""
    record: str = ""
    """The address of the record as whose probe it was sent; of a run of ours alone."""
    headers_complete: bool | None = None
    """Whether all headers of the answer are there; None where the recording does not say."""
    of_no_use: str = ""
    """Why the answer is evidence of nothing, where that shows: its body was not kept, a cache gave it. Else empty."""

    def __post_init__(self) -> None:
        """Raises TrafficError: a request went to what is no address, and nobody further on can take it apart."""
        for each in self.exchanges:
            try:
                urlsplit(each.request.url)
            except ValueError:
                said = f"{self.where}: request.url is no address: {shorten(each.request.url, 60)!r}"
                raise TrafficError(said, "record it again, or leave it out") from None


@dataclass(frozen=True, slots=True)
class Recording:
    """What one file holds."""

    name: str
    recorded: tuple[RecordedExchange, ...]
    unreadable: tuple[str, ...] = ()
    """What of it cannot be read, each in one line with its place."""
    of_a_mock: bool = False
    """Whether it says of itself that no provider was asked."""
