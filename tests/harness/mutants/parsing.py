"""Parses Python while other threads run, which before Python 3.11.8 and 3.12 may fail (python/cpython#106905)."""

from __future__ import annotations

import ast
import gc


def parsed(source: str) -> ast.Module:
    """The syntax tree of a module.

    How deep a tree is, is counted in one place for all threads there. Garbage that is looked for in the middle of it
    lets another thread run, and one that prints a traceback parses as well: mocks that are broken on purpose do.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        if collects:
            gc.enable()
