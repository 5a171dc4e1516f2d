"""No test dials anything but loopback: every Python process that a test starts finds this first on its path.

A name that can never resolve (RFC 2606) does not; any other host is refused loudly, and the refusal is kept.
"""

from __future__ import annotations

import os
import sys

RESERVED = (".invalid", ".example", ".test", "example.com", "example.org", "example.net")
_KEPT = "loopback_only_refused"
_known: list[str] | None = getattr(sys, _KEPT, None)
REFUSED: list[str] = [] if _known is None else _known
"""What this process tried to reach, one list though this file may be loaded twice; tests/conftest.py fails the test."""


class DialledOut(RuntimeError):
    """A test, or what it started, tried to reach a host that is not this machine."""


def is_here(host: object) -> bool:
    """Whether a host, as a socket is given it, never leaves this machine."""
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if text is None or not isinstance(text, str):
        return True
    text = text.partition("%")[0].lower().removeprefix("::ffff:")
    return text in ("", "localhost", "::1", "::", "0.0.0.0") or text.startswith("127.")


def _heard(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        _demand(address[0] if isinstance(address, tuple) and address else None)
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        _demand(arguments[0])


def _demand(host: object) -> None:
    if is_here(host):
        return
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    if name.rstrip(".").endswith(RESERVED):
        import socket

        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    REFUSED.append(name)
    raise DialledOut(f"{name} is not loopback; no test dials it")


def guard() -> None:
    """Refuse from now on, here and in every Python process that inherits this environment.

    gRPC resolves and dials by itself: it is led to a proxy on loopback where nobody listens. A proxy that the
    developer's machine needs is of no use to tests.
    """
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - every process imports this: os is there already
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    if here not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([here, *paths])
    os.environ.update(grpc_proxy="http://127.0.0.1:9", no_grpc_proxy="localhost,127.0.0.1,::1", no_proxy="*")
    setattr(sys, _KEPT, REFUSED)
    sys.addaudithook(_heard)


if _known is None:
    guard()
