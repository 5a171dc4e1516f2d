"""One call of PA's API: the request, who makes it, when, and the headers its answer will carry whatever happens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.core.bodies import BodyTooLarge, read_body
from catalog_probe.mockserver.pa.errors import TOO_LARGE, PaError, invalid
from catalog_probe.mockserver.pa.names import DOCUMENTED_BETAS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.core.sessions import Session
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pa.auth.keys import Key
    from catalog_probe.mockserver.pa.names import Names

MB = 1024 * 1024


@dataclass(slots=True)
class Call:
    """What a handler gets. `key` is authenticated, and allowed here, by the time a handler runs."""

    request: Request
    context: Context
    names: Names
    key: Key
    params: Mapping[str, str]
    headers: dict[str, str] = field(default_factory=dict)
    meters: dict[str, TokenBucket] = field(default_factory=dict)
    """The limits that the answer tells of, as they are when it is sent: family -> bucket."""

    @property
    def session(self) -> Session:
        """The private state of this client."""
        return self.context.session

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

    @property
    def now(self) -> float:
        """When this call happens."""
        return self.context.now

    @property
    def real_now(self) -> float:
        """The real time: where the clock of the call is ahead, what holds today may no longer hold then."""
        return self.context.now - self.context.ahead_s


async def read_bytes(call: Call, limit: int) -> bytes:
    """The body, or 413 (2:8.1)."""
    try:
        return await read_body(call.request, limit)
    except BodyTooLarge:
        raise PaError(TOO_LARGE, f"Request exceeds the maximum allowed number of bytes: {limit}.") from None


async def read_object(call: Call, limit: int) -> dict[str, Any]:
    """The body as a JSON object, or 400 (2:7.3 "body not valid JSON")."""
    raw = await read_bytes(call, limit)
    try:
        body = strict_json.loads(raw)
    except ValueError as error:
        raise invalid(f"The request body is not valid JSON: {error}") from None
    if not isinstance(body, dict):
        raise invalid("The request body is not a valid JSON object.")
    return body
