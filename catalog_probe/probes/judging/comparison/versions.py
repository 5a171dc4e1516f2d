"""Whether one name is that of a version of what another one names: which names of models are aliases. Pure.

The documents show no alias. By custom a name without a date is served by its newest dated version, and one that ends in
`-latest` by the newest version of its family: that much is accepted, and no more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json

LATEST = "-latest"

_DATED = re.compile(r"[-@](?:\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{2}-\d{4}|\d{3,4}|\d{6}|\d{8})", re.ASCII)
"""What a dated version adds: a day (`2024-07-18`, `20251001`, `0613`), a month (`09-2025`), a revision (`002`)."""

_OF_A_VERSION = re.compile(r"\d+(?:\.\d+)*|preview|exp|experimental", re.ASCII)
"""A word of a name that says which version, and nothing of what it is a version of."""


def is_version_of(served: Json, asked: Json) -> bool:
    """Whether something served under one name is what was asked for under the other; no two things but text are.

    `models/x` is `x` in its collection. What has a date is a version of itself alone.
    """
    if not (isinstance(served, str) and isinstance(asked, str)):
        return False
    own, wanted = _in_its_collection(served), _in_its_collection(asked)
    if own == wanted:
        return True
    if wanted.endswith(LATEST):
        return _is_in_the_family(own, wanted.removesuffix(LATEST))
    return own.startswith(wanted) and _DATED.fullmatch(own[len(wanted) :]) is not None


def _in_its_collection(name: str) -> str:
    return name.rpartition("/")[2]


def _is_in_the_family(own: str, family: str) -> bool:
    """Whether a name has the words of a family in their order, and beside them none but those of a version."""
    left = family.split("-")
    beside = []
    for word in own.split("-"):
        if left and word == left[0]:
            left.pop(0)
        else:
            beside.append(word)
    return not left and all(_OF_A_VERSION.fullmatch(word) for word in beside)
