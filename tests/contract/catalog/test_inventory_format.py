"""The inventory is well formed. Whether it agrees with the records is another test's business."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.contract.catalog.inventory_rows import COLUMNS, INVENTORY, PROVIDERS, Row, lines, rows

KINDS = {"endpoint", "error", "outcome", "state", "auth", "header", "limit", "version"}
SECTION = re.compile(r"[12]:\d(\.\d)?")
STATUS = re.compile(r"(\d{3}(/\d{3})*|4xx)?")
RETRYABLE = re.compile(r"((no|yes|n/a)\b.*|conditional|transient|poll)?")

each_provider = pytest.mark.parametrize("provider", PROVIDERS)


def test_one_file_a_provider() -> None:
    assert sorted(path.stem for path in INVENTORY.glob("*.tsv")) == sorted(PROVIDERS)


@each_provider
def test_every_line_has_every_column(provider: str) -> None:
    header, *body = lines(provider)
    assert tuple(header) == COLUMNS
    assert body
    assert [cells for cells in body if len(cells) != len(COLUMNS)] == []


@each_provider
def test_no_stray_space(provider: str) -> None:
    assert [cell for cells in lines(provider) for cell in cells if cell != cell.strip()] == []
    raw = (INVENTORY / f"{provider}.tsv").read_bytes()
    assert b"\r" not in raw
    assert raw.endswith(b"\n")


@each_provider
def test_a_citation_names_one_row(provider: str) -> None:
    count = Counter(row.citation for row in rows(provider))
    assert [citation for citation, times in count.items() if times > 1] == []


@each_provider
def test_every_cell_is_of_its_kind(provider: str) -> None:
    def well_formed(row: Row) -> bool:
        return bool(
            SECTION.fullmatch(row.section)
            and row.row
            and "#" not in row.row
            and row.kind in KINDS
            and STATUS.fullmatch(row.status)
            and RETRYABLE.fullmatch(row.retryable)
            and row.condition
        )

    assert [row for row in rows(provider) if not well_formed(row)] == []


@each_provider
def test_sections_follow_the_documents(provider: str) -> None:
    sections = [row.section for row in rows(provider)]
    assert sections == sorted(sections)
