"""The WebSocket wire: trust, addresses, translation, redaction, imports."""

from __future__ import annotations

import asyncio
import json
import struct
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.mockserver.app import create_app
from catalog_probe.probes.calls import (
    AWAIT_CLOSE,
    CLOSED_PORT,
    FULL_PORT,
    PLAIN_PORT,
    AwaitMessage,
    Call,
    SendMessage,
    converse,
    get,
)
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.limits import Budget
from catalog_probe.probes.targets.target import Provider, Target
from catalog_probe.probes.wire.redaction import Redactor, redact_exchange
from tests.harness import certificates
from tests.harness.command import DEADLINE_S
from tests.harness.engines import mock_target_at
from tests.harness.hostile import HostileServer, Peer, always_answer, hang
from tests.harness.hostile_sockets import (
    CLOSE,
    TEXT,
    after_handshake,
    frame,
    send_and_hang,
    send_endless_frames,
    unmask,
)
from tests.harness.processes import wait_for
from tests.harness.serving import serving

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Exchange

KEY = "mock-pc-inference"
CREATE = SendMessage({"type": "response.create", "model": "{small_model}", "input": "hi"})
COMPLETED = AwaitMessage("response.completed")
SOON_S = 2.0
"""The time limit where the other side never closes, and so it is reached."""

HELLO = converse("/v1/responses", CREATE, COMPLETED)


def pc(base: str, **changes: Any) -> Provider:
    """PC at an address, with patience unless a test says otherwise."""
    return mock_target_at(base, **{"timeout_s": 30.0, **changes}).providers["pc"]


def perform(provider: Provider, call: Call, *, busy_s: float = 0.0, busy_times: int = 1) -> Exchange:
    """Make one call while the event loop blocks for `busy_s` seconds, `busy_times` times."""
    redactor = Redactor.for_target(Target("mock", live=False, allow=frozenset(), providers={provider.name: provider}))

    async def send() -> Exchange:
        lane = Lane(provider, "inference", redactor, Budget(provider), mock=True)
        loop = asyncio.get_running_loop()

        def be_busy(times: int) -> None:
            if times:
                time.sleep(busy_s)
                loop.call_soon(be_busy, times - 1)

        loop.call_soon(be_busy, busy_times)
        try:
            return await lane.send(call, "answer", "test", time.perf_counter())
        finally:
            await lane.aclose()

    return asyncio.run(send())


def code_of(exchange: Exchange) -> str | None:
    return exchange.failure.code if exchange.failure else None


def names(exchange: Exchange) -> list[str]:
    assert exchange.response is not None
    return [event.event for event in exchange.response.events or ()]


def test_sent_and_received_messages_are_recorded_in_order() -> None:
    with serving(create_app(only=["pc"])) as base:
        exchange = perform(pc(base), HELLO)
    assert exchange.response is not None
    assert (exchange.request.method, exchange.response.status, exchange.response.ended) == ("WS", 101, "complete")
    events = exchange.response.events or ()
    assert names(exchange)[:2] == ["response.create", "response.created"]
    assert [event.sent for event in events] == [True, *[False] * (len(events) - 1)]
    assert [event.at_ms for event in events] == sorted(event.at_ms for event in events)
    assert events[0].data["model"] == "mock-small"
    assert exchange.response.close is None


def test_a_certificate_is_verified(tmp_path: Path) -> None:
    made = certificates.make_certificates(tmp_path)
    with serving(create_app(only=["pc"]), made) as base:
        assert code_of(perform(pc(base), HELLO)) == "tls-failed"
        assert names(perform(pc(base, ca_file=str(made.authority)), HELLO))[-1] == "response.completed"


@pytest.mark.parametrize(
    ("service", "code"),
    [(CLOSED_PORT, "connect-refused"), (FULL_PORT, "connect-timeout"), (PLAIN_PORT, "tls-failed")],
)
def test_a_connection_that_fails_has_its_reason(service: str, code: str) -> None:
    call = HELLO.replace(service=service, credential=None, connect_timeout_s=0.4)
    assert code_of(perform(pc("http://127.0.0.1:1"), call)) == code


