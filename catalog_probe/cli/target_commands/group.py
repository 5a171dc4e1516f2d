"""`catalog-probe target`: is a target ready, what does it cover, and what did runs leave behind?"""

from __future__ import annotations

import argparse
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.files import paths, provider_folders
from catalog_probe.catalog.files.manifest import manifest, selected_providers
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.text.sanitizing import sanitize_row
from catalog_probe.cli import parser
from catalog_probe.cli.parser import Parser
from catalog_probe.probes.coverage import coverage, looked_at, missing_variables
from catalog_probe.probes.planning.reach import ProviderReach, provider_reaches
from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock
from catalog_probe.probes.recipes.book import RecipeBook, recipe_book
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import Cost, Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

EPILOG = """\
examples:
  catalog-probe target doctor        what of the live target is configured, and do its keys work
  catalog-probe target coverage      who can observe the records and facts
  catalog-probe target coverage --provider pb --rest
  catalog-probe target variables     which variable enables how many more records
  catalog-probe target cleanup       remove what interrupted runs made on the accounts
  pytest probes --plan               what a run would send, without sending it
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 fine, 1 something is not, 4 usage: the command line, the target or the catalog."""
    return parser.run(build_parser(), arguments, blamed=parser.find_first_problem)


def _records(chosen: argparse.Namespace) -> tuple[Path, ...]:
    """The folders of the records that are meant; from here on their home is looked at, too."""
    return provider_folders.use_records(chosen.catalog)


def _catalog(chosen: argparse.Namespace) -> Catalog:
    return Catalog.load(*_records(chosen))


def _coverage(chosen: argparse.Namespace) -> int:
    catalog, asked = _catalog(chosen), targets.load(chosen.target).with_placeholder_values()
    reaches = provider_reaches(_books(), asked)
    if chosen.provider is not None:
        manifest(chosen.provider)  # a name that there is not is told with those that there are
    found = [
        each
        for each in looked_at.looked_at(catalog, reaches, asked)
        if chosen.provider in (None, each.provider) and chosen.section in (None, each.fact.section)
    ]
    if not found:
        raise CatalogError("no fact is of this provider and section", "`catalog-probe target coverage` lists them")
    does = "observe" if asked.live else "rehearse"
    print(f"here: what target {asked.name} can {does} with its keys, its values and the costs that it allows")
    if not (chosen.provider or chosen.section or chosen.rest):
        _coverage_of_records(catalog, reaches, asked)
    print("facts of the documents, by provider and section; checked: by one key or more")
    print("\n".join(f"  {line}" for line in looked_at.told(looked_at.by_section(found))))
    if chosen.rest:
        print("\n".join(["not observed whole", *(sanitize_row(f"  {line}") for line in looked_at.rest(found))]))
    return Exit.FINE


def _books() -> dict[str, RecipeBook]:
    return {provider: recipe_book(provider) for provider in selected_providers()}


def _doctor(chosen: argparse.Namespace) -> int:
    from catalog_probe.cli.target_commands import doctor  # brings what sends; other commands send nothing

    catalog = _catalog(chosen)
    with _ready(targets.load(chosen.target).restrict_to(selected_providers())) as ready:
        found = doctor.examine(catalog, ready, ready.allow | frozenset(chosen.allow), datetime.now(UTC).date())
    print("\n".join(doctor.format_diagnosis(found, chosen.target, chosen.allow)))
    return found.status


def _variables(chosen: argparse.Namespace) -> int:
    print("\n".join(map(sanitize_row, missing_variables.of_each_variable(_catalog(chosen), chosen.target))))
    return Exit.FINE


def _cleanup(chosen: argparse.Namespace) -> int:
    from catalog_probe.cli.target_commands import cleanup  # brings what sends

    _records(chosen)
    told = cleanup.clean_up(
        cleanup.find_journals(chosen.runs, paths.locate(chosen.out)), targets.load(chosen.target), forget=chosen.forget
    )
    for each in told:
        print(sanitize_row(each.line))  # it quotes a journal, which anybody may have written
    left = sum(each.left for each in told)
    print(f"{len(told) - left} removed, {left} left" if told else "nothing is left on any account")
    return Exit.PROBLEMS if left else Exit.FINE


@contextmanager
def _ready(chosen: Target) -> Iterator[Target]:
    """The target, with a mock of our own where it names the embedded one."""
    if not chosen.needs_embedded_mock:
        yield chosen
        return
    mock = EmbeddedMock(chosen.providers)
    try:
        yield chosen.with_addresses(mock.addresses())
    finally:
        mock.stop()


def _coverage_of_records(catalog: Catalog, reaches: dict[str, ProviderReach], asked: Target) -> None:
    today, records = datetime.now(UTC).date(), coverage.covered(catalog, reaches, asked)
    print("by provider and kind")
    print("\n".join(f"  {line}" for line in coverage.told(coverage.by_kind(records, today))))
    for title, lines in (
        ("never checked, rehearsed on the mock at best", coverage.unchecked(records)),
        ("labels that are left to recorded traffic", coverage.unsent(records, catalog, reaches)),
    ):
        print(title)
        print("\n".join(sanitize_row(f"  {line}") for line in lines))


def build_parser() -> Parser:
    """Build the parser of the group, with one of its own for each command."""
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
            "--catalog", type=parser.parse_path, metavar="DIR", help="the records, or the home, to use"
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
    covered.add_argument("--provider", type=str.lower, metavar="NAME", help="the facts of this provider alone")
    covered.add_argument("--section", metavar="DOC:SECTION", help="the facts of this section alone, as 2:7.4")
    covered.add_argument("--rest", action="store_true", help="also list each fact that is not checked whole, and why")
    covered.set_defaults(run_command=_coverage)


def _add_doctor(commands: Any) -> None:
    doctor = commands.add_parser(
        "doctor",
        help="is a target ready? sends one free request a key, nothing billable; exits 1 or 10 if not",
        description="Say what a target has and lacks, what each gap disables, and whether its keys work. Sends one "
        "free request a key. Exits 10 where nothing is configured or an expected provider cannot be probed, 1 where a "
        "key is dead or a look-up unanswered, 4 on wrong usage.",
    )
    doctor.add_argument("--target", default="live", metavar="NAME_OR_TOML", help="the target (default: live)")
    doctor.add_argument(
        "--allow", action="extend", default=[], type=_costs, metavar="COSTS", help="plan as if these costs were allowed"
    )
    doctor.set_defaults(run_command=_doctor)


def _costs(text: str) -> list[Cost]:
    """Costs as `pytest probes --allow` takes them."""
    try:
        return [Cost(each.strip()) for each in text.split(",")]
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
    cleanup.add_argument("--out", default=paths.RUNS, metavar="DIR", help="where runs lie (default: %(default)s)")
    cleanup.add_argument("--forget", action="store_true", help="take what must be looked for by hand as looked for")
    cleanup.set_defaults(run_command=_cleanup)
