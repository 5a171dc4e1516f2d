"""`mock_providers` in a client's tests: process, sessions, fixture."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import sys
import time
import tomllib
import venv
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from catalog_probe.testing import TIMEOUT_S, MockProviders, NeverFired, mock_providers
from tests.harness import patient
from tests.harness.command import CHECKOUT

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
        assert [request.request for request in one.requests] == ["POST /pc/v1/responses"] * 4
        one.reset()
        assert one.requests == []
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


CLIENT = """
import httpx

def ask(mock):
    headers = {"authorization": "Bearer anything"}
    answer = httpx.post(mock.url("pc", "/v1/responses"), json={"model": "any", "input": "Hello"}, headers=headers)
    return answer.status_code
"""


def run_pytest(folder: Path, tests: str, conftest: str = "") -> str:
    """Run tests in a folder of a client's, where the plugin is installed, and return what pytest prints."""
    (folder / "client.py").write_text(CLIENT)
    (folder / "conftest.py").write_text(conftest)
    (folder / "test_client.py").write_text(f"from client import ask\n{tests}")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", str(folder)]
    done = subprocess.run(
        command, check=False, cwd=folder, env={"PYTHONPATH": str(CHECKOUT)}, capture_output=True, text=True
    )
    return done.stdout + done.stderr


def test_the_fixture_gives_each_test_a_session_without_any_set_up(tmp_path: Path) -> None:
    printed = run_pytest(
        tmp_path,
        "def test_one(mock_providers):\n"
        "    mock_providers.next('overloaded', times=2)\n"
        "    assert [ask(mock_providers) for _ in range(3)] == [503, 503, 200]\n"
        "def test_other(mock_providers):\n"
        "    assert ask(mock_providers) == 200\n"
        "    assert len(mock_providers.requests) == 1\n",
    )
    assert "2 passed" in printed, printed


def test_a_conftest_may_still_name_the_plugin(tmp_path: Path) -> None:
    tests = "def test_one(mock_providers):\n    assert ask(mock_providers) == 200\n"
    printed = run_pytest(tmp_path, tests, 'pytest_plugins = ["catalog_probe.pytest_plugin"]\n')
    assert "1 passed" in printed, printed


def test_a_fault_that_never_fired_fails_the_test_that_armed_it(tmp_path: Path) -> None:
    printed = run_pytest(
        tmp_path,
        "def test_too_often(mock_providers):\n"
        "    mock_providers.next('pc/errors/rate_limit/insufficient_quota', times=2)\n"
        "    assert ask(mock_providers) == 429\n"
        "def test_fired(mock_providers):\n"
        "    mock_providers.next('pc/errors/rate_limit/insufficient_quota')\n"
        "    assert ask(mock_providers) == 429\n"
        "def test_that_fails_itself(mock_providers):\n"
        "    mock_providers.next('overloaded')\n"
        "    raise ValueError('its own')\n",
    )
    assert "2 failed, 1 passed" in printed, printed
    assert (
        "NeverFired: armed, and never fired: 2:7.5#insufficient_quota;times=2 (1 left); "
        "what arrived: POST /pc/v1/responses"
    ) in printed
    assert "ValueError: its own" in printed


def test_a_test_that_fails_says_what_the_mock_does_not_serve(tmp_path: Path) -> None:
    printed = run_pytest(
        tmp_path,
        "import httpx\n"
        "def test_videos(mock_providers):\n"
        "    httpx.get(mock_providers.url('pc', '/v1/videos')).raise_for_status()\n",
    )
    assert "not served: GET /pc/v1/videos" in printed, printed


def make_bare_environment(folder: Path) -> Path:
    """Make an environment that has pytest and the package without its extras, and return its Python."""
    venv.create(folder)
    [site] = folder.glob("lib/python*/site-packages")
    for name in ("iniconfig", "packaging", "pluggy", "pygments", "pytest"):
        installed = distribution(name)
        for part in {file.parts[0] for file in installed.files or ()} - {".."}:
            (site / part).symlink_to(str(installed.locate_file(part)))
    (site / "catalog_probe").symlink_to(CHECKOUT / "catalog_probe")
    information = site / "catalog_probe-0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: catalog-probe\nVersion: 0\n")
    plugins = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["pytest11"]
    lines = ["[pytest11]", *(f"{name} = {module}" for name, module in plugins.items())]
    (information / "entry_points.txt").write_text("\n".join(lines))
    return folder / "bin" / "python"


def test_a_fixture_without_the_extra_says_so_in_one_line(tmp_path: Path) -> None:
    """And it fails no test that does not use it."""
    tests = tmp_path / "test_client.py"
    tests.write_text("def test_plain(): pass\ndef test_mocked(mock_providers): pass\n")
    python = make_bare_environment(tmp_path / "bare")
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", str(tests)]
    done = subprocess.run(command, check=False, cwd=tmp_path, env={}, capture_output=True, text=True)
    assert "1 passed, 1 error" in done.stdout, done.stdout + done.stderr
    mend = re.escape("`python -m pip install 'catalog-probe[mock]'` installs what this command needs")
    assert re.search(rf"^mock_providers: mockserver: \w+ is not installed here; {mend}$", done.stdout, re.MULTILINE)
    assert "Traceback" not in done.stdout


