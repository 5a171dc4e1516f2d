"""`catalog-probe target`: is a target ready, what does it cover, and what did runs leave on its accounts?"""

from __future__ import annotations

import argparse
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import require_provider, selected_providers
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model.errors import CatalogError, Exit
from catalog_probe.catalog.text.readable_text import sanitize_row
from catalog_probe.cli import parser
from catalog_probe.cli.parser import Parser
from catalog_probe.probes.coverage import missing_variables, records_and_facts
from catalog_probe.probes.planning.reach import ProviderReach, provider_reaches
from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock
from catalog_probe.probes.recipes.book import RecipeBook, recipe_book
from catalog_probe.probes.targets import target_file
from catalog_probe.probes.targets.target import Cost, Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


EPILOG = """\
examples:
  catalog-probe target doctor        what of the live target is configured, and do its keys work
  catalog-probe target coverage      who can observe the records and facts
  catalog-probe target coverage --provider pb --rest
  catalog-probe target variables     which variable enables how many more records
  catalog-probe target cleanup       remove what interrupted runs made on the accounts
  catalog-probe probe --plan         what a run would send, without sending it
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit status."""
    return parser.run(build_parser(), arguments, find_problem=parser.find_first_problem)


def _load_catalog(args: argparse.Namespace) -> Catalog:
    return Catalog.load(*provider_folders.use_records(args.catalog))


def _coverage(args: argparse.Namespace) -> int:
    catalog, target = _load_catalog(args), target_file.load(args.target).with_placeholder_values()
    reaches = provider_reaches(_books(), target)
    if args.provider is not None:
        args.provider = require_provider(args.provider)
    checked_facts = [
        fact
        for fact in records_and_facts.list_fact_coverage(catalog, reaches, target)
        if args.provider in (None, fact.provider) and args.section in (None, fact.fact.section)
    ]
    if not checked_facts:
        raise CatalogError("no fact is of this provider and section", "`catalog-probe target coverage` lists them")
    verb = "observe" if target.live else "rehearse"
    print(f"here: what target {target.name} can {verb} with its keys, its values and the costs that it allows")
    if not (args.provider or args.section or args.rest):
        _print_record_coverage(catalog, reaches, target)
    print("facts of the documents, by provider and section; checked: by one key or more")
    print(
        "\n".join(
            f"  {line}"
            for line in records_and_facts.format_fact_table(records_and_facts.count_by_section(checked_facts))
        )
    )
    if args.rest:
        print("not observed whole")
        for line in records_and_facts.format_unchecked_facts(checked_facts):
            print(sanitize_row(f"  {line}"))
    return Exit.FINE


def _books() -> dict[str, RecipeBook]:
    return {provider: recipe_book(provider) for provider in selected_providers()}


def _doctor(args: argparse.Namespace) -> int:
    from catalog_probe.cli import doctor  # slow to import: they bring the HTTP client
    from catalog_probe.cli.doctor import format_diagnosis

    catalog = _load_catalog(args)
    names = [require_provider(name) for text in args.provider for name in text.split(",") if name.strip()]
    with _start_embedded_mock(target_file.load(args.target).restrict_to(names or selected_providers())) as target:
        allow = target.allow | frozenset(args.allow)
        diagnosis = doctor.examine(catalog, target, allow, datetime.now(UTC).date())
    print("\n".join(format_diagnosis(diagnosis, args.target, args.allow, names)))
    return diagnosis.status


def _variables(args: argparse.Namespace) -> int:
    print("\n".join(map(sanitize_row, missing_variables.format_gains_table(_load_catalog(args), args.target))))
    return Exit.FINE


def _cleanup(args: argparse.Namespace) -> int:
    from catalog_probe.cli import cleanup  # slow to import: it brings the HTTP client

    provider_folders.use_records(args.catalog)
    journals = cleanup.find_journals(args.runs, provider_folders.locate(args.out))
    results = cleanup.clean_up(journals, target_file.load(args.target), forget=args.forget)
    for result in results:
        print(sanitize_row(result.line))  # it quotes a journal, which is untrusted
    left = sum(result.left for result in results)
    print(f"{len(results) - left} removed, {left} left" if results else "nothing is left on any account")
    return Exit.PROBLEMS if left else Exit.FINE


@contextmanager
def _start_embedded_mock(target: Target) -> Iterator[Target]:
    """Yield the target, with a started mock if it names the embedded one."""
    if not target.needs_embedded_mock:
        yield target
        return
    mock = EmbeddedMock(target.providers)
    try:
        yield target.with_addresses(mock.addresses())
    finally:
        mock.stop()


