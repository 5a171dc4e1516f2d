"""A recorded exchange as it is judged, in stand-ins; and the secrets that recordings are full of."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.probes.traffic.credentials import QUERY_KEYS, credentials
from catalog_probe.probes.wire.event_names import name_event_by_data
from catalog_probe.probes.wire.observer import Observer
from catalog_probe.probes.wire.redaction.redactor import SECRET_HEADERS, Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model import Exchange, Response
    from catalog_probe.probes.targets.dialect import Dialect
    from catalog_probe.probes.targets.target import Target
    from catalog_probe.probes.traffic.recording import RecordedExchange

HIDDEN = "${{CREDENTIAL_{0}}}"
"""What stands for a recorded credential: each has a name of its own, for a request with another key is another one."""


def make_redactor(recorded: Iterable[RecordedExchange], targets: Iterable[Target]) -> Redactor:
    """What hides the credentials and account identifiers that the recordings carry, and the targets' own keys."""
    in_targets = [provider for target in targets for provider in target.providers.values()]
    stand_ins = [manifest(provider).stand_ins for provider in providers()]
    headers = SECRET_HEADERS | {provider.key_header.lower() for provider in in_targets}
    headers |= {names.key_header for names in stand_ins}
    parameters = QUERY_KEYS | {provider.key_query.lower() for provider in in_targets}
    parameters |= {names.key_query.lower() for names in stand_ins}
    secrets = {
        credential.value: f"${{{credential.variable or credential.role.upper()}}}"
        for provider in in_targets
        for credential in provider.credentials.values()
        if credential.value
    }
    for exchange in chain.from_iterable(entry.exchanges for entry in recorded):
        for secret in credentials(exchange, headers, parameters):
            secrets.setdefault(secret, HIDDEN.format(len(secrets) + 1))
    return Redactor(secrets, headers)


def normalize_exchange(exchange: Exchange, provider: str, dialect: Dialect) -> Exchange:
    """The exchange as one of ours is judged; events without a name get that which the provider's clients give them."""
    observer = Observer(dialect)
    asked = exchange.request
    request = observer.make_request(asked.method, asked.url, asked.headers, dialect.json_in(asked.body))
    response = exchange.response
    if response is None:
        return replace(exchange, request=request)
    if response.events is not None and not manifest(provider).events_named_by_line:
        response = replace(response, events=tuple(map(name_event_by_data, response.events)))
    return replace(exchange, request=request, response=_seen(response, observer))


def _seen(response: Response, observer: Observer) -> Response:
    return replace(
        response,
        headers=observer.translate_headers(response.headers),
        body=observer.translate_json(response.body),
        events=None if response.events is None else observer.translate_events(response.events),
        grpc=response.grpc and replace(response.grpc, trailers=observer.translate_headers(response.grpc.trailers)),
    )
