"""The documented faults as a client sees them, and the table of how clients handle them: `clients/faults.tsv`.

A fault is what an answer shows: the status with the type and code of the envelope, the event that ends a stream, the
close of a WebSocket, or the gRPC status. Records that show the same are one fault. An answer with 200 is no fault.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog.reading.expectations import expectations
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.reading.expectations import Expected

TABLE = Path(__file__).parents[1] / "system" / "clients" / "faults.tsv"
COLUMNS = ("provider", "fault", "client", "key", "asks", "suffers", "raises", "attempts", "mutant")
PROVIDERS = ("pa", "pb", "pc", "pd")


@dataclass(frozen=True)
class ClientFault:
    """One row: a documented fault, how a client handles it, and the mutant that the client would notice."""

    provider: str
    fault: str
    client: str
    key: str
    """A key of the mock, `none`, or a whole `Authorization` header such as `Bearer unknown`."""
    asks: str
    """`METHOD PATH [JSON]`, with JSON to set in the smallest request; requests before it come with ` -> `."""
    suffers: str
    """Scenarios of the mock that cause the fault."""
    raises: str
    """The class that the client raises; empty if it passes an event on."""
    attempts: str
    """Number of requests, and the waits that the answers ask for: `3 after 7 7`; empty for WebSockets."""
    mutant: str
    """The mutant of the mock that the row kills; or `no: ` and the reason, if no record could notice one."""

    @property
    def id(self) -> str:
        return f"{self.provider}-{self.fault}-{self.client}".replace(" ", "-")


@cache
def read_table() -> tuple[ClientFault, ...]:
    """The rows, in their order."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    assert tuple(header) == COLUMNS, header
    return tuple(ClientFault(*row) for row in rows)


@cache
def find_documented_faults() -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the records of each (provider, fault)."""
    addresses: dict[tuple[str, str], list[str]] = {}
    for provider in PROVIDERS:
        for record in catalog().select(provider=provider, kind="errors"):
            for expected in expectations(record, catalog().__getitem__):
                for fault in _visible_faults(expected, record.surface or ""):
                    addresses.setdefault((provider, fault), []).append(str(record.address))
    return {fault: tuple(dict.fromkeys(records)) for fault, records in addresses.items()}


def _visible_faults(expected: Expected, surface: str) -> Iterator[str]:
    """Yield the fault that this answer shows, if it shows one."""
    stream = expected.stream
    names = [str(expected.wire[name] or "null") for name in ("type", "code") if name in expected.wire]
    if stream is None:
        if surface != "client" and (expected.status or 0) >= 400:
            suffix = "*" if surface == "any" else ""  # the documents show no body
            yield " ".join([f"{expected.status}{suffix}", *names])
    elif stream.grpc_status is not None:
        yield f"grpc {stream.grpc_status}"
    elif stream.close_code is not None:
        yield " ".join(filter(None, [stream.event, "closed" if stream.close_clean else "cut"]))
    elif stream.event is not None and stream.event != "response.incomplete":
        yield " ".join([stream.event, *names])
