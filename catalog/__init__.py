"""What four generative-model providers document, and what was last seen of it.

As a library: `catalog.load()` gives all records, `catalog.find(…)` those that fit, and `catalog.identify(…)` says which
record an answer is and whether the request may be sent again.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if sys.version_info < (3, 11):  # noqa: UP036 - so that an import says one line
    raise ImportError(
        "catalog-probe needs Python 3.11 or newer; this is {}.{}".format(*sys.version_info), name=__name__
    )

if TYPE_CHECKING:
    from catalog.library import CatalogRecord, Library, find, identify, load
    from catalog.recognition.advice import Advice, May
    from catalog.recognition.identify import Identity

__all__ = ["Advice", "CatalogRecord", "Identity", "Library", "May", "find", "identify", "load"]

_ELSEWHERE = {"Advice": "recognition.advice", "May": "recognition.advice", "Identity": "recognition.identify"}
"""What is not of `catalog.library` itself."""


def __getattr__(name: str) -> Any:
    """Load the library when something of it is first asked for: whoever imports one room pays for no other."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"catalog.{_ELSEWHERE.get(name, 'library')}"), name)
