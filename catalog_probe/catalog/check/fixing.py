"""Fix what can be fixed without a decision: missing nulls, void evidence, wrong tags, canonical form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.check import assertion_checks
from catalog_probe.catalog.check.record_checks import CheckContext, is_malformed
from catalog_probe.catalog.check.validate import canonical_texts
from catalog_probe.catalog.files.store import RECORDS, Catalog
from catalog_probe.catalog.model import Record
from catalog_probe.catalog.model.errors import display_path
from catalog_probe.catalog.model.record import EVIDENCE_VERSION
from catalog_probe.catalog.observed import confirmation_fields, confirmed_keys, record_digest, unconfirmed_since
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.writeback.writing import list_missing_nullable_fields, lock_folder, write_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from catalog_probe.catalog.model import Json
    from catalog_probe.catalog.model.assertion import Assertion


def fix_records(root: Path = RECORDS) -> list[str]:
    """Rewrite each readable file as it should be, and return a line for each change.

    Missing fields that may be null become null, evidence for edited statements is removed, tags follow from the data,
    and each file gets its canonical form.
    """
    with lock_folder(root):
        catalog, _ = Catalog.load_readable(root)
        changes: list[str] = []
        completed = [_add_nulls(record, changes) for record in catalog.records]
        files = {record.address: catalog.file_of(record.address) for record in completed}
        context = CheckContext(Catalog(root, completed, files), frozenset(), shipped=False)
        records = [_fix_record(record, context, changes) for record in completed]
        for path, text in canonical_texts(Catalog(root, records, files)):
            if write_text(path, text):
                changes.append(f"{display_path(path)}: put in canonical form")
        return changes


def _add_nulls(record: Record, changes: list[str]) -> Record:
    missing = list_missing_nullable_fields(record.data, record.kind)
    if not missing:
        return record
    changes.append(f"{record.address}: {', '.join(missing)} became null")
    return Record(record.address, {**record.data, **dict.fromkeys(missing)})


def _fix_record(record: Record, context: CheckContext, changes: list[str]) -> Record:
    """Remove void evidence and correct the tags, unless the record is malformed."""
    if is_malformed(record, context):
        return record
    try:
        own_assertions = assertions(record, context.find_sound)
    except KeyError:  # names a malformed record, which `check` reports
        return record
    if assertion_checks.is_void(record, own_assertions):
        record = _remove_void_evidence(record, own_assertions)
        changes.append(f"{record.address}: removed evidence for statements that were changed since")
    if not any(assertion_checks.wrong_tags(record, own_assertions)):
        return record
    tags = assertion_checks.derived_tags(record, own_assertions)
    changes.append(f"{record.address}: {', '.join(record.data['status'])} became {', '.join(tags)}")
    return Record(record.address, {**record.data, "status": tags})


def _remove_void_evidence(record: Record, own_assertions: Sequence[Assertion]) -> Record:
    """Remove the evidence except what outlives an edit: confirmations, and the day of a restriction."""
    data = dict(record.data)
    evidence = data.pop("evidence")
    confirmed = confirmed_keys(record, own_assertions)
    kept: dict[str, Json] = confirmation_fields(own_assertions, confirmed, unconfirmed_since(record, own_assertions))
    if "restricted_on" in evidence:
        kept["restricted_on"] = evidence["restricted_on"]
    if kept:
        data["evidence"] = {
            "schema_version": EVIDENCE_VERSION,
            "statements": record_digest(own_assertions),
            "endpoints": {},
            **kept,
        }
    return Record(record.address, data)
