"""The refusals of callers who may spend no more (2:7.3 rows 400 and 429, 2:8.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.clock import next_month, rfc3339
from catalog_probe.mockserver.pa.auth.keys import SpendingStatus
from catalog_probe.mockserver.pa.errors import CODING_ASSISTANT_LIMIT, SPEND_CAP, SPEND_LIMIT_REACHED

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import Refusal

CODING_ASSISTANT_RETRY_AFTER_S = 60  # ours


def refuse_spenders(status: SpendingStatus, now: float, reached_at: float) -> None:
    """Raise the error of a spending status; every billable endpoint calls this.

    A tier's spend cap that was reached at `reached_at` (seconds) is lifted when the next month begins (1:3, 2:8.2).
    """
    is_lifted = status is SpendingStatus.SPEND_CAP and now >= next_month(reached_at)
    if status is not SpendingStatus.GOOD and not is_lifted:
        raise _make_refusal(status, rfc3339(next_month(now)))


def _make_refusal(status: SpendingStatus, lifted: str) -> Refusal:
    match status:
        case SpendingStatus.ORGANIZATION_LIMIT:
            return SPEND_LIMIT_REACHED(scope="", lifted=lifted)
        case SpendingStatus.WORKSPACE_LIMIT:
            return SPEND_LIMIT_REACHED(scope="workspace ", lifted=lifted)
        case SpendingStatus.CODING_ASSISTANT_LIMIT:
            return CODING_ASSISTANT_LIMIT(headers={"retry-after": str(CODING_ASSISTANT_RETRY_AFTER_S)})
        case _:
            return SPEND_CAP(lifted=lifted)
