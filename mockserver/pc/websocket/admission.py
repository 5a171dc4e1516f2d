"""Who may open a socket, and which models it serves (1:5.3, 2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mockserver.pc.websocket.failures import Failure

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

KEYS = frozenset({"mock-pc-inference"})
MODELS = frozenset({"mock-small"})


def admit(connection: HTTPConnection) -> None:
    """Let a good bearer key in.

    Raises:
        Failure: there is none, or it is not known.
    """
    scheme, _, key = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or key not in KEYS:
        raise Failure("Incorrect API key provided.", "invalid_api_key", status=401)


def check_model(name: str) -> None:
    """Raise the refusal of a model that there is not (2:7.5)."""
    if name not in MODELS:
        raise Failure(
            f"The model '{name}' does not exist or you do not have access to it.", "model_not_found", status=404
        )
