"""PC's mutual-TLS host, which exchanges subject tokens (1:4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.bodies import BodyRules, read_json
from catalog_probe.mockserver.core.calls import Call
from catalog_probe.mockserver.core.fields import find_violations
from catalog_probe.mockserver.core.gateway import Gateway
from catalog_probe.mockserver.core.routing import Endpoint, RouteMatch
from catalog_probe.mockserver.pc.envelopes import make_response
from catalog_probe.mockserver.pc.errors import (
    INVALID_REQUEST_OF_TOKEN,
    MUTUAL_TLS_HOST,
    NO_PARAMETER_OF_TOKEN,
    TOKEN_BREACHES,
)
from catalog_probe.mockserver.pc.fields import TOKEN_EXCHANGE
from catalog_probe.mockserver.pc.gateway import REQUEST_ID
from catalog_probe.mockserver.pc.keys import AccessToken
from catalog_probe.mockserver.pc.subject_tokens import verify_certificate, verify_jwt

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal

# The kinds of subject token: the documents name a JWT and a certificate (1:5.3), and no names on the wire.
JWT = "urn:ietf:params:oauth:token-type:jwt"
CERTIFICATE = "urn:ietf:params:oauth:token-type:x509"

LIFETIME_S = 3_600  # of an access token; the mock's choice
RULES = BodyRules(256 * 1024, INVALID_REQUEST_OF_TOKEN, INVALID_REQUEST_OF_TOKEN)


class TokenHost(Gateway[Call, Endpoint]):
    """The ASGI app of the mutual-TLS host. A certificate comes in the body."""

    def open_call(self, request: Request) -> Call:
        return Call(request=request)

    async def answer(self, call: Call, match: RouteMatch[Endpoint]) -> Response:
        call.headers[REQUEST_ID] = call.session.new_id("req_", 32)
        if match.row is None:
            raise MUTUAL_TLS_HOST()
        response: Response = await match.row.handler(call)
        return response

    def refuse(self, call: Call, refusal: Refusal) -> Response:
        return make_response(refusal)


async def exchange(call: Call) -> Response:
    """Exchange a valid subject token for an access token."""
    body = await _read_body(call)
    kind, subject_token = body["subject_token_type"], body["subject_token"]
    if kind == JWT:
        verify_jwt(subject_token, call.now)
    elif kind == CERTIFICATE:
        verify_certificate(subject_token)
    else:
        raise NO_PARAMETER_OF_TOKEN(path="subject_token_type", param="subject_token_type")
    token = call.session.new_id("mock-pc-access-", 40)
    call.session.store(AccessToken)[token] = AccessToken(call.now + LIFETIME_S)
    return JSONResponse(
        {
            "access_token": token,
            "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
            "token_type": "Bearer",
            "expires_in": LIFETIME_S,
        },
        headers={"cache-control": "no-store"},
    )


async def _read_body(call: Call) -> dict[str, Any]:
    """Read the parameters as JSON, which clients send."""
    body: dict[str, Any] = (await read_json(call.request, RULES)).value
    violation = next(find_violations(body, TOKEN_EXCHANGE), None)
    if violation is not None:
        raise violation.make_refusal(TOKEN_BREACHES)
    return body


TOKEN_ROUTES = (Endpoint("POST", "/oauth/token", exchange, "1:4.3"),)
"""2:7.5 row 403: "any method or path except exact POST /oauth/token"."""
