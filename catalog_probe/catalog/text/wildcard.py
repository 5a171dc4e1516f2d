"""Patterns in which `*` stands for any text, as people write them in files and searches."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

_OTHER_SPECIAL_CHARACTERS = re.compile(r"[?\[]")  # special to `fnmatch` beside the `*`; here they are literal


def matches_wildcard(pattern: str, text: str) -> bool:
    """Whether a text matches a pattern. Everything but `*` is literal, and case counts."""
    return fnmatchcase(text, _OTHER_SPECIAL_CHARACTERS.sub(r"[\g<0>]", pattern))
