"""The same difference on several endpoints is one finding that names them all."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.drift_identity import observed_class
from catalog_probe.catalog.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model import Finding

Sameness = tuple[str, str, str, str, str, str, int]


def merged(found: Iterable[tuple[str, Iterable[Finding]]]) -> tuple[Finding, ...]:
    """What was found on each endpoint, each difference once: as it was seen first, with the endpoints it was seen on.

    Two differences of one endpoint stay two, however alike.
    """
    together: dict[Sameness, Finding] = {}
    for endpoint, findings in found:
        alike: Counter[tuple[str, ...]] = Counter()
        for finding in findings:
            same = _sameness(finding)
            key = (*same, alike[same])
            alike[same] += 1
            first = together.setdefault(key, finding)
            if endpoint:
                together[key] = replace(first, endpoints=(*first.endpoints, endpoint))
    return tuple(together.values())


def _sameness(finding: Finding) -> tuple[str, str, str, str, str, str]:
    told = finding.severity is Severity.INFO
    seen = finding.message if told else observed_class(finding)
    return finding.code, str(finding.severity), finding.label, finding.location, finding.assertion, seen
