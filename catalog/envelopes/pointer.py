"""JSON pointers (RFC 6901) with `*` for some item of an array."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.model import Json


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT: Json = _Absent()
"""What a pointer finds where there is nothing; JSON null is a value."""


def find(document: Json, pointer: str) -> Json:
    """The first value a pointer leads to, or ABSENT."""
    return next(find_all(document, pointer), ABSENT)


def find_all(document: Json, pointer: str) -> Iterator[Json]:
    """Every value a pointer leads to: more than one only where it holds a `*`."""
    if pointer in ("", "/"):
        yield document
        return
    head, _, rest = pointer[1:].partition("/")
    tail = f"/{rest}" if rest else ""
    for item in _step(document, head.replace("~1", "/").replace("~0", "~")):
        yield from find_all(item, tail)


def _step(document: Json, name: str) -> Iterator[Json]:
    if isinstance(document, dict) and name in document:
        yield document[name]
    elif isinstance(document, list) and name == "*":
        yield from document
    elif isinstance(document, list) and name.isascii() and name.isdigit() and int(name) < len(document):
        yield document[int(name)]
