"""Whether a verdict rests on a part of what its record states: then "verified" would claim too much. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import FindingCode

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

LEFT_OUT = "not-shown"
"""Why a header was not seen that may be absent: nothing is missing there."""


def in_part(result: Result) -> bool:
    """Whether something that the record states was looked for and seen nowhere, or was not looked for at all.

    What was not drawn tonight is no part of tonight.
    """
    if any(finding.code == FindingCode.NOT_LOOKED_AT for finding in result.findings):
        return True
    shown = {f"{look.label}/{key}" for look in result.looks for key in (*look.as_stated, *look.otherwise)}
    return any(
        f"{look.label}/{key}" not in shown and why != LEFT_OUT
        for look in result.looks
        for key, why in look.unseen.items()
    )