@pytest.mark.parametrize("call", [HELLO, get("/v1/models")], ids=["WebSocket", "HTTP"])
def test_a_late_connection_on_a_busy_machine_is_a_connect_timeout(call: Call) -> None:
    """All time limits have passed when the loop first runs."""
    late = call.replace(service=FULL_PORT, credential=None, connect_timeout_s=0.4)
    assert code_of(perform(pc("http://127.0.0.1:1"), late, busy_s=0.6)) == "connect-timeout"


@pytest.mark.parametrize("call", [HELLO, get("/v1/models")], ids=["WebSocket", "HTTP"])
def test_a_late_answer_on_a_busy_machine_is_no_connect_timeout(call: Call) -> None:
    """The loop first runs after the answer's time limit, although the connection was open by then."""
    with HostileServer(hang).serving() as base:
        exchange = perform(pc(base), call.replace(timeout_s=0.1), busy_s=0.15, busy_times=12)
    assert code_of(exchange) == "read-timeout"


def test_an_open_socket_is_no_connect_timeout() -> None:
    """Also if the connect timeout passed before the loop ran."""
    with HostileServer(hang).serving() as base:
        exchange = perform(pc(base), HELLO.replace(connect_timeout_s=0.001, timeout_s=0.1), busy_s=0.15, busy_times=12)
    assert code_of(exchange) == "read-timeout"


def test_plain_text_never_leaves_this_machine() -> None:
    provider = replace(pc("http://127.0.0.1:1"), addresses={"base_url": "http://192.0.2.1/pc"})
    with pytest.raises(ValueError, match=r"plain ws to 192\.0\.2\.1"):
        perform(provider, HELLO)


def test_a_redirect_is_reported_and_not_followed() -> None:
    elsewhere = HostileServer(always_answer(200))
    with elsewhere.serving() as other:
        address = other.replace("http", "ws")
        with HostileServer(always_answer(302, location=address)).serving() as base:
            exchange = perform(pc(base), HELLO)
    assert exchange.response is not None
    assert (exchange.response.status, exchange.response.headers["location"]) == (302, address)
    assert elsewhere.heads == []


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "ws_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with serving(create_app(only=["pc"])) as base:
        assert names(perform(pc(base), HELLO))[-1] == "response.completed"


def test_keys_in_answers_are_hidden() -> None:
    echo = json.dumps({"type": "echo", "key": KEY, KEY: [f"Bearer {KEY}"]})
    with HostileServer(send_and_hang(echo)).serving() as base:
        exchange = perform(
            pc(base, timeout_s=SOON_S), converse("/v1/responses", AwaitMessage("echo"), query=(("key", KEY),))
        )
    shown = repr(redact_exchange(exchange, Redactor({KEY: "${PC_INFERENCE_KEY}"})))
    assert names(exchange) == ["echo"]
    assert KEY not in shown
    assert "${PC_INFERENCE_KEY}" in shown


def test_names_are_translated_both_ways() -> None:
    """The stand-ins never leave, and never come back, whatever the provider calls things."""
    received: list[bytes] = []

    async def echoing(peer: Any) -> None:
        answer = frame(0x1, json.dumps({"type": "made", "id": "real_1"}).encode())
        await peer.send(answer)
        received.append(await peer.reader.read(65_536))

    hostile = HostileServer(after_handshake(echoing))
    call = converse(
        "/ws", AwaitMessage("made"), SendMessage(lambda heard: {"again": heard["made"]["id"]}), headers={"pa-beta": "x"}
    )
    with hostile.serving() as base:
        provider = mock_target_at(base, timeout_s=SOON_S, header_prefix="real-", id_prefix="real_").providers["pa"]
        exchange = perform(provider, call)
        wait_for(lambda: received)
    assert exchange.response is not None
    heard, said = exchange.response.events or ()
    assert (heard.data["id"], said.data) == ("pa_1", {"again": "pa_1"})
    assert json.loads(unmask(received[0])) == {"again": "real_1"}
    assert "real-beta: x" in hostile.heads[0]
    assert "pa-beta" in exchange.request.headers


