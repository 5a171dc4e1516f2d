"""A lane: connections, pace, stages and controls of one credential."""

from __future__ import annotations

import logging
import os
import time
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Exchange, Reason
from catalog_probe.catalog.model.exchange import is_success
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import http_status_of
from catalog_probe.probes.calls import LOOPBACK_SERVICES, OWN_NAME, fill_path, fill_placeholders, own_name
from catalog_probe.probes.judging.inconclusive.assumptions import list_named_values
from catalog_probe.probes.judging.inconclusive.evidence import MOCK_SESSION, KeyEvidence, TargetFacts
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running.control_cache import ControlCache
from catalog_probe.probes.running.limits import RateLimitPolicy
from catalog_probe.probes.running.throttle import RateLimiter, Throttle, WaitTooLong
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.targets.target import MODEL_SUFFIX, WRONG_KEY
from catalog_probe.probes.wire.address import Loopback, UnsafePathError, join_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.running.limits import Budget
    from catalog_probe.probes.running.throttle import LimitScope, Reservation
    from catalog_probe.probes.running.upstream import Upstream
    from catalog_probe.probes.targets.target import Provider
    from catalog_probe.probes.wire.address import Origin
    from catalog_probe.probes.wire.grpc import GrpcWire
    from catalog_probe.probes.wire.http import HttpWire, Limits
    from catalog_probe.probes.wire.redaction import Redactor
    from catalog_probe.probes.wire.websocket import WebSocketWire


# Loggers of the libraries that see our requests. Their lines would contain API keys.
LOGGERS = ("httpx", "httpcore", "hpack", "websockets")

# The environment variable that makes Python write down the keys of each TLS connection.
TLS_KEYS_VARIABLE = "SSLKEYLOGFILE"


def silence_libraries() -> None:
    """Disable the loggers of LOGGERS at any level, and remove TLS_KEYS_VARIABLE from the environment."""
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    os.environ.pop(TLS_KEYS_VARIABLE, None)


class Stage(IntEnum):
    """How far a probe has come, for the other probes of its lane that wait."""

    ASKING = 0
    ASKED = 1  # the probe was asked once; a later attempt waits until all others were too
    JUDGED = 2  # the probe sends nothing more of its own


class Barrier:
    """Lets a probe wait until all others of its lane have reached a stage.

    Example: of 40 probes one gets a 503. It waits for `Stage.ASKED` until the other 39 were asked, and tries again.

    To wait for a stage is to have reached it, so no waiting probe holds up another one: the barrier waits for probes
    that still send. All methods run in the loop thread.
    """

    def __init__(self) -> None:
        self._stages: dict[str, Stage] = {}
        self._latches = {stage: _Latch() for stage in (Stage.ASKED, Stage.JUDGED)}

    def register(self, addresses: Iterable[str]) -> None:
        """Register probes that the barrier waits for."""
        for address in addresses:
            if address not in self._stages:
                self._stages[address] = Stage.ASKING
                for latch in self._latches.values():
                    latch.count_up()

    async def wait_for(self, stage: Stage, address: str | None = None) -> float:
        """Note that the probe at this address has reached a stage, and wait until all registered probes have.

        Without an address, the caller is none of the probes, and only waits. Returns the moment at which the last probe
        arrived, a reading of `time.perf_counter`; it is the same for all that waited.
        """
        if address is not None:
            self._advance(address, stage)
        return await self._latches[stage].wait()

    def leave(self, address: str) -> None:
        """Stop waiting for a probe: it has ended."""
        self._advance(address, Stage.JUDGED)
        self._stages.pop(address, None)

    def _advance(self, address: str, stage: Stage) -> None:
        before = self._stages.get(address, stage)  # a probe that never registered counts in no latch
        for latch_stage, latch in self._latches.items():
            if before < latch_stage <= stage:
                latch.count_down()
        self._stages[address] = max(before, stage)


