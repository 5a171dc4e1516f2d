"""`mock_providers`: the mock for a client's tests, in a process of its own.

    from catalog_probe.mockserver.testing import mock_providers

    with mock_providers() as mock:
        client = SomeClient(base_url=mock.url("pc", "/v1"), api_key="anything")
        mock.next("rate_limited;retry_after=0;times=1")

As a pytest fixture of the same name: `pytest_plugins = ["catalog_probe.mockserver.pytest_plugin"]`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

EXIT_TIMEOUT_S = 30  # far longer than a mock takes to end

_UNFIT = re.compile(r"[^\w.-]+")


@dataclass(frozen=True)
class MockProviders:
    """A running mock in one session; sessions share the process and nothing else.

    Args:
        addresses: each provider's addresses, from the ready line.
    """

    base: str
    addresses: Mapping[str, Mapping[str, str]]
    session_name: str = ""

    def session(self, name: str) -> MockProviders:
        """Return the same mock in another session; unfit characters are replaced."""
        return replace(self, session_name=_UNFIT.sub("-", name)[-150:])

    def url(self, provider: str, path: str = "", *, causes: str = "") -> str:
        """Return a provider's address in this session, for any client.

        Args:
            provider: its prefix: `pa`, `pb`, `pc`, `pd`, or another host of theirs such as `pd-management`.
            path: the path of the client's base address, for instance `/v1`.
            causes: the scenarios of each request to this address, as in `X-Mock-Scenario`.

        Raises:
            ValueError: this mock serves nothing under that prefix.
        """
        urls = [url for addresses in self.addresses.values() for url in addresses.values() if "://" in url]
        prefixes = dict.fromkeys(url.rpartition("/")[2] for url in urls)
        if provider not in prefixes:
            raise ValueError(f"nothing is served under {provider!r}; there are {', '.join(prefixes)}")
        suffix = f"@{self.session_name}" if self.session_name else ""
        if causes:
            suffix += f"~{quote(causes, safe='=')}"  # some clients cut the path at a `;`
        return f"{self.base}/{provider}{suffix}{path}"

    @property
    def grpc_host(self) -> str:
        """PD's `host:port` for gRPC; send `metadata` along to be in this session."""
        return self.addresses["pd"]["grpc_host"]

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The gRPC metadata of this session."""
        return (("x-mock-session", self.session_name),)

    def next(self, causes: str, *, provider: str | None = None) -> None:
        """Run the next requests of this session under scenarios, one after the other.

        Raises:
            ValueError: there is no such scenario; the message says what is wrong.
        """
        params = {"session": self.session_name}
        if provider:
            params["provider"] = provider
        answer = httpx.post(f"{self.base}/__mock__/next", params=params, content=causes)
        if answer.status_code != 200:
            raise ValueError(answer.json()["mock_error"])

    def requests(self) -> dict[str, int]:
        """Return the number of requests by endpoint: `POST /pc/v1/responses` -> 3."""
        answer = httpx.get(f"{self.base}/__mock__/requests", params={"session": self.session_name})
        counts: dict[str, int] = answer.json()["by_endpoint"]
        return counts

    def reset(self) -> None:
        """Forget the session's state."""
        httpx.post(f"{self.base}/__mock__/reset", params={"session": self.session_name})


@contextmanager
def mock_providers(
    *,
    only: Iterable[str] | None = None,
    clients: bool = True,
    any_key: bool = True,
    any_model: bool = True,
    limits: float | str = "off",
) -> Iterator[MockProviders]:
    """Run a mock on a free port of loopback while the block lasts.

    Args:
        only: the providers to serve; all by default.
        clients: whether to use the names of the official clients, not the stand-ins.
        any_key: whether to accept any key.
        any_model: whether to accept any model.
        limits: `off`, or the factor of all limits.

    Raises:
        ValueError: an option is wrong.
    """
    command = [
        sys.executable,
        "-m",
        "catalog_probe.mockserver",
        "--stdin-lifeline",
        "--list-requests",
        "--limits",
        str(limits),
    ]
    command += ["--only", ",".join(only)] if only is not None else []
    command += ["--clients"] if clients else []
    command += ["--any-key"] if any_key else []
    command += ["--any-model"] if any_model else []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as mock:
        if mock.stdin is None or mock.stdout is None or mock.stderr is None:
            raise AssertionError("all three are pipes")
        line = mock.stdout.readline()
        if not line:
            raise ValueError(mock.stderr.read().decode().strip())
        ready = json.loads(line)
        try:
            yield MockProviders(ready["base"], ready["providers"])
        finally:
            mock.stdin.close()
            mock.wait(EXIT_TIMEOUT_S)
