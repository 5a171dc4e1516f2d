"""Whom to trust over TLS: the machine's authorities, or those that a target names in their place."""

from __future__ import annotations

import ssl


def context(ca_file: str = "") -> ssl.SSLContext:
    """A context that verifies certificate and host name. With `ca_file` nobody else is trusted."""
    return ssl.create_default_context(cafile=ca_file or None)
