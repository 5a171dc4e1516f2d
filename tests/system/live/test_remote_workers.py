"""Workers over pytest-xdist's remote gateways (execnet sockets) on loopback."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from tests.harness.checkouts import copy_parts
from tests.harness.command import child_environ, run_command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def socket_server(path: Path) -> Iterator[str]:
    """execnet's own server, on a port of its choice, importing from `path`; it runs whatever it is sent."""
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
        [sys.executable, "-c", code],
        cwd=path,
        env=child_environ({"PYTHONPATH": str(path)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
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


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that xdist copies to the other machine; it brings pytest, and deletes extra files there."""
    return copy_parts(
        tmp_path / "checkout", "catalog", "catalog_probe", "probes", "reports", "pyproject.toml", "conftest.py"
    )


def test_a_run_on_remote_workers_gives_the_same_verdicts(tmp_path: Path, checkout: Path) -> None:
    remote = tmp_path / "remote"
    (remote / "checkout").mkdir(parents=True)
    with socket_server(remote / "checkout") as port:
        command = [sys.executable, "-m", "pytest", str(checkout / "probes"), f"--rsyncdir={checkout}"]
        command += [f"--tx=socket=127.0.0.1:{port}//chdir={remote}", f"--out={tmp_path / 'out'}"]
        command += ["-W", "ignore:The --rsyncdir:DeprecationWarning"]
        command += ["-p", "no:cacheprovider", "--provider", "pd", "-k", "models"]
        seen = run_command(tmp_path / "out", command, cwd=checkout)
    assert seen.status == 0, seen.all_output
    assert seen.results
    assert {result.outcome for result in seen.results.values()} == {Outcome.CONFORMS}
    assert (remote / "checkout" / "probes").is_dir()
