"""The wires of one lane: HTTP, WebSocket and gRPC, made when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls.placeholders import fill_path
from catalog_probe.probes.calls.services import LOOPBACK_SERVICES
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.wire.address import UnsafePathError, join_url
from catalog_probe.probes.wire.loopback import Loopback

if TYPE_CHECKING:
    from collections.abc import Callable

    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.targets.dialect import Dialect
    from catalog_probe.probes.targets.target import Provider
    from catalog_probe.probes.wire.address import Origin
    from catalog_probe.probes.wire.grpc import GrpcWire
    from catalog_probe.probes.wire.http import HttpWire, Limits
    from catalog_probe.probes.wire.websocket import WebSocketWire

# Seconds that closing may take, for each wire. A connection that takes longer is left to the end of the process.
CLOSE_S = 5.0


class Wires:
    """Selects the wire and the URL of a call.

    The first call that needs a library imports it.
    """

    def __init__(self, provider: Provider, dialect: Dialect) -> None:
        self._provider = provider
        self._dialect = dialect
        self._http: HttpWire | None = None
        self._websocket: WebSocketWire | None = None
        self._grpc: GrpcWire | None = None
        self._loopback = Loopback()

    def select(self, call: Call) -> HttpWire | WebSocketWire | GrpcWire:
        """Return the wire that speaks the call's protocol."""
        if call.is_websocket:
            return self._websocket_wire()
        return self._grpc_wire() if call.is_grpc else self._http_wire()

    async def build_url(self, call: Call, read_origin: Callable[[str], Origin]) -> str:
        """Return the URL of a call below an address of the target.

        Raises:
            ProbeStopped: the target has no such address, or the call's path would lead elsewhere.
        """
        if call.service in LOOPBACK_SERVICES:
            address = await self._loopback.get_address(call.service)
        elif call.service in self._provider.addresses:
            address = self._provider.addresses[call.service]
        else:
            key = f"providers.{self._provider.name}.{call.service}"
            raise ProbeStopped(Reason(ReasonCode.ADDRESS_MISSING, f"add {key} to the target"))
        try:
            path = self._dialect.path_out(fill_path(call.path, self._provider.values))
            return join_url(address, path, read_origin)
        except UnsafePathError as error:
            raise ProbeStopped(Reason(ReasonCode.UNSAFE_PATH, f"{call.method}: {error}")) from error

    async def aclose(self) -> None:
        """Close every connection; those of WebSockets and gRPC calls are closed when their exchange ends."""
        for closable in (self._http, self._loopback):
            if closable is not None:
                with anyio.move_on_after(CLOSE_S):
                    await closable.aclose()

    def _http_wire(self) -> HttpWire:
        if self._http is None:
            from catalog_probe.probes.wire.http import HttpWire  # imported by its first request

            provider = self._provider
            self._http = HttpWire(
                self._dialect,
                self._limits,
                tls=any(address.startswith("https:") for address in provider.addresses.values()),
                ca_file=provider.ca_file,
                client_cert_file=provider.client_cert_file,
                events_named_by_line=manifest(provider.name).events_named_by_line,
                connections=provider.concurrency,
            )
        return self._http

    def _websocket_wire(self) -> WebSocketWire:
        if self._websocket is None:
            from catalog_probe.probes.wire.websocket import WebSocketWire  # as above

            provider = self._provider
            self._websocket = WebSocketWire(
                self._dialect,
                self._limits,
                ca_file=provider.ca_file,
                message_names=manifest(provider.name).message_names,
            )
        return self._websocket

    def _grpc_wire(self) -> GrpcWire:
        if self._grpc is None:
            from catalog_probe.probes.wire.grpc import GrpcWire  # as above

            self._grpc = GrpcWire(self._provider.grpc_package, self._limits, ca_file=self._provider.ca_file)
        return self._grpc

    @property
    def _limits(self) -> Limits:
        from catalog_probe.probes.wire.http import Limits  # as above

        return Limits(self._provider.timeout_s, self._provider.max_body_bytes)
