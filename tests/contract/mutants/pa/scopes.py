"""What stands in the place of who may ask what of PA's compliance API (1:5.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from catalog_probe.mockserver.pa.errors import PERMISSION, PaError

if TYPE_CHECKING:
    from catalog_probe.mockserver.pa.auth.keys import Key
    from catalog_probe.mockserver.pa.gateway import Endpoint

Admit = Callable[["Key", "Endpoint"], None]


def whatever_its_scopes(admit: Admit) -> Admit:
    """Whoever is of an organization for which the API is enabled."""

    def admitted(key: Key, endpoint: Endpoint) -> None:
        try:
            admit(key, endpoint)
        except PaError as error:
            if error.kind is not PERMISSION:
                raise

    return admitted
