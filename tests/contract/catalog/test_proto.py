"""The generated code is that of the `.proto`, and the same on both sides."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def test_mock_and_probes_speak_the_same_messages() -> None:
    from catalog_probe.mockserver.pd.generated import pd_pb2 as mocked
    from catalog_probe.probes.wire.generated import pd_pb2 as probed

    assert mocked.DESCRIPTOR.serialized_pb == probed.DESCRIPTOR.serialized_pb


def test_the_generated_code_is_current() -> None:
    pytest.importorskip("grpc_tools", reason="grpcio-tools is not installed (dependency group `proto`)")
    command = [sys.executable, str(ROOT / "proto/generate.py"), "--check"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


def test_every_method_is_served() -> None:
    from catalog_probe.mockserver.pd.generated import pd_pb2
    from catalog_probe.mockserver.pd.grpc_server import METHODS

    services = pd_pb2.DESCRIPTOR.services_by_name.values()
    assert set(METHODS) == {(service.name, method.name) for service in services for method in service.methods}
