"""Money: who may spend no more, by the key or by the organization's own hard limit (1:4.3, 2:7.5 rows 429)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.mockserver.pc.errors import ORGANIZATION_SPEND_LIMIT_EXCEEDED

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.gateway import Call


@dataclass
class Spending:
    """The organization's monthly hard spend limit in USD, where one is set. Nothing costs anything here."""

    limit_usd: int | None = None

    @property
    def exhausted(self) -> bool:
        """Whether there is nothing left to spend: the mock's only way there is a limit of nothing."""
        return self.limit_usd == 0


def refuse_spenders(call: Call) -> None:
    """Raise the 429 of an owner who may spend no more; it carries no Retry-After, for waiting does not help."""
    if call.key.spending_refusal is not None:
        raise call.key.spending_refusal()
    if call.session.state(Spending).exhausted:
        raise ORGANIZATION_SPEND_LIMIT_EXCEEDED()
