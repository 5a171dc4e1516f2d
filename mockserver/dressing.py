"""What every answer of a provider carries, whatever its endpoint says: headers, set in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.responses import Response


def dress(response: Response, headers: Mapping[str, str]) -> None:
    """Set headers on an answer, each in place of what it has under that name.

    Starlette's `headers[name] = value` looks through all headers for each; here it is once for all of them.
    """
    added = {name.lower().encode("latin-1"): value.encode("latin-1") for name, value in headers.items()}
    kept = [each for each in response.raw_headers if each[0] not in added]
    response.raw_headers[:] = [*kept, *added.items()]
