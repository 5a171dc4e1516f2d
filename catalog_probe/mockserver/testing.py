"""`mock_providers`: the mock for a client's own tests, in a process of its own, on a free port.

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

PATIENCE_S = 30
"""Far longer than a mock takes to end."""

_UNFIT = re.compile(r"[^\w.-]+")


@dataclass(frozen=True)
class MockProviders:
    """A running mock, as one session of it is seen: sessions have nothing in common but the process."""

    base: str
    addresses: Mapping[str, Mapping[str, str]]
    """Each provider's addresses, as the ready line has them."""
    session_name: str = ""

    def session(self, name: str) -> MockProviders:
        """The same mock, in a session of that name; what cannot stand in an address is replaced."""
        return replace(self, session_name=_UNFIT.sub("-", name)[-150:])

    def url(self, provider: str, path: str = "", *, causes: str = "") -> str:
        """A provider's address in this session, for a client that knows nothing of the mock.

        Args:
            provider: its prefix: `pa`, `pb`, `pc`, `pd`, or another host of theirs such as `pd-management`.
            path: what the client wants of it, for instance `/v1`.
            causes: what each request to this address suffers, as `X-Mock-Scenario` has it.

        Raises:
            ValueError: this mock serves nothing under that prefix.
        """
        known = [at.rpartition("/")[2] for each in self.addresses.values() for at in each.values() if "://" in at]
        if provider not in known:
            raise ValueError(f"nothing is served under {provider!r}; there are {', '.join(dict.fromkeys(known))}")
        said = f"@{self.session_name}" if self.session_name else ""
        if causes:
            said += f"~{quote(causes, safe='=')}"  # some clients take what follows a `;` for no part of the path
        return f"{self.base}/{provider}{said}{path}"

    @property
    def grpc_host(self) -> str:
        """PD's `host:port` for gRPC; send `metadata` along to be in this session."""
        return self.addresses["pd"]["grpc_host"]

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What says to gRPC in which session a call is."""
        return (("x-mock-session", self.session_name),)

    def next(self, causes: str, *, provider: str | None = None) -> None:
        """Let the next requests of this session suffer causes, one after the other.

        Raises:
            ValueError: there is no such cause; the message says what is wrong.
        """
        only = {"provider": provider} if provider else {}
        params = {"session": self.session_name, **only}
        answer = httpx.post(f"{self.base}/__mock__/next", params=params, content=causes)
        if answer.status_code != 200:
            raise ValueError(answer.json()["mock_error"])

    def requests(self) -> dict[str, int]:
        """How often each endpoint was asked in this session: `POST /pc/v1/responses` -> 3."""
        answer = httpx.get(f"{self.base}/__mock__/requests", params={"session": self.session_name})
        counted: dict[str, int] = answer.json()["by_endpoint"]
        return counted

    def reset(self) -> None:
        """Forget all that happened in this session."""
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
    """A mock while the block lasts, on a free port of loopback.

    Args:
        only: the providers that are served; all by default.
        clients: whether it speaks the names of the official clients, or the stand-ins.
        any_key: whether it takes any key.
        any_model: whether it takes any model.
        limits: `off`, or how many times its limits what is allowed is.

    Raises:
        ValueError: an option makes no sense.
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
            mock.wait(PATIENCE_S)
