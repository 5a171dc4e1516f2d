"""Tests cannot reach any address but loopback, nor can their children or gRPC."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import grpc
import httpx
import pytest

from tests.harness.command import child_environ
from tests.harness.loopback import sitecustomize as here
from tests.harness.loopback.sitecustomize import is_here

if TYPE_CHECKING:
    from collections.abc import Iterator

GUARD = sys.modules.get("sitecustomize", here)
"""The guard that this process began with: a worker of xdist loads it as every child does, by that name."""

GUARD = GUARD if hasattr(GUARD, "DialledOut") else here
REFUSED, DialledOut = GUARD.REFUSED, GUARD.DialledOut

ELSEWHERE = "192.0.2.1"
"""An address of documentation (RFC 5737): no machine has it."""

DIAL = f"import socket; socket.create_connection(('{ELSEWHERE}', 443), 0.1)"


@pytest.fixture(autouse=True)
def _known() -> Iterator[None]:
    """These tests are refused on purpose."""
    yield
    REFUSED.clear()


@pytest.mark.parametrize("name", [ELSEWHERE, "provider.internal", "2001:db8::1", "localhost.provider.internal"])
def test_a_socket_is_refused(name: str) -> None:
    with pytest.raises(DialledOut, match="no test dials it"):
        socket.create_connection((name, 443), 0.1)
    assert [name] == REFUSED


def test_so_are_httpx_and_asyncio() -> None:
    with pytest.raises(DialledOut):
        httpx.get(f"https://{ELSEWHERE}/", trust_env=False)
    with pytest.raises(DialledOut):
        asyncio.run(asyncio.open_connection(ELSEWHERE, 443))


def test_a_name_that_never_resolves_does_not() -> None:
    with pytest.raises(socket.gaierror):
        socket.create_connection(("nobody.example", 443), 0.1)
    assert REFUSED == []


def test_a_child_is_refused_too() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIAL], env=child_environ({}), capture_output=True, text=True, check=False
    )
    assert "DialledOut" in done.stderr


def test_grpc_gets_no_further_than_this_machine() -> None:
    with grpc.insecure_channel(f"{ELSEWHERE}:443") as channel, pytest.raises(grpc.RpcError) as raised:
        channel.unary_unary("/a.B/C", None, None)(b"", timeout=10)
    assert raised.value.code() == grpc.StatusCode.UNAVAILABLE
    assert "127.0.0.1:9" in str(raised.value.details())


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.8.8", "localhost", "::1", "::ffff:127.0.0.1", "", None, b"127.0.0.1"]
)
def test_loopback_is_here(host: object) -> None:
    assert is_here(host)
