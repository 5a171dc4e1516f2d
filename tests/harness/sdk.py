"""Serves official SDKs: a mock with a provider's real names, and sessions that count requests."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx

from tests.harness import patient
from tests.harness.command import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


@contextmanager
def serving_provider(provider: str, folder: Path, **names: str | Sequence[str]) -> Iterator[dict[str, str]]:
    """Start a mock process of one provider and yield its addresses; `names` replace the stand-ins."""
    prefixes = folder / "prefixes.toml"
    lines = [f"{name} = {json.dumps(value)}" for name, value in names.items()]  # JSON texts and lists are TOML, too
    prefixes.write_text("\n".join([f"[{provider}]", *lines, ""]), encoding="utf-8")
    options = ("--stdin-lifeline", "--list-requests", "--only", provider, "--prefixes", str(prefixes))
    command = [sys.executable, "-m", "catalog_probe.mockserver", *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=CHECKOUT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["providers"][provider]
        process.stdin.close()
        process.wait(10)


class Session:
    """One session of a mock: its headers, its number of requests, and its clients."""

    def __init__(self, addresses: Mapping[str, str], name: str) -> None:
        self.addresses = addresses
        self.name = name
        self._clients: list[Any] = []

    @property
    def base_url(self) -> str:
        return self.addresses["base_url"]

    def headers(self, **mock: str) -> dict[str, str]:
        """Return the headers of a request to the mock in this session."""
        return {f"x-mock-{name}": value for name, value in {"session": self.name, **mock}.items()}

    def keep(self, client: Any) -> Any:
        """Hold a client until the session ends: a client without a reference closes itself in its own call."""
        self._clients.append(client)
        return client

    def requests(self) -> int:
        """Return the number of requests in this session."""
        page = httpx.URL(self.base_url).copy_with(path="/__mock__/requests")
        return int(patient.get(page, params={"session": self.name}).json()["total"])

    def close(self) -> None:
        """Close every client that was kept."""
        for client in self._clients:
            client.close()
