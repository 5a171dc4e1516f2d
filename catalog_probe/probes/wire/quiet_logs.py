"""Silences the wire's libraries, whose logs show keys."""

from __future__ import annotations

import logging
import os

LOGGERS = ("httpx", "httpcore", "hpack", "websockets")

# Makes Python write down the keys of each TLS connection.
TLS_KEYS_VARIABLE = "SSLKEYLOGFILE"


def silence_libraries() -> None:
    """Disable these loggers at any level, and remove that variable."""
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    os.environ.pop(TLS_KEYS_VARIABLE, None)
