"""The mock's process gets no variable that a target might name as a secret."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock

CANARY = "a-canary-that-must-not-travel"


def environments_of_children() -> list[str]:
    """The environments of this process's children, as the system tells them."""
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return [
        Path(f"/proc/{child}/environ").read_bytes().decode(errors="replace")
        for told in children
        for child in told.read_text().split()
    ]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux tells the environment of a process")
def test_the_mock_gets_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PA_API_KEY", CANARY)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    mock = EmbeddedMock(["pa"])
    try:
        assert mock.addresses()["pa"]["base_url"].startswith("http://127.0.0.1:")
        environments = environments_of_children()
        assert any("PYTHONDONTWRITEBYTECODE=1" in environment for environment in environments)
        assert not any(CANARY in environment for environment in environments)
    finally:
        mock.stop()
