"""Which statements of a record any live night ever saw as documented, and since when the others are looked at.

Evidence is void once a record's statements are edited; this outlives an edit, statement by statement: what was once
seen to hold is not new because its neighbour was corrected. It stands in `evidence` beside what was last seen: `agreed`
names statements by a digest each, `looked` tells of those never seen to hold the first day on which somebody looked.
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

DIGITS = 6
"""Of a statement's digest: a record has some dozen statements."""


def digest_of(assertion: Assertion) -> str:
    """A name for one statement, value and alternatives included: an edit of it makes it another."""
    told = [str(assertion.key), assertion.documented, list(assertion.alternatives)]
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def confirmed_keys(record: Record, stated: Iterable[Assertion]) -> frozenset[str]:
    """The keys of what the record states now and some live night saw as stated."""
    named = frozenset(_block(record).get("agreed", "").split())
    return frozenset(str(each.key) for each in stated if named and digest_of(each) in named)


def unconfirmed_since(record: Record, stated: Iterable[Assertion]) -> dict[str, date]:
    """The first day on which somebody looked at what the record states now, of what was never seen as stated."""
    looked = _block(record).get("looked", {})
    return {
        str(each.key): date.fromisoformat(looked[str(each.key)]["on"])
        for each in stated
        if str(each.key) in looked and looked[str(each.key)]["of"] == digest_of(each)
    }


def as_kept(stated: Iterable[Assertion], agreed: Collection[str], looked: Mapping[str, date]) -> dict[str, Json]:
    """`agreed` and `looked` as they stand in the record, each left out where it is empty."""
    documented = [each for each in stated if each.basis is Basis.DOCUMENTED]
    named = sorted({digest_of(each) for each in documented if str(each.key) in agreed})
    waiting = {
        str(each.key): {"on": looked[str(each.key)].isoformat(), "of": digest_of(each)}
        for each in documented
        if str(each.key) in looked and str(each.key) not in agreed
    }
    return {**({"agreed": " ".join(named)} if named else {}), **({"looked": waiting} if waiting else {})}


def _block(record: Record) -> Mapping[str, Json]:
    block = record.data.get("evidence")
    return block if isinstance(block, dict) else {}
