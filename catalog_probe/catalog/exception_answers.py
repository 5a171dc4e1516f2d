"""The answer that an exception of httpx or of an official SDK holds, read without importing either.

An exception is read by its attributes: a response, a parsed body, a gRPC status, a close, or none of them, if no answer
came. Example: `openai.RateLimitError` -> the status 429, the headers and the body of its response.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.model.outcome import ReasonCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Json

_MAX_CHAIN = 8  # exceptions behind each other: a framework wraps that of an SDK, which wraps that of httpx
_FIRST_CLOSE_CODE = 1000  # RFC 6455, 7.4; PB's SDK has such a code where it otherwise has an HTTP status
_ERROR = 400

_FAILURE_BY_CLASS: Mapping[str, ReasonCode] = {
    "ConnectTimeout": ReasonCode.CONNECT_TIMEOUT,
    "ReadTimeout": ReasonCode.READ_TIMEOUT,
    "WriteTimeout": ReasonCode.READ_TIMEOUT,
    "APITimeoutError": ReasonCode.READ_TIMEOUT,
    "ConnectError": ReasonCode.CONNECT_REFUSED,
    "ReadError": ReasonCode.CLOSED_WITHOUT_ANSWER,
    "WriteError": ReasonCode.CLOSED_WITHOUT_ANSWER,
    "RemoteProtocolError": ReasonCode.CLOSED_WITHOUT_ANSWER,
    "SSLError": ReasonCode.TLS_FAILED,
}
"""Name of a class, or of one of its bases -> the failure that records of clients state."""


@dataclass(frozen=True, slots=True)
class ExceptionAnswer:
    """The arguments of `identify`, or the failure if no answer came."""

    status: int | None = None
    headers: Mapping[str, str] | None = None
    body: Json = None
    close: tuple[int | None, str] | None = None
    grpc: int | None = None
    is_event: bool = False
    """Whether the error came in a stream that had begun with a success."""
    failure: str = ""
    """`connect-refused`, `connect-timeout`, `read-timeout`, `closed-without-answer` or `tls-failed`."""
    method: str | None = None
    url: str | None = None


def read_exception(error: BaseException) -> ExceptionAnswer | None:
    """Return what an exception, or the one that caused it, says of an answer; None if that is nothing.

    The first in the chain that holds an answer counts. If none does, the last failure counts, because it is the cause:
    of `APITimeoutError` from `ConnectTimeout`, the latter.
    """
    chain = list(_follow_causes(error))
    for cause in chain:
        answer = _read_close(cause) or _read_grpc(cause) or _read_response(cause) or _read_body(cause)
        if answer is not None:
            return answer
    failures = [failure for cause in chain if (failure := _find_failure(cause))]
    if not failures:
        return None
    method, url = next(filter(any, map(_find_request, chain)), (None, None))
    return ExceptionAnswer(failure=failures[-1], method=method, url=url)


def find_provider(error: BaseException, url: str | None) -> str:
    """Return the provider whose host was asked, or else the one whose official SDK raised the exception.

    Example: an exception of `openai` for a request to PD's host is PD's, and for one to an unknown host it is PC's.

    Raises:
        CatalogError: neither tells.
    """
    host = urlsplit(url or "").hostname
    modules = {type(cause).__module__ for cause in _follow_causes(error)}
    for name in providers():
        if host is not None and host in manifest(name).sdk_hosts:
            return name
    for name in providers():
        if any(
            module == own or module.startswith(f"{own}.") for own in manifest(name).sdk_modules for module in modules
        ):
            return name
    what = f"nothing in {type(error).__name__} tells whose answer it is"
    raise CatalogError(what, f"name the provider: one of {', '.join(providers())}")


def _follow_causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    for _ in range(_MAX_CHAIN):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__


def _read_grpc(error: BaseException) -> ExceptionAnswer | None:
    """Read a failed gRPC call, whose `code()` returns a member of `StatusCode`: `UNAVAILABLE`, of value `(14, …)`."""
    code, details = getattr(error, "code", None), getattr(error, "details", None)
    if not (callable(code) and callable(details)):
        return None
    value = getattr(code(), "value", None)
    status = value[0] if isinstance(value, tuple) and value else None
    return ExceptionAnswer(grpc=status, body=details() or None) if isinstance(status, int) else None


def _read_response(error: BaseException) -> ExceptionAnswer | None:
    """Read an exception with a response, or with the status and the parsed body of one."""
    response = getattr(error, "response", None)
    status = _first_status(response, "status_code", "status") or _first_status(error, "status_code", "code")
    if status is None:
        return None
    headers: Any = getattr(response, "headers", None)
    method, url = _find_request(error)
    body = _find_content(response) if status >= _ERROR else None
    return ExceptionAnswer(
        status=status,
        headers={str(name): str(value) for name, value in headers.items()} if hasattr(headers, "items") else None,
        body=body or _find_parsed_body(error),
        is_event=status < _ERROR,
        method=method,
        url=url,
    )


def _first_status(holder: Any, *names: str) -> int | None:
    values = (getattr(holder, name, None) for name in names)
    return next((value for value in values if type(value) is int and 100 <= value < _FIRST_CLOSE_CODE), None)


def _find_content(response: Any) -> Json:
    """Return the body of a response as bytes; None if it was streamed and not read."""
    try:
        content = getattr(response, "content", None)
    except RuntimeError:  # httpx.ResponseNotRead
        return None
    return content if isinstance(content, bytes) else None


def _find_parsed_body(error: BaseException) -> Json:
    """Return the body that an SDK has parsed, or else the message of the exception."""
    for name in ("body", "details"):
        value = getattr(error, name, None)
        if value is not None and not callable(value):
            return value
    message = getattr(error, "message", None)
    return message if isinstance(message, str) else str(error) or None


def _read_close(error: BaseException) -> ExceptionAnswer | None:
    """Read a closed WebSocket: an exception of `websockets`, or PB's, which has the close code as its `code`."""
    if hasattr(error, "rcvd"):
        received = error.rcvd  # None if the connection broke without a close frame
        return ExceptionAnswer(close=(getattr(received, "code", None), getattr(received, "reason", "")))
    code = getattr(error, "code", None)
    if type(code) is not int or code < _FIRST_CLOSE_CODE:
        return None
    reason = _find_parsed_body(error)
    return ExceptionAnswer(close=(code, reason if isinstance(reason, str) else str(error)))


def _read_body(error: BaseException) -> ExceptionAnswer | None:
    """Read an error in a stream, which has a parsed body and no response."""
    body = getattr(error, "body", None)
    if not isinstance(body, dict | str) or not body:
        return None
    method, url = _find_request(error)
    return ExceptionAnswer(body=body, is_event=True, method=method, url=url)


def _find_failure(error: BaseException) -> str:
    names = [base.__name__ for base in type(error).__mro__]
    return next((_FAILURE_BY_CLASS[name] for name in names if name in _FAILURE_BY_CLASS), "")


def _find_request(error: BaseException) -> tuple[str | None, str | None]:
    """Return method and URL of the request; the URL alone if the response knows no more."""
    for holder in (error, getattr(error, "response", None)):
        try:
            request = getattr(holder, "request", None)
        except RuntimeError:  # httpx has not set it
            continue
        url = getattr(request, "url", None)
        if url is not None:
            return getattr(request, "method", None), str(url)
    url = getattr(getattr(error, "response", None), "url", None)
    return None, str(url) if url is not None else None
