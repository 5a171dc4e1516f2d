"""Tells trouble on the way of a gRPC call from an answer.

The client library reports both as a status.
"""

from __future__ import annotations

import re
import socket

import grpc
import grpc.aio

from catalog_probe.catalog.model.codes import ReasonCode

# Statuses that the library itself uses for trouble on the way.
LOCAL_STATUSES = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN, grpc.StatusCode.RESOURCE_EXHAUSTED)

# Of headers or trailers.
TOO_LARGE = "metadata size exceeds"

# Words that only the library uses: under any status, and beside the trailers that it had read until then.
LIBRARY_WORDS = (
    TOO_LARGE,
    "stream removed (",
    "no status received",
    "compression bit set",
    "decompressed message larger",
)

# The library's words for trouble. The first that occur count: "failed to connect" precedes the reason for that.
REASONS_BY_WORDS = (
    ("received message larger than max", ReasonCode.BODY_TOO_LARGE),
    ("decompressed message larger", ReasonCode.BODY_TOO_LARGE),
    (TOO_LARGE, ReasonCode.BODY_TOO_LARGE),
    ("error parsing", ReasonCode.PROTOCOL_ERROR),
    ("illegal header", ReasonCode.PROTOCOL_ERROR),
    ("metadata keys", ReasonCode.PROTOCOL_ERROR),
    ("no status received", ReasonCode.PROTOCOL_ERROR),
    ("compression bit set", ReasonCode.PROTOCOL_ERROR),
    ("connection refused", ReasonCode.CONNECT_REFUSED),
    ("connection reset", ReasonCode.CONNECTION_RESET),
    ("socket closed", ReasonCode.CLOSED_WITHOUT_ANSWER),
    ("failed parsing http/2", ReasonCode.PROTOCOL_ERROR),
    ("dns resolution failed", ReasonCode.NAME_UNRESOLVED),
    ("domain name not found", ReasonCode.NAME_UNRESOLVED),
    ("handshake failed", ReasonCode.TLS_FAILED),
    ("verification check failed", ReasonCode.TLS_FAILED),
    ("certificate", ReasonCode.TLS_FAILED),
    ("timed out", ReasonCode.CONNECT_TIMEOUT),
    ("timeout occurred", ReasonCode.CONNECT_TIMEOUT),
    ("failed to connect", ReasonCode.CONNECT_REFUSED),
    ("stream removed", ReasonCode.CONNECTION_RESET),
    ("received http2 header with status", ReasonCode.GATEWAY_PAGE),
)

_CONNECT_ERRORS = (
    (TimeoutError, ReasonCode.CONNECT_TIMEOUT),
    (socket.gaierror, ReasonCode.NAME_UNRESOLVED),
    (ConnectionRefusedError, ReasonCode.CONNECT_REFUSED),
    (ConnectionError, ReasonCode.CONNECTION_RESET),
)

# How the library names the relay that it is connected to.
_RELAY_ADDRESS = re.compile(r"(ipv4:)?127\.0\.0\.1:\d+")


def is_server_status(error: grpc.aio.AioRpcError) -> bool:
    """Whether a server sent the status.

    The library hardly ever makes up trailers, except beside words of its own.
    """
    return bool(error.trailing_metadata()) and not _has_library_words(error)


def find_local_reason(error: grpc.aio.AioRpcError) -> ReasonCode | None:
    """Return the reason that a status of the library stands for, or None."""
    if error.code() not in LOCAL_STATUSES and not _has_library_words(error):
        return None
    details = (error.details() or "").lower()
    return next((code for words, code in REASONS_BY_WORDS if words in details), None)


def classify_connect_error(error: OSError) -> ReasonCode:
    """Return the reason why a connection was not made."""
    codes = (code for kind, code in _CONNECT_ERRORS if isinstance(error, kind))
    return next(codes, ReasonCode.CONNECT_REFUSED)


def name_host(details: str, host: str) -> str:
    """Replace the relay's address in the library's words by the host's."""
    return _RELAY_ADDRESS.sub(host, details)


def _has_library_words(error: grpc.aio.AioRpcError) -> bool:
    details = (error.details() or "").lower()
    return any(words in details for words in LIBRARY_WORDS)
