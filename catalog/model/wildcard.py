"""Patterns in which `*` stands for anything, as people write them in files and searches."""

from __future__ import annotations

from functools import lru_cache

ANYTHING = "*"


def fits(pattern: str, text: str) -> bool:
    """Whether a text is as a pattern says, to the letter but for each `*`.

    Each piece is looked for behind the one before it, once: a regular expression of many `*` would try every way to
    divide the text among them.
    """
    first, middle, last = _pieces(pattern)
    if last is None:
        return pattern == text
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for piece in middle:
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


@lru_cache(maxsize=1024)
def _pieces(pattern: str) -> tuple[str, tuple[str, ...], str | None]:
    """What a text begins with, what follows in it, and what it ends with; None where it is to be the pattern itself."""
    first, *others = pattern.split(ANYTHING)
    return (first, tuple(filter(None, others[:-1])), others[-1]) if others else (first, (), None)
