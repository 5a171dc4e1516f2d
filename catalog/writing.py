"""Writing catalog files so that nothing is ever half written, and nobody's change is lost."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from catalog.canonical import canonical_text
from catalog.store import Catalog, CatalogError, family_file, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from catalog.model import Record

LOCK_WAIT_S = 60.0


def rewrite(root: Path, change: Callable[[Catalog], Iterable[Record]]) -> tuple[Path, ...]:
    """Put changed or new records into their files; files in which nothing changes are left alone.

    `change` is asked under the lock, with the records as they are by then, so of two updates at once the second
    builds on the first. Returns the files that were written. A process killed in between leaves each file as it
    was or as it should be; doing the same again finishes the work.
    """
    with locked(root):
        catalog = Catalog.load(root)
        changed = {record.address: record for record in change(catalog)}
        files = dict.fromkeys(family_file(root, address) for address in changed)
        return tuple(path for path in files if _write_records(path, catalog, changed.values()))


def _write_records(path: Path, catalog: Catalog, changed: Iterable[Record]) -> bool:
    root = catalog.root
    content = {record.address.slug: record.data for record in catalog.records if _lives_in(path, record, root)}
    before = dict(content)
    content.update((record.address.slug, record.data) for record in changed if _lives_in(path, record, root))
    if content == before:
        return False
    kind = "rate_limits" if path.parent.parent == root else path.parent.name
    return write_text(path, canonical_text(content, kind))


def _lives_in(path: Path, record: Record, root: Path) -> bool:
    return family_file(root, record.address) == path


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the one lock of a folder. The lock file lies in `.cache/`, which git ignores and loaders skip.

    Raises:
        CatalogError: another process holds it for too long, or it cannot be made.
    """
    from filelock import FileLock, Timeout  # only writers pay for it

    path = folder / ".cache" / "write.lock"
    try:
        path.parent.mkdir(exist_ok=True)
        lock = FileLock(path).acquire(timeout=LOCK_WAIT_S)
    except Timeout:
        what = f"another process has been writing to {shown(folder)} for {LOCK_WAIT_S:.0f} s"
        raise CatalogError(what, "wait for it, or end it, then run again", file=path) from None
    except OSError as error:
        raise _unwritable(path, error) from error
    with lock:
        yield


def write_text(path: Path, text: str) -> bool:
    """Replace a file in one step, or leave it alone where it already says this. Call it under the lock.

    Raises:
        CatalogError: the disk is full or the file may not be written; the old file is intact.
    """
    data = text.encode()
    if path.is_file() and path.read_bytes() == data:
        return False
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(path)
        _write_through(temporary, data)
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return True


def _write_through(path: Path, data: bytes) -> None:
    """Write a new file and wait until the disk has it, else a power cut could replace a whole file by an empty one."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
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
    """Under the lock nobody else writes this file, so what a killed writer left beside it is rubbish."""
    for leftover in path.parent.glob(f".{path.name}.*.tmp"):
        leftover.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> CatalogError:
    what = f"cannot be written ({error.strerror or error})"
    return CatalogError(what, "make room or give permission, then run again: the file is as it was", file=path)
