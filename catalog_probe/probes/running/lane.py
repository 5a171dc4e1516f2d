"""A lane: the connections, the rate limit, the budget and the controls that all probes of one credential share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.evidence.retention import trim_exchange
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Exchange, Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import CONTROL
from catalog_probe.catalog.model.status import is_success
from catalog_probe.catalog.reading.grpc_statuses import status_of
from catalog_probe.probes.calls.placeholders import OWN_NAME, fill_path, fill_placeholders, own_name
from catalog_probe.probes.calls.services import LOOPBACK_SERVICES
from catalog_probe.probes.judging.control import expect_proof
from catalog_probe.probes.judging.inconclusive.confirmations import list_named_values
from catalog_probe.probes.judging.inconclusive.key_evidence import KeyEvidence
from catalog_probe.probes.recipes.probe import Stopped
from catalog_probe.probes.running.barrier import Barrier
from catalog_probe.probes.running.pacing.rate_limiter import RateLimiter, WaitTooLong
from catalog_probe.probes.running.pacing.rate_limits import RateLimitPolicy
from catalog_probe.probes.running.pacing.throttle import Throttle
from catalog_probe.probes.running.target_facts import describe_target
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.targets.target import WRONG
from catalog_probe.probes.wire.address import UnsafePathError, url_at
from catalog_probe.probes.wire.loopback import Loopback
from catalog_probe.probes.wire.quiet_logs import silence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.running.pacing.budget import Budget
    from catalog_probe.probes.running.pacing.throttle import LimitScope
    from catalog_probe.probes.running.pacing.token_budget import Reservation
    from catalog_probe.probes.targets.target import Provider
    from catalog_probe.probes.wire.address import Origin
    from catalog_probe.probes.wire.grpc import GrpcWire
    from catalog_probe.probes.wire.http import HttpWire, Limits
    from catalog_probe.probes.wire.redaction.redactor import Redactor
    from catalog_probe.probes.wire.websocket import WebSocketWire

MAX_FAILURES = 5
"""Transport failures in a row that end a lane: the rest would only repeat them."""

CLOSE_S = 5.0
"""How long closing may take, for each protocol."""

MAX_CONTROLS = 3
"""A control that met a passing trouble is sent again for the next probe, so often at most."""

REFUSED_CONTROLS = 2
"""So often in a row a control is refused before that is believed: one refusal may be an accident."""

NO_KEY = ""
"""In place of the role whose key goes with a request, where none does."""

OF_NOBODY = frozenset({NO_KEY, WRONG})
"""Roles of no account: what limits they are told are nobody's."""

ASK_TO_WAIT = frozenset({429, 503, 529})
"""Statuses whose Retry-After is obeyed. Not on a mock: it answers each probe as if it were alone."""

TRANSPORT = frozenset(
    {
        ReasonCode.CONNECT_REFUSED,
        ReasonCode.CONNECT_TIMEOUT,
        ReasonCode.NAME_UNRESOLVED,
        ReasonCode.TLS_FAILED,
        ReasonCode.READ_TIMEOUT,
        ReasonCode.CLOSED_WITHOUT_ANSWER,
        ReasonCode.CONNECTION_RESET,
        ReasonCode.PROTOCOL_ERROR,
    }
)


