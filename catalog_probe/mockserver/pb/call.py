"""One call of PB: its project, JSON body and page of a list."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from catalog_probe.mockserver.core import gateway, resources
from catalog_probe.mockserver.core.bodies import MB, BodyRules, read_json
from catalog_probe.mockserver.core.fields import find_violations
from catalog_probe.mockserver.core.resources import Item
from catalog_probe.mockserver.pb.errors import BREACHES, NO_PAGE, NOT_JSON, TOO_LARGE
from catalog_probe.mockserver.pb.keys import UNIDENTIFIED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.mockserver.core.fields import Value
    from catalog_probe.mockserver.pb.keys import Project


DEFAULT_NAMES: Mapping[str, Any] = {"header_prefix": "x-pb-", "key_header": "x-pb-api-key"}
"""The documents name `X-PB-Service-Tier` and no header for the key; a `--prefixes` file may replace both."""


@dataclass(frozen=True)
class Names:
    """The prefix of PB's headers, and the header of its key (2:8.3)."""

    header_prefix: str
    key_header: str

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Names:
        """Read the names from the settings."""
        return cls(settings["header_prefix"], settings["key_header"])

    def header(self, stem: str) -> str:
        """Return the name of the header that the documents call `X-PB-<stem>`."""
        return self.header_prefix + stem

    def upload_header(self, stem: str) -> str:
        """Return the name of an upload header, which has the prefix of the key header."""
        return f"{self.key_header.removesuffix('api-key')}upload-{stem}"


@dataclass(kw_only=True)
class Call(gateway.Call):
    """One call of PB. When a handler runs, its project has been authenticated."""

    names: Names
    project: Project = UNIDENTIFIED

    @property
    def version(self) -> str:
        """API version in the path: `v1` or `v1beta` (2:9)."""
        path: str = self.request.scope["path"]
        return path.removeprefix(self.request.scope.get("root_path", "")).split("/")[1]


MAX_BODY_BYTES = 64 * MB  # the documents state no size; it bounds the mock's memory

RULES = BodyRules(MAX_BODY_BYTES, TOO_LARGE, NOT_JSON)


class AsciiJsonResponse(Response):
    """A JSON body in ASCII, which can echo half a surrogate pair."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return encode_json(content)


def encode_json(value: Any) -> bytes:
    """Encode a value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


async def read_object(call: Call, table: Value) -> dict[str, Any]:
    """Read a body that must be an object of this table; see `check_object`."""
    body = await read_json(call.request, RULES)
    return check_object(body.value, table)


def check_object(body: Any, table: Value) -> dict[str, Any]:
    """Return the body in camelCase and without null fields, or refuse it."""
    renamed = rename(body, table)
    violation = next(iter(find_violations(renamed, table)), None)
    if violation is not None:
        raise violation.make_refusal(BREACHES)
    checked: dict[str, Any] = renamed
    return checked


def rename(body: Any, table: Value) -> Any:
    """Return the body with camelCase names: clients mix both spellings."""
    if isinstance(body, dict) and table.members:
        renamed = {_known_name(name, table): value for name, value in body.items() if value is not None}
        return {
            name: rename(value, table.members[name].value) if name in table.members else value
            for name, value in renamed.items()
        }
    if isinstance(body, list) and table.items is not None:
        return [rename(item, table.items) for item in body]
    return body


def _known_name(name: str, table: Value) -> str:
    """Return `maxOutputTokens` for `max_output_tokens` if the table has that."""
    head, *tail = name.split("_")
    camel = head + "".join(part[:1].upper() + part[1:] for part in tail)
    return camel if camel in table.members else name


DEFAULT_PAGE_SIZE = 50


def make_page(call: Call, name: str, items: Sequence[Any]) -> dict[str, Any]:
    """Return the requested page under `name`, and the token of the next one."""
    size = _read_number(call, "pageSize") or DEFAULT_PAGE_SIZE
    start = _read_number(call, "pageToken")
    page: dict[str, Any] = {name: list(items[start : start + size])}
    if start + size < len(items):
        page["nextPageToken"] = str(start + size)
    return page


@dataclass(frozen=True)
class Resources(resources.Resources[Call, Item]):
    """Resources of a project, the oldest listed first."""

    def find_owner(self, call: Call) -> str:
        return call.project.id

    def make_page(self, call: Call, bodies: list[dict[str, Any]]) -> dict[str, Any]:
        return make_page(call, self.name, bodies)

    def describe_deleted(self, key: str) -> dict[str, Any]:
        return {}

    def respond(self, body: dict[str, Any]) -> Response:
        return AsciiJsonResponse(body)


def _read_number(call: Call, name: str) -> int:
    text = call.request.query_params.get(name) or "0"
    if not (text.isascii() and text.isdecimal()):
        raise NO_PAGE(name=name, value=text)
    return int(text)
