"""Proxies and authorities of the environment are used, but not for loopback."""

from __future__ import annotations

import asyncio
import base64
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from catalog_probe.probes.calls import AnnouncedBody, get, post
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.wire.http import HttpWire, Limits
from catalog_probe.probes.wire.redaction import Redactor, collect_secrets, redact_exchange
from tests.harness import certificates
from tests.harness.http2_server import Stream, server_context, serving_http2
from tests.harness.serving import serving_connections

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.probes.calls import Call
    from tests.harness.certificates import Certificates

HOST = "https://api.example"
"""Nobody resolves it: only a proxy can lead there."""

PASSWORD = "proxy-password-canary"
MODELS = get("/v1/models")
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass
class Proxy:
    """A proxy that leads every tunnel to one server; it wants a name and a password where it is given any.

    Its refusal quotes what it was sent.
    """

    server: str
    credentials: str = ""
    asked: list[str] = field(default_factory=list)
    """The first line of each request."""

    @contextmanager
    def serving(self) -> Iterator[str]:
        """The proxy's host and port."""
        with serving_connections(self._connection) as base:
            yield base.removeprefix("http://")

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.asked.append(head.partition("\r\n")[0])
            wanted = f"Proxy-Authorization: Basic {base64.b64encode(self.credentials.encode()).decode()}".lower()
            if self.credentials and wanted not in head.lower():
                (sent,) = (line for line in head.splitlines() if line.lower().startswith("proxy-authorization"))
                writer.write(f"HTTP/1.1 407 No {sent}\r\ncontent-length: 0\r\n\r\n".encode())
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                parts = urlsplit(self.server)
                far_reader, far_writer = await asyncio.open_connection(parts.hostname, parts.port)
                await asyncio.gather(_pass_on(reader, far_writer), _pass_on(far_reader, writer))
        writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.close()


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    names = ("api.example", "127.0.0.1")
    return certificates.make_certificates(tmp_path_factory.mktemp("certificates"), names=names)


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def server(tls: Certificates) -> Iterator[str]:
    with serving_connections(answer_each, server_context(tls, "http/1.1")) as base:
        yield base


async def answer_each(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, asyncio.IncompleteReadError):
        while head := await reader.readuntil(b"\r\n\r\n"):
            if b"expect:" in head:
                writer.write(b"HTTP/1.1 413 X\r\ncontent-length: 0\r\n\r\n")
            else:
                writer.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 7\r\n\r\n{"n":1}')


def exchange_all(base: str, *calls: Call, ca_file: str = "") -> list[Exchange]:
    async def make() -> list[Exchange]:
        wire = HttpWire(Dialect("", "", "", ""), Limits(5.0, 100_000), tls=True, ca_file=ca_file)
        try:
            return [await wire.exchange(call, base + call.path, {}, "answer", 0.0) for call in calls]
        finally:
            await wire.aclose()

    return asyncio.run(asyncio.wait_for(make(), 30))


def failure_of(exchange: Exchange) -> tuple[str, str]:
    assert exchange.failure is not None, exchange
    return str(exchange.failure.code), exchange.failure.detail


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_a_request_goes_through_the_proxy_of_the_environment(
    server: str, tls: Certificates, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    proxy = Proxy(server)
    with proxy.serving() as host:
        monkeypatch.setenv(variable, f"http://{host}")
        monkeypatch.setenv("SSL_CERT_FILE", str(tls.authority))
        first, second = exchange_all(HOST, MODELS, MODELS)
    for exchange in (first, second):
        assert exchange.response is not None
        assert exchange.response.body == {"n": 1}
        assert exchange.proxy == host
    assert proxy.asked == ["CONNECT api.example:443 HTTP/1.1"], "and the tunnel is kept for the next request"


def test_http2_is_spoken_through_a_proxy(tls: Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(stream: Stream) -> None:
        await stream.start(204)
        await stream.end()

    with serving_http2(tls, answer) as server, Proxy(server).serving() as host:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{host}")
        (exchange,) = exchange_all(HOST, MODELS, ca_file=str(tls.authority))
    assert (exchange.http_version, exchange.proxy) == ("HTTP/2", host)


def test_an_announced_body_goes_through_the_proxy_too(
    server: str, tls: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = Proxy(server)
    with proxy.serving() as host:
        monkeypatch.setenv("HTTPS_PROXY", host)
        (exchange,) = exchange_all(HOST, post("/v1/files", AnnouncedBody(9)), ca_file=str(tls.authority))
    assert exchange.response is not None
    assert (exchange.response.status, exchange.proxy) == (413, host)
    assert proxy.asked == ["CONNECT api.example:443 HTTP/1.1"]


def test_a_password_of_a_proxy_is_sent_and_never_kept(
    server: str, tls: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy(server, f"me:{PASSWORD}/").serving() as host:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:{PASSWORD}%2F@{host}")
        (exchange,) = exchange_all(HOST, MODELS, ca_file=str(tls.authority))
    assert exchange.response is not None
    assert exchange.proxy == host
    assert PASSWORD not in repr(exchange)


@pytest.mark.parametrize("call", [MODELS, post("/v1/files", AnnouncedBody(9))], ids=["sent", "announced"])
def test_a_proxy_that_refuses_is_named_and_its_password_is_hidden(
    server: str, tls: Certificates, monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    with Proxy(server, f"me:{PASSWORD}").serving() as host:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:wrong-{PASSWORD}@{host}")
        (exchange,) = exchange_all(HOST, call, ca_file=str(tls.authority))
        kept = redact_exchange(exchange, Redactor(collect_secrets([])))
    said = "the proxy 127.0.0.1 answered 407 No Proxy-Authorization: Basic {proxy_password}"
    assert failure_of(kept) == ("connect-refused", said)


@pytest.mark.parametrize(
    "address", ["socks5://proxy.example:1080", f"ftp://me:{PASSWORD}@proxy.example", "http://proxy.example:port"]
)
def test_a_proxy_of_another_kind_is_refused_without_its_address(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    (exchange,) = exchange_all(HOST, MODELS)
    assert failure_of(exchange) == ("connect-refused", "the proxy of the environment for https is no http(s) address")


@pytest.mark.parametrize("excepted", ["*", "api.example", ".example", "other.example,api.example:443"])
def test_no_proxy_excludes_a_host(excepted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", excepted)
    (exchange,) = exchange_all(HOST, MODELS)
    assert failure_of(exchange)[0] == "name-unresolved"
    assert exchange.proxy is None


def test_loopback_never_goes_through_a_proxy(server: str, tls: Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    (exchange,) = exchange_all(server, MODELS, ca_file=str(tls.authority))
    assert exchange.response is not None
    assert exchange.proxy is None


def test_the_authorities_of_the_environment_are_trusted(
    server: str, tls: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    (untrusted,) = exchange_all(server, MODELS)
    assert failure_of(untrusted)[0] == "tls-failed"
    monkeypatch.setenv("SSL_CERT_FILE", str(tls.authority))
    (trusted,) = exchange_all(server, MODELS)
    assert trusted.response is not None
