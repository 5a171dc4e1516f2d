"""Remembers what was found sound, records and schemas: to check it again takes longer than many a run.

Of each such state `places.cache()` has an empty file, named by the digest of all that the finding rests on.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from catalog.model import homes, places


def was_sound(root: Path) -> bool:
    """Whether these very records were checked before, by this very code, and nothing was wrong with them."""
    with suppress(OSError):  # whoever checks it says what cannot be read
        return _file(root).exists()
    return False


def remember(root: Path) -> None:
    """Note that nothing is wrong with the records below `root`; who cannot write that checks them again."""
    with suppress(OSError):
        _note(_file(root))


def were_schemas(texts: Iterable[str]) -> bool:
    """Whether these very texts were checked before, and each is a JSON Schema: records change, schemas hardly ever."""
    with suppress(OSError):
        return _file_of_schemas(texts).exists()
    return False


def remember_schemas(texts: Iterable[str]) -> None:
    """Note that each of these texts is a JSON Schema; who cannot write that checks them again."""
    with suppress(OSError):
        _note(_file_of_schemas(texts))


def _note(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()


def _file(root: Path) -> Path:
    return places.cache() / f"sound-{_digest(root)}"


def _file_of_schemas(texts: Iterable[str]) -> Path:
    digest = hashlib.sha256("\0".join(sorted(texts)).encode())
    return places.cache() / f"schemas-{digest.hexdigest()}"


def _digest(root: Path) -> str:
    """Of the records, what lies beside them in every home, and the code that holds them against each other."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {homes.is_of_a_home(root)}".encode())
    folders = [(root, "*.json"), (homes.PACKAGE.folder, "*.py")]
    for home in homes.homes():
        folders += [(home.schemas, "*.json"), (home.manifests, "*.toml"), (home.facts, "*.tsv")]
    for folder, pattern in folders:
        for path in sorted(folder.rglob(pattern)):
            digest.update(f"{path.relative_to(folder)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