class _Latch:
    """Counts the probes that have not reached a stage, and opens at zero."""

    def __init__(self) -> None:
        self._missing = 0
        self._opened_at = time.perf_counter()
        self._open = anyio.Event()
        self._open.set()

    def count_up(self) -> None:
        if self._missing == 0:
            self._open = anyio.Event()
        self._missing += 1

    def count_down(self) -> None:
        self._missing -= 1
        if self._missing == 0:
            self._opened_at = time.perf_counter()
            self._open.set()

    async def wait(self) -> float:
        await self._open.wait()
        return self._opened_at


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
            return self._get_websocket_wire()
        return self._get_grpc_wire() if call.is_grpc else self._get_http_wire()

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
        """Close the HTTP connections and the loopback services. A WebSocket or gRPC call closes its own at its end."""
        for closable in (self._http, self._loopback):
            if closable is not None:
                with anyio.move_on_after(CLOSE_S):
                    await closable.aclose()

    def _get_http_wire(self) -> HttpWire:
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
                connections=provider.limits.concurrency,
            )
        return self._http

    def _get_websocket_wire(self) -> WebSocketWire:
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

    def _get_grpc_wire(self) -> GrpcWire:
        if self._grpc is None:
            from catalog_probe.probes.wire.grpc import GrpcWire  # as above

            self._grpc = GrpcWire(self._provider.grpc_package, self._limits, ca_file=self._provider.ca_file)
        return self._grpc

    @property
    def _limits(self) -> Limits:
        from catalog_probe.probes.wire.http import Limits  # as above

        return Limits(self._provider.limits.timeout_s, self._provider.limits.max_body_bytes)


def describe_target(provider: Provider, role: str, dialect: Dialect, *, live: bool) -> TargetFacts:
    """Describe a role's key, and the values and addresses that may be wrong."""
    values = provider.unconfirmed_values if live else {}
    return TargetFacts(
        key_name=provider.key_name(role),
        unconfirmed_values={name: dialect.text_in(value) for name, value in values.items()},
        value_fixes={name: _describe_fix(provider, name) for name in values},
        addresses=provider.addresses,
        address_names={service: provider.address_name(service) for service in provider.addresses},
    )


def _describe_fix(provider: Provider, name: str) -> str:
    """Say how to set a value, with the present one if it names a model; an id may be a secret, and is not shown."""
    value = f" ({provider.values[name]})" if name.endswith(MODEL_SUFFIX) else ""
    return f"{provider.advise_wrong(f'values.{name}')}{value}"


# Transport failures in a row that end a lane: later requests would only repeat them, each after a timeout.
MAX_FAILURES = 5

# Stands for the role of the key, in the scope of a limit, if a call is sent without a key. No lane has this role.
NO_KEY = ""

# Roles that belong to no account. An answer to such a request tells no limit of our account.
ROLES_WITHOUT_ACCOUNT = frozenset({NO_KEY, WRONG_KEY})

# Statuses whose Retry-After is obeyed. A mock's is not: the mock answers each probe as if no other probe was sent.
RETRY_AFTER_STATUSES = frozenset({429, 503, 529})

