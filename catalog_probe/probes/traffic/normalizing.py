"""Translate recorded exchanges into stand-ins, and find and hide their secrets.

Recordings come from other clients and gateways, whose fields no target names.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import unquote

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.text.credential_names import is_credential_name, split_into_words
from catalog_probe.catalog.text.json_values import map_strings
from catalog_probe.probes.wire.answer import Observer
from catalog_probe.probes.wire.events import name_event_by_data
from catalog_probe.probes.wire.known_secrets import ENOUGH
from catalog_probe.probes.wire.redaction import SECRET_HEADERS, Redactor, collect_secrets

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from catalog_probe.catalog.model import Exchange, Json, Response
    from catalog_probe.probes.targets.dialect import Dialect
    from catalog_probe.probes.targets.target import Target
    from catalog_probe.probes.traffic.recordings import RecordedAttempt


QUERY_KEYS = frozenset({"key", "api_key", "access_token", "token"})
"""Query parameters that carry a credential, whatever a target or a manifest says."""

_AMBIGUOUS_NAMES = frozenset({"key", "token", "string-token"})
"""Names of credentials, and also of ordinary words: `logprobs` has a `token` for each piece of a text."""

_SIGNATURE_NAME = re.compile(r"\bsig(?:nature)?$")
"""Names of parameters. A signed URL is a credential; a signature elsewhere proves one message and opens nothing."""

_TELLING_PROTOCOL = re.compile(r"[^.]*(?:key|token|bearer|auth)[^.]*\.(?:.*\.)?([^.]+)", re.IGNORECASE)
"""A WebSocket protocol that carries a key, because browsers cannot set headers: `insecure-api-key.KEY`."""

_SCHEME_AND_KEY = re.compile(r"(?:([A-Za-z][\w-]*) +)?([!-~]+)")
"""Matches `KEY` and `Bearer KEY`. A text of more words is no credential."""

_PARAMETER = re.compile(r"(?:^|[?&#;]\s*)([\w.\[\]-]{1,100})=([^?&#;\s\"'<>\\]+)")
"""Matches a parameter of a URL's query or fragment, of a form, or of a relative reference: `/done?access_token=KEY`."""

_USER_INFO = re.compile(r"(?<=//)([^/?#\s\"<>\\]+)@")
"""Matches name and password in a URL, e.g. `me:pass` in `https://me:pass@h.example/v1`."""

_DOTTED_RUN = re.compile(r"[\w.-]+", re.ASCII)
"""Matches everything that may be a JWT, each character once, so that no text takes quadratic time."""

_JWT_HEADER = "eyJ"  # `{"` in base64
_MIN_JWT_HEADER = 18  # characters of the shortest header in base64, `{"alg":"dir"}`


def credentials(exchange: Exchange, headers: Container[str], parameters: Container[str]) -> Iterator[str]:
    """Yield each credential, and each whole header that contains one.

    Example: `{"authorization": "Bearer sk-1234567890"}` -> `sk-1234567890` and `Bearer sk-1234567890`.

    Args:
        exchange: the exchange, with the provider's own names.
        headers: header names, in lower case, that certainly carry a credential.
        parameters: query parameters, in lower case, that certainly carry a credential.
    """
    request, response = exchange.request, exchange.response
    yield from _find_in_headers(request.headers, headers)
    yield from _find_in_text(request.url, parameters)
    yield from _find_in_body(request.body)
    if response is None:
        return
    yield from _find_in_headers(response.headers, headers)
    yield from _find_in_body(response.body)
    for event in response.events or ():
        yield from _find_in_body(event.data)
    if response.close is not None:
        yield from _find_in_text(response.close.reason)
    if response.grpc is not None:
        yield from _find_in_text(response.grpc.message)
        yield from _find_in_headers(response.grpc.trailers, headers)


def hide_user_info(text: str) -> str:
    """Replace name and password in each URL of a text: `https://me:pass@h.example` -> `https://***@h.example`."""
    return _USER_INFO.sub("***@", text)


