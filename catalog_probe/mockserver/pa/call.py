"""One call of PA: the request, its key, the limits it shows, its checked body, and the page of a list."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core import gateway, resources
from catalog_probe.mockserver.core.arrivals import note_ignored
from catalog_probe.mockserver.core.bodies import MB, BodyRules, read_json
from catalog_probe.mockserver.core.fields import Breach, find_violations, format_path
from catalog_probe.mockserver.core.resources import Item, make_list
from catalog_probe.mockserver.pa.errors import (
    BAD_FORM,
    BAD_LIMIT,
    BREACHES,
    NO_OBJECT,
    NO_SUCH_CURSOR,
    NOT_JSON,
    TOO_LARGE,
    TWO_CURSORS,
)
from catalog_probe.mockserver.pa.keys import ANONYMOUS, DOCUMENTED_BETAS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.fields import Path, Value, Violation
    from catalog_probe.mockserver.core.limits import TokenBucket
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
FILE_BODY = BodyRules(500 * MB, TOO_LARGE, BAD_FORM)
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
        note_ignored(format_path(violation.path))


def _make_refusal(violation: Violation) -> Refusal:
    path = ".".join(map(str, violation.path))
    return violation.make_refusal(
        BREACHES,
        WORDS,
        path=path,
        item=path.rpartition(".")[2].removesuffix("s"),
        options=" or ".join(map(repr, violation.wanted.options)),
    )


DEFAULT_LIMIT = 20
MAX_LIMIT = 1_000

# int() would accept `1_0`, blanks and the digits of other scripts
INTEGER = re.compile(r"-?[0-9]{1,18}")


def make_page(call: Call, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Make the page of a query; newer clients send the cursor as `page`."""
    query = call.request.query_params
    limit = _read_limit(query.get("limit"))
    after, before = query.get("after_id", query.get("page")), query.get("before_id")
    if after is not None and before is not None:
        raise TWO_CURSORS()
    if before is not None:
        end = _find_position(items, "before_id", before)
        start = max(0, end - limit)
        has_more = start > 0
    else:
        start = _find_position(items, "after_id", after) + 1 if after is not None else 0
        end = start + limit
        has_more = end < len(items)
    envelope = make_list(items[start:end], has_more=has_more)
    # newer clients walk forward by `page`, and never backward
    return {**envelope, "next_page": envelope["last_id"] if has_more and before is None else None}


@dataclass(frozen=True)
class Resources(resources.Resources[Call, Item]):
    """Resources of an organization, the newest listed first."""

    def find_owner(self, call: Call) -> str:
        return call.key.organization.id

    def make_page(self, call: Call, bodies: list[dict[str, Any]]) -> dict[str, Any]:
        return make_page(call, bodies[::-1])

    def describe_deleted(self, key: str) -> dict[str, Any]:
        return {"id": key, "type": f"{self.name}_deleted"}

    def respond(self, body: dict[str, Any]) -> Response:
        return JSONResponse(body)


def _read_limit(text: str | None) -> int:
    if text is None:
        return DEFAULT_LIMIT
    if not INTEGER.fullmatch(text) or not 1 <= int(text) <= MAX_LIMIT:
        raise BAD_LIMIT(most=MAX_LIMIT)
    return int(text)


def _find_position(items: Sequence[dict[str, Any]], name: str, cursor: str) -> int:
    for index, item in enumerate(items):
        if item["id"] == cursor:
            return index
    raise NO_SUCH_CURSOR(name=name)
