"""Wrong, slow and absent gRPC providers get the right verdict in bounded time."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import subprocess
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from catalog_probe.catalog.model import Exchange, Outcome, Response
from catalog_probe.probes.calls import Call, invoke
from catalog_probe.probes.wire import grpc as wire_grpc
from catalog_probe.probes.wire.grpc import MAX_MESSAGES, GrpcWire
from catalog_probe.probes.wire.http import Limits
from catalog_probe.probes.wire.redaction import Redactor, redact_exchange
from catalog_probe.probes.wire.transport import BoundedBackend
from tests.harness.certificates import make_certificates
from tests.harness.command import DEADLINE_S
from tests.harness.engines import mock_target_at, probe
from tests.harness.hostile_serving import serve_no_grpc
from tests.harness.wrong_grpc import (
    Behaviour,
    end_with_status,
    never_answer,
    send_messages,
    serving_wrong_grpc,
    stream_forever,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.targets.target import Target
    from tests.harness import hostile

FAMILY = "pd/errors/grpc"
MODELS = invoke("/pd_api.Models/ListLanguageModels")
STREAM = invoke("/pd_api.Chat/GetCompletionChunk", {"model": "mock-small"})
SECRET = "a-key-that-must-not-be-kept"

SOON_S = 1.5
"""The time limit where it must be reached; the control and the connection, which must not reach it, share it."""


def target_at(host: str, timeout_s: float = 10.0) -> Target:
    target = mock_target_at("http://127.0.0.1:1", timeout_s=timeout_s)
    provider = target.providers["pd"]
    there = replace(provider, addresses={**provider.addresses, "grpc_host": host})
    return replace(target, providers={"pd": there})


def probe_wrong(slug: str, behave: Behaviour, **target: float) -> Result:
    address = f"{FAMILY}/{slug}"
    with serving_wrong_grpc(behave) as host:
        return probe(target_at(host, **target), [address])[address]


def exchange(
    host: str, call: Call = MODELS, timeout_s: float = 10.0, max_bytes: int = 1_000_000, ca_file: str = ""
) -> Exchange:
    """One exchange, without an engine around it."""
    wire = GrpcWire("", Limits(timeout_s, max_bytes), ca_file=ca_file)
    calling = wire.exchange(call, host + call.path, {"authorization": f"Bearer {SECRET}"}, "answer", 0.0)
    return asyncio.run(asyncio.wait_for(calling, DEADLINE_S))


def reason_of(result: Result) -> str | None:
    return result.reason.code if result.reason else None


def answer(probe_wrong: Exchange) -> Response:
    assert probe_wrong.response is not None
    return probe_wrong.response


def failure(probe_wrong: Exchange) -> str | None:
    return probe_wrong.failure.code if probe_wrong.failure else None


@pytest.mark.parametrize("wrong", [0, 2, 9, 12])
@pytest.mark.parametrize("slug", ["not_found", "unauthenticated", "permission_denied", "internal", "unavailable"])
def test_a_wrong_code_is_drift(slug: str, wrong: int) -> None:
    result = probe_wrong(slug, end_with_status(wrong))
    assert result.outcome is Outcome.DRIFTED
    assert {finding.code for finding in result.drifts} == {"grpc-status-differs"}


@pytest.mark.parametrize(("status", "reason"), [(14, "unasked-overload"), (8, "unasked-rate-limit")])
def test_an_unasked_overload_or_limit_is_inconclusive(status: int, reason: str) -> None:
    result = probe_wrong("not_found", end_with_status(status, "not now"))
    assert (result.outcome, reason_of(result)) == (Outcome.INCONCLUSIVE, reason)


def test_an_internal_error_in_every_attempt_is_drift() -> None:
    result = probe_wrong("not_found", end_with_status(13))
    assert (result.outcome, len(result.attempts)) == (Outcome.DRIFTED, 3)


def test_the_trailers_of_a_call_are_observed() -> None:
    packed = gzip.compress(b"sk-canary-key")
    with serving_wrong_grpc(end_with_status(5, trailers={"x-reason": "gone", "x-packed-bin": packed})) as host:
        response = exchange(host).response
    assert response is not None
    assert response.grpc is not None
    assert response.grpc.trailers["x-reason"] == "gone"
    digest = hashlib.sha256(packed).hexdigest()
    assert response.grpc.trailers["x-packed-bin"] == f"[{len(packed)} bytes, sha256 {digest}]"


def test_an_unanswered_call_is_given_up() -> None:
    result = probe_wrong("not_found", never_answer, timeout_s=SOON_S)
    assert (result.outcome, reason_of(result)) == (Outcome.INCONCLUSIVE, "read-timeout")


def test_giving_up_one_call_leaves_other_calls_alone() -> None:
    """The second is answered after the first was given up."""
    given_up = threading.Event()

    def behave(context: Any) -> Iterator[bytes]:
        if dict(context.invocation_metadata())["x-call"] == "first":
            yield from never_answer(context)
        given_up.wait(DEADLINE_S)
        yield b""

    async def both(host: str) -> tuple[Exchange, Exchange]:
        wire = GrpcWire("", Limits(SOON_S, 1_000_000))
        url = host + MODELS.path
        second = asyncio.create_task(
            wire.exchange(MODELS.replace(timeout_s=DEADLINE_S), url, {"x-call": "second"}, "answer", 0.0)
        )
        first = await wire.exchange(MODELS, url, {"x-call": "first"}, "answer", 0.0)
        given_up.set()
        return first, await second

    with serving_wrong_grpc(behave) as host:
        first, second = asyncio.run(both(host))
    assert (failure(first), failure(second)) == ("read-timeout", None)


def test_a_deadline_of_the_call_itself_is_an_answer() -> None:
    with serving_wrong_grpc(never_answer) as host:
        status = answer(exchange(host, MODELS.replace(timeout_s=0.1))).grpc
    assert status is not None
    assert status.status == 4


def test_a_deadline_status_of_the_server_is_its_answer() -> None:
    with serving_wrong_grpc(end_with_status(4)) as host:
        status = answer(exchange(host)).grpc
    assert status is not None
    assert status.status == 4


def test_a_closed_port_differs_from_an_unavailable_service() -> None:
    result = probe(target_at("127.0.0.1:1"), [f"{FAMILY}/unavailable"])[f"{FAMILY}/unavailable"]
    assert (result.outcome, reason_of(result)) == (Outcome.INCONCLUSIVE, "connect-refused")


def test_an_endless_stream_is_cut() -> None:
    with serving_wrong_grpc(stream_forever) as host:
        response = answer(exchange(host, STREAM))
    assert (response.ended, len(response.events or ())) == ("capped", MAX_MESSAGES)


def test_too_large_a_message_is_not_read() -> None:
    with serving_wrong_grpc(send_messages(b"x" * 2_000)) as host:
        assert failure(exchange(host, max_bytes=1_000)) == "body-too-large"


def test_an_undecodable_message_is_no_answer() -> None:
    with serving_wrong_grpc(send_messages(b"\xff\xff\xff")) as host:
        assert failure(exchange(host)) == "protocol-error"


def test_no_key_is_kept() -> None:
    with serving_wrong_grpc(end_with_status(5, f"no model for {SECRET}", {"x-key": SECRET})) as host:
        assert SECRET not in str(redact_exchange(exchange(host), Redactor({SECRET: "${KEY}"})))


@pytest.mark.parametrize("name", ["provider.invalid", "localhost.invalid", "127.0.0.1.provider.invalid"])
def test_plain_text_goes_to_loopback_only(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Each name leads to a loopback server that speaks plain text: the call must not reach it."""
    connect_tcp = BoundedBackend.connect_tcp

    async def connect_to_loopback(backend: BoundedBackend, host: str, port: int, timeout: float) -> Any:
        assert host == name
        return await connect_tcp(backend, "127.0.0.1", port, timeout)

    monkeypatch.setattr(BoundedBackend, "connect_tcp", connect_to_loopback)
    with serving_wrong_grpc(end_with_status(5)) as host:
        assert failure(exchange(f"{name}:{host.rpartition(':')[2]}", timeout_s=5.0)) == "tls-failed"


