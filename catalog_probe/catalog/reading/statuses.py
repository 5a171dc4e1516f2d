"""The HTTP status that an error record documents: one, a group (`502/503/504/529`), a class (`4xx`), or none."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json, Record

STREAM_START_STATUS: Mapping[str, int] = MappingProxyType({"sse": 200, "websocket": 101})
"""The HTTP status with which a stream begins, whatever it carries later; gRPC has none that matters."""


@dataclass(frozen=True, slots=True)
class DocumentedStatus:
    """What `http_status` of an error record says (1:2.2)."""

    members: tuple[int, ...] = ()
    """One status, or those of a group: each of them is looked at. Empty where the documents give none."""
    hundreds: int | None = None
    """4 where the documents say only `4xx`."""


def documented_status(record: Record) -> DocumentedStatus:
    """The status of an error record; of a streamed one, the status that its envelope repeats, if any."""
    written: Json = record.data.get("http_status")
    if isinstance(written, int):
        return DocumentedStatus((written,))
    if not isinstance(written, str):
        return DocumentedStatus()
    if written.endswith("xx"):
        return DocumentedStatus(hundreds=int(written[0]))
    return DocumentedStatus(tuple(int(part) for part in written.split("/")))
