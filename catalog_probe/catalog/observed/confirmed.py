"""Which statements of a record some live run has confirmed, and since when the others are observed.

Evidence is void once a record's statements are edited. This outlives an edit, statement by statement: a statement that
was confirmed once is not new because its neighbour was corrected. In `evidence`, `confirmed` names statements by a
digest each, and `unconfirmed` has the day of the first observation of each that no live run has confirmed.
"""

from __future__ import annotations

import hashlib
import json
from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.assertion import Basis

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.model.assertion import Assertion

DIGEST_LENGTH = 6
"""Of a statement's digest: a record has some dozen statements."""


def statement_digest(assertion: Assertion) -> str:
    """A name for one statement, value and alternatives included: an edit of it makes it another."""
    told = [str(assertion.key), assertion.documented, list(assertion.alternatives)]
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def confirmed_keys(record: Record, stated: Iterable[Assertion]) -> frozenset[str]:
    """List the keys of what the record states now and some live run has confirmed."""
    named = frozenset(_block(record).get("confirmed", "").split())
    return frozenset(str(each.key) for each in stated if named and statement_digest(each) in named)


def unconfirmed_since(record: Record, stated: Iterable[Assertion]) -> dict[str, date]:
    """First observation per key, for keys of what the record states now that no live run has confirmed."""
    unconfirmed = _block(record).get("unconfirmed", {})
    return {
        str(each.key): date.fromisoformat(unconfirmed[str(each.key)]["since"])
        for each in stated
        if str(each.key) in unconfirmed and unconfirmed[str(each.key)]["statement"] == statement_digest(each)
    }


def confirmation_fields(
    stated: Iterable[Assertion], confirmed: Collection[str], unconfirmed: Mapping[str, date]
) -> dict[str, Json]:
    """`confirmed` and `unconfirmed` as a record holds them; each is left out if it is empty."""
    documented = [each for each in stated if each.basis is Basis.DOCUMENTED]
    named = sorted({statement_digest(each) for each in documented if str(each.key) in confirmed})
    waiting = {
        str(each.key): {"since": unconfirmed[str(each.key)].isoformat(), "statement": statement_digest(each)}
        for each in documented
        if str(each.key) in unconfirmed and str(each.key) not in confirmed
    }
    return {**({"confirmed": " ".join(named)} if named else {}), **({"unconfirmed": waiting} if waiting else {})}


def _block(record: Record) -> Mapping[str, Json]:
    block = record.data.get("evidence")
    return block if isinstance(block, dict) else {}
