"""A recorded exchange as evidence: in stand-ins, and without the secrets that recordings are full of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from catalog.reading.manifest import manifest, providers
from probes.wire.observer import Observer
from probes.wire.redact import SECRET_HEADERS, Redactor
from probes.wire.sse import named_by_data

if TYPE_CHECKING:
    from catalog.model import Event, Exchange, Json, Response
    from probes.target.dialect import Dialect
    from probes.target.target import Target
    from probes.traffic.recorded import Recorded

HIDDEN = "${{CREDENTIAL_{0}}}"
"""What stands for a recorded credential: each has a name of its own, for a request with another key is another one."""

QUERY_KEYS = frozenset({"key", "api_key", "access_token", "token"})
"""Parameters of an address that carry a credential."""


def redactor_of(recorded: Iterable[Recorded], targets: Iterable[Target]) -> Redactor:
    """What hides every credential that the recorded requests carry, and the targets' own, wherever they turn up."""
    headers = {name for target in targets for each in target.providers.values() for name in [each.key_header.lower()]}
    headers |= SECRET_HEADERS | {manifest(name).stand_ins.key_header for name in providers()}
    secrets = {
        credential.value: f"${{{credential.variable or credential.role.upper()}}}"
        for target in targets
        for provider in target.providers.values()
        for credential in provider.credentials.values()
        if credential.value
    }
    for each in recorded:
        for exchange in each.exchanges:
            for secret in _credentials(exchange, headers):
                secrets.setdefault(secret, HIDDEN.format(len(secrets) + 1))
    return Redactor(secrets, headers)


def _credentials(exchange: Exchange, headers: Iterable[str]) -> Iterator[str]:
    asked, answer = exchange.request, exchange.response
    for name in headers:
        key = asked.headers.get(name, "").rpartition(" ")[2]
        if key and not key.startswith("${"):  # which stands for a key that was hidden before
            yield from (key, asked.headers[name])
        if answer is not None and name in answer.headers:
            yield answer.headers[name]
    for name, value in parse_qsl(urlsplit(asked.url).query):
        if name.lower() in QUERY_KEYS:
            yield value


def observed(exchange: Exchange, provider: str, dialect: Dialect, redactor: Redactor) -> Exchange:
    """The exchange as one of ours is kept; events without a name get that which the provider's clients give them."""
    observer = Observer(redactor, dialect)
    asked = exchange.request
    request = observer.request(asked.method, asked.url, asked.headers, dialect.json_in(asked.body))
    response = exchange.response
    if response is None:
        return replace(exchange, request=request)
    if response.events is not None and not manifest(provider).events_named_by_line:
        response = replace(response, events=tuple(map(named_by_data, response.events)))
    return replace(exchange, request=request, response=_seen(response, observer))


def _seen(response: Response, observer: Observer) -> Response:
    return replace(
        response,
        headers=observer.headers(response.headers),
        body=observer.json(response.body),
        events=None if response.events is None else tuple(_event(each, observer) for each in response.events),
        close=response.close and replace(response.close, reason=observer.text(response.close.reason)),
        grpc=response.grpc
        and replace(
            response.grpc,
            message=observer.text(response.grpc.message),
            trailers=observer.headers(response.grpc.trailers),
        ),
    )


def _event(event: Event, observer: Observer) -> Event:
    data: Json = observer.json(event.data)
    return replace(event, event=observer.text(event.event), data=data)
