"""Atomic, locked writes of catalog files."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.store import Catalog, kind_of_file
from catalog_probe.catalog.files.strict_json import read_object
from catalog_probe.catalog.model.errors import CatalogError, display_path
from catalog_probe.catalog.writeback.canonical_json import format_record_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from catalog_probe.catalog.model import Json

LOCK_WAIT_S = 60.0  # seconds; after that the other writer is reported

Contents = Mapping["Path", Mapping[str, "Json"]]
"""File -> the records that it should hold (slug -> data)."""


def rewrite_files(root: Path, change: Callable[[Catalog], Contents]) -> tuple[Path, ...]:
    """Write the contents that `change` returns, and return the files that changed.

    `change` is called under the lock with the current records, so of two concurrent updates the second builds on the
    first. A killed process leaves each file old or new, and repeating the call finishes the work.
    """
    with lock_folder(root):
        return write_contents(root, change(Catalog.load(root)))


def write_contents(root: Path, contents: Contents, *, durable: bool = True) -> tuple[Path, ...]:
    """Write each file whose content differs, in canonical form. Call it under the lock."""
    return tuple(
        path
        for path, content in contents.items()
        if _content_of(path) != content
        and write_data(path, format_record_file(content, kind_of_file(path, root)).encode(), durable=durable)
    )


def _content_of(path: Path) -> Json:
    return read_object(path) if path.exists() else None


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder. The lock file is in `.cache/`, which git ignores and loaders skip.

    Raises:
        CatalogError: another process holds the lock for too long, it cannot be created, or the folder is not the
            user's own.
    """
    provider_folders.require_own(folder)
    from filelock import FileLock, Timeout  # only writers pay for it

    path = folder / ".cache" / "write.lock"
    try:
        path.parent.mkdir(exist_ok=True)
        lock = FileLock(path).acquire(timeout=LOCK_WAIT_S)
    except Timeout:
        what = f"another process has been writing to {display_path(folder)} for {LOCK_WAIT_S:.0f} s"
        raise CatalogError(what, "wait for it, or end it, then run again", file=path) from None
    except OSError as error:
        raise _unwritable(path, error) from error
    with lock:
        yield


def write_text(path: Path, text: str) -> bool:
    """Write a text in UTF-8; see `write_data`."""
    return write_data(path, text.encode())


def write_data(path: Path, data: bytes, *, durable: bool = True) -> bool:
    """Replace a file atomically, and return whether it changed. Call it under the lock.

    Without `durable`, a power cut may lose the file. That is enough for files that can be made again.

    Raises:
        CatalogError: the disk is full or the file may not be written. The old file is intact.
    """
    if path.is_file() and path.read_bytes() == data:
        return False
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(path)
        _write_new(temporary, data, durable)
        temporary.replace(path)
        if durable:
            _sync_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return True


def _write_new(path: Path, data: bytes, durable: bool) -> None:
    """Write a new file. With `durable`, wait for the disk: else a power cut could leave an empty file."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_leftovers(path: Path) -> None:
    """Remove temporary files of killed writers. Under the lock, no other writer has one."""
    for other in path.parent.iterdir():
        if other.name.startswith(f".{path.name}.") and other.name.endswith(".tmp"):
            other.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> CatalogError:
    what = f"cannot be written ({error.strerror or error})"
    return CatalogError(what, "make room or give permission, then run again: the file is as it was", file=path)
