"""Leans on shipped records to which evidence was added, and asks what the answer is."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from catalog.model import Record
from catalog.reading.assertions import assertions
from catalog.reading.cells import statements_digest
from catalog.reading.store import Catalog
from catalog.rely.answered import Answered, answered
from catalog.rely.declared import MAX_AGE_DAYS, Declared, Leaning
from catalog.rely.selected import selected
from tests.harness.engines import catalog as shipped

TODAY = date(2026, 11, 30)
LIMIT = "pa/errors/general/rate_limit"
CREATE, COUNT = "pa/endpoints/messages/create_message", "pa/endpoints/messages/count_tokens"
RETRY = "answer/header:retry-after"


def seen(address: str, **lines: dict[str, Any]) -> Record:
    """A shipped record with evidence: a line an endpoint, `create` and `count` for short."""
    record = shipped()[address]
    stated = assertions(record, shipped().__getitem__)
    places = {"create": CREATE, "count": COUNT}
    block = {"of": statements_digest(stated), "seen": {places[name]: line for name, line in lines.items()}}
    return Record(record.address, {**record.data, "evidence": block})


def asked(leaning: Leaning, *records: Record, max_age_days: int = MAX_AGE_DAYS) -> Answered:
    changed = {record.address: record for record in records}
    catalog = Catalog(Path(), [changed.get(each.address, each) for each in shipped().records])
    declared = Declared((leaning,), max_age_days)
    [found] = answered(declared, selected(declared, catalog), TODAY)
    return found


RETRIES = Leaning((LIMIT,), ("answer/status", RETRY))
FRESH = {"on": "2026-11-20"}
DIFFERING = {"on": "2026-11-20", "differs": {"answer/status": "503"}}
OLD = {"on": "2026-01-01"}
