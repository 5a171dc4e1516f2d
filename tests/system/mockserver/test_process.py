"""The mock as a process: ready line, end, and behaviour on real sockets."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import IO, TYPE_CHECKING, Any

import httpx
import pytest

from tests.harness import patient
from tests.harness.command import DEADLINE_S
from tests.unit.mockserver.mock_client import MESSAGE, VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

HEADERS = {"x-api-key": "mock-pa-inference", "pa-version": VERSION}


def require_pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


@contextmanager
def running(*arguments: str, under: Sequence[str] = ()) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, Any]]]:
    """A mock process and its ready line; it ends with its standard input. `under`: what begins it."""
    command = [*under, sys.executable, "-m", "catalog_probe.mockserver", "--stdin-lifeline", "--only", "pa", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process, json.loads(require_pipe(process.stdout).readline())
        finally:
            require_pipe(process.stdin).close()
            process.wait(DEADLINE_S)


@pytest.fixture(scope="module")
def ready() -> Iterator[dict[str, Any]]:
    """The ready line of a mock that the tests of this file share."""
    with running() as (_, line):
        yield line


@pytest.fixture
def address(ready: dict[str, Any]) -> tuple[str, int]:
    """Host and port."""
    host, port = ready["base"].removeprefix("http://").split(":")
    return host, int(port)


def test_the_ready_line_names_an_address_for_each_provider(ready: dict[str, Any]) -> None:
    assert ready["providers"]["pa"]["base_url"] == ready["base"] + "/pa"
    response = patient.get(ready["providers"]["pa"]["base_url"] + "/v1/models", headers=HEADERS)
    assert response.status_code == 200
    assert "server" not in response.headers


@pytest.mark.parametrize("how", ["stdin", signal.SIGTERM, signal.SIGINT])
def test_it_ends_silently_at_once_even_while_a_request_hangs(how: str | signal.Signals) -> None:
    with running() as (process, ready):
        host, port = ready["base"].removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as hanging:
            hanging.sendall(b"GET /pa/v1/models HTTP/1.1\r\nhost: mock\r\nx-mock-scenario: hang\r\n\r\n")
            patient.get(f"{ready['base']}/__mock__/endpoints")
            if isinstance(how, signal.Signals):
                process.send_signal(how)
            else:
                require_pipe(process.stdin).close()
            assert process.wait(DEADLINE_S) == 0
            assert require_pipe(process.stderr).read() == b""


def test_it_lists_requests_if_told_to(ready: dict[str, Any]) -> None:
    assert patient.get(f"{ready['base']}/__mock__/requests").status_code == 404
    with running("--list-requests") as (_, own):
        patient.get(f"{own['base']}/pa/v1/models", headers=HEADERS)
        listed = patient.get(f"{own['base']}/__mock__/requests?session=")
    assert listed.json()["by_endpoint"] == {"GET /pa/v1/models": 1}


APP = "http://app.example"
ALLOW = "access-control-allow-origin"


@pytest.fixture(scope="module")
def open_to_app() -> Iterator[str]:
    """The base of a mock that pages of one origin may read."""
    with running("--cors-origin", "http://another.example", "--cors-origin", f"{APP.upper()}/") as (_, ready):
        yield ready["base"]


@pytest.mark.parametrize("path", ["/pa/v1/messages", "/__mock__/next", "/__mock__/requests", "/nowhere"])
@pytest.mark.parametrize(("origin", "allowed"), [(APP, APP), ("http://other.example", None), ("null", None)])
def test_pages_of_named_origins_may_read_answers(open_to_app: str, path: str, origin: str, allowed: str | None) -> None:
    preflight = {"access-control-request-method": "DELETE", "access-control-request-headers": "x-a"}
    with patient.client(base_url=open_to_app, headers={"origin": origin}) as browser:
        asked, read = browser.options(path, headers=preflight), browser.get(path)
    assert (asked.is_success, asked.headers.get(ALLOW)) == (allowed is not None, allowed)
    assert read.headers.get(ALLOW) == allowed


@pytest.mark.parametrize("origin", [APP, "null"])
def test_no_page_may_read_unless_an_origin_is_named(ready: dict[str, Any], origin: str) -> None:
    read = patient.get(f"{ready['base']}/__mock__/next", headers={"origin": origin})
    assert not [name for name in read.headers if name.startswith("access-control-")]


def test_it_says_nothing_but_the_ready_line() -> None:
    with running() as (process, ready):
        patient.get(f"{ready['base']}/pa/v1/models", headers=HEADERS)
        require_pipe(process.stdin).close()
        process.wait(DEADLINE_S)
        assert require_pipe(process.stdout).read() == b""
        assert require_pipe(process.stderr).read() == b""


@pytest.mark.parametrize(("clock", "hours"), [("+25h", 25), ("still+3h", 3)])
def test_an_answer_is_dated_by_the_clock_that_was_asked_for(ready: dict[str, Any], clock: str, hours: int) -> None:
    url, session = f"{ready['base']}/pa/v1/models", {"x-mock-session": f"dated {clock}"}
    real, asked = (
        parsedate_to_datetime(patient.get(url, headers={**HEADERS, **session, **said}).headers["date"])
        for said in ({}, {"x-mock-clock": clock})
    )
    assert timedelta(hours=hours - 1) < asked - real < timedelta(hours=hours + 1)


def test_a_closed_connection_has_no_answer(ready: dict[str, Any]) -> None:
    with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
        patient.post(
            f"{ready['base']}/pa/v1/messages",
            json=MESSAGE,
            headers={**HEADERS, "x-mock-scenario": "close_without_answer"},
        )


def test_a_hanging_request_is_never_answered(ready: dict[str, Any]) -> None:
    soon = httpx.Timeout(DEADLINE_S, read=0.2)
    with pytest.raises(httpx.ReadTimeout):
        patient.get(f"{ready['base']}/pa/v1/models", headers={**HEADERS, "x-mock-scenario": "hang"}, timeout=soon)


def head(path: str, length: int) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "host: mock", f"content-length: {length}"]
    lines += [f"{name}: {value}" for name, value in HEADERS.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def read_answer(connection: socket.socket) -> bytes:
    received = b""
    while b"request_too_large" not in received:
        chunk = connection.recv(65536)
        assert chunk, f"closed after {received!r}"
        received += chunk
    return received


@pytest.mark.parametrize(("path", "megabytes"), [("/pa/v1/messages", 33), ("/pa/v1/files", 501)])
def test_413_comes_before_a_byte_of_the_body_is_sent(address: tuple[str, int], path: str, megabytes: int) -> None:
    with socket.create_connection(address, timeout=DEADLINE_S) as connection:
        connection.sendall(head(path, megabytes * 1024 * 1024))
        assert read_answer(connection).startswith(b"HTTP/1.1 413 ")


def test_413_reaches_a_client_that_stops_sending_halfway(address: tuple[str, int]) -> None:
    with socket.create_connection(address, timeout=DEADLINE_S) as connection:
        connection.sendall(head("/pa/v1/messages", 33 * 1024 * 1024) + b" " * 1024 * 1024)
        assert read_answer(connection).startswith(b"HTTP/1.1 413 ")


def test_413_reaches_a_client_that_sends_everything_first(ready: dict[str, Any]) -> None:
    response = patient.post(f"{ready['base']}/pa/v1/messages", content=b" " * (33 * 1024 * 1024), headers=HEADERS)
    assert response.status_code == 413
    assert response.json()["error"]["type"] == "request_too_large"


@pytest.mark.skipif(sys.platform == "win32", reason="counts what is open in another way")
def test_more_clients_than_the_default_file_limit_may_connect() -> None:
    few = ("sh", "-c", 'ulimit -Sn 64; exec "$@"', "sh")
    with running(under=few) as (_, ready), ExitStack() as all_open:
        host, port = ready["base"].removeprefix("http://").split(":")
        connections = [socket.create_connection((host, int(port)), timeout=DEADLINE_S) for _ in range(100)]
        for connection in connections:
            all_open.enter_context(connection)
            connection.sendall(head("/pa/v1/models", 0).replace(b"POST", b"GET"))
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_the_whole_process_can_be_made_slow() -> None:
    with running("--latency-ms", "100") as (_, ready):
        response = patient.get(f"{ready['base']}/pa/v1/models", headers=HEADERS)
        assert response.elapsed.total_seconds() >= 0.1


def test_real_prefixes_take_the_place_of_the_stand_ins(tmp_path: Path) -> None:
    prefixes = tmp_path / "prefixes.toml"
    prefixes.write_text('[pa]\nheader_prefix = "real-"\nkey_header = "real-key"\nversions = ["2030-01-01"]\n')
    with running("--prefixes", str(prefixes)) as (_, ready):
        headers = {"real-key": "mock-pa-inference", "real-version": "2030-01-01"}
        response = patient.get(f"{ready['base']}/pa/v1/models", headers=headers)
        assert response.status_code == 200
        assert "real-organization-id" in response.headers
        refused = patient.get(f"{ready['base']}/pa/v1/models", headers=HEADERS)
        assert refused.json()["error"]["message"].startswith("invalid real-key")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--host", "203.0.113.1"], "cannot listen"),
        (["--nonsense"], "unrecognized arguments: --nonsense; see `python -m catalog_probe.mockserver --help`"),
    ],
)
def test_arguments_that_cannot_be_used_end_it_with_one_line(arguments: list[str], says: str) -> None:
    command = [sys.executable, "-m", "catalog_probe.mockserver", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert ended.returncode == 4
    assert says in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_client_that_goes_away_in_the_middle_of_its_body_makes_no_noise() -> None:
    with running() as (process, ready):
        host, port = ready["base"].removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as leaving:
            leaving.sendall(head("/pa/v1/messages", 1_000) + b"{")
        assert patient.get(f"{ready['base']}/pa/v1/models", headers=HEADERS).status_code == 200
        require_pipe(process.stdin).close()
        process.wait(DEADLINE_S)
        assert require_pipe(process.stderr).read() == b""


def test_a_handshake_that_is_refused_or_dropped_makes_no_noise() -> None:
    with running("--only", "pc") as (process, ready):
        host, port = ready["base"].removeprefix("http://").split(":")
        upgrade = {"upgrade": "websocket", "connection": "Upgrade", "sec-websocket-version": "13"}
        upgrade["sec-websocket-key"] = "dGhlIHNhbXBsZSBub25jZQ=="
        asked: dict[bytes, dict[str, str]] = {
            b"HTTP/1.1 401 Unauthorized": {},
            b"HTTP/1.1 400 Bad Request": {"x-mock-scenario": "no_such_cause"},
            b"": {"x-mock-scenario": "close_without_answer"},
        }
        for answered, headers in asked.items():
            lines = [f"{name}: {value}" for name, value in {"host": "mock", **upgrade, **headers}.items()]
            with socket.create_connection((host, int(port))) as asking:
                asking.sendall("\r\n".join(["GET /pc/v1/responses HTTP/1.1", *lines, "", ""]).encode())
                assert asking.makefile("rb").read().partition(b"\r\n")[0] == answered
        require_pipe(process.stdin).close()
        process.wait(DEADLINE_S)
        assert require_pipe(process.stderr).read() == b""
