"""What a call may name as its service beside the addresses of a target."""

from __future__ import annotations

GRPC_HOST = "grpc_host"
"""The address at which gRPC is spoken."""


CLOSED_PORT = "closed_port"
"""Nobody listens there."""


FULL_PORT = "full_port"
"""Somebody listens there whose queue is full, so that no connection is ever made."""


PLAIN_PORT = "plain_port"
"""Somebody listens there who is addressed by https and does not speak TLS."""


LOOPBACK = frozenset({CLOSED_PORT, FULL_PORT, PLAIN_PORT})
"""What a call may name as its `service` beside the addresses of the target."""
