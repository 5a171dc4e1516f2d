"""`catalog-probe check`: are the records valid, and do records and recipes match?"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import providers, selected_providers
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model.errors import CatalogError, Exit
from catalog_probe.catalog.text.readable_text import format_count, sanitize_line, sanitize_row
from catalog_probe.catalog.writeback import accepted_differences
from catalog_probe.cli import parser
from catalog_probe.cli.parser import Parser

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from pathlib import Path

_DESCRIPTION = """\
Validate every record; if all are sound, check that each has a recipe or a
reason, and each recipe a record. Each problem is one line: file, address, JSON
path, what is wrong, and the mend.
Exit status: 0 all fine, 1 there are problems, 4 wrong usage.

  catalog-probe check
  catalog-probe check --fix                mend form, required nulls, void evidence, tags first
  catalog-probe check --catalog reports/out/latest/catalog
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Check records and recipes, and return the exit status."""
    return parser.run(
        build_parser(),
        arguments,
        stopped="stopped; no file was left half written",
        find_problem=parser.find_first_problem,
    )


def build_parser() -> Parser:
    """Build the parser of the command."""
    check = Parser(prog="catalog-probe check", description=_DESCRIPTION)
    check.set_defaults(run_command=check_all)
    parser.add_catalog_options(check, parser.parse_catalog_folder)
    check.add_argument(
        "--fix",
        action="store_true",
        help="first put files into canonical form, add required nulls, drop void evidence, set the tags that follow",
    )
    check.add_argument(
        "--accepted-differences",
        type=provider_folders.locate,
        metavar="FILE",
        help="check this file of accepted differences",
    )
    return check


def check_all(args: Namespace) -> int:
    """Check the records and, if they are valid, their recipes."""
    status = check_records(args)
    return check_recipes(args) if status == Exit.FINE else status


def check_records(args: Namespace) -> int:
    """Validate every record, and the accepted differences of the shipped ones."""
    from catalog_probe.catalog.check import validate

    roots = provider_folders.use(args.catalog)
    if args.fix:
        from catalog_probe.catalog.check import fixing

        for root in roots:
            for line in fixing.fix_records(root):
                print(sanitize_row(line))
    problems = [str(problem) for root in roots for problem in validate.check_catalog(root, today=args.today)]
    problems += _find_acceptance_problems(args, roots)
    lines = dict.fromkeys(problems)  # a problem of a shared file is found once for each folder
    for line in lines:
        print(sanitize_line(line))
    if lines:
        print(format_count(len(lines), "problem"))
        return Exit.PROBLEMS
    catalog = Catalog.load(*roots)
    with_records = [provider for provider in providers() if catalog.select(provider)]
    print(f"{format_count(len(catalog), 'record')}, {format_count(len(with_records), 'provider')}: fine")
    return Exit.FINE


def check_recipes(args: Namespace) -> int:
    """Check that each record has a recipe or a reason, and each recipe a record."""
    from catalog_probe.probes.coverage import completeness
    from catalog_probe.probes.recipes.book import recipe_book

    catalog = Catalog.load(*provider_folders.use_records(args.catalog))
    books = {provider: recipe_book(provider) for provider in selected_providers()}
    misfits = list(completeness.find_misfits(catalog, books))
    for misfit in misfits:
        print(sanitize_row(misfit))
    recipes = sum(len(book.recipes) for book in books.values())
    reasons = sum(len(book.unprobed) for book in books.values())
    amounts = f"{len(catalog)} records, {recipes} recipes, {reasons} reasons"
    verdict = format_count(len(misfits), "misfit") if misfits else "every record has a recipe or a reason"
    print(f"{amounts}: {verdict}")
    return Exit.PROBLEMS if misfits else Exit.FINE


def _find_acceptance_problems(args: Namespace, roots: tuple[Path, ...]) -> list[str]:
    """Check the accepted differences: those of the option, or those of the provider folders that are checked."""
    if args.catalog and not args.accepted_differences and not provider_folders.is_provider_records(roots[0]):
        return []
    catalog, _ = Catalog.load_readable(*roots)
    today = args.today or datetime.now(UTC).date()
    problems: list[str] = []
    for file in (
        [args.accepted_differences] if args.accepted_differences else accepted_differences.list_files_in_force()
    ):
        try:
            problems += map(
                str, accepted_differences.find_problems(accepted_differences.load_entries(file), catalog, today, file)
            )
        except CatalogError as error:
            problems.append(str(error))
    return problems
