"""The page for authors of clients: its commands, their output, its test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.command import CHECKOUT
from tests.harness.walking import Walk, find_free_port, find_missing_lines, install_project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = CHECKOUT / "docs" / "retryable.md"


@pytest.fixture
def walk(tmp_path: Path) -> Iterator[Walk]:
    """A reader in an empty folder, who has the package and no checkout."""
    folder = tmp_path / "reader"
    folder.mkdir()
    reader = Walk(folder, install_project(tmp_path), find_free_port())
    yield reader
    reader.stop()


def test_the_page_does_what_it_says(walk: Walk) -> None:
    walk.follow(PAGE)
    failures = [(block.commands, block.output) for block in walk.outputs if block.status != block.expected_status]
    assert failures == []
    assert {block.commands: lines for block in walk.outputs if (lines := list(find_missing_lines(block)))} == {}

    assert '"openapi": "3.1.0"' in (walk.folder / "pa.json").read_text(encoding="utf-8")
