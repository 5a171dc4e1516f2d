"""Every path that a page names exists, and every room of the house has its line in the architecture."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "tests/harness/mutated.toml"]
HOUSE = (
    "catalog",
    "catalog_probe",
    "probes",
    "reports",
    "tests",
    "docs",
    "proto",
    "benchmarks",
    ".ci",
    ".github",
)

PATH = re.compile(rf"(?<![\w./<-])(?:{'|'.join(map(re.escape, HOUSE))})/(?:[\w.*-]|<\w+>|/)*")
"""A path from the root. `<provider>` in it stands for any name."""
FILE = re.compile(r"`([\w-]+\.(?:py|toml|tsv|json))`")
"""A file without a folder: it lies in the one that its line named last."""

MADE_BY_COMMANDS = ("reports/out", "reports/history", "catalog/divergences.json")
NOT_OURS = frozenset({"staging.toml"})
"""A file that the reader would write."""


def named_paths(text: str) -> Iterator[str]:
    """Every path from the root that a text names, and every bare file name with the folder named before it."""
    for line in text.splitlines():
        folder = ""
        for found in re.finditer(f"(?P<path>{PATH.pattern})|{FILE.pattern}", line):
            path = (found["path"] or "").rstrip(".")
            if path.startswith(MADE_BY_COMMANDS):
                continue
            if path:
                folder = path if path.endswith("/") else f"{path.rpartition('/')[0]}/"
                yield path
            elif folder and found[2] not in NOT_OURS:
                yield folder + found[2]


def missing(text: str) -> list[str]:
    return [path for path in named_paths(text) if not any(ROOT.glob(re.sub(r"<\w+>", "*", path).rstrip("/")))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_that_is_named_exists(page: Path) -> None:
    assert missing(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("`catalog_probe/probes/judging/judge.py`, `self_test.py`", []),
        ("`catalog_probe/probes/judging/judge.py`, `bases.py`", ["catalog_probe/probes/judging/bases.py"]),
        ("`catalog/records/<provider>/rate_limits.json`", []),
        ("`catalog/records/<provider>/limits.json`.", ["catalog/records/<provider>/limits.json"]),
        ("see [the map](docs/map.md).", ["docs/map.md"]),
        ("`reports/out/latest/report.html` and `pa/errors/general/overloaded`", []),
    ],
)
def test_a_path_that_is_gone_is_found(text: str, gone: list[str]) -> None:
    assert missing(text) == gone


def test_every_room_has_its_line() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    parts = ("catalog_probe/catalog", "catalog_probe/probes")
    rooms = [found.parent.relative_to(ROOT) for part in parts for found in ROOT.glob(f"{part}/*/__init__.py")]
    assert len(rooms) > 8
    assert [str(room) for room in rooms if f"| `{room}/` |" not in page] == []
