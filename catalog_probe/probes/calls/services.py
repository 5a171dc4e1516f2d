"""Services that a call may name besides the addresses of a target."""

from __future__ import annotations

GRPC_HOST = "grpc_host"  # the address at which gRPC is spoken

CLOSED_PORT = "closed_port"  # nobody listens
FULL_PORT = "full_port"  # a listener whose queue is full, so that no connection is ever made
PLAIN_PORT = "plain_port"  # a listener that does not speak TLS, addressed by https

# Served on this machine; a target has no address for them.
LOOPBACK_SERVICES = frozenset({CLOSED_PORT, FULL_PORT, PLAIN_PORT})
