"""A catalog of what generative-model APIs document, probes that check it, and a mock of four providers.

As a library: `load()` returns all records, `find(…)` those that match. `identify(…)` and `identify_exception(…)` say
which record an answer is, and whether the request may be sent again. Importing it loads no third-party package.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

# Checked before any import that would fail, for one line instead of a traceback. Older Pythons must parse this file.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.stderr.write("catalog-probe needs Python 3.11 or newer; this is {}.{}\n".format(*sys.version_info))
    raise SystemExit(4)

if TYPE_CHECKING:
    from catalog_probe.catalog.library import (
        Advice,
        CatalogRecord,
        Identity,
        Library,
        May,
        find,
        identify,
        identify_exception,
        load,
    )

__all__ = ["Advice", "CatalogRecord", "Identity", "Library", "May", "find", "identify", "identify_exception", "load"]


def __getattr__(name: str) -> Any:
    # lazy, because the mock and the command line import this package too and do not need the library
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from catalog_probe.catalog import library

    return getattr(library, name)
