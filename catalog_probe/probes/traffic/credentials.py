"""What credentials a recorded exchange carries: where a target says, and where the name of a field gives one away.

What was recorded passed gateways and clients of others, whose headers no target names.
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
"""Parameters of an address that carry a credential, whatever a target or a manifest says."""

_TELLING_HEADER = re.compile(
    r"(?:.*-)?(?:token|auth|authorization|secret|password|jwt|(?:api|access|account|auth|private|secret|subscription)-?key)"
)
"""Whole words at the end of a request's header: `x-max-tokens` and `idempotency-key` are none."""

_TELLING_NAMES = frozenset(
    {
        *("access_token", "refresh_token", "id_token", "client_secret"),  # RFC 6749
        *("subject_token", "actor_token", "client_assertion"),  # RFC 8693, RFC 7521
    }
)
"""Of members of a body, and of parameters: a cursor may be called `page_token`."""

_TELLING_PARAMETERS = _TELLING_NAMES | {
    *("apikey", "api-key", "x-api-key", "subscription-key", "auth_token", "secret", "password"),
    *("sig", "signature", "x-amz-signature", "x-amz-security-token", "x-goog-signature"),
}

_TELLING_PROTOCOL = re.compile(r"[^.]*(?:key|token|bearer|auth)[^.]*\.(?:.*\.)?([^.]+)", re.IGNORECASE)
"""A protocol of a socket as browsers bring a key along, which can set no header: `insecure-api-key.KEY`."""

_LIKE_ONE = re.compile(rf"[!-~]{{{ENOUGH},}}")
"""What a name alone gives away: less of it, or words of a person, could be anything."""


def credentials(exchange: Exchange, headers: Container[str], parameters: Container[str]) -> Iterator[str]:
    """Each credential, and the whole header that it came in; `headers` and `parameters` carry them for certain."""
    asked, answer = exchange.request, exchange.response
    for name, value in asked.headers.items():
        yield from _of_header(name.lower(), value, headers)
    for name, value in answer.headers.items() if answer is not None else ():
        if name.lower() in headers:
            yield value
    yield from _of_address(asked.url, parameters)
    for body in (asked.body, None if answer is None else answer.body):
        yield from _of_body(body)


def _of_header(name: str, value: str, known: Container[str]) -> Iterator[str]:
    scheme, _, key = value.rpartition(" ")
    if key.startswith("${"):  # which stands for a key that was hidden before
        return
    if name in known:
        if key:
            yield from (key, value)
        if scheme.lower() == "basic":
            yield from _of_basic(key)
    elif name == "sec-websocket-protocol":
        for each in value.split(","):
            if told := _TELLING_PROTOCOL.fullmatch(each.strip()):
                yield from _like_one(told[1])
    elif _TELLING_HEADER.fullmatch(name):
        yield from _like_one(key)


def _of_basic(key: str) -> Iterator[str]:
    """What name and password were written down from (RFC 7617); keys stand in the place of either."""
    try:
        name, _, password = b64decode(key).decode().partition(":")
    except ValueError:
        return
    yield from _like_one(password or name)


def _of_address(url: str, parameters: Container[str]) -> Iterator[str]:
    address = urlsplit(url)
    yield from _like_one(unquote(address.password or address.username or ""))
    for name, value in parse_qsl(address.query):
        if name.lower() in parameters:
            yield value
        elif name.lower() in _TELLING_PARAMETERS:
            yield from _like_one(value)


def _of_body(value: Json) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name in _TELLING_NAMES:
                yield from _like_one(item.get("value") if isinstance(item, Mapping) else item)
            yield from _of_body(item)
    elif isinstance(value, list):
        for item in value:
            yield from _of_body(item)


def _like_one(value: Json) -> Iterator[str]:
    if isinstance(value, str) and _LIKE_ONE.fullmatch(value) and not value.startswith(("${", "{")):
        yield value
