"""`mock_providers` in a client's tests: process, sessions, fixture."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import httpx
import pytest

from catalog_probe.mockserver.testing import MockProviders, mock_providers
from tests.harness import patient
from tests.harness.command import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

BEARER = {"authorization": "Bearer anything"}
HELLO = {"model": "any", "input": "Hello"}


def ask(address: str) -> int:
    return patient.post(f"{address}/responses", json=HELLO, headers=BEARER).status_code


def test_sessions_share_a_mock_and_nothing_else() -> None:
    with mock_providers() as mock:
        one, other = mock.session("tests/a.py::test[one]"), mock.session("other")
        one.next("rate_limited;times=1, overloaded", provider="pc")
        assert ask(other.url("pc", "/v1")) == 200
        assert [ask(one.url("pc", "/v1")) for _ in range(3)] == [429, 503, 200]
        assert ask(one.url("pc", "/v1", causes="internal_error")) == 500
        assert one.requests() == {"POST /pc/v1/responses": 4}
        one.reset()
        assert one.requests() == {}
        with pytest.raises(ValueError, match="unknown scenario"):
            one.next("nonsense")
    with pytest.raises(httpx.ConnectError):
        ask(mock.url("pc", "/v1"))


def test_two_mocks_run_side_by_side_and_leave_no_port_open() -> None:
    with mock_providers(only=["pc"]) as easy, mock_providers(only=["pc"], any_key=False, clients=False) as strict:
        assert (ask(easy.url("pc", "/v1")), ask(strict.url("pc", "/v1"))) == (200, 401)


def test_a_request_that_hangs_does_not_keep_it_alive() -> None:
    with mock_providers(only=["pc"]) as mock:
        host, port = mock.base.removeprefix("http://").split(":")
        hanging = socket.create_connection((host, int(port)))
        hanging.sendall(b"GET /pc~hang/v1/models HTTP/1.1\r\nhost: mock\r\n\r\n")
        assert ask(mock.url("pc", "/v1")) == 200
    hanging.close()


def test_grpc_is_served_and_closed_with_it() -> None:
    with mock_providers() as mock:
        address, port = mock.grpc_host.split(":")
        socket.create_connection((address, int(port))).close()
    with pytest.raises(OSError):
        socket.create_connection((address, int(port))).close()


def test_it_can_be_used_inside_a_loop() -> None:
    async def inside() -> int:
        with mock_providers(only=["pa"]) as mock:
            async with httpx.AsyncClient() as client:
                return (await client.get(mock.url("pa", "/v1/nowhere"))).status_code

    assert asyncio.run(inside()) == 404


def test_senseless_options_are_refused() -> None:
    with pytest.raises(ValueError, match="--limits: 'few' is neither"), mock_providers(limits="few"):
        pass


def test_the_fixture_gives_each_test_a_session_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["catalog_probe.mockserver.pytest_plugin"]\n')
    (tmp_path / "test_client.py").write_text(
        "import httpx\n"
        "def ask(mock):\n"
        "    sent = {'model': 'any', 'input': 'Hello'}\n"
        "    headers = {'authorization': 'Bearer anything'}\n"
        "    return httpx.post(mock.url('pc', '/v1/responses'), json=sent, headers=headers).status_code\n"
        "def test_one(mock_providers):\n"
        "    mock_providers.next('overloaded;times=2')\n"
        "    assert [ask(mock_providers) for _ in range(3)] == [503, 503, 200]\n"
        "def test_other(mock_providers):\n"
        "    assert ask(mock_providers) == 200\n"
        "    assert sum(mock_providers.requests().values()) == 1\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", str(tmp_path)]
    done = subprocess.run(
        command, check=False, cwd=tmp_path, env={"PYTHONPATH": str(CHECKOUT)}, capture_output=True, text=True
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_the_session_stands_in_the_address() -> None:
    mock = MockProviders("http://mock", {"pa": {"base_url": "http://mock/pa"}}).session("a/b::c[d~e@f]")
    assert mock.url("pa", "/v1") == "http://mock/pa@a-b-c-d-e-f-/v1"


def test_a_host_that_is_not_served_has_no_address() -> None:
    served = {"pc": {"base_url": "http://mock/pc", "auth_url": "http://mock/pc-auth", "grpc_host": "mock:1"}}
    with pytest.raises(ValueError, match=r"^nothing is served under 'openai'; there are pc, pc-auth$"):
        MockProviders("http://mock", served).url("openai")
