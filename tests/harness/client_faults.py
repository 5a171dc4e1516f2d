"""The documented faults as a client sees them, and the table of how each is met: `tests/system/clients/faults.tsv`.

A fault is what an answer shows of itself: the status, with the type and code that its envelope carries; the event that
ends a stream; how a socket closes; the gRPC status. Records that show the same are one fault to a client. What is
answered 200 is none.
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

    from catalog_probe.catalog.reading.expected import Expected

TABLE = Path(__file__).parents[1] / "system" / "clients" / "faults.tsv"
COLUMNS = ("provider", "fault", "client", "key", "asks", "suffers", "raises", "attempts", "mutant")
PROVIDERS = ("pa", "pb", "pc", "pd")


@dataclass(frozen=True)
class ClientFault:
    """One row: a documented fault, how a client meets it, and the mutant that its client would notice."""

    provider: str
    fault: str
    client: str
    key: str
    """A key of the mock, `none`, or a whole `Authorization` header such as `Bearer unknown`."""
    asks: str
    """`METHOD PATH [JSON]`, the JSON set in the smallest such request; earlier requests stand before ` -> `."""
    suffers: str
    """Causes, as the mock's addresses have them."""
    raises: str
    """The class that the client raises; nothing where it hands an event on."""
    attempts: str
    """How often it asks, and how long it waits where it is told to: `3 after 7 7`; nothing of what has a socket."""
    mutant: str
    """The mutant of the mock that the row kills; `no: ` and why, where no record could notice one."""

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
    """(provider, fault) -> the records that state it."""
    found: dict[tuple[str, str], list[str]] = {}
    for provider in PROVIDERS:
        for record in catalog().select(provider=provider, kind="errors"):
            for expected in expectations(record, catalog().__getitem__):
                for fault in _visible_faults(expected, record.surface or ""):
                    found.setdefault((provider, fault), []).append(str(record.address))
    return {fault: tuple(dict.fromkeys(records)) for fault, records in found.items()}


def _visible_faults(expected: Expected, surface: str) -> Iterator[str]:
    """What this answer shows, or nothing where it is none, or no fault."""
    stream = expected.stream
    shown = [str(expected.wire[name] or "null") for name in ("type", "code") if name in expected.wire]
    if stream is None:
        if surface != "client" and (expected.status or 0) >= 400:
            rest = "*" if surface == "any" else ""  # the documents show nothing of the body
            yield " ".join([f"{expected.status}{rest}", *shown])
    elif stream.grpc_status is not None:
        yield f"grpc {stream.grpc_status}"
    elif stream.close_code is not None:
        yield " ".join(filter(None, [stream.event, "closed" if stream.close_clean else "cut"]))
    elif stream.event is not None and stream.event != "response.incomplete":
        yield " ".join([stream.event, *shown])
