"""Explains by one reason code why a request got no answer."""

from __future__ import annotations

import socket
import ssl
from asyncio import CancelledError
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.outcome import ReasonCode

if TYPE_CHECKING:
    from collections.abc import Iterator

# TLS raises these while it waits for the network. In a chain they are traces of an abandoned wait, and no TLS failure.
_TLS_WAITS = (ssl.SSLWantReadError, ssl.SSLWantWriteError)


class NoAnswer(Exception):
    """There is no answer, and `code` says why."""

    def __init__(self, code: ReasonCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def explain_error(error: BaseException) -> Reason:
    """Return the reason of a transport error; the detail is the error's own words."""
    chain = list(iterate_causes(error))
    messages = (str(cause) for cause in reversed(chain) if not isinstance(cause, CancelledError))
    default = "the time limit passed" if isinstance(error, TimeoutError) else type(error).__name__
    detail = next(filter(None, messages), default)
    return Reason(_select_code(error, chain), detail[:300])


def iterate_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, then its cause, and so on to the first of all."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _select_code(error: BaseException, chain: list[BaseException]) -> ReasonCode:
    # The causes come first: a refused certificate and an unknown name are both raised as an error of the connection.
    if any(isinstance(cause, ssl.SSLError) and not isinstance(cause, _TLS_WAITS) for cause in chain):
        return ReasonCode.TLS_FAILED
    if any(isinstance(cause, socket.gaierror) for cause in chain):
        return ReasonCode.NAME_UNRESOLVED
    if any(isinstance(cause, EOFError) for cause in chain):
        return ReasonCode.CLOSED_WITHOUT_ANSWER
    match error:
        case NoAnswer():
            return error.code
        case TimeoutError():
            return ReasonCode.READ_TIMEOUT
        case ConnectionRefusedError():
            return ReasonCode.CONNECT_REFUSED
        case ConnectionError():
            return ReasonCode.CONNECTION_RESET
        case _:
            return ReasonCode.PROTOCOL_ERROR