def test_a_refused_handshake_is_an_http_answer() -> None:
    with serving(create_app(only=["pc"])) as base:
        exchange = perform(pc(base), HELLO.replace(credential="wrong"))
    assert exchange.response is not None
    assert (exchange.response.status, exchange.response.body_type) == (401, "json")
    assert exchange.response.events is None


def test_the_close_of_the_other_side_is_kept() -> None:
    call = converse("/v1/responses", AWAIT_CLOSE).with_scenario("session_age;age=60m")
    with serving(create_app(only=["pc"])) as base:
        exchange = perform(pc(base), call)
    assert exchange.response is not None
    close = exchange.response.close
    assert close is not None
    assert (close.code, close.clean, bool(close.reason)) == (1000, True, True)
    assert names(exchange) == ["error"]


@pytest.mark.parametrize(("payload", "code"), [(b"", None), (b"\x03\xe8", 1000)])
def test_a_close_frame_without_a_code_has_none(payload: bytes, code: int | None) -> None:
    """RFC 6455 represents it as 1005, which lies between the documented 1000 and 1011 (PB, 1:6)."""

    async def closing(peer: Peer) -> None:
        await peer.send(frame(CLOSE, payload))

    with HostileServer(after_handshake(closing)).serving() as base:
        exchange = perform(pc(base), converse("/v1/responses", AWAIT_CLOSE))
    assert exchange.response is not None
    close = exchange.response.close
    assert close is not None
    assert (close.code, close.clean) == (code, True)


def test_a_server_that_still_sends_can_answer_our_close() -> None:
    """Unread messages must not keep us from reading the close, or we would reset the connection."""
    ended: list[bytes | ConnectionError] = []

    async def talkative(peer: Peer) -> None:
        await peer.send(*(frame(TEXT, b'{"type": "%d"}' % number) for number in range(100)))
        await peer.reader.read(65_536)
        await peer.send(frame(CLOSE, struct.pack("!H", 1000)))
        peer.writer.write_eof()
        try:
            ended.append(await peer.reader.read())
        except ConnectionError as error:
            ended.append(error)

    with HostileServer(after_handshake(talkative)).serving() as base:
        exchange = perform(pc(base), converse("/v1/responses", AwaitMessage("0")))
        wait_for(lambda: ended)  # the peer reads how it ends after we have ended it, and may come late to that
    assert names(exchange) == ["0"]
    assert ended == [b""]


def test_a_server_that_never_stops_sending_is_disconnected() -> None:
    with HostileServer(send_endless_frames).serving() as base:
        exchange = perform(pc(base), converse("/v1/responses", AwaitMessage("serverContent")))
    assert names(exchange) == ["serverContent"]
    assert exchange.response is not None
    assert (exchange.response.ended, exchange.response.close) == ("complete", None)


def test_websockets_is_imported_by_the_first_socket_only() -> None:
    """Neither other probes nor the mock import it before a WebSocket is opened."""
    code = (
        "import sys\n"
        "import catalog_probe.probes.running.engine, catalog_probe.probes.running.lane\n"
        "import catalog_probe.probes.recipes.book\n"
        "import catalog_probe.mockserver.app, catalog_probe.mockserver.server\n"
        "catalog_probe.mockserver.app.create_app()\n"
        "[catalog_probe.probes.recipes.book.recipe_book(name) for name in ('pa', 'pb', 'pc', 'pd')]\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'websockets'])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=DEADLINE_S)
    assert run.stdout.strip() == "[]"
