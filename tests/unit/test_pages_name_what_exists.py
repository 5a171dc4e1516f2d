"""Every path that a page names exists, and the architecture page lists every package."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
TOP_FOLDERS = (
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

# A path from the root; `<provider>` in it stands for any name.
PATH = re.compile(rf"(?<![\w./<-])(?:{'|'.join(map(re.escape, TOP_FOLDERS))})/(?:[\w.*-]|<\w+>|/)*")
# A file name without folder; it is in the last folder that its line names.
BARE_FILE = re.compile(r"`([\w-]+\.(?:py|toml|tsv|json))`")

MADE_BY_COMMANDS = ("reports/out", "reports/history", "catalog/divergences.json")
# A file that the reader would write.
READERS_FILES = frozenset({"staging.toml"})


def find_paths(text: str) -> Iterator[str]:
    """Yield every path from the root in a text, and bare file names with the folder named before."""
    for line in text.splitlines():
        folder = ""
        for match in re.finditer(f"(?P<path>{PATH.pattern})|{BARE_FILE.pattern}", line):
            path = (match["path"] or "").rstrip(".")
            if path.startswith(MADE_BY_COMMANDS):
                continue
            if path:
                folder = path if path.endswith("/") else f"{path.rpartition('/')[0]}/"
                yield path
            elif folder and match[2] not in READERS_FILES:
                yield folder + match[2]


def list_missing_paths(text: str) -> list[str]:
    return [path for path in find_paths(text) if not any(ROOT.glob(re.sub(r"<\w+>", "*", path).rstrip("/")))]


def test_every_path_of_a_page_exists() -> None:
    for page in PAGES:
        assert list_missing_paths(page.read_text(encoding="utf-8")) == []


def test_missing_path_is_found() -> None:
    cases: list[tuple[str, list[str]]] = [
        ("`catalog_probe/probes/judging/judge.py`, `control.py`", []),
        ("`catalog_probe/probes/judging/judge.py`, `bases.py`", ["catalog_probe/probes/judging/bases.py"]),
        ("`catalog/records/<provider>/rate_limits.json`", []),
        ("`catalog/records/<provider>/limits.json`.", ["catalog/records/<provider>/limits.json"]),
        ("see [the map](docs/map.md).", ["docs/map.md"]),
        ("`reports/out/latest/report.html` and `pa/errors/general/overloaded`", []),
    ]
    for text, missing_paths in cases:
        assert list_missing_paths(text) == missing_paths


def test_architecture_lists_every_package() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    parts = ("catalog_probe/catalog", "catalog_probe/probes")
    packages = [
        init_file.parent.relative_to(ROOT) for part in parts for init_file in ROOT.glob(f"{part}/*/__init__.py")
    ]
    assert len(packages) > 8
    assert [str(package) for package in packages if f"| `{package}/` |" not in page] == []


LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def list_anchors(page: Path) -> set[str]:
    """Return the anchors that a forge makes of the headings of a page: `## Exit status` -> `exit-status`."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    titles = (re.sub(r"\]\([^)]*\)", "", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def list_dead_links(page: Path) -> list[str]:
    """Return the links of a page that lead to no file of the repository, or to no heading."""
    dead = []
    for path, anchor in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        linked = (page.parent / path).resolve() if path else page
        if not linked.is_relative_to(ROOT) or not linked.exists():
            dead.append(path)
        elif anchor and linked.suffix == ".md" and anchor not in list_anchors(linked):
            dead.append(f"{path}#{anchor}")
    return dead


def test_every_link_of_a_page_works_in_the_repository() -> None:
    """A link to a generated page is written as one to the file it is made of: see `PAGE_BY_SOURCE` of the site."""
    assert {page.name: dead for page in PAGES if (dead := list_dead_links(page))} == {}


def test_a_dead_link_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.unit.test_pages_name_what_exists.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("# A page\n[a](reference/records.md) [b](#a-page) [c](#nowhere) [d](https://a.example)\n")
    assert list_dead_links(page) == ["reference/records.md", "#nowhere"]
