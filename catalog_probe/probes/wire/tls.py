"""Trust over TLS: the machine's certificate authorities, or a target's own."""

from __future__ import annotations

import ssl


def make_tls_context(ca_file: str = "", client_cert_file: str = "") -> ssl.SSLContext:
    """Return a context that verifies certificate and host name.

    With `ca_file` no other authority is trusted.

    `client_cert_file` holds the certificate and key that the client shows where a host asks for them.
    """
    context = ssl.create_default_context(cafile=ca_file or None)
    if client_cert_file:
        context.load_cert_chain(client_cert_file)
    return context
