"""The official SDKs against the mock: one that speaks a provider's real names, and sessions that count requests."""

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
    """The addresses of a mock of one provider in a process of its own; `names` stand in place of its stand-ins."""
    prefixes = folder / "prefixes.toml"
    lines = [f"{name} = {json.dumps(value)}" for name, value in names.items()]  # JSON's texts and lists are TOML's too
    prefixes.write_text("\n".join([f"[{provider}]", *lines, ""]), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "catalog_probe.mockserver",
        "--stdin-lifeline",
        "--list-requests",
        "--only",
        provider,
    ]
    command += ["--prefixes", str(prefixes)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=CHECKOUT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["providers"][provider]
        process.stdin.close()
        process.wait(10)


class Session:
    """One session of a mock: what a client sends to be in it, how often it was asked, and the end of its clients."""

    def __init__(self, addresses: Mapping[str, str], name: str) -> None:
        self.addresses = addresses
        self.name = name
        self._kept: list[Any] = []

    @property
    def base_url(self) -> str:
        return self.addresses["base_url"]

    def headers(self, **mock: str) -> dict[str, str]:
        """What a request says to the mock, beside what it asks the provider."""
        return {f"x-mock-{name}": value for name, value in {"session": self.name, **mock}.items()}

    def keep(self, client: Any) -> Any:
        """Hold a client until the session ends: one that nobody holds closes itself in the middle of its own call."""
        self._kept.append(client)
        return client

    def requests(self) -> int:
        """How many requests were sent in this session."""
        page = httpx.URL(self.base_url).copy_with(path="/__mock__/requests")
        return int(patient.get(page, params={"session": self.name}).json()["total"])

    def close(self) -> None:
        """Close every client that was kept."""
        for client in self._kept:
            client.close()
