"""A recorded exchange as evidence: in stand-ins, and without the secrets that recordings are full of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog.reading.manifest import manifest, providers
from probes.traffic.credentials import QUERY_KEYS, credentials
from probes.wire.observer import Observer
from probes.wire.redact import SECRET_HEADERS, Redactor
from probes.wire.sse import named_by_data

if TYPE_CHECKING:
    from catalog.model import Exchange, Response
    from probes.target.dialect import Dialect
    from probes.target.target import Target
    from probes.traffic.recorded import Recorded

HIDDEN = "${{CREDENTIAL_{0}}}"
"""What stands for a recorded credential: each has a name of its own, for a request with another key is another one."""


def redactor_of(recorded: Iterable[Recorded], targets: Iterable[Target]) -> Redactor:
    """What hides every credential that the recorded requests carry, and the targets' own, wherever they turn up."""
    hiding = Hiding(targets)
    for each in recorded:
        hiding.meet(each.exchanges)
    return hiding.redactor


class Hiding:
    """Hides the credentials of others as they are met, each under a name of its own."""

    def __init__(self, targets: Iterable[Target]) -> None:
        targets = tuple(targets)
        own = {each.key_header.lower() for target in targets for each in target.providers.values()}
        stand_ins = [manifest(name).stand_ins for name in providers()]
        self._headers = own | SECRET_HEADERS | {each.key_header for each in stand_ins}
        asked = {each.key_query.lower() for target in targets for each in target.providers.values()}
        self._parameters = QUERY_KEYS | asked | {each.key_query.lower() for each in stand_ins}
        self._secrets = {
            credential.value: f"${{{credential.variable or credential.role.upper()}}}"
            for target in targets
            for provider in target.providers.values()
            for credential in provider.credentials.values()
            if credential.value
        }
        self.redactor = Redactor(self._secrets, self._headers)

    @property
    def met(self) -> int:
        """How many secrets are known."""
        return len(self._secrets)

    def meet(self, exchanges: Iterable[Exchange]) -> None:
        """Hide from now on what these requests were sent with, and what their answers set."""
        for exchange in exchanges:
            for secret in credentials(exchange, self._headers, self._parameters):
                if secret not in self._secrets:
                    self._secrets[secret] = HIDDEN.format(len(self._secrets) + 1)
                    self.redactor.hide(secret, self._secrets[secret])


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
    body, _ = observer.evidence(response.body, response.body_type)
    return replace(
        response,
        headers=observer.headers(response.headers),
        body=body,
        events=None if response.events is None else observer.stream(response.events),
        close=response.close and replace(response.close, reason=observer.text(response.close.reason)),
        grpc=response.grpc
        and replace(
            response.grpc,
            message=observer.text(response.grpc.message),
            trailers=observer.headers(response.grpc.trailers),
        ),
    )