def test_the_plugin_imports_nothing_in_a_suite_that_does_not_use_it(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(
        "import sys\n"
        "def test_own():\n"
        "    ours = sorted(name for name in sys.modules if name.startswith('catalog_probe'))\n"
        "    assert ours == ['catalog_probe', 'catalog_probe.pytest_plugin']\n"
        "    assert not {'httpx', 'starlette', 'grpc'} & sys.modules.keys()\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:anyio", str(tmp_path)]
    done = subprocess.run(
        command, check=False, cwd=tmp_path, env={"PYTHONPATH": str(CHECKOUT)}, capture_output=True, text=True
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_a_socket_or_a_method_that_is_not_served_is_said() -> None:
    with mock_providers(only=["openai", "xai"]) as mock:
        mock.next("pd/errors/grpc/unavailable")
        realtime = mock.url("openai", "/v1/realtime").replace("http://", "ws://")
        with pytest.raises(InvalidStatus), connect(realtime):
            pass
        with grpc.insecure_channel(mock.grpc_host) as channel:
            methods: Any = channel  # which needs no serializers
            image, talk = (
                methods.unary_unary("/xai_api.Image/GenerateImage"),
                methods.stream_unary("/xai_api.Chat/Talk"),
            )
            for call, message in ((image, b""), (talk, iter([b""]))):
                with pytest.raises(grpc.RpcError, match="UNIMPLEMENTED"):
                    call(message, timeout=TIMEOUT_S)
        assert len(mock.waiting) == 1, "no call that is not served meets what is armed"
        unserved = ["WS /pc/v1/realtime", "GRPC /xai_api.Image/GenerateImage", "GRPC /xai_api.Chat/Talk"]
        assert mock.unserved == unserved
        page = patient.get(f"{mock.base}/__mock__/requests?session=").json()
        assert page["unserved"] == dict.fromkeys(unserved, 1)
        mock.reset()


def test_a_mock_without_the_fixture_tells_what_never_fired() -> None:
    with pytest.raises(NeverFired, match="overloaded"), mock_providers(only=["pc"]) as mock:
        mock.next("overloaded")
    with pytest.raises(ValueError, match="nonsense"), mock_providers(only=["pc"]) as mock:  # its own failure is told
        mock.next("overloaded, nonsense")


def test_what_arrived_is_listed_in_order_without_secrets() -> None:
    with mock_providers(only=["pc", "pd"]) as mock:
        mock.next("pc/errors/rate_limit/slow_down", retry_after=0)
        body = {**HELLO, "user": "somebody", "metadata": {"api_key": "sk-secret-0"}}
        before = time.time()
        for _ in range(2):
            patient.post(mock.url("pc", "/v1/responses?key=sk-secret-1"), json=body, headers=BEARER)
        patient.get(mock.url("pc", "/v1/videos"), headers={**BEARER, "x-stainless-retry-count": "1"})
        requests = mock.requests
    assert [(request.order, request.attempt, request.request, request.served) for request in requests] == [
        (1, 1, "POST /pc/v1/responses", True),
        (2, 2, "POST /pc/v1/responses", True),
        (3, 1, "GET /pc/v1/videos", False),
    ]
    assert before <= requests[0].time <= requests[1].time <= requests[2].time
    assert requests[0].body == {**HELLO, "user": "somebody", "metadata": {"api_key": "[redacted]"}}
    assert requests[1].ignored == ["user"]
    assert requests[0].query == "key=%5Bredacted%5D"
    assert requests[0].headers["authorization"] == "[redacted]"
    assert (requests[2].headers["x-stainless-retry-count"], requests[2].body) == ("1", None)
    assert "secret" not in repr(requests)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("insufficient_quota", "pc/errors/rate_limit/insufficient_quota?"),
        ("pc/errors/rate_limit/insuficient_quota", "pc/errors/rate_limit/insufficient_quota?"),
        ("overloadd", "overloaded"),
        ("pc/endpoints/responses/create_response", "is no error"),
    ],
)
def test_an_unknown_name_suggests_the_nearest(name: str, suggestion: str) -> None:
    with mock_providers(only=["pc"]) as mock, pytest.raises(ValueError, match=re.escape(suggestion)):
        mock.next(name)


def test_a_record_is_armed_by_header_and_address_as_well() -> None:
    with mock_providers(only=["pc"]) as mock:
        header = {"x-mock-scenario": mock.scenario("pc/errors/request/invalid_prompt", times=1)}
        assert header["x-mock-scenario"] == "2:7.5#invalid_prompt;times=1"
        assert mock.scenario("openai/errors/request/invalid_prompt", times=1) == header["x-mock-scenario"]
        url, headers = mock.url("pc", "/v1/responses"), {**BEARER, **header}
        assert [patient.post(url, json=HELLO, headers=headers).status_code for _ in range(2)] == [400, 200]
        address = mock.url("pc", "/v1", causes="pc/errors/server/server_is_overloaded;times=1, rate_limited;times=1")
        assert address.endswith("/pc~2-7.5-server_is_overloaded~times=1,rate_limited~times=1/v1")
        assert [ask(address) for _ in range(3)] == [503, 429, 200]


def test_the_session_stands_in_the_address() -> None:
    mock = MockProviders("http://mock", {"pa": {"base_url": "http://mock/pa"}}).session("a/b::c[d~e@f]")
    assert mock.url("pa", "/v1") == "http://mock/pa@a-b-c-d-e-f-/v1"


def test_a_host_that_is_not_served_has_no_address() -> None:
    served = {"pc": {"base_url": "http://mock/pc", "auth_url": "http://mock/pc-auth", "grpc_host": "mock:1"}}
    mock = MockProviders("http://mock", served)
    assert mock.url("OpenAI") == mock.url("pc") == "http://mock/pc"
    with pytest.raises(ValueError, match=r"^nothing is served under 'anthropic'; there are pc, pc-auth$"):
        mock.url("anthropic")
