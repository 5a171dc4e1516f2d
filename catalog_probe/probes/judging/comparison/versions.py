"""Decides whether one model name is a version of another. Pure.

The documents show no alias. By custom a name without a date is served by its newest dated version, and a name that ends
in `-latest` by the newest version of its family. That is accepted, and no more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json

LATEST = "-latest"

# What a dated version adds: a day (`2024-07-18`, `20251001`, `0613`), a month (`09-2025`) or a revision (`002`).
_DATE_SUFFIX = re.compile(r"[-@](?:\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{2}-\d{4}|\d{3,4}|\d{6}|\d{8})", re.ASCII)

# A word of a name that says which version it is, and nothing of the family.
_VERSION_WORD = re.compile(r"\d+(?:\.\d+)*|preview|exp|experimental", re.ASCII)


def is_version_of(served: Json, requested: Json) -> bool:
    """Whether the served name is the requested one or a version of it; only texts can be.

    `models/x` is `x` in its collection. A name with a date has no other version.
    """
    if not (isinstance(served, str) and isinstance(requested, str)):
        return False
    served_name, requested_name = _remove_collection(served), _remove_collection(requested)
    if served_name == requested_name:
        return True
    if requested_name.endswith(LATEST):
        return _is_in_family(served_name, requested_name.removesuffix(LATEST))
    if not served_name.startswith(requested_name):
        return False
    return _DATE_SUFFIX.fullmatch(served_name[len(requested_name) :]) is not None


def _remove_collection(name: str) -> str:
    return name.rpartition("/")[2]


def _is_in_family(name: str, family: str) -> bool:
    """Whether a name has the words of a family in their order, and otherwise only words of a version."""
    missing_words = family.split("-")
    other_words = []
    for word in name.split("-"):
        if missing_words and word == missing_words[0]:
            missing_words.pop(0)
        else:
            other_words.append(word)
    return not missing_words and all(_VERSION_WORD.fullmatch(word) for word in other_words)