def _find_in_headers(headers: Mapping[str, str], secret_headers: Container[str]) -> Iterator[str]:
    for name, value in headers.items():
        if name.lower() in secret_headers:
            yield from _find_in_secret_header(value)
        elif name.lower() == "sec-websocket-protocol":
            for protocol in value.split(","):
                match = _TELLING_PROTOCOL.fullmatch(protocol.strip())
                if match:
                    yield from _if_secret(match[1])
        else:
            yield from _find_in_field(name, value)
        yield from _find_in_text(value)


def _find_in_secret_header(value: str) -> Iterator[str]:
    """Find credentials in a header that certainly carries one: the key without its scheme, and the whole value."""
    match = _SCHEME_AND_KEY.fullmatch(value)
    if match is None:  # several cookies, or a signature with its parameters
        yield value
    elif not match[2].startswith("${"):  # else the key was hidden before
        yield from dict.fromkeys((match[2], value))
        yield from _find_in_basic(match)


def _find_in_field(name: str, value: Json) -> Iterator[str]:
    """Find credentials in a header, member or parameter by its name.

    The value may be a list, or an object with the member `value`, as in `"client_secret": {"value": "KEY"}`.
    """
    if not is_credential_name(name):
        return
    for item in value if isinstance(value, list) else [value]:
        text = item.get("value") if isinstance(item, Mapping) else item
        match = _SCHEME_AND_KEY.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            continue
        is_word = split_into_words(name) in _AMBIGUOUS_NAMES and not re.search(r"\d", match[2])
        if not is_word:
            yield from _if_secret(match[2])
            yield from _find_in_basic(match)


def _find_in_basic(scheme_and_key: re.Match[str]) -> Iterator[str]:
    """Decode user name and password (RFC 7617); clients put a key in either."""
    scheme, encoded = scheme_and_key.groups("")
    if scheme.lower() != "basic":
        return
    try:
        name, _, password = b64decode(encoded).decode().partition(":")
    except ValueError:
        return
    yield from _if_secret(password or name)


def _find_in_text(text: str, secret_parameters: Container[str] = ()) -> Iterator[str]:
    """Find credentials in a text: in the URLs that it contains, and whatever has the form of a JWT."""
    for user_info in _USER_INFO.findall(text):
        name, _, password = user_info.partition(":")
        yield from _if_secret(unquote(password or name))
    for name, value in _PARAMETER.findall(text):
        if name.lower() in secret_parameters:
            yield unquote(value)
        elif _SIGNATURE_NAME.search(split_into_words(name)):
            yield from _if_secret(unquote(value))
        else:
            yield from _find_in_field(name, unquote(value))
    if _JWT_HEADER in text:
        yield from filter(_is_jwt, _DOTTED_RUN.findall(text))


def _is_jwt(run: str) -> bool:
    """Whether a run of characters contains the parts of a JWT (RFC 7519): `eyJhbGciOiJIUzI1NiJ9.eyJpZCI6MX0.c2ln`."""
    *parts, _, _ = ["", "", *run.split(".")]  # the last two are claims and signature, which may be empty
    return any(0 <= part.find(_JWT_HEADER) <= len(part) - _MIN_JWT_HEADER for part in parts)


def _find_in_body(body: Json) -> Iterator[str]:
    """Find credentials in a body, or in the data of an event, at any depth."""
    values = [_parse_text(body) if isinstance(body, str) else body]
    while values:
        value = values.pop()
        if isinstance(value, str):
            yield from _find_in_text(value)
        elif isinstance(value, Mapping):
            for name, member in value.items():
                yield from _find_in_field(name, member)
            label = value.get("name", value.get("key"))
            if isinstance(label, str):  # a list of headers or variables: `{"name": "API_KEY", "value": "…"}`
                yield from _find_in_field(label, value.get("value"))
            values.extend(reversed([*value.values()]))
        elif isinstance(value, list):
            values.extend(reversed(value))


