"""Patterns in which `*` stands for anything, as people write them in files and searches."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

_OTHER_SIGNS = re.compile(r"[?\[]")
"""What has a meaning for `fnmatch` beside the `*`."""


def fits(pattern: str, text: str) -> bool:
    """Whether a text is as a pattern says, to the letter but for each `*`."""
    return fnmatchcase(text, _OTHER_SIGNS.sub(r"[\g<0>]", pattern))
