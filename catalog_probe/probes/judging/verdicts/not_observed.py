"""The finding that says what of a record was not observed, and why. It is no part of the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Finding, Severity
from catalog_probe.catalog.model.outcome import FindingCode

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Reason


def not_observed_finding(label: str, reason: Reason, *endpoints: str) -> Finding:
    """Return a finding for a label, on these endpoints if any; without a label, for all that the endpoints show."""
    endpoints_text = f"{len(endpoints)} endpoints" if len(endpoints) > 1 else "".join(endpoints)
    where = f"{label} on {endpoints_text}" if label and endpoints_text else label or endpoints_text
    return Finding(
        code=FindingCode.NOT_OBSERVED,
        aspect=Aspect.STATE,
        severity=Severity.INFO,
        message=f"{where}: {reason.code}: {reason.detail}",
        label=label,
        location=label,
        observed=reason.code,
        endpoints=endpoints,
    )