def _print_record_coverage(catalog: Catalog, reaches: dict[str, ProviderReach], target: Target) -> None:
    today, records = datetime.now(UTC).date(), records_and_facts.list_record_coverage(catalog, reaches, target)
    print("by provider and kind")
    print(
        "\n".join(
            f"  {line}"
            for line in records_and_facts.format_tallies(
                records_and_facts.count_by_kind(records, today), records_and_facts.RecordCounts
            )
        )
    )
    print("never checked, rehearsed on the mock at best")
    print("\n".join(sanitize_row(f"  {line}") for line in records_and_facts.format_unchecked(records)))


def build_parser() -> Parser:
    """Build the parser of the group and its commands."""
    group = Parser(
        prog="catalog-probe target",
        description="Say what a target is ready for and what it covers, and clean up its accounts.",
        epilog=EPILOG,
    )
    commands = group.add_subparsers(required=True, metavar="COMMAND")
    _add_doctor(commands)
    _add_coverage(commands)
    _add_variables(commands)
    _add_cleanup(commands)
    for command in commands.choices.values():
        command.add_argument(
            "--catalog", type=parser.parse_path, metavar="DIR", help="the folder of the records, or a provider folder"
        )
    return group


def _add_coverage(commands: Any) -> None:
    covered = commands.add_parser(
        "coverage",
        help="records, recipes and evidence, and the facts that are checked, by provider and by section",
        description="Say by whom the records and the facts of the documents can be observed: with one key, with more "
        "(other keys, values, costs), in recorded traffic only, on the mock only, or nowhere; and what a target can "
        "observe. Checked is what a client's own requests can check: the rest is rehearsed on our mock at best.",
    )
    covered.add_argument("--target", default="live", metavar="NAME_OR_TOML", help="the target (default: live)")
    covered.add_argument("--provider", metavar="NAME", help="the facts of this provider alone")
    covered.add_argument("--section", metavar="DOC:SECTION", help="the facts of this section alone, as 2:7.4")
    covered.add_argument("--rest", action="store_true", help="also list each fact that is not checked whole, and why")
    covered.set_defaults(run_command=_coverage)


def _add_doctor(commands: Any) -> None:
    doctor = commands.add_parser(
        "doctor",
        help="is a target ready? sends one free request a key, nothing billable; exits 1 or 10 if not",
        description="Say what a target has and lacks, what each gap disables, and whether its keys work. Sends one "
        "free request a key. Exits 10 if nothing is configured or an expected provider cannot be probed, 1 if a key "
        "does not work or a look-up has no answer, 4 on wrong usage.",
    )
    doctor.add_argument("--target", default="live", metavar="NAME_OR_TOML", help="the target (default: live)")
    doctor.add_argument(
        "--provider",
        action="append",
        default=[],
        metavar="NAME",
        help=f"only this provider: {parser.describe_providers()}; may be given again, or several with commas",
    )
    doctor.add_argument(
        "--allow",
        action="extend",
        default=[],
        type=_parse_costs,
        metavar="COSTS",
        help="plan as if these costs were allowed",
    )
    doctor.set_defaults(run_command=_doctor)


def _parse_costs(text: str) -> list[Cost]:
    """Parse costs as `pytest probes --allow` does."""
    try:
        return [Cost(cost.strip()) for cost in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(Cost)}, or several with commas") from None


def _add_variables(commands: Any) -> None:
    variables = commands.add_parser(
        "variables",
        help="which environment variable of a target enables how many more records, as a table in Markdown",
        description="Say of each variable that a target names how many more records it enables beside one key for each "
        "provider, and what it is part of. Sends nothing, and reads no variable.",
    )
    variables.add_argument("--target", default="live", metavar="NAME_OR_TOML", help="the target (default: live)")
    variables.set_defaults(run_command=_variables)


def _add_cleanup(commands: Any) -> None:
    cleanup = commands.add_parser(
        "cleanup",
        help="remove what interrupted runs made on the accounts; exits 1 if something is left",
        description="Remove what runs made on the accounts and did not remove themselves, as their journals "
        "(made.jsonl) name it. Not while such a run is going on. Doing it again does no harm.",
    )
    cleanup.add_argument("runs", nargs="*", metavar="RUN", help="a run's folder or its name (default: every run)")
    cleanup.add_argument("--target", default="live", metavar="NAME_OR_TOML", help="the target (default: live)")
    cleanup.add_argument(
        "--out", default=provider_folders.RUNS, metavar="DIR", help="where runs lie (default: %(default)s)"
    )
    cleanup.add_argument("--forget", action="store_true", help="close the entries that you have looked for by hand")
    cleanup.set_defaults(run_command=_cleanup)
