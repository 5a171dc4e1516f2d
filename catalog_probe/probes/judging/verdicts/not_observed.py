"""What nobody looked at though the record states it, and why: told, and no part of the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Finding, Severity
from catalog_probe.catalog.model.codes import FindingCode

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Reason


def not_observed(label: str, reason: Reason, *endpoints: str) -> Finding:
    """A label, or one on some endpoints, or all that these would show; each by its address."""
    named = endpoints[0] if len(endpoints) == 1 else f"{len(endpoints)} endpoints" if endpoints else ""
    where = f"{label} on {named}" if label and named else label or named
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
