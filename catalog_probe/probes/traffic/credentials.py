"""Find the credentials in a recorded exchange: in fields that a target names, and in fields with a telling name.

Recordings come from other clients and gateways, whose headers no target names.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from catalog_probe.probes.wire.redaction.known_secrets import ENOUGH

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange, Json

QUERY_KEYS = frozenset({"key", "api_key", "access_token", "token"})
"""Query parameters that carry a credential, whatever a target or a manifest says."""

_TELLING_HEADER = re.compile(
    r"(?:.*-)?(?:token|auth|authorization|secret|password|jwt|(?:api|access|account|auth|private|secret|subscription)-?key)"
)
"""Matches whole words at the end of a request header's name, so not `x-max-tokens` or `idempotency-key`."""

_TELLING_NAMES = frozenset(
    {
        *("access_token", "refresh_token", "id_token", "client_secret"),  # RFC 6749
        *("subject_token", "actor_token", "client_assertion"),  # RFC 8693, RFC 7521
    }
)
"""Names of body members and parameters. They match exactly, because a cursor may be called `page_token`."""

_TELLING_PARAMETERS = _TELLING_NAMES | {
    *("apikey", "api-key", "x-api-key", "subscription-key", "auth_token", "secret", "password"),
    *("sig", "signature", "x-amz-signature", "x-amz-security-token", "x-goog-signature"),
}

_TELLING_PROTOCOL = re.compile(r"[^.]*(?:key|token|bearer|auth)[^.]*\.(?:.*\.)?([^.]+)", re.IGNORECASE)
"""A WebSocket protocol that carries a key, because browsers cannot set headers: `insecure-api-key.KEY`."""

_SECRET_VALUE = re.compile(rf"[!-~]{{{ENOUGH},}}")
"""Matches a value that is long enough for a secret and has no spaces; the name of its field alone is weak evidence."""


def credentials(exchange: Exchange, headers: Container[str], parameters: Container[str]) -> Iterator[str]:
    """Yield each credential, and each whole header that contains one.

    Args:
        exchange: the exchange, with the provider's own names.
        headers: header names, in lower case, that certainly carry a credential.
        parameters: query parameters, in lower case, that certainly carry a credential.
    """
    request, response = exchange.request, exchange.response
    for name, value in request.headers.items():
        yield from _find_in_header(name.lower(), value, headers)
    for name, value in response.headers.items() if response is not None else ():
        if name.lower() in headers:
            yield value
    yield from _find_in_url(request.url, parameters)
    yield from _find_in_body(request.body)
    if response is not None:
        yield from _find_in_body(response.body)


def _find_in_header(name: str, value: str, secret_headers: Container[str]) -> Iterator[str]:
    scheme, _, key = value.rpartition(" ")
    if key.startswith("${"):  # a key that was hidden before
        return
    if name in secret_headers:
        if key:
            yield from (key, value)
        if scheme.lower() == "basic":
            yield from _find_in_basic(key)
    elif name == "sec-websocket-protocol":
        for protocol in value.split(","):
            match = _TELLING_PROTOCOL.fullmatch(protocol.strip())
            if match:
                yield from _if_secret(match[1])
    elif _TELLING_HEADER.fullmatch(name):
        yield from _if_secret(key)


def _find_in_basic(encoded: str) -> Iterator[str]:
    """Decode user name and password (RFC 7617); clients put a key in either."""
    try:
        name, _, password = b64decode(encoded).decode().partition(":")
    except ValueError:
        return
    yield from _if_secret(password or name)


def _find_in_url(url: str, secret_parameters: Container[str]) -> Iterator[str]:
    parts = urlsplit(url)
    yield from _if_secret(unquote(parts.password or parts.username or ""))
    for name, value in parse_qsl(parts.query):
        if name.lower() in secret_parameters:
            yield value
        elif name.lower() in _TELLING_PARAMETERS:
            yield from _if_secret(value)


def _find_in_body(value: Json) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            if name in _TELLING_NAMES:
                yield from _if_secret(member.get("value") if isinstance(member, Mapping) else member)
            yield from _find_in_body(member)
    elif isinstance(value, list):
        for item in value:
            yield from _find_in_body(item)


def _if_secret(value: Json) -> Iterator[str]:
    if isinstance(value, str) and _SECRET_VALUE.fullmatch(value) and not value.startswith(("${", "{")):
        yield value
