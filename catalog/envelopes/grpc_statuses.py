"""The HTTP status that a gRPC status stands for (2:7.6), so that one rule serves answers of both kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog.model import Response

AS_HTTP: Mapping[int, int] = {0: 200, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 13: 500, 14: 503, 16: 401}


def status_of(response: Response) -> int | None:
    """The HTTP status of an answer, or the one that its gRPC status maps to; None where the mapping has none."""
    return response.status if response.grpc is None else AS_HTTP.get(response.grpc.status)