def _parse_text(body: str) -> Json:
    """Return the value of a text that is JSON, such as a body that nests too deeply to be kept as JSON, or the text."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


def _if_secret(value: str) -> Iterator[str]:
    """Yield a value that is long enough for a secret; the name of its field alone is weak evidence."""
    if len(value) >= ENOUGH and not value.startswith(("${", "{")):
        yield value


HIDDEN = "${{CREDENTIAL_{0}}}"
"""Replaces a recorded credential. Each has a number, because a request with another key is another request."""


def make_redactor(attempts: Iterable[RecordedAttempt], targets: Collection[Target]) -> Redactor:
    """Make the redactor for the credentials in recordings and for the targets' own keys.

    Each recorded credential gets a number, in the order of the recordings: `${{CREDENTIAL_1}}`.
    """
    target_providers = [provider for target in targets for provider in target.providers.values()]
    stand_ins = [manifest(provider).stand_ins for provider in providers()]
    headers = SECRET_HEADERS | {provider.key_header.lower() for provider in target_providers}
    headers |= {names.key_header for names in stand_ins}
    parameters = QUERY_KEYS | {provider.key_query.lower() for provider in target_providers}
    parameters |= {names.key_query.lower() for names in stand_ins}
    exchanges = chain.from_iterable(attempt.exchanges for attempt in attempts)
    recorded = chain.from_iterable(credentials(exchange, headers, parameters) for exchange in exchanges)
    recorded_secrets = {secret: HIDDEN.format(number) for number, secret in enumerate(dict.fromkeys(recorded), 1)}
    return Redactor(recorded_secrets | collect_secrets(targets), headers)


def normalize_exchange(exchange: Exchange, provider: str, dialect: Dialect) -> Exchange:
    """Translate an exchange into stand-ins, name its events as the provider's clients do, hide passwords in URLs.

    Example: the header `acme-organization-id` becomes `pa-organization-id`, and an event whose data has
    `"type": "message_stop"` is called `message_stop`.
    """
    exchange = _hide_user_info(exchange)
    observer = Observer(dialect)
    sent = exchange.request
    request = observer.make_request(sent.method, sent.url, sent.headers, dialect.json_in(sent.body))
    response = exchange.response
    if response is None:
        return replace(exchange, request=request)
    if response.events is not None and not manifest(provider).events_named_by_line:
        message_names = manifest(provider).message_names
        events = tuple(name_event_by_data(event, message_names) for event in response.events)
        response = replace(response, events=events)
    return replace(exchange, request=request, response=_translate_response(response, observer))


def _hide_user_info(exchange: Exchange) -> Exchange:
    """Hide name and password in each URL of an exchange.

    They may be too short for the redactor, which replaces a secret wherever it occurs. No documented value has any.
    """
    hide = hide_user_info
    sent, response = exchange.request, exchange.response
    request = replace(
        sent, url=hide(sent.url), headers=map_strings(sent.headers, hide), body=map_strings(sent.body, hide)
    )
    if response is None:
        return replace(exchange, request=request)
    close, grpc = response.close, response.grpc
    response = replace(
        response,
        headers=map_strings(response.headers, hide),
        body=map_strings(response.body, hide),
        events=response.events
        and tuple(replace(event, data=map_strings(event.data, hide)) for event in response.events),
        # a recording may have a close or a gRPC status in place of a body
        close=close and replace(close, reason=hide(close.reason)),
        grpc=grpc and replace(grpc, message=hide(grpc.message), trailers=map_strings(grpc.trailers, hide)),
    )
    return replace(exchange, request=request, response=response)


def _translate_response(response: Response, observer: Observer) -> Response:
    return replace(
        response,
        headers=observer.translate_headers(response.headers),
        body=observer.translate_json(response.body),
        events=None if response.events is None else observer.translate_events(response.events),
        grpc=response.grpc and replace(response.grpc, trailers=observer.translate_headers(response.grpc.trailers)),
    )
