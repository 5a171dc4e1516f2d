"""The HTTP status that an error record documents: one, a group (`502/503/504/529`), a class (`4xx`), or none."""

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
    """The parsed `http_status` of an error record (1:2.2)."""

    members: tuple[int, ...] = ()
    """One status, or those of a group; empty if the documents give none."""
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
