"""Convert gRPC statuses to HTTP statuses, so that one rule serves both kinds of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Response


def http_status_of_grpc(grpc_status: int, provider: str) -> int | None:
    """Return the HTTP status that the provider documents for a gRPC status, or None.

    Raises:
        CatalogError: no provider has this name.
    """
    return manifest(provider).grpc.get(grpc_status)


def http_status_of(response: Response | None, provider: str) -> int | None:
    """Return the HTTP status of an answer, or the one that corresponds to its gRPC status; None if it has neither."""
    if response is None or response.grpc is None:
        return response.status if response is not None else None
    return http_status_of_grpc(response.grpc.status, provider)
