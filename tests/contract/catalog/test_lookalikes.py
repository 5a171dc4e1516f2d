"""`indistinguishable_from` lists exactly the records whose documented answers look the same."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest

from catalog.model import Record
from catalog.reading.schemas import envelope_id, schemas
from catalog.reading.store import Catalog

ERRORS = [record for record in Catalog.load().select(kind="errors") if record.surface != "client"]


def look(record: Record) -> str:
    """All that the documents say of the answer itself; headers are left out, an edge may add or drop them."""
    data = record.data
    wire = schemas()[envelope_id(str(record.surface))]["x-wire"]
    aspects = {name: data.get(name) for name in ("type", "code", "param") if name in wire}
    pattern = data.get("message_pattern", {}).get("pattern")
    return json.dumps([record.provider, record.surface, data["http_status"], aspects, pattern,
                       data.get("fields"), data.get("stream")], sort_keys=True)  # fmt: skip


ALIKE: dict[str, set[str]] = defaultdict(set)
for each in ERRORS:
    ALIKE[look(each)].add(str(each.address))


@pytest.mark.parametrize("record", ERRORS, ids=lambda record: str(record.address))
def test_lookalikes_are_listed(record: Record) -> None:
    listed = record.data.get("indistinguishable_from", [])
    assert set(listed) == ALIKE[look(record)] - {str(record.address)}
