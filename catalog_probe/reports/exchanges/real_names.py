"""What a run's provider really calls things, for commands that are sent to it: evidence speaks stand-ins alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from catalog_probe.catalog.text.json_tree import map_strings

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange, Json, Request

_METHOD = re.compile(r"/[\w.]+\.(\w+/\w+)$")
"""The end of a gRPC method's address: package, service and method."""

Pair = Mapping[str, str]
"""A name in the documents (`stand_in`), and on the wire (`real`)."""

Pairs = Mapping[str, Pair]
"""By the target's field (`header_prefix`)."""

_SAME: Pair = {"stand_in": "", "real": ""}


def really(pairs: Pairs, exchange: Exchange) -> Exchange:
    """The exchange with its request, and what it said over a socket, as the provider was sent them."""
    if not pairs:
        return exchange
    response = exchange.response
    if response is not None and response.events is not None:
        said = [replace(each, data=_ids(each.data, pairs)) if each.sent else each for each in response.events]
        response = replace(response, events=tuple(said))
    return replace(exchange, request=_request(exchange.request, pairs), response=response)


def _request(request: Request, pairs: Pairs) -> Request:
    headers = {_header(name, pairs): value for name, value in request.headers.items()}
    url = _url(request.url, pairs)
    if request.method.upper() == "GRPC" and "grpc_package" in pairs:
        package = pairs["grpc_package"]["real"]
        url = _METHOD.sub(lambda method: f"/{package}.{method[1]}", url)
    return replace(request, url=url, headers=headers, body=_ids(request.body, pairs))


def _header(name: str, pairs: Pairs) -> str:
    key = pairs.get("key_header", _SAME)
    if name.lower() == key["stand_in"]:
        return key["real"]
    return _begun(name.lower(), pairs.get("header_prefix", _SAME))


def _url(url: str, pairs: Pairs) -> str:
    """With the identifiers of its path and query as the provider writes them."""
    parts = urlsplit(url)
    identifier = pairs.get("id_prefix", _SAME)
    path = "/".join(_begun(each, identifier) for each in parts.path.split("/"))
    asked = (each.partition("=") for each in parts.query.split("&"))
    query = "&".join(f"{name}{equals}{_begun(value, identifier)}" for name, equals, value in asked)
    return parts._replace(path=path, query=query).geturl()


def _ids(value: Json, pairs: Pairs) -> Json:
    identifier = pairs.get("id_prefix", _SAME)
    return map_strings(value, lambda text: _begun(text, identifier)) if identifier["stand_in"] else value


def _begun(text: str, pair: Pair) -> str:
    """A text that begins with a stand-in, beginning with the real one."""
    stand_in = pair["stand_in"]
    return pair["real"] + text.removeprefix(stand_in) if stand_in and text.startswith(stand_in) else text
