"""Parses Python while other threads run, which before Python 3.11.8 and 3.12 may fail (python/cpython#106905)."""

from __future__ import annotations

import ast
import gc


def parse_module(source: str) -> ast.Module:
    """Return the syntax tree of a module.

    In those versions all threads share the counter of a tree's depth. A garbage collection during the parsing lets
    another thread run; if that prints a traceback, as mocks that are broken on purpose do, it parses as well.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        if was_enabled:
            gc.enable()
