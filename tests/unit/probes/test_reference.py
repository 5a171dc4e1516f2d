"""The generated pages of the docs: they list all that the code knows, in complete rows."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.library import load
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.catalog.reading.facts import read_facts
from catalog_probe.cli.main import GROUPS
from catalog_probe.probes.judging.inconclusive.table import RULES
from catalog_probe.probes.plugin import options
from tests.harness import record_pages, reference_pages

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest


@cache
def render_pages() -> Mapping[str, str]:
    """Return the text of each page by its path, cached."""
    return dict(reference_pages.render_pages())


def test_commands_page_lists_each_command_and_option() -> None:
    page = render_pages()["reference/commands.md"]
    for group, names in GROUPS.items():
        for name in names:
            assert f"usage: catalog-probe {group} {name}" in page
    for option in options.list_options():
        assert option.flag in page


def test_exits_and_codes_pages_are_complete() -> None:
    assert {int(status) for status in re.findall(r"^\| (\d+) \|", render_pages()["reference/exits.md"], re.M)} == set(
        Exit
    )
    codes = set(re.findall(r"^\| `([^`]+)` \|", render_pages()["reference/codes.md"], re.M))
    assert codes == {*FindingCode, *ReasonCode}


def test_inconclusive_page_has_each_rule() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (.*)$", render_pages()["reference/inconclusive.md"], re.M)
    assert [name for name, _ in rows] == [rule.name for rule in RULES]
    for rule, (_, row) in zip(RULES, rows, strict=True):
        cells = (*rule.codes, rule.prevents, rule.hides, rule.case)
        assert all(reference_pages.escape_cell(words) in row for words in cells)
        assert ("live" in row.split(" | ")[1]) is rule.live_only


def test_retries_page_has_each_error() -> None:
    rows = re.findall(r"^\| ([\d, ]*)\| `([^`]+)` \| (\w+)", render_pages()["reference/retries.md"], re.M)
    errors = load().find(kind="errors")
    assert sorted(name for _, name, _ in rows) == sorted("/".join(error.address.split("/")[2:]) for error in errors)
    assert {retry for _, _, retry in rows} == {"yes", "no", "conditional"}


def test_keys_of_nested_tables_have_a_row(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, set[str]]] = [
        ("reference/manifests.md", {"stand_ins", "key_query", "controls", "first_s"}),
        ("reference/targets.md", {"providers", "pending_days", "credentials"}),
        ("reference/records.md", {"http_status", "alternatives", "close_code", "at", "with"}),
    ]
    for page, keys in cases:
        with subtests.test(page=page):
            rows = set(re.findall(r"^\| `([^`]+)`", render_pages()[page], re.M))
            assert keys - rows == set()


def test_each_fact_is_in_its_section(subtests: pytest.Subtests) -> None:
    for provider in providers():
        with subtests.test(provider=provider):
            sections = dict(
                re.findall(r"^## (\S+)\n\n(.*?)(?=^## |\Z)", render_pages()[f"facts/{provider}.md"], re.M | re.S)
            )
            for fact in read_facts(provider):
                assert (
                    f"| {reference_pages.escape_cell(fact.row)} | {reference_pages.escape_cell(fact.statement)} |"
                    in sections[fact.section]
                )


def test_table_rows_have_as_many_cells_as_their_head() -> None:
    for path, text in render_pages().items():
        prose = re.sub(r"```.*?```", "", text, flags=re.S)
        for table in re.findall(r"(?:^\|.*\|$\n)+", prose, re.M):
            cells = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
            assert len(cells) == 1, (path, table.partition("\n")[0])


def test_each_record_has_a_page_with_its_advice_and_a_row_in_the_index() -> None:
    files = dict(record_pages.render_files())
    linked = re.findall(r"\]\((\S+)\.md\)", files["records/index.md"])
    assert sorted(linked) == sorted(load())
    for address, record in load().items():
        page = files[f"records/{address}.md"]
        assert f"({address.rpartition('/')[2]}.json)" in page
        assert all(reference_pages.escape_cell(row) in page for row in record.sources), address
        assert record.kind != "errors" or f"| Send it again? | {record.retry.may}" in page
        assert "No live night has observed it yet." in page
