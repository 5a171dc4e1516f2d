"""Refuses to probe records that `python -m catalog check` refuses; what was once found sound is not checked again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from catalog.model import homes, places
from catalog.model.errors import Mendable

CACHE = Path(".cache/catalog-probe")
"""A check takes longer than the whole suite, so its good outcome is remembered by the digest of all it depends on."""


class Unsound(Mendable):
    """The catalog cannot be probed: its first problem, how many there are, and what to do."""


def demand(roots: Iterable[Path]) -> None:
    """Check the records below each of these folders, unless these very ones were found sound before.

    Raises:
        Unsound: in one line.
    """
    for root in roots:
        _demand(root)


def _demand(root: Path) -> None:
    found_sound = places.home() / CACHE / f"sound-{_digest(root)}"
    if found_sound.exists():
        return
    from catalog.check import validate

    problem = validate.first_problem(root)
    if problem:
        raise Unsound(problem)
    try:
        found_sound.parent.mkdir(parents=True, exist_ok=True)
        found_sound.touch()
    except OSError:
        pass  # only slower next time


def _digest(root: Path) -> str:
    """Of the records, what lies beside them in every home, and the code that holds them against each other."""
    digest = hashlib.sha256(str(root.resolve()).encode())
    folders = [(root, "*.json"), (homes.PACKAGE.folder, "*.py")]
    for home in homes.homes():
        folders += [(home.schemas, "*.json"), (home.manifests, "*.toml"), (home.facts, "*.tsv")]
    for folder, pattern in folders:
        for path in sorted(folder.rglob(pattern)):
            digest.update(f"{path.relative_to(folder)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
