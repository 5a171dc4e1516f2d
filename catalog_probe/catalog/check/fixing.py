"""Puts right what can be: required nulls, evidence that is void, tags that do not follow, canonical form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.check import assertion_checks
from catalog_probe.catalog.check.record_checks import CheckContext, is_malformed
from catalog_probe.catalog.check.validate import canonical_texts
from catalog_probe.catalog.files.store import RECORDS, Catalog
from catalog_probe.catalog.model import Record
from catalog_probe.catalog.model.errors import display_path
from catalog_probe.catalog.model.record import EVIDENCE_VERSION
from catalog_probe.catalog.observed.cells import statements_digest
from catalog_probe.catalog.observed.confirmed import confirmation_fields, confirmed_keys, unconfirmed_since
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.writeback.canonical_json import list_missing_nullable_fields
from catalog_probe.catalog.writeback.writing import lock_folder, write_text

if TYPE_CHECKING:
    from pathlib import Path


def fix_records(root: Path = RECORDS) -> list[str]:
    """Rewrite each readable file as it should be, and say in a line each what was mended.

    Fields that must be there and may be empty become null, evidence for statements that were edited since goes, tags
    follow from the data, and what is not in canonical form is put into it.
    """
    with lock_folder(root):
        catalog, _ = Catalog.load_readable(root)
        said: list[str] = []
        whole = [_with_its_nulls(record, said) for record in catalog.records]
        files = {record.address: catalog.file_of(record.address) for record in whole}
        scene = CheckContext(Catalog(root, whole, files), frozenset(), shipped=False)
        records = [_mended(record, scene, said) for record in whole]
        texts = canonical_texts(Catalog(root, records, files))
        return said + [f"{display_path(path)}: put in canonical form" for path, text in texts if write_text(path, text)]


def _with_its_nulls(record: Record, said: list[str]) -> Record:
    lacking = list_missing_nullable_fields(record.data, record.kind)
    if not lacking:
        return record
    said.append(f"{record.address}: {', '.join(lacking)} became null")
    return Record(record.address, {**record.data, **dict.fromkeys(lacking)})


def _mended(record: Record, scene: CheckContext, said: list[str]) -> Record:
    """The record without what is void; as it stands where its own form is not right."""
    if is_malformed(record, scene):
        return record
    made = assertions(record, scene.catalog.__getitem__)
    data = dict(record.data)
    if assertion_checks.is_void(record, made):
        del data["evidence"]
        kept = confirmation_fields(made, confirmed_keys(record, made), unconfirmed_since(record, made)) | {
            name: day for name, day in record.data["evidence"].items() if name == "restricted_on"
        }
        if kept:
            data["evidence"] = {
                "schema_version": EVIDENCE_VERSION,
                "statements": statements_digest(made),
                "endpoints": {},
                **kept,
            }
        said.append(f"{record.address}: removed evidence for statements that were changed since")
    sound = Record(record.address, data)
    if not any(assertion_checks.wrong_tags(sound, made)):
        return sound
    tags = assertion_checks.derived_tags(sound, made)
    said.append(f"{record.address}: {', '.join(record.data['status'])} became {', '.join(tags)}")
    return Record(record.address, {**data, "status": tags})
