"""Silences the wire's libraries, whose logs and traces show keys."""

from __future__ import annotations

import logging
import os

LOGGERS = ("httpx", "httpcore", "hpack", "websockets", "grpc")

# Variables that make a library print what it sends, or write down the keys of a TLS connection.
TRACING_VARIABLES = ("GRPC_TRACE", "GRPC_STACKTRACE_MINLOGLEVEL", "SSLKEYLOGFILE")

# By default gRPC prints a line for each GOAWAY that asks for calm, with the words of the other side as they came.
VERBOSITY = "GRPC_VERBOSITY"


def silence_libraries() -> None:
    """Disable these loggers at any level, and remove these variables.

    To be called before a library is loaded: gRPC reads its variables then.
    """
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    for name in TRACING_VARIABLES:
        os.environ.pop(name, None)
    os.environ[VERBOSITY] = "NONE"
