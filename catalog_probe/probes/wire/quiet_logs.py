"""Keeps the wire's libraries from telling what they send: their logs and traces show headers, and so keys."""

from __future__ import annotations

import logging
import os

TALKATIVE = ("httpx", "httpcore", "hpack", "websockets", "grpc")

TRACING = ("GRPC_TRACE", "GRPC_STACKTRACE_MINLOGLEVEL", "SSLKEYLOGFILE")
"""Variables at which a library prints what it sends, or writes down the keys of a TLS connection."""

VERBOSITY = "GRPC_VERBOSITY"
"""By itself gRPC prints a line for each GOAWAY that asks for calm, with the words of the other side as they came."""


def silence() -> None:
    """Let these loggers say nothing, whatever level the root logger is set to, and forget these variables.

    To be called before a library is loaded: gRPC reads its own when it is.
    """
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    for name in TRACING:
        os.environ.pop(name, None)
    os.environ[VERBOSITY] = "NONE"
