"""A catalog of what generative-model APIs document, probes that check it, and a mock of four providers.

As a library: `load()` gives all records, `find(…)` those that fit, and `identify(…)` says which record an answer is and
whether the request may be sent again. Importing it loads no third-party package.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

# Before any import that would fail, so that there is one line and no traceback. Older Pythons must understand this.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.stderr.write("catalog-probe needs Python 3.11 or newer; this is {}.{}\n".format(*sys.version_info))
    raise SystemExit(4)

if TYPE_CHECKING:
    from catalog_probe.catalog.library import Advice, CatalogRecord, Identity, Library, May, find, identify, load

__all__ = ["Advice", "CatalogRecord", "Identity", "Library", "May", "find", "identify", "load"]


def __getattr__(name: str) -> Any:
    # lazy, because the mock and the command line import this package too and need no library
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from catalog_probe.catalog import library

    return getattr(library, name)
