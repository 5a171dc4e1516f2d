"""One call of PA: the request, its key, its names, and the limits it shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import calls
from catalog_probe.mockserver.pa.auth.keys import ANONYMOUS
from catalog_probe.mockserver.pa.names import DOCUMENTED_BETAS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.pa.auth.keys import Key
    from catalog_probe.mockserver.pa.names import Names


@dataclass(kw_only=True)
class Call(calls.Call):
    """What a handler gets; when it runs, `key` is authenticated and allowed.

    Args:
        query: the values of a compliance query, read as its endpoint's row says.
        meters: the limits that the answer shows, by header family.
    """

    names: Names
    request_id: str
    key: Key = ANONYMOUS
    query: Mapping[str, Any] = field(default_factory=dict)
    meters: dict[str, TokenBucket] = field(default_factory=dict)

    @property
    def betas(self) -> tuple[str, ...]:
        """The values of all beta headers."""
        lines = self.request.headers.getlist(self.names.header("beta"))
        return tuple(beta.strip() for line in lines for beta in line.split(",") if beta.strip())

    @property
    def has_other_betas(self) -> bool:
        """Whether it names a beta without documents, which may bring fields of its own."""
        return not DOCUMENTED_BETAS.issuperset(self.betas)

    @property
    def version(self) -> str:
        """The value of the version header (2:9)."""
        return self.request.headers.get(self.names.header("version"), "")

    @property
    def real_now(self) -> float:
        """The real time, while the call's clock may be ahead.

        A state of today may have ended by the call's time.
        """
        return self.context.now - self.context.ahead_s
