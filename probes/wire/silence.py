"""Keeps the wire's libraries from logging: at DEBUG they print headers, and so keys, past the redactor."""

from __future__ import annotations

import logging

TALKATIVE = ("httpx", "httpcore", "hpack", "websockets", "grpc")


def silence() -> None:
    """Let these loggers say nothing, whatever level the root logger is set to."""
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
