"""pytest-xdist's remote gateways: a run whose workers are reached over execnet sockets, here on loopback."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.command import CHECKOUT, pytest_probes

import pytest
from catalog.evidence import Outcome


@contextmanager
def socket_server() -> Iterator[str]:
    """execnet's own server, on a port of its choice; it runs whatever it is sent, so only ever on loopback."""
    pytest.importorskip("execnet.script.socketserver")
    code = (
        "from execnet.gateway_base import get_execmodel;"
        "from execnet.script import socketserver as server;"
        "server.execmodel = get_execmodel('thread');"
        "listening = server.bind_and_listen(('127.0.0.1', 0), server.execmodel);"
        "print(listening.getsockname()[1], flush=True);"
        "server.startserver(listening, loop=True)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        if not port:
            pytest.skip("this execnet has no socket server that can be started")
        yield port
    finally:
        process.kill()
        process.wait()


def test_a_run_on_remote_workers_gives_the_same_verdicts(tmp_path: Path) -> None:
    with socket_server() as port:
        gateway = f"socket=127.0.0.1:{port}//chdir={CHECKOUT}"
        seen = pytest_probes(tmp_path / "out", "--provider", "pd", "-k", "models", "--tx", gateway)
    assert seen.status == 0, seen.said
    assert {result.outcome for result in seen.results.values()} == {Outcome.CONFORMS}
