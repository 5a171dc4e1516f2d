"""Says in one reason code why a request got no answer."""

from __future__ import annotations

import socket
import ssl
from asyncio import CancelledError
from collections.abc import Callable, Iterator

import httpx

from catalog.model import Reason
from catalog.model.codes import ReasonCode


def reason_of(error: BaseException, redacted: Callable[[str], str] = str) -> Reason:
    """The reason a transport error stands for; the detail is the error's own words, redacted before they are cut."""
    chain = list(chain_of(error))
    words = (str(each) for each in reversed(chain) if not isinstance(each, CancelledError))
    detail = next(filter(None, words), "the time limit passed" if _timed_out(error) else type(error).__name__)
    return Reason(_code(error, chain), redacted(detail)[:300])


def _code(error: BaseException, chain: list[BaseException]) -> ReasonCode:
    # By the causes first: httpx reports a refused certificate and an unknown name both as a ConnectError.
    if any(isinstance(each, ssl.SSLError) and not isinstance(each, _WAITING) for each in chain):
        return ReasonCode.TLS_FAILED
    if any(isinstance(each, socket.gaierror) for each in chain):
        return ReasonCode.NAME_UNRESOLVED
    if any(isinstance(each, EOFError) for each in chain):
        return ReasonCode.CLOSED_WITHOUT_ANSWER
    match error:
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return ReasonCode.CONNECT_TIMEOUT
        case httpx.ConnectError():
            return _not_connected(chain)
        case httpx.TimeoutException() | TimeoutError():
            return ReasonCode.READ_TIMEOUT
        case httpx.RemoteProtocolError() if "without sending a response" in str(error):
            return ReasonCode.CLOSED_WITHOUT_ANSWER
        case httpx.RemoteProtocolError() if "incomplete" in str(error) or "peer closed" in str(error):
            return ReasonCode.CONNECTION_RESET
        case httpx.NetworkError():
            return ReasonCode.CONNECTION_RESET
        case ConnectionRefusedError():
            return ReasonCode.CONNECT_REFUSED
        case ConnectionError():
            return ReasonCode.CONNECTION_RESET
        case _:
            return ReasonCode.PROTOCOL_ERROR


def _not_connected(chain: list[BaseException]) -> ReasonCode:
    """A connection that is reset before it stands was reset in the handshake: somebody listened."""
    reset = any(isinstance(each, ConnectionResetError) for each in chain)
    return ReasonCode.CONNECTION_RESET if reset else ReasonCode.CONNECT_REFUSED


_WAITING = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""How TLS says that it waits for the network: a trace of every wait that was given up, and no failure of TLS."""


def _timed_out(error: BaseException) -> bool:
    return isinstance(error, httpx.TimeoutException | TimeoutError)


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """An error, then what caused it, and so on to the first of all."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__
