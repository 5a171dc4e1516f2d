"""`catalog-probe new`: begin a provider or a record, and list what is missing."""

from __future__ import annotations

import keyword
import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import paths, provider_folders
from catalog_probe.catalog.files.manifest import manifest, provider_folder, providers
from catalog_probe.catalog.files.provider_folders import SHIPPED, ProviderFolder
from catalog_probe.catalog.files.store import Catalog, family_file
from catalog_probe.catalog.model import Address
from catalog_probe.catalog.model.errors import display_path
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.text.sanitizing import sanitize_line
from catalog_probe.catalog.writeback.writing import lock_folder, write_text
from catalog_probe.cli import parser
from catalog_probe.cli.new_commands.layout import ProviderLayout
from catalog_probe.cli.new_commands.provider_files import provider_files
from catalog_probe.cli.new_commands.record_arguments import (
    NewError,
    add_record_options,
    has_record_options,
    parse_new_record,
)
from catalog_probe.cli.new_commands.record_files import record_files
from catalog_probe.cli.parser import Parser
from catalog_probe.probes.coverage import completeness
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.targets import target_file as targets

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

PROVIDER_NAME = re.compile(r"[a-z][a-z0-9]*")

MAX_NAME_LENGTH = 32  # letters; the name is in each address and in file names

MAX_MISSING_SHOWN = 12  # lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Begin a provider or a record; return the exit status."""
    return parser.run(build_parser(), arguments, find_problem=parser.find_first_problem)


def build_parser() -> Parser:
    """Build the parser of the group, with one of its own for each command."""
    group = Parser(
        prog="catalog-probe new",
        description="Begin a provider or a record: write its files, with TODO where the documents are needed, and list "
        "what is missing until `catalog-probe check` is fine. Existing files are left alone; a second time it only "
        "lists what is missing.",
        epilog="examples:\n"
        "  catalog-probe new provider PE --catalog company      in a folder of your own\n"
        "  catalog-probe new record pe/errors/general/rate_limit --catalog company\n",
    )
    commands = group.add_subparsers(required=True, metavar="provider | record")
    provider = commands.add_parser("provider", help="a manifest, the shape of its errors, recipes, a mock, targets")
    provider.add_argument("name", metavar="NAME", help="its short name, as PE: letters and digits")
    provider.set_defaults(run_command=_begin_provider)
    record = commands.add_parser(
        "record",
        help="a record, its facts, its recipe and its row in the mock",
        description="Write a record to the four places that it needs: its facts, the record, its recipe, and its row "
        "in the mock's error table. What you leave out is a TODO, and no check accepts a TODO.",
    )
    record.add_argument("address", metavar="ADDRESS", help="as pe/errors/general/rate_limit")
    add_record_options(record)
    record.set_defaults(run_command=_begin_record)
    for command in (provider, record):
        command.add_argument(
            "--catalog", type=parser.parse_name, metavar="DIR", help="the provider folder (default: the checkout)"
        )
    return group


def _begin_provider(arguments: argparse.Namespace) -> int:
    name = arguments.name.lower()
    if PROVIDER_NAME.fullmatch(name) is None:
        raise NewError(f"{arguments.name!r} cannot name a provider", "use letters and digits, a letter first, as PE")
    if not arguments.catalog:  # no default: neither the shipped catalog nor the current folder was meant
        example = f"catalog-probe new provider {name} --catalog company"
        raise NewError("a provider of yours needs a folder of yours", f"name one, as `{example}`")
    folder = _find_folder(arguments)
    provider_folders.use(folder.path)
    if name not in providers():
        _demand_free_name(name)
    elif provider_folder(name) != folder:
        where = display_path(provider_folder(name).manifests)
        raise NewError(f"{name} is there already, in {where}", "choose another name")
    else:
        print(f"{name} is there already: {display_path(provider_folder(name).manifests / name)}.toml")
    layout = ProviderLayout(folder, name)
    new_files = {path: text for path, text in provider_files(layout).items() if not path.exists()}
    _write_all(folder, new_files)
    _reload(folder)
    first_record = _format_command("new", "record", f"{name}/endpoints/general/list_models", folder=folder)
    has_records = bool(Catalog.load_readable(folder.records)[0].select(name))
    return _print_missing(layout, rf"(?<![a-z]){name}[./]", extra=[] if has_records else [f"a record: {first_record}"])


def _demand_free_name(name: str) -> None:
    """Refuse a name that Python uses: recipes and mock of a provider are modules of this name.

    Raises:
        NewError: it is a keyword, or a module that the provider's own would hide or be hidden by.
    """
    mend = f"choose another name, as {name}api"
    if len(name) > MAX_NAME_LENGTH:
        raise NewError(f"a name of {len(name)} letters is too long", f"choose one of {MAX_NAME_LENGTH} at most")
    if keyword.iskeyword(name) or keyword.iskeyword(name.capitalize()):
        raise NewError(f"{name!r} is a word of Python, and cannot name a module", mend)
    if name in sys.stdlib_module_names or find_spec(name) is not None:
        raise NewError(f"{name!r} is the name of a Python module, which {name}.py would hide", mend)


