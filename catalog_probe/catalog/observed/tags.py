"""Derive the one tag that a record's evidence justifies: LIVE_VERIFIED or UNVERIFIED."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Tag
from catalog_probe.catalog.model.assertion import Basis

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.observed.cells import Cell, Cells


def tag_by_evidence(assertions: Iterable[Assertion], cells: Cells, *, expired: bool = False) -> Tag:
    """Derive the tag of a record from the evidence of its assertions.

    LIVE_VERIFIED: nothing differs, the evidence has not expired, and each documented assertion that a client can reach
    and that is not optional matched on some endpoint; at least one documented assertion matched. If none is in reach,
    all documented ones must have matched. Else UNVERIFIED: no live run has confirmed the record.
    """
    assertions = tuple(assertions)
    assertion_by_key = {str(assertion.key): assertion for assertion in assertions}
    documented = [assertion for assertion in assertions if assertion.basis is Basis.DOCUMENTED]
    required = {str(assertion.key) for assertion in reachable(documented) if not assertion.optional}
    matched = {key for (_, key), cell in cells.items() if cell.on is not None and not cell.mismatch}
    is_contradicted = any(
        key in assertion_by_key and contradicts(assertion_by_key[key], cell) for (_, key), cell in cells.items()
    )
    is_confirmed = required <= matched and any(str(assertion.key) in matched for assertion in documented)
    return Tag.LIVE_VERIFIED if is_confirmed and not is_contradicted and not expired else Tag.UNVERIFIED


def reachable(documented: list[Assertion]) -> list[Assertion]:
    """List the documented assertions that a client can reach, or all of them if it can reach none."""
    return [assertion for assertion in documented if not assertion.out_of_reach] or documented


def contradicts(assertion: Assertion, cell: Cell) -> bool:
    """Whether an observation contradicts the documents; a wrong assumption of ours does not."""
    if not cell.mismatch:
        return False
    if assertion.basis is Basis.DOCUMENTED or is_opposite_outcome(assertion, cell.mismatch):
        return True
    return assertion.is_only_location_assumed and cell.mismatch != "absent"


def is_opposite_outcome(assertion: Assertion, observed: str) -> bool:
    """Whether a refusal was observed for a success, or the reverse: that is drift even if the status is assumed."""
    status = assertion.documented
    if assertion.key.local_key != "status" or not isinstance(status, int) or not observed.isdecimal():
        return False
    return (int(observed) < 400) != (status < 400)
