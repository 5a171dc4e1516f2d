"""Partial verdicts: parts of the record were not observed, so "verified" would claim too much. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import FindingCode

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

OPTIONAL_HEADER_ABSENT = "not-shown"  # reason code of the judge: the header may be absent, so nothing is missing


def is_partial(result: Result) -> bool:
    """Whether some assertion of the record was not observed on any endpoint that this run drew."""
    if any(finding.code == FindingCode.NOT_OBSERVED for finding in result.findings):
        return True
    observed = {
        f"{observation.label}/{key}"
        for observation in result.observations
        for key in (*observation.matched, *observation.mismatched)
    }
    return any(
        f"{observation.label}/{key}" not in observed and reason != OPTIONAL_HEADER_ABSENT
        for observation in result.observations
        for key, reason in observation.not_observed.items()
    )
