"""`catalog-probe new`: write what a provider or a record begins with, and say what is missing."""

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
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import Address
from catalog_probe.catalog.model.errors import UserError, display_path
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.text.sanitizing import sanitize_line
from catalog_probe.catalog.writeback.writing import lock_folder, write_text
from catalog_probe.cli import parser
from catalog_probe.cli.new_commands import scaffold
from catalog_probe.cli.new_commands.scaffold import Site
from catalog_probe.cli.parser import Parser
from catalog_probe.probes.coverage import completeness
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.targets import target_file as targets

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

_NAME = re.compile(r"[a-z][a-z0-9]*")
_LONGEST = 32
"""Letters of a name: it is read in each address, and in file names."""
_SHOWN = 12
"""Lines of what is missing that are told at once."""


class NewError(UserError):
    """What cannot be begun: one line saying what, and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Begin a provider or a record; the exit status."""
    return parser.run(build_parser(), arguments, blamed=parser.find_first_problem)


def build_parser() -> Parser:
    """Build the parser of the group, with one of its own for each command."""
    group = Parser(
        prog="catalog-probe new",
        description="Begin a provider or a record: write its files, with TODO where the documents are needed, and say "
        "what is missing until `catalog-probe check` is fine. What is there already is left alone; a second time it "
        "only says what is missing.",
        epilog="examples:\n"
        "  catalog-probe new provider PE --catalog company      in a folder of your own\n"
        "  catalog-probe new record pe/errors/general/rate_limit --catalog company\n",
    )
    kinds = group.add_subparsers(required=True, metavar="provider | record")
    of_provider = kinds.add_parser("provider", help="a manifest, the shape of its errors, recipes, a mock, targets")
    of_provider.add_argument("name", metavar="NAME", help="its short name, as PE: letters and digits")
    of_provider.set_defaults(run_command=_provider)
    of_record = kinds.add_parser("record", help="a record, its row of the documents, its recipe")
    of_record.add_argument("address", metavar="ADDRESS", help="as pe/errors/general/rate_limit")
    of_record.set_defaults(run_command=_record)
    for command in (of_provider, of_record):
        command.add_argument(
            "--catalog", type=parser.parse_name, metavar="DIR", help="the home to write into (default: the checkout)"
        )
    return group


def _provider(chosen: argparse.Namespace) -> int:
    name = chosen.name.lower()
    if _NAME.fullmatch(name) is None:
        raise NewError(f"{chosen.name!r} cannot name a provider", "use letters and digits, a letter first, as PE")
    if not chosen.catalog:  # no default: neither the shipped catalog nor the current folder was meant
        example = f"catalog-probe new provider {name} --catalog company"
        raise NewError("a provider of yours needs a folder of yours", f"name one, as `{example}`")
    home = _home(chosen)
    provider_folders.use(home.path)
    if name not in providers():
        _demand_free(name)
    elif provider_folder(name) != home:
        raise NewError(
            f"{name} is there already, in {display_path(provider_folder(name).manifests)}", "choose another name"
        )
    else:
        print(f"{name} is there already: {display_path(provider_folder(name).manifests / name)}.toml")
    site = Site(home, name)
    _write(site, scaffold.provider_files(site), only_new=True)
    _open(home)
    first = _words("new", "record", f"{name}/endpoints/general/list_models", home=home)
    begun = Catalog.load_readable(home.records)[0].select(name)
    return _tell(site, rf"(?<![a-z]){name}[./]", "" if begun else f"a record: {first}")


def _demand_free(name: str) -> None:
    """Refuse a name that Python knows already: recipes and the mock of a provider are modules that are called so.

    Raises:
        NewError: it is a word of the language, or a module that the provider's own would hide or be hidden by.
    """
    mend = f"choose another name, as {name}api"
    if len(name) > _LONGEST:
        raise NewError(f"a name of {len(name)} letters is too long", f"choose one of {_LONGEST} at most")
    if keyword.iskeyword(name) or keyword.iskeyword(name.capitalize()):
        raise NewError(f"{name!r} is a word of Python, and cannot name a module", mend)
    if name in sys.stdlib_module_names or find_spec(name) is not None:
        raise NewError(f"{name!r} is the name of a Python module, which {name}.py would hide", mend)