def _begin_record(arguments: argparse.Namespace) -> int:
    try:
        address = Address.parse(arguments.address.lower())
    except ValueError as error:
        raise NewError(str(error)) from None
    folder = _find_folder(arguments)
    provider_folders.use(folder.path)
    manifest(address.provider)  # raises for an unknown provider, with the known ones
    if provider_folder(address.provider) != folder:
        where = display_path(provider_folder(address.provider).path)
        raise NewError(f"{address.provider} lies in {where}", f"write `--catalog {where}`")
    layout = ProviderLayout(folder, address.provider)
    folder.records.mkdir(parents=True, exist_ok=True)
    catalog, errors = Catalog.load_readable(folder.records)
    if errors:
        raise errors[0]
    next_steps: tuple[str, ...] = ()
    if address not in catalog:
        files = record_files(layout, parse_new_record(arguments, address, layout, catalog))
        _write_all(folder, files.texts)
        _reload(folder)
        next_steps = files.next_steps
    elif has_record_options(arguments):
        where = display_path(family_file(folder.records, address))
        raise NewError(f"{address} is there already, in {where}", "edit it there, or leave the options out")
    return _print_missing(layout, rf"{re.escape(str(address))}(?![a-z0-9_.-])", next_steps=next_steps)


def _find_folder(arguments: argparse.Namespace) -> ProviderFolder:
    """The folder to write into: the named one, the checkout, or the current folder if there is no checkout."""
    if arguments.catalog:
        path = paths.locate(arguments.catalog)
        if path.exists() and not path.is_dir():
            raise NewError(f"--catalog: {display_path(path)} is no folder", "name a folder, or one yet to be")
        return provider_folders.find_folder(path) or ProviderFolder(path.resolve())
    return ProviderFolder(Path.cwd()) if paths.is_installed() else SHIPPED


def _write_all(folder: ProviderFolder, texts: Mapping[Path, str]) -> None:
    """Write all files or none, and name those that changed."""
    folder.path.mkdir(parents=True, exist_ok=True)
    changed: dict[Path, bytes | None] = {}
    with lock_folder(folder.path):
        try:
            for path, text in texts.items():
                before = path.read_bytes() if path.exists() else None
                if write_text(path, text):
                    changed[path] = before
        except BaseException:
            for path, before in changed.items():
                path.unlink() if before is None else path.write_bytes(before)
            raise
    for path in changed:
        print(f"wrote {display_path(path)}")


def _reload(folder: ProviderFolder) -> None:
    """Forget what was read of a folder before files in it changed."""
    folder.records.mkdir(exist_ok=True)
    provider_folders.clear_caches()
    provider_folders.use(folder.path)


def _print_missing(
    layout: ProviderLayout, pattern: str, *, extra: Sequence[str] = (), next_steps: Sequence[str] = ()
) -> int:
    """Print what is missing among the findings that fit a pattern, and what to do then."""
    missing = [*_find_missing(layout, re.compile(pattern)), *extra]
    for line in missing[:MAX_MISSING_SHOWN]:
        print(f"missing: {sanitize_line(line)}")
    if len(missing) > MAX_MISSING_SHOWN:
        print(f"missing: {len(missing) - MAX_MISSING_SHOWN} more")
    for step in next_steps:
        print(sanitize_line(step))
    print(f"then: {_format_command('check', folder=layout.folder)}" if missing else "nothing is missing")
    return Exit.FINE


def _find_missing(layout: ProviderLayout, pattern: re.Pattern[str]) -> Iterator[str]:
    """Findings of the checks: of manifest, records and facts, and once those are fine of recipes and targets."""
    from catalog_probe.catalog.check import validate  # imports jsonschema, which other commands need not load

    problems = [line for line in map(str, validate.check(layout.folder.records)) if pattern.search(line)]
    yield from problems
    if problems:
        return
    catalog, _ = Catalog.load_readable(layout.folder.records)
    own_records = Catalog(catalog.root, catalog.select(layout.provider))
    find_misfits = completeness.find_misfits(own_records, {layout.provider: recipe_book(layout.provider)})
    yield from filter(pattern.search, find_misfits)
    for name in targets.list_targets() if layout.is_shipped else ():
        if layout.provider not in targets.load(name, {}).providers:
            yield f"[providers.{layout.provider}] in {display_path(layout.folder.targets / name)}.toml"


def _format_command(*words: str, folder: ProviderFolder) -> str:
    """A command of ours on this folder."""
    option = [] if folder == SHIPPED else ["--catalog", display_path(folder.path)]
    return shlex.join(["catalog-probe", *words, *option])
