"""PD's HTTP gateways: of the inference API, and of the management API, whose keys are others (1:5.4, 2:7.1, 2:7.6)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core import gateway
from catalog_probe.mockserver.core.gateway import bearer_token, find_key
from catalog_probe.mockserver.pd.errors import (
    BAD_URL,
    EMPTY,
    INCORRECT_KEY,
    INVALID_BEARER,
    KEY_BLOCKED,
    KEY_DISABLED,
    MANAGEMENT_CODES,
    METHOD_NOT_ALLOWED,
    MISSING_ACL,
    NO_CREDENTIALS,
    TEAM_BLOCKED,
    UNKNOWN_PATH,
    make_management_response,
    make_response,
)
from catalog_probe.mockserver.pd.keys import DEFAULT_KEY, ENDPOINT_ACL, KEYS, MANAGEMENT_KEYS, MODEL_ACL, UNIDENTIFIED
from catalog_probe.mockserver.pd.scenarios import FAILURES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Scope

    from catalog_probe.mockserver.core.errors import ErrorRow, Refusal
    from catalog_probe.mockserver.core.gateway import RouteMatch
    from catalog_probe.mockserver.pd.keys import Key
    from catalog_probe.mockserver.pd.models import Host, Model


def identify_key(headers: Mapping[str, str]) -> Key:
    """Return the caller's key; a missing header is 401, an incorrect key 400."""
    if "authorization" not in headers:
        raise NO_CREDENTIALS()
    key = find_key(KEYS, bearer_token(headers) or "", DEFAULT_KEY)
    if key is None:
        raise INCORRECT_KEY()
    return key


def admit_to_endpoint(key: Key, acl_name: str) -> None:
    """Refuse with 403 a key that may not use the endpoint with this name in ACLs."""
    if key.team.blocked:
        raise TEAM_BLOCKED()
    if key.blocked:
        raise KEY_BLOCKED()
    if key.disabled:
        raise KEY_DISABLED()
    if not key.allows(ENDPOINT_ACL, acl_name):
        raise MISSING_ACL(acl=ENDPOINT_ACL + acl_name)


def admit_to_model(key: Key, model: Model) -> None:
    """Refuse with 403 a key that may not use the model."""
    if not key.allows(MODEL_ACL, model.id):
        raise MISSING_ACL(acl=MODEL_ACL + model.id)


_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


@dataclass(kw_only=True)
class Call(gateway.Call):
    """One call of PD. When a handler runs, its key has been identified and admitted."""

    host: Host
    key: Key = UNIDENTIFIED


@dataclass(frozen=True)
class Endpoint(gateway.Endpoint):
    """A row of the endpoint table, with its name in ACLs; None admits any known key."""

    acl: str | None = None


class Gateway(gateway.Gateway[Call, Endpoint]):
    """The ASGI app of the inference API on one host."""

    def __init__(self, host: Host, rows: Iterable[Endpoint]) -> None:
        super().__init__(rows)
        self._host = host

    def open_call(self, request: Request) -> Call:
        return Call(request=request, host=self._host)

    def admit(self, call: Call, match: RouteMatch[Endpoint]) -> Endpoint:
        check_url(call.request.scope)
        if match.row is None:
            raise (METHOD_NOT_ALLOWED if match.is_known_path else UNKNOWN_PATH)()
        admit_call(call, match.row.acl)
        return match.row

    def refuse(self, call: Call, refusal: Refusal) -> Response:
        return make_response(refusal)


def admit_call(call: Call, acl: str | None) -> None:
    """Identify the key, check its ACL, then raise the scenario's failure."""
    call.key = identify_key(call.request.headers)
    if acl is not None:
        admit_to_endpoint(call.key, acl)
    call.context.raise_failure(FAILURES)


def check_url(scope: Scope) -> None:
    """Refuse a path with bad escapes: a bad URL is 400, not 404 (2:7.6)."""
    raw: bytes = scope.get("raw_path") or b""
    if _BROKEN_ESCAPE.search(raw):
        raise BAD_URL(reason="broken percent-encoding")
    try:
        unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise BAD_URL(reason="invalid UTF-8") from None


class Management(gateway.Gateway[gateway.Call, gateway.Endpoint]):
    """The ASGI app of the management API."""

    def open_call(self, request: Request) -> gateway.Call:
        return gateway.Call(request=request)

    def admit(self, call: gateway.Call, match: RouteMatch[gateway.Endpoint]) -> gateway.Endpoint:
        if match.row is None:
            raise (METHOD_NOT_ALLOWED if match.is_known_path else UNKNOWN_PATH)()
        if bearer_token(call.request.headers) not in MANAGEMENT_KEYS:
            raise INVALID_BEARER()
        call.context.raise_failure(FAILURES)
        return match.row

    def can_refuse(self, row: ErrorRow) -> bool:
        return row.shape == EMPTY or row.status in MANAGEMENT_CODES

    def refuse(self, call: gateway.Call, refusal: Refusal) -> Response:
        return make_management_response(refusal)


async def validate(call: gateway.Call) -> Response:
    """Say that the key is valid; the gateway refuses all others."""
    return JSONResponse({"name": "management", "scope": "SCOPE_TEAM"})
