"""Translate recorded exchanges into stand-ins, and find or hide the secrets that recordings contain."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.text.json_values import map_strings
from catalog_probe.probes.traffic.credentials import QUERY_KEYS, credentials, hide_user_info
from catalog_probe.probes.wire.event_names import name_event_by_data
from catalog_probe.probes.wire.observer import Observer
from catalog_probe.probes.wire.redaction.redactor import SECRET_HEADERS, Redactor, collect_secrets

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from catalog_probe.catalog.model import Exchange, Response
    from catalog_probe.probes.targets.dialect import Dialect
    from catalog_probe.probes.targets.target import Target
    from catalog_probe.probes.traffic.recording import RecordedAttempt

HIDDEN = "${{CREDENTIAL_{0}}}"
"""Replaces a recorded credential. Each has a number, because a request with another key is another request."""


def make_redactor(attempts: Iterable[RecordedAttempt], targets: Collection[Target]) -> Redactor:
    """Make the redactor for the credentials in recordings and for the targets' own keys."""
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
    """Translate an exchange into stand-ins, name its events as the provider's clients do, hide passwords in URLs."""
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
