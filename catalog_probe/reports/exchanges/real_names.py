"""The real names of a provider in commands that are sent to it. Evidence holds their stand-ins only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from catalog_probe.catalog.text.json_tree import map_strings

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange, Json, Request

_GRPC_METHOD = re.compile(r"/[\w.]+\.(\w+/\w+)$")
"""The path of a gRPC method: package, service and method."""

NamePair = Mapping[str, str]
"""A name in the documents (`stand_in`), and on the wire (`real`)."""

NamePairs = Mapping[str, NamePair]
"""By the target's field (`header_prefix`)."""

_SAME_NAME: NamePair = {"stand_in": "", "real": ""}


def use_real_names(pairs: NamePairs, exchange: Exchange) -> Exchange:
    """Return the exchange with the request, and the frames sent over a socket, as the provider received them."""
    if not pairs:
        return exchange
    response = exchange.response
    if response is not None and response.events is not None:
        events = tuple(
            replace(event, data=_rename_ids(event.data, pairs)) if event.sent else event for event in response.events
        )
        response = replace(response, events=events)
    return replace(exchange, request=_rename_in_request(exchange.request, pairs), response=response)


def _rename_in_request(request: Request, pairs: NamePairs) -> Request:
    headers = {_rename_header(name, pairs): value for name, value in request.headers.items()}
    url = _rename_in_url(request.url, pairs)
    if request.method.upper() == "GRPC" and "grpc_package" in pairs:
        package = pairs["grpc_package"]["real"]
        url = _GRPC_METHOD.sub(lambda method: f"/{package}.{method[1]}", url)
    return replace(request, url=url, headers=headers, body=_rename_ids(request.body, pairs))


def _rename_header(name: str, pairs: NamePairs) -> str:
    key_header = pairs.get("key_header", _SAME_NAME)
    if name.lower() == key_header["stand_in"]:
        return key_header["real"]
    return _replace_prefix(name.lower(), pairs.get("header_prefix", _SAME_NAME))


def _rename_in_url(url: str, pairs: NamePairs) -> str:
    """Rename the identifiers in the path and the query."""
    parts = urlsplit(url)
    id_prefix = pairs.get("id_prefix", _SAME_NAME)
    path = "/".join(_replace_prefix(segment, id_prefix) for segment in parts.path.split("/"))
    parameters = (parameter.partition("=") for parameter in parts.query.split("&"))
    query = "&".join(f"{name}{equals}{_replace_prefix(value, id_prefix)}" for name, equals, value in parameters)
    return parts._replace(path=path, query=query).geturl()


def _rename_ids(value: Json, pairs: NamePairs) -> Json:
    id_prefix = pairs.get("id_prefix", _SAME_NAME)
    return map_strings(value, lambda text: _replace_prefix(text, id_prefix)) if id_prefix["stand_in"] else value


def _replace_prefix(text: str, pair: NamePair) -> str:
    stand_in = pair["stand_in"]
    return pair["real"] + text.removeprefix(stand_in) if stand_in and text.startswith(stand_in) else text
