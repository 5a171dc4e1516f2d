"""Spending: the answers to those who may spend no more (2:7.3 rows 400 and 429, 2:8.2)."""

from __future__ import annotations

from catalog_probe.mockserver.core.clock import next_month, rfc3339
from catalog_probe.mockserver.pa.auth.keys import Standing
from catalog_probe.mockserver.pa.errors import RATE_LIMIT, SPEND_CAP, PaError, invalid

CODING_ASSISTANT_RETRY_AFTER_S = 60


def refuse_spenders(standing: Standing, now: float, reached_at: float) -> None:
    """Raise the error that `standing` earns; every billable endpoint calls this.

    A tier's spend cap that was met at `reached_at` (seconds) is lifted when the next month begins (1:3, 2:8.2).
    """
    if standing is Standing.GOOD or (standing is Standing.SPEND_CAP and now >= next_month(reached_at)):
        return
    raise spending_error(standing, now)


def spending_error(standing: Standing, now: float) -> PaError:
    """The answer for an owner in this standing."""
    lifted = rfc3339(next_month(now))
    match standing:
        case Standing.ORGANIZATION_LIMIT:
            return invalid(f"You have reached your specified API usage limits. You will regain access on {lifted}.")
        case Standing.WORKSPACE_LIMIT:
            return invalid(
                f"You have reached your specified workspace API usage limits. You will regain access on {lifted}."
            )
        case Standing.CODING_ASSISTANT_LIMIT:
            message = "This request would exceed the spend limit of your coding-assistant workspace."
            return PaError(RATE_LIMIT, message, headers={"retry-after": str(CODING_ASSISTANT_RETRY_AFTER_S)})
        case _:
            message = f"Your organization has reached the monthly spend cap of its usage tier, until {lifted}."
            return PaError(SPEND_CAP, message, details={"error_code": "enforced_spend_limit_reached"})
