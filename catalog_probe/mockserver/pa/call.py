"""One call of PA's API: the request, who makes it, when, and what its answer will say whatever happens."""

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
    """What a handler gets. `key` is authenticated, and allowed here, by the time a handler runs."""

    names: Names
    request_id: str
    key: Key = ANONYMOUS
    query: Mapping[str, Any] = field(default_factory=dict)
    """What a query of the compliance API says, read as the row of its endpoint has it."""
    meters: dict[str, TokenBucket] = field(default_factory=dict)
    """The limits that the answer tells of, as they are when it is sent: family -> bucket."""

    @property
    def betas(self) -> tuple[str, ...]:
        """The values of the beta header, of however many lines."""
        lines = self.request.headers.getlist(self.names.header("beta"))
        return tuple(beta.strip() for line in lines for beta in line.split(",") if beta.strip())

    @property
    def has_other_betas(self) -> bool:
        """Whether it names a beta of which the documents say nothing: it may bring fields that nobody documents."""
        return not DOCUMENTED_BETAS.issuperset(self.betas)

    @property
    def version(self) -> str:
        """What the version header says (2:9)."""
        return self.request.headers.get(self.names.header("version"), "")
