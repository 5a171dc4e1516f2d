"""Whether a verdict rests on a part of what its record states: then "verified" would claim too much. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import FindingCode

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

OPTIONAL_HEADER_ABSENT = "not-shown"
"""Why a header was not seen that may be absent: nothing is missing there."""


def is_partial(result: Result) -> bool:
    """Whether something that the record states was looked for and seen nowhere, or was not looked for at all.

    What was not drawn tonight is no part of tonight.
    """
    if any(finding.code == FindingCode.NOT_OBSERVED for finding in result.findings):
        return True
    shown = {
        f"{observation.label}/{key}"
        for observation in result.observations
        for key in (*observation.matched, *observation.mismatched)
    }
    return any(
        f"{observation.label}/{key}" not in shown and why != OPTIONAL_HEADER_ABSENT
        for observation in result.observations
        for key, why in observation.not_observed.items()
    )