TRANSPORT_FAILURES = frozenset(
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
        upstream: Upstream | None = None,
    ) -> None:
        silence_libraries()
        self.provider = provider
        self.role = role
        self.redactor = redactor
        self.stopped: Reason | None = None
        """Why nothing more is sent, or None."""
        self.green_control: Exchange | None = None
        """The last control that was a success."""
        self.controls = ControlCache(provider.name)
        """The last answers to controls, so that the probes of the lane share one."""
        self.semaphore = anyio.CapacityLimiter(provider.limits.concurrency)
        """Held by a probe while it sends: so many are in flight at once."""
        self.barrier = Barrier()
        """At which its probes wait until all of them were asked, or judged."""
        self.fault_free_lock = anyio.Lock()
        """Held while fault-free requests are sent: a second batch then uses the answers of the first."""
        self._mock = mock
        self._upstream = upstream
        self._budget = budget
        self._limiter = RateLimiter(provider.limits.rate, provider.limits.max_wait_s)
        self._throttle = throttle or Throttle(RateLimitPolicy(), provider.limits.max_wait_s)
        self._failures = 0
        dialect = Dialect.for_provider(provider)
        self._wires = Wires(provider, dialect)
        # Values of placeholders: those of the target, and each key as `<role>_credential`. A request that exchanges a
        # key for a token has the key in its body.
        self._values = {**provider.values, **_collect_keys(provider)}
        self.evidence = KeyEvidence(describe_target(provider, role, dialect, live=not mock))
        """What all answers on this lane show of its key."""

    async def send(
        self,
        call: Call,
        label: str,
        session: str,
        since: float,
        role: str | None = None,
        *,
        tokens: int = 0,
        cleanup: bool = False,
        unbudgeted: bool = False,
    ) -> Exchange:
        """Send one call, within the limits of rate and tokens.

        The exchange is not redacted, because it is judged first. Whoever keeps or shows any of it must redact it.

        Args:
            call: the call, with placeholders.
            label: under which the exchange is judged.
            session: the mock's session. The names of what the call makes are derived from it, so that they are unique.
            since: when the attempt began, a reading of `time.perf_counter`.
            role: whose key is sent; None for the lane's own.
            tokens: what the call may take at most.
            cleanup: the call removes something from the account. It draws on the budget, and is sent even if the budget
                is spent or the lane has ended.
            unbudgeted: the call does not draw on the budget. Controls and look-ups do not.

        Raises:
            ProbeStopped: the lane has ended, the budget is spent, the provider asks for too long a wait, the target
                lacks the call's key, or the call's path would lead elsewhere than to the target.
        """
        role = self.role if role is None else role
        # Before the rate limiter: the first call of a protocol imports its library, which would make the request late.
        wire = self._wires.select(call)
        # Before a key is put into anything: an unsafe path might take the key to another server.
        url = await self._wires.build_url(call, wire.read_origin)
        headers = self._make_headers(call, session, role)
        filled_call = self._add_query_key(call.with_values({**self._values, OWN_NAME: own_name(session)}), role)
        scope = self._find_scope(call, role)
        reservations = await self._admit(scope, tokens, cleanup=cleanup, unbudgeted=unbudgeted)
        exchange_once = partial(wire.exchange, filled_call, url, headers, label, since)
        if self._upstream is not None:
            exchange = await self._upstream.exchange(self.provider.name, call.mock.scenario, exchange_once)
        else:
            exchange = await exchange_once()
        self._limiter.note_answer()
        if exchange.response is not None:
            self.redactor.learn(exchange.response, call.secrets)
        if not self._mock and not self._is_armed(call):
            # Without a response nothing is learnt, and the reservations are released all the same.
            response = exchange.response if scope.role not in ROLES_WITHOUT_ACCOUNT else None
            self._throttle.learn(scope, response, reservations)
        if not call.expects_failure:  # a failure that is wanted says nothing about the host
            self._count_failures(exchange)
        if not self._is_armed(call):  # else each armed 429 would make the lane wait
            self._obey_retry_after(exchange, scope.role)
        self._confirm_values(exchange)
        return exchange

    def has_token_limit(self, call: Call, role: str) -> bool:
        """Whether a limit of tokens is known on which this call draws."""
        return self._throttle.has_token_limit(self._find_scope(call, role))

    @property
    def live(self) -> bool:
        """Whether the lane asks a provider and not a mock."""
        return not self._mock

    def reserve(self, tokens: int) -> None:
        """Take what an attempt may use at most from the budget.

        Raises:
            ProbeStopped: the budget does not hold so much.
        """
        shortage = self._budget.reserve_tokens(tokens)
        if shortage is not None:
            raise ProbeStopped(shortage)

    @property
    def paused_s(self) -> float:
        """Seconds, from now, for which the provider asked to be left alone.

        Example: 30 after a 429 with `retry-after: 30` to this key, or after any answer that says that a limit of
        requests is used up and resets in 30 seconds.
        """
        return max(self._throttle.requested_pause_s(self.role), self._throttle.longest_reset_s)

    def stop(self, reason: Reason) -> None:
        """End the lane: nothing more is sent but clean-up. The first reason is kept.

        The lane ends itself after MAX_FAILURES transport failures in a row, or if the provider asks for too long a
        wait. `controls` ends it if the provider refuses the lane's own key or account, `looking_up` if a connection
        failed, and `engine` at the end of the run.
        """
        if self.stopped is None:
            self.stopped = reason

    def require_open(self) -> None:
        """Do nothing while the lane sends.

        Raises:
            ProbeStopped: the lane has ended, e.g. because its key was refused.
        """
        stopped = self.stopped
        if stopped is not None:
            detail = f"{stopped.code}: {stopped.detail}"
            raise ProbeStopped(Reason(ReasonCode.LANE_STOPPED, detail, stopped.advice, cause=stopped.code))

    async def aclose(self) -> None:
        """Close every connection."""
        await self._wires.aclose()

    def _find_scope(self, call: Call, role: str) -> LimitScope:
        return self._throttle.find_scope(call, call.credential_role(role) or NO_KEY)

    async def _admit(
        self, scope: LimitScope, tokens: int, *, cleanup: bool, unbudgeted: bool
    ) -> tuple[Reservation, ...]:
        """Wait until a request may be sent.

        Raises:
            ProbeStopped: the lane has ended, the budget is spent, or the wait would be too long.
        """
        if not cleanup:
            self.require_open()
        shortage = None if unbudgeted else self._budget.take_request()
        if shortage is not None and not cleanup:
            raise ProbeStopped(shortage)
        try:
            return await self._throttle.acquire(scope, self._limiter, tokens)
        except WaitTooLong as error:
            reason = Reason(ReasonCode.WAIT_TOO_LONG, str(error))
            if scope.role == self.role:  # a pause of another key says nothing about the lane's
                self.stop(reason)
            raise ProbeStopped(reason) from error

    def _add_query_key(self, call: Call, role: str) -> Call:
        """Return the call with its key in the query, if the provider takes it there."""
        key_role = call.credential_role(role)
        if key_role is None or not self._has_query_key(call):
            return call
        return call.replace(query=(*call.query, (self.provider.key_query, self._get_key(key_role))))

    def _get_key(self, role: str) -> str:
        """Return the key of a role.

        Raises:
            ProbeStopped: the target has no such key. A request with `Bearer None` would be refused, and the refusal
                would be taken for the provider's answer to a key of ours.
        """
        key = self.provider.credential(role).value
        if key is None:
            raise ProbeStopped(Reason(ReasonCode.CREDENTIAL_MISSING, f"set {self.provider.key_name(role)}"))
        return key

    def _has_query_key(self, call: Call) -> bool:
        """Whether the key goes into the query. A call may name a header for it, and gRPC has no query."""
        return bool(self.provider.key_query) and call.key_header is None and not call.is_grpc

    def _make_headers(self, call: Call, session: str, role: str) -> Mapping[str, str]:
        """Join the headers of the target, the key, the call and the mock."""
        headers: dict[str, str | None] = dict(self.provider.headers)
        key_role = call.credential_role(role)
        if key_role is not None and not self._has_query_key(call):
            name, scheme = call.key_header or (self.provider.key_header, self.provider.key_scheme)
            headers[name] = f"{scheme} {self._get_key(key_role)}".lstrip()
        headers.update(call.headers)
        if self._mock:
            mock = call.mock
            headers.update({"x-mock-session": session, "x-mock-scenario": mock.scenario, "x-mock-clock": mock.clock})
        elif self._is_armed(call):
            # The fault waits in the mock's first session. The header marks an answer of a mock, which nothing excuses.
            headers[MOCK_SESSION] = ""
        return {name: fill_placeholders(value, self._values) for name, value in headers.items() if value is not None}

    def _is_armed(self, call: Call) -> bool:
        """Whether a fault of the mock behind the server is armed for this call."""
        return self._upstream is not None and call.mock.scenario is not None

    def _count_failures(self, exchange: Exchange) -> None:
        """Count transport failures in a row, and end the lane when there are too many."""
        if exchange.failure is None or exchange.failure.code not in TRANSPORT_FAILURES:
            self._failures = 0
            return
        self._failures += 1
        if self._failures >= MAX_FAILURES:
            detail = f"{self._failures} transport failures in a row, the last {exchange.failure.code}"
            self.stop(Reason(exchange.failure.code, detail))

    def _confirm_values(self, exchange: Exchange) -> None:
        """Note the values of the target that a success shows to be right."""
        unconfirmed = self.evidence.target.unconfirmed_values
        if unconfirmed and is_success(http_status_of(exchange.response, self.provider.name)):
            self.evidence.confirmed_values |= list_named_values(exchange.request, unconfirmed)

    def _obey_retry_after(self, exchange: Exchange, role: str) -> None:
        response = exchange.response
        if self._mock or response is None or response.status not in RETRY_AFTER_STATUSES:
            return
        delay_s = self._throttle.policy.retry_delay_s(response)
        if delay_s:
            self._throttle.pause(role, delay_s)


def _collect_keys(provider: Provider) -> dict[str, str]:
    """Return the keys of a provider by the names of their placeholders."""
    keys = ((credential.role, credential.value) for credential in provider.credentials.values())
    return {f"{role}_credential": key for role, key in keys if key is not None}
