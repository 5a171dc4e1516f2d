"""What nobody looked at though the record states it, and why: told, and no part of the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.model import Aspect, Finding, Severity
from catalog.model.codes import FindingCode

if TYPE_CHECKING:
    from catalog.model import Reason


def not_looked_at(label: str, reason: Reason, endpoint: str = "") -> Finding:
    """A label, or one on an endpoint; `endpoint` is the address."""
    where = f"{label} on {endpoint}" if label and endpoint else label or endpoint
    return Finding(
        code=FindingCode.NOT_LOOKED_AT,
        aspect=Aspect.STATE,
        severity=Severity.INFO,
        message=f"{where}: {reason.code}: {reason.detail}",
        label=label,
        at=label,
        observed=reason.code,
        endpoints=(endpoint,) if endpoint else (),
    )
