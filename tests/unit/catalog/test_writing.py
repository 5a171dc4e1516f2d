"""Writing record files under kills, concurrent writers and full disks."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from subprocess import CompletedProcess, Popen
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.writeback import writing
from catalog_probe.catalog.writeback.writing import Contents, lock_folder, rewrite_files, write_data, write_text
from tests.harness.command import DEADLINE_S
from tests.unit.catalog.catalog_factories import ERROR_ADDRESS, make_small_catalog, write_catalog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KILLS = 10


def contents_with(root: Path, **fields: str) -> Callable[[Catalog], Contents]:
    """A change for `rewrite`: these fields in every error record."""

    def change(catalog: Catalog) -> Contents:
        errors = catalog.select(kind="errors")
        return {
            root / "pa" / "errors" / "general.json": {
                record.address.slug: {**record.data, **fields} for record in errors
            }
        }

    return change


def test_only_files_in_which_something_changes_are_written(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    file = root / "pa" / "errors" / "general.json"
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*.json")}

    assert rewrite_files(root, contents_with(root)) == ()
    assert rewrite_files(root, contents_with(root, note="new")) == (file,)
    assert Catalog.load(root)[ERROR_ADDRESS].data["note"] == "new"
    after = {path: path.stat().st_mtime_ns for path in root.rglob("*.json")}
    assert [path for path in before if before[path] != after[path]] == [file]


def test_a_file_that_is_not_canonical_is_not_touched_for_that_alone(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    file = root / "pa" / "errors" / "general.json"
    file.write_text(json.dumps(make_small_catalog()["pa/errors/general.json"]))

    assert rewrite_files(root, contents_with(root)) == ()
    assert "\n" not in file.read_text()


def test_a_full_disk_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_catalog(tmp_path)
    before = Catalog.load(root).digest

    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CatalogError, match=r"general\.json: cannot be written \(No space left on device\)") as caught:
        rewrite_files(root, contents_with(root, note="new"))
    assert "\n" not in str(caught.value)
    assert Catalog.load(root).digest == before
    assert not list(root.rglob("*.tmp"))


@pytest.mark.process
def test_a_limit_on_file_size_leaves_the_old_file(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    before = Catalog.load(root).digest
    program = """
        import resource, sys
        from pathlib import Path
        from catalog_probe.catalog.files.store import CatalogError
        from catalog_probe.catalog.writeback.writing import write_text

        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        try:
            write_text(Path(sys.argv[1]) / "pa/errors/general.json", "x" * 100_000)
        except CatalogError as error:
            print(error)
    """
    assert "cannot be written (File too large)" in python(program, root).stdout
    assert Catalog.load(root).digest == before
    assert not list(root.rglob("*.tmp"))


@pytest.mark.parametrize("durable", [True, False])
def test_a_durable_write_syncs_before_it_replaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durable: bool
) -> None:
    file, synced = tmp_path / "new" / "folder" / "file", list[tuple[bool, bool]]()

    def sync(descriptor: int) -> None:
        synced.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), file.exists()))

    monkeypatch.setattr(os, "fsync", sync)
    assert write_data(file, b"what it says", durable=durable) is True
    assert file.read_bytes() == b"what it says"
    assert synced == ([(False, False), (True, True)] if durable else []), "the file, then that it stands there"
    assert write_data(file, b"what it says", durable=durable) is False
    synced.clear()
    assert write_text(file, "é") is True
    assert file.read_bytes() == "é".encode()
    assert synced == [(False, True), (True, True)], "durable unless told otherwise"
    assert not file.stat().st_mode & 0o111


def test_only_files_left_by_a_killed_writer_are_removed(tmp_path: Path) -> None:
    for name in (".a.0123.tmp", ".b.0123.tmp", "a.tmp"):
        (tmp_path / name).write_text("half")
    write_text(tmp_path / "a", "whole")
    assert {path.name for path in tmp_path.iterdir()} == {"a", ".b.0123.tmp", "a.tmp"}


def test_no_file_stays_open_that_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left, open_it, close_it = set[int](), os.open, os.close

    def opening(path: str, flags: int, mode: int = 0o777) -> int:
        descriptor = open_it(path, flags, mode)
        left.add(descriptor)
        return descriptor

    def closing(descriptor: int) -> None:
        left.discard(descriptor)
        close_it(descriptor)

    monkeypatch.setattr(os, "open", opening)
    monkeypatch.setattr(os, "close", closing)
    write_text(tmp_path / "a", "whole")
    assert left == set()


def test_the_lock_file_is_not_loaded(tmp_path: Path) -> None:
    for _ in range(2):
        with lock_folder(tmp_path):
            assert (tmp_path / ".cache" / "write.lock").is_file()
    assert {path.name for path in tmp_path.iterdir()} == {".cache"}


def test_a_read_only_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".cache").write_text("in the way")
    with pytest.raises(CatalogError, match="cannot be written"), lock_folder(tmp_path):
        pass


def test_waiting_for_the_lock_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "LOCK_WAIT_S", 0.05)
    with (
        lock_folder(tmp_path),
        pytest.raises(CatalogError, match="another process has been writing"),
        lock_folder(tmp_path),
    ):
        pass


def test_two_updates_at_once_both_land(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    together = threading.Barrier(2)

    def update(name: str) -> None:
        def change(catalog: Catalog) -> Contents:
            return contents_with(root, **{name: "here"})(catalog)

        together.wait(timeout=DEADLINE_S)
        rewrite_files(root, change)

    threads = [threading.Thread(target=update, args=(name,)) for name in ("note", "backoff")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=DEADLINE_S)
    data = Catalog.load(root)[ERROR_ADDRESS].data
    assert (data["note"], data["backoff"]) == ("here", "here")


@pytest.mark.process
def test_two_processes_at_once_both_land(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    program = """
        import sys
        from pathlib import Path
        from catalog_probe.catalog.writeback.writing import rewrite_files

        root, name = Path(sys.argv[1]), sys.argv[2]
        file = root / "pa/errors/general.json"
        for count in range(20):
            rewrite_files(root, lambda catalog: {file: {
                each.address.slug: {**each.data, name: each.data.get(name, 0) + 1}
                for each in catalog.select(kind="errors")
            }})
    """
    crowd = [start(program, root, name) for name in ("one", "two")]
    assert [process.wait(timeout=DEADLINE_S) for process in crowd] == [0, 0]
    data = Catalog.load(root)[ERROR_ADDRESS].data
    assert (data["one"], data["two"]) == (20, 20)


@pytest.mark.process
def test_killed_writers_leave_whole_files_and_the_next_one_finishes(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    file = root / "pa" / "errors" / "general.json"
    program = """
        import sys
        from pathlib import Path
        from catalog_probe.catalog.writeback.writing import rewrite_files

        root = Path(sys.argv[1])
        file = root / "pa/errors/general.json"
        for count in range(1_000_000):
            rewrite_files(root, lambda catalog: {file: {
                each.address.slug: {**each.data, "note": f"{count} " * 5000} for each in catalog.select(kind="errors")
            }})
            print(count, flush=True)
    """
    for kill in range(KILLS):
        writer = start(program, root)
        output = writer.stdout
        assert output is not None
        for _ in range(kill + 1):
            output.readline()
        writer.send_signal(signal.SIGKILL)
        writer.wait(timeout=DEADLINE_S)
        output.close()
        notes = {record.data["note"] for record in Catalog.load(root).select(kind="errors")}
        assert len(notes) == 1

    assert rewrite_files(root, contents_with(root, note="finished")) == (file,)
    assert not list(root.rglob("*.tmp"))


@pytest.mark.process
@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_kill_at_each_step_leaves_the_old_file(tmp_path: Path, step: str) -> None:
    root = write_catalog(tmp_path)
    before = Catalog.load(root).digest
    program = """
        import os, signal, sys
        from pathlib import Path
        from catalog_probe.catalog.writeback.writing import lock_folder, write_text

        root = Path(sys.argv[1])
        with lock_folder(root):
            die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
            setattr(os, sys.argv[2], die)
            write_text(root / "pa/errors/general.json", "{}")
    """
    assert python(program, root, step, check=False).returncode == -signal.SIGKILL
    assert Catalog.load(root).digest == before
    assert list(root.rglob("*.tmp"))
    with lock_folder(root):
        write_text(root / "pa" / "errors" / "general.json", "{}\n")
    assert not list(root.rglob("*.tmp"))


def start(program: str, *args: Path | str) -> Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def python(program: str, *args: Path | str, check: bool = True) -> CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=check, timeout=DEADLINE_S)
