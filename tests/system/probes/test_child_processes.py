"""Processes of a run inherit no key, and no library logs one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.harness.command import pytest_probes
from tests.harness.hostile import GREEN, HostileServer, always_answer

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-canary-of-the-children-0123456789"
TARGET = """
name = "children"
live = true
reprobe_after_s = 0

[providers.pa]
base_url = "{base}"
key_header = "x-api-key"
timeout_s = 10

[providers.pa.credentials]
inference = "env:CHILDRENS_KEY"

[providers.pa.values]
small_model = "small"
"""
SPY = '''
"""Notes what each process of the run has in its environment once it has its options, and what a child of it has."""

import os
import subprocess

import pytest


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    name = os.environ.get("PYTEST_XDIST_WORKER", "controller")
    with open(f"{os.environ['SPIED']}/{name}", "wb") as file:
        file.write(subprocess.run(["env"], capture_output=True, check=True).stdout)
'''


def test_workers_get_the_keys_and_do_not_inherit_them(tmp_path: Path) -> None:
    server = HostileServer(always_answer(200, GREEN))
    spied = tmp_path / "spied"
    spied.mkdir()
    with server.serving() as base:
        (tmp_path / "children.toml").write_text(TARGET.format(base=base))
        (tmp_path / "spy.py").write_text(SPY)
        environ = {"CHILDRENS_KEY": KEY, "PYTHONPATH": str(tmp_path), "SPIED": str(spied)}
        target = str(tmp_path / "children.toml")
        options = ("-p", "spy", "-n", "2", "--target", target, "--kind", "endpoints", "-k", "models")
        ran = pytest_probes(tmp_path / "out", *options, environ=environ)
    assert {path.name for path in spied.iterdir()} == {"controller", "gw0", "gw1"}, ran.all_output
    assert [path.name for path in spied.iterdir() if KEY in path.read_text()] == []
    assert any(f"x-api-key: {KEY}" in head for head in server.heads), ran.all_output


def test_no_trace_of_a_library_shows_a_key(tmp_path: Path) -> None:
    environ = {"GRPC_VERBOSITY": "debug", "GRPC_TRACE": "all", "SSLKEYLOGFILE": str(tmp_path / "keys.log")}
    ran = pytest_probes(
        tmp_path / "out", "-s", "--provider", "pd", "-k", "grpc and not_found", "-n", "0", environ=environ
    )
    assert ran.status == 0, ran.all_output
    assert "mock-pd" not in ran.all_output
    assert not (tmp_path / "keys.log").exists()