def _record(chosen: argparse.Namespace) -> int:
    try:
        address = Address.parse(chosen.address.lower())
    except ValueError as error:
        raise NewError(str(error)) from None
    home = _home(chosen)
    provider_folders.use(home.path)
    manifest(address.provider)  # a provider that there is not is told with those that there are
    if provider_folder(address.provider) != home:
        where = display_path(provider_folder(address.provider).path)
        raise NewError(f"{address.provider} lies in {where}", f"write `--catalog {where}`")
    site = Site(home, address.provider)
    home.records.mkdir(parents=True, exist_ok=True)
    catalog, errors = Catalog.load_readable(home.records)
    if errors:
        raise errors[0]
    if address not in catalog:
        _write(site, scaffold.record_files(site, address), only_new=False)
        _open(home)
    return _tell(site, rf"{re.escape(str(address))}(?![a-z0-9_.-])")


def _home(chosen: argparse.Namespace) -> ProviderFolder:
    """Where to write: the folder that is named, the checkout, or the current folder where there is none."""
    if chosen.catalog:
        named = paths.locate(chosen.catalog)
        if named.exists() and not named.is_dir():
            raise NewError(f"--catalog: {display_path(named)} is no folder", "name a folder, or one yet to be")
        return provider_folders.find_folder(named) or ProviderFolder(named.resolve())
    return ProviderFolder(Path.cwd()) if paths.is_installed() else SHIPPED


def _write(site: Site, files: Mapping[Path, str], *, only_new: bool) -> None:
    """Write each file whole, and name those that changed."""
    site.home.path.mkdir(parents=True, exist_ok=True)
    with lock_folder(site.home.path):
        for path, text in files.items():
            if not (only_new and path.exists()) and write_text(path, text):
                print(f"wrote {display_path(path)}")


def _open(home: ProviderFolder) -> None:
    """Look at a home anew: what was read of it is of before."""
    home.records.mkdir(exist_ok=True)
    provider_folders.clear_caches()
    provider_folders.use(home.path)


def _tell(site: Site, about: str, first: str = "") -> int:
    """What is missing of that which goes by a pattern, and what to do then."""
    missing = [*_missing(site, re.compile(about)), *([first] if first else [])]
    for line in missing[:_SHOWN]:
        print(f"missing: {sanitize_line(line)}")
    if len(missing) > _SHOWN:
        print(f"missing: {len(missing) - _SHOWN} more")
    print(f"then: {_words('check', home=site.home)}" if missing else "nothing is missing")
    return Exit.FINE


def _missing(site: Site, about: re.Pattern[str]) -> Iterator[str]:
    """What the checks say: of manifest, records and facts, and once those are fine of recipes and targets."""
    from catalog_probe.catalog.check import validate  # brings jsonschema, which other commands need not wait for

    own = [told for told in map(str, validate.check(site.home.records)) if about.search(told)]
    yield from own
    if own:
        return
    catalog, _ = Catalog.load_readable(site.home.records)
    own_records = Catalog(catalog.root, catalog.select(site.provider))
    misfits = completeness.misfits(own_records, {site.provider: recipe_book(site.provider)})
    yield from filter(about.search, misfits)
    for name in targets.shipped() if site.own else ():
        if site.provider not in targets.load(name, {}).providers:
            yield f"[providers.{site.provider}] in {display_path(site.home.targets / name)}.toml"


def _words(*words: str, home: ProviderFolder) -> str:
    """A command of ours, on this home."""
    return shlex.join(["catalog-probe", *words, *_named(home)])


def _named(home: ProviderFolder) -> list[str]:
    return [] if home == SHIPPED else ["--catalog", display_path(home.path)]
