"""The mutual-TLS host: POST /oauth/token exchanges a subject token for an access token; all else is 403 (1:4.3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.bodies import BodyTooLarge, read_body
from catalog_probe.mockserver.core.world import context_of
from catalog_probe.mockserver.pc.auth.keys import Federated
from catalog_probe.mockserver.pc.auth.subject_tokens import verify_certificate, verify_jwt
from catalog_probe.mockserver.pc.errors import INVALID_REQUEST_OF_TOKEN, MUTUAL_TLS_HOST, PcError
from catalog_probe.mockserver.pc.gateway import REQUEST_ID

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.world import Context, World

GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
JWT = "urn:ietf:params:oauth:token-type:jwt"
CERTIFICATE = "urn:ietf:params:oauth:token-type:x509"
"""The parameters of RFC 8693; the documents name only the subject token and its two kinds. The last is assumed."""

LIFETIME_S = 3_600
MAX_BODY = 256 * 1024


class TokenHost:
    """The ASGI app of the mutual-TLS host. The mock speaks no TLS, so the certificate comes in the body."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request, context = Request(scope, receive), context_of(scope)
        try:
            response: Response = await _answer(request, context)
        except PcError as error:
            response = JSONResponse(error.envelope(), error.status)
        response.headers[REQUEST_ID] = context.session.new_id("req_", 32)
        await response(scope, receive, send)


async def _answer(request: Request, context: Context) -> Response:
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    if not allowed(request.method, path):
        raise MUTUAL_TLS_HOST("Only POST /oauth/token is allowed on this host.")
    given = await _parameters(request)
    for name in ("grant_type", "subject_token", "subject_token_type"):
        if not given.get(name):
            raise INVALID_REQUEST_OF_TOKEN(f"Missing required parameter: '{name}'.", name)
    if given["grant_type"] != GRANT:
        raise INVALID_REQUEST_OF_TOKEN("The grant type is not that of a token exchange.", "grant_type")
    kind = given["subject_token_type"]
    if kind == JWT:
        verify_jwt(given["subject_token"], context.now)
    elif kind == CERTIFICATE:
        verify_certificate(given["subject_token"])
    else:
        raise INVALID_REQUEST_OF_TOKEN("Unknown type of subject token.", "subject_token_type")
    return JSONResponse(_granted(context), headers={"cache-control": "no-store"})


def allowed(method: str, path: str) -> bool:
    """Whether the host answers at all: exact POST of the exact path (2:7.5)."""
    return method == "POST" and path == "/oauth/token"


def _granted(context: Context) -> dict[str, Any]:
    token = context.session.new_id("mock-pc-access-", 40)
    context.session.state(Federated).expires_at[token] = context.now + LIFETIME_S
    return {
        "access_token": token,
        "issued_token_type": ACCESS_TOKEN,
        "token_type": "Bearer",
        "expires_in": LIFETIME_S,
    }


async def _parameters(request: Request) -> Mapping[str, str]:
    """The parameters, as a form or as JSON; the documents do not say which."""
    try:
        raw = await read_body(request, MAX_BODY)
        if request.headers.get("content-type", "").startswith("application/json"):
            parsed = json.loads(raw)
            if not isinstance(parsed, dict) or not all(isinstance(value, str) for value in parsed.values()):
                raise ValueError("not an object of strings")
            return parsed
        return dict(parse_qsl(raw.decode()))
    except (ValueError, RecursionError, BodyTooLarge):
        raise INVALID_REQUEST_OF_TOKEN("The request body cannot be read.") from None
