"""The page on adding a record: its command and its examples work.

The page's other commands are run by test_commands.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from catalog_probe.catalog.files.store import Catalog
from tests.harness.checkouts import copy_parts, remove_providers

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "adding-a-record.md").read_text(encoding="utf-8")
FIRST_BLOCK = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]
NEW_RECORD = shlex.split(FIRST_BLOCK.replace("\\\n", " "))[1:]
RECORDS = Path("catalog/records/pa/errors/general.json")
FACTS = Path("catalog/facts/pa.tsv")
RECIPES = Path("probes/recipes/pa/s2_7_3_errors.py")
ERROR_TABLE = Path("catalog_probe/mockserver/pa/errors.py")


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `catalog-probe` on the checkout in a folder."""
    command = [sys.executable, "-m", "catalog_probe", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def checkout_without_it(tmp_path: Path) -> Path:
    """A copy of what the command reads and writes, without facts, record and recipe of the page's example."""
    copy_parts(tmp_path, "catalog", "catalog_probe", "probes", "pyproject.toml")
    remove_providers(tmp_path / "catalog", "pb", "pc", "pd")  # `check` takes a second for each
    records = json.loads((tmp_path / RECORDS).read_text(encoding="utf-8"))
    del records["payment_problem"]
    (tmp_path / RECORDS).write_text(json.dumps(records, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for file, word in ((FACTS, "\t402 payment problem\t"), (RECIPES, '"payment_problem"')):
        lines = (tmp_path / file).read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if word not in line]
        assert len(kept) < len(lines)
        (tmp_path / file).write_text("".join(kept), encoding="utf-8")
    return tmp_path


def paste(output: str, folder: Path) -> list[str]:
    """Paste as the page says, and return the files: imports at the top unless they are there, the rest at the end."""
    pieces = re.findall(
        r"^paste into (\S+):\n\n(.*?)\n\n(?=paste into|left out|then)", output, re.MULTILINE | re.DOTALL
    )
    for name, python in pieces:
        text = (folder / name).read_text(encoding="utf-8")
        imports = [line for line in python.splitlines() if line.startswith("from ")]
        rest = "\n".join(line for line in python.splitlines() if line not in imports)
        new_imports = "".join(f"{line}\n" for line in imports if line not in text)
        future = "from __future__ import annotations\n"
        (folder / name).write_text(text.replace(future, f"{future}{new_imports}", 1) + rest + "\n", encoding="utf-8")
    return [name for name, _ in pieces]


def test_the_first_command_fills_the_four_places(checkout_without_it: Path) -> None:
    finished = run(NEW_RECORD, checkout_without_it)
    assert (finished.returncode, finished.stderr) == (0, "")
    wrote = [line.removeprefix("wrote ") for line in finished.stdout.splitlines() if line.startswith("wrote ")]
    assert wrote == [str(FACTS), str(RECORDS)]

    written = json.loads((checkout_without_it / RECORDS).read_text(encoding="utf-8"))["payment_problem"]
    shipped = Catalog.load()["pa/errors/general/payment_problem"].data
    by_hand = {"category", "endpoints"}
    assert {key: value for key, value in written.items() if key not in by_hand} == {
        key: shipped[key] for key in written if key not in by_hand
    }

    statements = [
        line.split("\t")[3:5]
        for line in (checkout_without_it / FACTS).read_text(encoding="utf-8").splitlines()
        if "\t402 payment problem\t" in line
    ]
    assert statements == [
        ["A payment problem gives 402", "yes"],
        ["A payment problem has type billing_error", "yes"],
        ["A payment problem is not retryable", "told"],
    ]

    unpasted = run(["check"], checkout_without_it)
    assert f"{NEW_RECORD[2]}: no recipe and no reason" in unpasted.stdout
    assert paste(finished.stdout, checkout_without_it) == [str(RECIPES), str(ERROR_TABLE)]
    assert all(f"`{place}`" in PAGE for place in (FACTS, RECORDS, RECIPES, ERROR_TABLE))
    checked = run(["check"], checkout_without_it)
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout
    code = "from catalog_probe.mockserver.pa.errors import PAYMENT_PROBLEM; print(PAYMENT_PROBLEM().row.status)"
    row = subprocess.run(
        [sys.executable, "-c", code], cwd=checkout_without_it, capture_output=True, text=True, check=True
    )
    assert row.stdout == "402\n"


def test_the_first_command_says_that_the_example_is_there() -> None:
    finished = run(NEW_RECORD, ROOT)
    assert finished.returncode == 4
    assert "pa/errors/general/payment_problem is there already" in finished.stderr


def test_the_record_shown_is_an_excerpt_of_the_shipped_one() -> None:
    [block] = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    [(slug, shown)] = json.loads(block).items()
    record = Catalog.load()[f"pa/errors/general/{slug}"].data
    headers = shown.pop("response_headers")
    assert shown == {key: record[key] for key in shown}
    assert headers == {key: record["response_headers"][key] for key in headers}
    assert [key for key in record if key in shown] == list(shown), "in the canonical order"


def test_the_recipes_shown_are_in_modules_of_recipes() -> None:
    modules = [path.read_text(encoding="utf-8") for path in (ROOT / "probes" / "recipes").rglob("*.py")]
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    assert [block for block in blocks if not any(block.strip() in module for module in modules)] == []
