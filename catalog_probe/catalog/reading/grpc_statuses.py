"""The HTTP status that a gRPC status stands for, so that one rule serves answers of both kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Response


def http_status_of_grpc(grpc_status: int, provider: str) -> int | None:
    """What a provider documents that a gRPC status stands for; None where it documents nothing.

    Raises:
        CatalogError: no provider has this name.
    """
    return manifest(provider).grpc.get(grpc_status)


def http_status_of(response: Response | None, provider: str) -> int | None:
    """The HTTP status of a provider's answer, or the one that its gRPC status stands for; None where there is none."""
    if response is None or response.grpc is None:
        return response.status if response is not None else None
    return http_status_of_grpc(response.grpc.status, provider)
