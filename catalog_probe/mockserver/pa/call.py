"""One call of PA: the request, its key, the limits it shows, and its checked body."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import gateway
from catalog_probe.mockserver.core.bodies import MB, BodyRules, BodyTooLarge, read_body, read_json
from catalog_probe.mockserver.core.fields import Breach, find_violations
from catalog_probe.mockserver.pa.errors import BREACHES, NO_OBJECT, NOT_JSON, TOO_LARGE
from catalog_probe.mockserver.pa.keys import ANONYMOUS, DOCUMENTED_BETAS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.fields import Path, Value, Violation
    from catalog_probe.mockserver.pa.keys import Key, Names


@dataclass(kw_only=True)
class Call(gateway.Call):
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


# 2:8.1 "messages and count_tokens 32 MB; batches 256 MB; files 500 MB (413 on excess)"
MESSAGE_BODY = BodyRules(32 * MB, TOO_LARGE, NOT_JSON)
BATCH_BODY = BodyRules(256 * MB, TOO_LARGE, NOT_JSON)
FILE_BODY = BodyRules(500 * MB, TOO_LARGE, NOT_JSON)
AGENT_BODY = BodyRules(32 * MB, TOO_LARGE, NOT_JSON)  # ours: that of messages

# how a 400 calls a JSON type
WORDS: Mapping[str, str] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "array": "list",
    "object": "dictionary",
    "null": "null",
}


async def read_bytes(call: Call, rules: BodyRules) -> bytes:
    """Return the body, or raise 413."""
    try:
        return await read_body(call.request, rules.most_bytes)
    except BodyTooLarge:
        raise rules.too_large(most_bytes=rules.most_bytes) from None


async def read_object(call: Call, rules: BodyRules) -> dict[str, Any]:
    """Return the body as a JSON object, its fields unchecked."""
    _, body = await read_json(call.request, rules)
    if not isinstance(body, dict):
        raise NO_OBJECT()
    return body


def check_fields(body: Any, table: Value, *, path: Path = (), ignore_unknown: bool = False) -> None:
    """Raise the first violation of a body's table; unknown fields may pass."""
    for violation in find_violations(body, table, null_is_absent=False, path=path):
        if not (ignore_unknown and violation.breach is Breach.UNKNOWN):
            raise _make_refusal(violation)


def _make_refusal(violation: Violation) -> Refusal:
    path = ".".join(map(str, violation.path))
    return violation.make_refusal(
        BREACHES,
        WORDS,
        path=path,
        item=path.rpartition(".")[2].removesuffix("s"),
        options=" or ".join(map(repr, violation.wanted.options)),
    )
