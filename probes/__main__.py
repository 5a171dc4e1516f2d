"""`python -m probes`: do records and recipes fit, and how much of the catalog is covered."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from catalog.model import PROVIDERS
from catalog.store import RECORDS, Catalog, CatalogError
from probes import coverage, fit
from probes.recipes import Book, RecipeError, book

EPILOG = """\
examples:
  python -m probes check       every record has a recipe or a reason, every recipe a record
  python -m probes coverage    what can be probed, how, and how lately it was seen
  pytest probes --plan         what a run would send, without sending it
"""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; 0 fine, 1 misfits, 2 usage, 4 an unusable catalog."""
    chosen = _parser().parse_args(arguments)
    try:
        catalog = Catalog.load(Path(chosen.catalog))
        books = {provider: book(provider) for provider in PROVIDERS}
    except (CatalogError, RecipeError) as error:
        print(error, file=sys.stderr)
        return 4
    return _check(catalog, books) if chosen.command == "check" else _coverage(catalog, books)


def _check(catalog: Catalog, books: dict[str, Book]) -> int:
    lines = list(fit.misfits(catalog, books))
    for line in lines:
        print(line)
    recipes = sum(len(each.recipes) for each in books.values())
    reasons = sum(len(each.unprobed) for each in books.values())
    told = f"{len(catalog)} records, {recipes} recipes, {reasons} reasons"
    print(f"{told}: {len(lines)} misfits" if lines else f"{told}: every record has a recipe or a reason")
    return 1 if lines else 0


def _coverage(catalog: Catalog, books: dict[str, Book]) -> int:
    today = datetime.now(UTC).date()
    for title, table in (
        ("by provider and kind", coverage.by_kind(catalog, books, today)),
        ("by document section", coverage.by_section(catalog, books, today)),
    ):
        print(title)
        print("\n".join(f"  {line}" for line in coverage.told(table)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m probes",
        description="Look after the recipes that provoke what the catalog documents.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--catalog", default=str(RECORDS), metavar="DIR", help="the records to use (default: shipped)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("check", help="do records and recipes fit? exits 1 if not")
    commands.add_parser("coverage", help="records, recipes and evidence, by provider and by section")
    return parser


if __name__ == "__main__":
    sys.exit(main())
