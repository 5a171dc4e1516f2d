"""Read and build the lists of confirmed and unconfirmed statements in a record's evidence.

Other evidence is void once any statement of the record is edited. These lists outlive an edit, because each statement
has a digest of its own: `confirmed` lists the digests of statements that a live run has confirmed, `unconfirmed` has
the day of the first observation of each other statement.
"""

from __future__ import annotations

import hashlib
import json
from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.observed.cells import evidence_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.model.assertion import Assertion

DIGEST_LENGTH = 6
"""Hexadecimal digits of a statement's digest; a record has some dozen statements."""


def statement_digest(assertion: Assertion) -> str:
    """Return a digest of one statement, value and alternatives included."""
    statement = [str(assertion.key), assertion.documented, list(assertion.alternatives)]
    text = json.dumps(statement, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def confirmed_keys(record: Record, assertions: Iterable[Assertion]) -> frozenset[str]:
    """List the keys of the assertions that a live run has confirmed."""
    confirmed = frozenset(evidence_of(record).get("confirmed", "").split())
    if not confirmed:
        return frozenset()
    return frozenset(str(assertion.key) for assertion in assertions if statement_digest(assertion) in confirmed)


def unconfirmed_since(record: Record, assertions: Iterable[Assertion]) -> dict[str, date]:
    """Return the day of the first observation per key, for assertions that no live run has confirmed."""
    unconfirmed = evidence_of(record).get("unconfirmed", {})
    days: dict[str, date] = {}
    for assertion in assertions:
        entry = unconfirmed.get(str(assertion.key))
        if entry is not None and entry["statement"] == statement_digest(assertion):
            days[str(assertion.key)] = date.fromisoformat(entry["since"])
    return days


def confirmation_fields(
    assertions: Iterable[Assertion], confirmed: Collection[str], unconfirmed: Mapping[str, date]
) -> dict[str, Json]:
    """Build the fields `confirmed` and `unconfirmed` of the evidence; each is left out if it is empty."""
    digests: set[str] = set()
    entries: dict[str, Json] = {}
    for assertion in assertions:
        key = str(assertion.key)
        if assertion.basis is not Basis.DOCUMENTED:
            continue
        if key in confirmed:
            digests.add(statement_digest(assertion))
        elif key in unconfirmed:
            entries[key] = {"since": unconfirmed[key].isoformat(), "statement": statement_digest(assertion)}
    fields: dict[str, Json] = {}
    if digests:
        fields["confirmed"] = " ".join(sorted(digests))
    if entries:
        fields["unconfirmed"] = entries
    return fields
