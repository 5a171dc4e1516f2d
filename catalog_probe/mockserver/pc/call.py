"""One call of PC, its body, a row of its endpoint table, and the page of a list."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core import gateway
from catalog_probe.mockserver.core.bodies import MB, BodyRules, read_json
from catalog_probe.mockserver.core.fields import Breach, find_violations, format_path
from catalog_probe.mockserver.core.resources import make_list
from catalog_probe.mockserver.pc.errors import (
    BREACHES,
    DECIMAL_BREACHES,
    INVALID_JSON,
    TOO_LARGE,
    UNSUPPORTED_CONTENT_TYPE,
)
from catalog_probe.mockserver.pc.keys import UNIDENTIFIED, WORK, Key, Project

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.fields import Value, Violation
    from catalog_probe.mockserver.core.limits import TokenBucket


@dataclass(kw_only=True)
class Call(gateway.Call):
    """One call of PC. When a handler runs, its key has been admitted."""

    header_prefix: str
    key: Key = UNIDENTIFIED
    project: Project = WORK
    shown_buckets: dict[str, TokenBucket] = field(default_factory=dict)
    """Buckets whose state the response headers show, by family of headers."""

    def header_name(self, stem: str) -> str:
        """Return the name of the header that the documents call `PC-<stem>`."""
        return self.header_prefix + stem

    def header(self, stem: str) -> str | None:
        """Return the value of that header."""
        return self.request.headers.get(self.header_name(stem))


@dataclass(frozen=True)
class Endpoint(gateway.Endpoint):
    """A row of the endpoint table, with the rights that it needs."""

    beta: str | None = None
    scope: str | None = None
    admin: bool = False


def make_page(items: list[dict[str, Any]]) -> JSONResponse:
    """Return all items as one page."""
    return JSONResponse({"object": "list", **make_list(items, has_more=False)})


MAX_BODY_BYTES = 64 * MB
MEDIA_TYPES = ("application/json",)
RULES = BodyRules(MAX_BODY_BYTES, TOO_LARGE, INVALID_JSON, MEDIA_TYPES, UNSUPPORTED_CONTENT_TYPE)


async def read_value(call: Call) -> Any:
    """Read a body of any JSON value."""
    return (await read_json(call.request, RULES)).value


async def read_object(call: Call, table: Value) -> dict[str, Any]:
    """Read an object of this table, without its null fields."""
    return check_object(await read_value(call), table)


def check_object(body: Any, table: Value) -> dict[str, Any]:
    """Return the body without its null fields, or refuse its first violation."""
    violation = next(find_violations(body, table), None)
    if violation is not None:
        raise _make_refusal(violation)
    return {name: value for name, value in body.items() if value is not None}


def _make_refusal(violation: Violation) -> Refusal:
    is_field = bool(violation.path) and isinstance(violation.path[-1], str)
    if is_field and violation.breach is Breach.TYPE and violation.value is None:
        violation = replace(violation, breach=Breach.MISSING)  # a required field that is null is missing
    is_decimal = violation.breach in DECIMAL_BREACHES and "integer" not in violation.wanted.types
    return violation.make_refusal(
        DECIMAL_BREACHES if is_decimal else BREACHES, path=format_path(violation.path) or "body"
    )
