"""Which tags follow from a record's evidence: LIVE_VERIFIED, UNVERIFIED, or neither of the two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Tag
from catalog_probe.catalog.model.assertion import Basis

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.observed.cells import Cell, Cells, Resolved


def tag_by_evidence(
    stated: Iterable[Assertion], cells: Cells, resolved: Mapping[str, Resolved], *, expired: bool = False
) -> Tag | None:
    """LIVE_VERIFIED where every documented assertion within reach was seen as stated on some endpoint and none differs.

    One documented assertion at least must have been seen. What may be absent need not have been there. A difference
    counts within reach or not: what nobody can bring about may come about. Where nothing documented is within reach,
    all that is documented must have been seen.
    Otherwise UNVERIFIED where one differs, the evidence has expired, or an assumption is unresolved; else neither: it
    is documented, and was never observed as a whole.
    """
    stated = tuple(stated)
    by_key = {str(each.key): each for each in stated}
    documented = [each for each in stated if each.basis is Basis.DOCUMENTED]
    within_reach = [each for each in documented if not each.out_of_reach]
    needed = {str(each.key) for each in within_reach or documented if not each.optional}
    differs = any(key in by_key and contradicts(by_key[key], cell) for (_, key), cell in cells.items())
    seen = {key for (_, key), cell in cells.items() if cell.on is not None and not cell.mismatch}
    shows_documented = any(str(each.key) in seen for each in documented)
    if shows_documented and needed <= seen and not differs and not expired:
        return Tag.LIVE_VERIFIED
    return Tag.UNVERIFIED if differs or expired or any(unresolved_assumptions(stated, resolved)) else None


def contradicts(assertion: Assertion, cell: Cell) -> bool:
    """Whether what was seen differs from what the documents say; what we assumed may turn out otherwise."""
    if not cell.mismatch:
        return False
    if assertion.basis is Basis.DOCUMENTED:
        return True
    return is_opposite_outcome(assertion, cell.mismatch) or (
        assertion.is_only_location_assumed and cell.mismatch != "absent"
    )


def is_opposite_outcome(assertion: Assertion, seen: str) -> bool:
    """Whether a refusal came for a success, or the other way round: that drifts, and resolves no assumed status."""
    status = assertion.documented
    if assertion.key.local_key != "status" or not isinstance(status, int) or not seen.isdecimal():
        return False
    return (int(seen) < 400) != (status < 400)


def unresolved_assumptions(stated: Iterable[Assertion], resolved: Mapping[str, Resolved]) -> Iterator[Assertion]:
    """What the record itself assumes and nobody has seen yet; what its surface assumes says nothing of the record."""
    for each in stated:
        if each.basis is Basis.ASSUMED and not each.from_envelope and str(each.key) not in resolved:
            yield each