class Lane:
    """Sends calls for one provider credential. All methods run in the loop thread."""

    def __init__(
        self,
        provider: Provider,
        role: str,
        redactor: Redactor,
        budget: Budget,
        *,
        mock: bool,
        throttle: Throttle | None = None,
    ) -> None:
        silence()
        self.provider = provider
        self.role = role
        self.stopped: Reason | None = None
        self.green: Exchange | None = None
        """The last control that was a success."""
        self._mock = mock
        self.redactor = redactor
        self._budget = budget
        self._limiter = RateLimiter(provider.rate, provider.max_wait_s)
        self._throttle = throttle or Throttle(RateLimitPolicy(), provider.max_wait_s)
        self._failures = 0
        self._http: HttpWire | None = None
        self._websocket: WebSocketWire | None = None
        self._grpc: GrpcWire | None = None
        self._loopback = Loopback()
        self._dialect = Dialect.of(provider)
        credentials = provider.credentials.values()
        handed_over = {f"{each.role}_credential": each.value for each in credentials if each.value is not None}
        self._values = {**provider.values, **handed_over}
        """What placeholders stand for: the target's values, and `<role>_credential`.

        A credential belongs in a body where the request hands it over instead of being authorised by it.
        """
        self._controls: dict[str, _Controls] = {}
        self._control_lock = anyio.Lock()
        self.places = anyio.CapacityLimiter(provider.concurrency)
        self.barrier = Barrier()
        self.evidence = KeyEvidence(describe_target(provider, role, self._dialect, live=not mock))
        """What all answers on this lane show of its key."""
        self.fault_free_lock = anyio.Lock()

    async def send(
        self,
        call: Call,
        label: str,
        session: str,
        since: float,
        role: str | None = None,
        *,
        tokens: int = 0,
        owed: bool = False,
        free: bool = False,
    ) -> Exchange:
        """Send one call, which may take so many tokens, with the lane's key and within the limits of rate and tokens.

        Nothing of the exchange is hidden, so that it can be judged: who keeps or shows any of it must redact it.
        What is `owed` to the account, the removal of something made there, is sent although the lane has ended or
        the budget is spent; what is `free` does not draw on the budget.

        Raises:
            Stopped: the lane has ended, the budget is spent, the provider asks for too long a wait, or the call's path
                would lead elsewhere than to the target.
        """
        wire = self._wire_of(call)  # before its turn: what is imported then would make it late
        url = await self._url(call, wire.read_origin)  # before a key is put into anything
        scope = self._find_scope(call, role or self.role)
        reserved = await self._admit(scope, tokens, owed=owed, free=free)
        exchange = await wire.exchange(
            self._keyed(call.with_values({**self._values, OWN_NAME: own_name(session)}), role or self.role),
            url,
            self._headers(call, session, role or self.role),
            label,
            since,
        )
        self._limiter.note_answer()
        if exchange.response is not None:
            self.redactor.learn(exchange.response, call.secrets)
        if not self._mock:
            self._throttle.learn(scope, exchange.response if scope.role not in OF_NOBODY else None, reserved)
        if not call.expects_failure:
            self._learn(exchange, scope.role)
        unconfirmed = self.evidence.target.unconfirmed_values
        if unconfirmed and is_success(status_of(exchange.response, self.provider.name)):
            self.evidence.confirmed_values |= list_named_values(exchange.request, unconfirmed)
        return exchange

    def meters(self, call: Call, role: str) -> bool:
        """Whether a limit of tokens is known on which this call with this role's key draws."""
        return self._throttle.has_token_limit(self._find_scope(call, role))

    def _find_scope(self, call: Call, role: str) -> LimitScope:
        return self._throttle.find_scope(call, call.credential_role(role) or NO_KEY)

    async def control(self, call: Call, session: str, since: float, *, after: float | None = None) -> Exchange:
        """The answer to the cheapest free request with this lane's key: sent once, and again while it says nothing.

        With `after` (a reading of `time.perf_counter`) only an answer to a request sent later than that will do.
        A control is no part of what the budget is for.
        """
        seen = self._controls.setdefault(call.path, _Controls())
        # All probes of the lane ask at once when it begins, or when they drift; the first to come sends, the others
        # take its answer: one control settles all drifts before it.
        async with self._control_lock:
            count = sum(1 for sent_at in seen.sent_at if after is None or sent_at >= after)
            while seen.last is None or count == 0 or self._asks_again(seen, seen.last, count):
                sent_at = time.perf_counter()
                answered = await self.send(call, CONTROL, session, since, free=True)
                # Every probe of the lane asks what it said: kept as long as the lane, and so no more than its proof.
                seen.last = trim_exchange(answered, expect_proof(call, self.provider.name))
                seen.sent_at.append(sent_at)
                seen.refused = seen.refused + 1 if self._is_refused(seen.last) else 0
                count += 1
                if after is None and not seen.refused:
                    break
            return seen.last

    def _asks_again(self, seen: _Controls, last: Exchange, count: int) -> bool:
        """Whether a control of which so many were sent is sent once more, for what came of the last."""
        if self._is_refused(last):
            return seen.refused < REFUSED_CONTROLS
        return count < MAX_CONTROLS and self._says_nothing(last)

    def _is_refused(self, control: Exchange) -> bool:
        """Whether the answer is neither a success nor one of a moment."""
        status = status_of(control.response, self.provider.name)
        return not self._says_nothing(control) and not is_success(status)

    def _says_nothing(self, control: Exchange) -> bool:
        """Whether the answer tells of a moment rather than of the credential."""
        status = status_of(control.response, self.provider.name)
        return status is None or status in (408, 429) or status >= 500

    @property
    def live(self) -> bool:
        """Whether it is no mock that is asked."""
        return not self._mock

    def reserve(self, tokens: int) -> None:
        """Set aside what an attempt may take at most.

        Raises:
            Stopped: the budget does not hold so much.
        """
        spent = self._budget.reserve_tokens(tokens)
        if spent is not None:
            raise Stopped(spent)

    @property
    def paused_s(self) -> float:
        """Seconds for which the provider asked to be left alone, from now."""
        return max(self._throttle.requested_pause_s(self.role), self._throttle.paused_s)

    def stop(self, reason: Reason) -> None:
        """End the lane; the first reason stays."""
        if self.stopped is None:
            self.stopped = reason

    async def aclose(self) -> None:
        """Close every connection; one that cannot be closed in time is left to the end of the process."""
        for each in (self._http, self._grpc, self._loopback):
            if each is not None:
                with anyio.move_on_after(CLOSE_S):
                    await each.aclose()

    async def _admit(self, scope: LimitScope, tokens: int, *, owed: bool, free: bool) -> tuple[Reservation, ...]:
        if self.stopped is not None and not owed:
            raise Stopped(Reason(ReasonCode.LANE_STOPPED, f"{self.stopped.code}: {self.stopped.detail}"))
        spent = None if free else self._budget.take_request()
        if spent is not None and not owed:
            raise Stopped(spent)
        try:
            return await self._throttle.acquire(scope, self._limiter, tokens)
        except WaitTooLong as error:
            reason = Reason(ReasonCode.WAIT_TOO_LONG, str(error))
            if scope.role == self.role:  # what is asked of another key says nothing of the lane's
                self.stop(reason)
            raise Stopped(reason) from error

    def _wire_of(self, call: Call) -> HttpWire | WebSocketWire | GrpcWire:
        """What speaks the call's protocol; its library is imported by the first call that needs it."""
        if call.is_websocket:
            return self._websocket_wire()
        return self._grpc_wire() if call.is_grpc else self._http_wire()

    def _http_wire(self) -> HttpWire:
        if self._http is None:
            from catalog_probe.probes.wire.http import HttpWire  # each transport waits for its first request

            self._http = HttpWire(
                self._dialect,
                self._limits,
                tls=self._tls,
                ca_file=self.provider.ca_file,
                client_cert_file=self.provider.client_cert_file,
                events_named_by_line=manifest(self.provider.name).events_named_by_line,
                connections=self.provider.concurrency,
            )
        return self._http

    def _websocket_wire(self) -> WebSocketWire:
        if self._websocket is None:
            from catalog_probe.probes.wire.websocket import WebSocketWire  # as above

            self._websocket = WebSocketWire(self._dialect, self._limits, ca_file=self.provider.ca_file)
        return self._websocket

    def _grpc_wire(self) -> GrpcWire:
        if self._grpc is None:
            from catalog_probe.probes.wire.grpc import GrpcWire  # as above: gRPC is the slowest to import

            self._grpc = GrpcWire(self.provider.grpc_package, self._limits, ca_file=self.provider.ca_file)
        return self._grpc

    @property
    def _limits(self) -> Limits:
        from catalog_probe.probes.wire.http import Limits  # as above

        return Limits(self.provider.timeout_s, self.provider.max_body_bytes)

    @property
    def _tls(self) -> bool:
        return any(address.startswith("https:") for address in self.provider.addresses.values())

    async def _url(self, call: Call, read_origin: Callable[[str], Origin]) -> str:
        if call.service in LOOPBACK_SERVICES:
            address = await self._loopback.address(call.service)
        elif call.service in self.provider.addresses:
            address = self.provider.addresses[call.service]
        else:
            place = f"providers.{self.provider.name}.{call.service}"
            raise Stopped(Reason(ReasonCode.ADDRESS_MISSING, f"add {place} to the target"))
        try:
            return url_at(address, self._dialect.path_out(fill_path(call.path, self.provider.values)), read_origin)
        except UnsafePathError as error:
            raise Stopped(Reason(ReasonCode.UNSAFE_PATH, f"{call.method}: {error}")) from error

    def _keyed(self, call: Call, role: str) -> Call:
        """The call with its key in the query, where the provider takes it there."""
        named = call.credential_role(role)
        if named is None or not self._asks_by_query(call):
            return call
        value = self.provider.credential(named).value or ""
        return call.replace(query=(*call.query, (self.provider.key_query, value)))

    def _asks_by_query(self, call: Call) -> bool:
        return bool(self.provider.key_query) and call.key_header is None and not call.is_grpc

    def _headers(self, call: Call, session: str, role: str) -> Mapping[str, str]:
        wanted: dict[str, str | None] = dict(self.provider.headers)
        named = call.credential_role(role)
        if named is not None and not self._asks_by_query(call):
            credential = self.provider.credential(named)
            name, scheme = call.key_header or (self.provider.key_header, self.provider.key_scheme)
            wanted[name] = f"{scheme} {credential.value}".lstrip()
        wanted.update(call.headers)
        if self._mock:
            mock = call.mock
            wanted.update({"x-mock-session": session, "x-mock-scenario": mock.scenario, "x-mock-clock": mock.clock})
        return {name: fill_placeholders(value, self._values) for name, value in wanted.items() if value is not None}

    def _learn(self, exchange: Exchange, role: str) -> None:
        """Keep count of what ends a lane, and obey a pause that was asked of this role's key."""
        if exchange.failure is not None and exchange.failure.code in TRANSPORT:
            self._failures += 1
            if self._failures >= MAX_FAILURES:
                detail = f"{self._failures} transport failures in a row, the last {exchange.failure.code}"
                self.stop(Reason(exchange.failure.code, detail))
            return
        self._failures = 0
        response = exchange.response
        if response is not None and not self._mock:
            asked = self._throttle.policy.retry_delay_s(response) if response.status in ASK_TO_WAIT else None
            if asked:
                self._throttle.pause(role, asked)


@dataclass(slots=True)
class _Controls:
    """When one control was sent, and what came of the last."""

    sent_at: list[float] = field(default_factory=list)
    last: Exchange | None = None
    refused: int = 0
    """How often in a row it was refused, up to the last."""
