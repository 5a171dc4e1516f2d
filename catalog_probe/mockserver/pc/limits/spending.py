"""PC's spending limits, of a key or of the organization (1:4.3, 2:7.5 rows 429)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.mockserver.pc.errors import ORGANIZATION_SPEND_LIMIT_EXCEEDED

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.call import Call


@dataclass
class Spending:
    """The organization's monthly hard spend limit in USD, if one is set."""

    limit_usd: int | None = None

    @property
    def is_exhausted(self) -> bool:
        """Whether the limit is reached: the mock charges nothing, so only 0 is."""
        return self.limit_usd == 0


def check_spending(call: Call) -> None:
    """Refuse with 429, without Retry-After, if nothing more may be spent."""
    if call.key.spending_refusal is not None:
        raise call.key.spending_refusal()
    if call.session.state(Spending).is_exhausted:
        raise ORGANIZATION_SPEND_LIMIT_EXCEEDED()
