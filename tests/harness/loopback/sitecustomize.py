"""Refuses every address but loopback in each Python process that a test starts.

It is first on their path. A reserved name (RFC 2606) does not resolve, as in reality; any other host raises an error
and is recorded.
"""

from __future__ import annotations

import os
import sys

RESERVED = (".invalid", ".example", ".test", "example.com", "example.org", "example.net")
_LIST_NAME = "loopback_only_refused"
_earlier_list: list[str] | None = getattr(sys, _LIST_NAME, None)
REFUSED: list[str] = [] if _earlier_list is None else _earlier_list
"""Hosts that this process tried to reach, read by tests/conftest.py; one list, though this file may be loaded twice."""


class DialledOut(RuntimeError):
    """A test or its process tried to reach another machine."""


def is_here(host: object) -> bool:
    """Whether a host, as passed to a socket, is this machine."""
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if text is None or not isinstance(text, str):
        return True
    text = text.partition("%")[0].lower().removeprefix("::ffff:")
    return text in ("", "localhost", "::1", "::", "0.0.0.0") or text.startswith("127.")


def _check_event(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        _check_host(address[0] if isinstance(address, tuple) and address else None)
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        _check_host(arguments[0])


def _check_host(host: object) -> None:
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

    gRPC does not use Python's sockets, so it gets a proxy on loopback where nobody listens. The developer's own proxy
    is disabled.
    """
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - every process imports this: os is there already
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    if here not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([here, *paths])
    os.environ.update(grpc_proxy="http://127.0.0.1:9", no_grpc_proxy="localhost,127.0.0.1,::1", no_proxy="*")
    setattr(sys, _LIST_NAME, REFUSED)
    sys.addaudithook(_check_event)


if _earlier_list is None:
    guard()
