"""Says in one reason code why a request got no answer."""

from __future__ import annotations

import socket
import ssl
from asyncio import CancelledError
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.codes import ReasonCode

if TYPE_CHECKING:
    from collections.abc import Iterator


class NoAnswer(Exception):
    """What carries an exchange knows itself why there is no answer: `code` says it."""

    def __init__(self, code: ReasonCode, words: str) -> None:
        super().__init__(words)
        self.code = code


def reason_of(error: BaseException) -> Reason:
    """The reason a transport error stands for; the detail is the error's own words."""
    chain = list(chain_of(error))
    words = (str(each) for each in reversed(chain) if not isinstance(each, CancelledError))
    late = isinstance(error, TimeoutError)
    detail = next(filter(None, words), "the time limit passed" if late else type(error).__name__)
    return Reason(_code(error, chain), detail[:300])


def _code(error: BaseException, chain: list[BaseException]) -> ReasonCode:
    # By the causes first: a refused certificate and an unknown name come as one error of the connection.
    if any(isinstance(each, ssl.SSLError) and not isinstance(each, _WAITING) for each in chain):
        return ReasonCode.TLS_FAILED
    if any(isinstance(each, socket.gaierror) for each in chain):
        return ReasonCode.NAME_UNRESOLVED
    if any(isinstance(each, EOFError) for each in chain):
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


_WAITING = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""How TLS says that it waits for the network: a trace of every wait that was given up, and no failure of TLS."""


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """An error, then what caused it, and so on to the first of all."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__