@pytest.mark.parametrize("name", ["localhost", "provider.test"])
def test_tls_verifies_the_certificate_of_the_named_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Loopback is treated as a remote host here; a certificate of another name is refused."""
    monkeypatch.setattr(wire_grpc, "is_loopback", lambda host: False)
    made = make_certificates(tmp_path, names=(name,))
    pair = [(made.key.read_bytes(), made.certificate.read_bytes())]
    with serving_wrong_grpc(end_with_status(5, "no model"), grpc.ssl_server_credentials(pair)) as host:
        probe_wrong = exchange(f"localhost:{host.rpartition(':')[2]}", ca_file=str(made.authority))
    if name == "localhost":
        assert answer(probe_wrong).grpc is not None
    else:
        assert failure(probe_wrong) == "tls-failed"


def test_a_closed_connection_differs_from_a_refused_one(tmp_path: Path) -> None:
    async def ending(peer: hostile.Peer) -> None:
        peer.writer.write_eof()
        await peer.reader.read()  # closed over unread bytes, a connection is reset

    with serve_no_grpc(ending)(tmp_path) as where:
        closed = exchange(where.base)
    assert (failure(closed), failure(exchange(where.base))) == ("closed-without-answer", "connect-refused")


@pytest.mark.parametrize(
    "code",
    [
        "from catalog_probe.probes.running import engine\n"
        "from catalog_probe.probes.recipes import book\n"
        "book.recipe_book('pd')",
        "from catalog_probe.mockserver.app import create_app; create_app()",
    ],
)
def test_only_the_first_call_imports_grpc(code: str) -> None:
    check = f"{code}; import sys; sys.exit('grpc' in sys.modules or 'google.protobuf' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
