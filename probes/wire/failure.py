"""Says in one reason code why a request got no answer."""

from __future__ import annotations

import socket
import ssl
from asyncio import CancelledError
from collections.abc import Callable, Iterator

import httpx

from catalog.model import Reason


def reason_of(error: BaseException, redacted: Callable[[str], str] = str) -> Reason:
    """The reason a transport error stands for; the detail is the error's own words, redacted before they are cut."""
    chain = list(_chain(error))
    words = (str(each) for each in reversed(chain) if not isinstance(each, CancelledError))
    detail = next(filter(None, words), "the time limit passed" if _timed_out(error) else type(error).__name__)
    return Reason(_code(error, chain), redacted(detail)[:300])


def _code(error: BaseException, chain: list[BaseException]) -> str:
    if any(isinstance(each, ssl.SSLError) and not isinstance(each, _WAITING) for each in chain):
        return "tls-failed"
    if any(isinstance(each, socket.gaierror) for each in chain):
        return "name-unresolved"
    if any(isinstance(each, EOFError) for each in chain):
        return "closed-without-answer"
    match error:
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return "connect-timeout"
        case httpx.ConnectError():
            return "connect-refused"
        case httpx.TimeoutException() | TimeoutError():
            return "read-timeout"
        case httpx.RemoteProtocolError() if "without sending a response" in str(error):
            return "closed-without-answer"
        case httpx.RemoteProtocolError() if "incomplete" in str(error) or "peer closed" in str(error):
            return "connection-reset"
        case httpx.NetworkError():
            return "connection-reset"
        case ConnectionRefusedError():
            return "connect-refused"
        case ConnectionError():
            return "connection-reset"
        case _:
            return "protocol-error"


_WAITING = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""How TLS says that it waits for the network: a trace of every wait that was given up, and no failure of TLS."""


def _timed_out(error: BaseException) -> bool:
    return isinstance(error, httpx.TimeoutException | TimeoutError)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__
