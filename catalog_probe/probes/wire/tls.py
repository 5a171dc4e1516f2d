"""Whom to trust over TLS: the machine's authorities, or those that a target names in their place."""

from __future__ import annotations

import ssl


def context(ca_file: str = "", client_cert_file: str = "") -> ssl.SSLContext:
    """A context that verifies certificate and host name. With `ca_file` nobody else is trusted.

    `client_cert_file` holds what the client shows of itself where a host asks: its certificate and its key.
    """
    made = ssl.create_default_context(cafile=ca_file or None)
    if client_cert_file:
        made.load_cert_chain(client_cert_file)
    return made
