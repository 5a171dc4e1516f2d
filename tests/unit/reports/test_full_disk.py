"""A full disk while a view is written: the file is named, and no partial file stays."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path
from typing import Any

import pytest

from catalog_probe.catalog.evidence.results import Run
from catalog_probe.reports.build import write_views


class Full(io.FileIO):
    """A file on a disk that has room for ten more bytes."""

    def write(self, data: Any, /) -> int:
        """As the operating system does it: a part, and then no more."""
        super().write(bytes(data)[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_the_unwritten_view_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def open_full(path: Path, mode: str) -> Full:
        return Full(path, mode)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", open_full)
        with pytest.raises(OSError, match="No space left on device") as caught:
            write_views(tmp_path, Run("r", "mock", False, "2026-11-22T00:00:00Z", "2026-11-22"), [])
    assert caught.value.filename == str(tmp_path / "summary.md")
    assert list(tmp_path.iterdir()) == []
