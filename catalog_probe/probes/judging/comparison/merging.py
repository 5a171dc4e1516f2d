"""Merges the same difference on several endpoints into one finding that names them all."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.causes import observed_class
from catalog_probe.catalog.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model import Finding


def merge_findings(findings_by_endpoint: Iterable[tuple[str, Iterable[Finding]]]) -> tuple[Finding, ...]:
    """Return each difference once, as it was observed first, with all its endpoints.

    Two differences of one endpoint stay two, even if they look the same.
    """
    merged: dict[tuple[object, ...], Finding] = {}
    for endpoint, findings in findings_by_endpoint:
        occurrences: Counter[tuple[str, ...]] = Counter()
        for finding in findings:
            identity = _identify(finding)
            key = (*identity, occurrences[identity])
            occurrences[identity] += 1
            first = merged.setdefault(key, finding)
            if endpoint:
                merged[key] = replace(first, endpoints=(*first.endpoints, endpoint))
    return tuple(merged.values())


def _identify(finding: Finding) -> tuple[str, ...]:
    observed = finding.message if finding.severity is Severity.INFO else observed_class(finding)
    return finding.code, str(finding.severity), finding.label, finding.location, finding.assertion, observed
