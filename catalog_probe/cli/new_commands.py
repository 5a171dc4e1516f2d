"""`catalog-probe new`: begin a provider or a record.

The command writes data files, and the files of a new provider. It changes no Python file: what belongs into an existing
module is printed, with the path of the module. What the command line leaves out is a TODO, and no check accepts a TODO.
"""

from __future__ import annotations

import argparse
import json
import keyword
import re
import shlex
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.file_formats import read_object
from catalog_probe.catalog.files.manifest import manifest, provider_folder, providers, with_stand_in
from catalog_probe.catalog.files.provider_folders import SHIPPED, ProviderFolder
from catalog_probe.catalog.files.schemas import envelope_id, schemas
from catalog_probe.catalog.files.store import Catalog, family_file
from catalog_probe.catalog.model import Address
from catalog_probe.catalog.model.errors import Exit, UserError, display_path, suggest_similar
from catalog_probe.catalog.reading.facts import COLUMNS, facts_file, read_facts
from catalog_probe.catalog.writeback.writing import (
    format_record_file,
    list_missing_nullable_fields,
    lock_folder,
    write_text,
)
from catalog_probe.cli import parser
from catalog_probe.cli.parser import Parser
from catalog_probe.installation import is_installed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Json

_PROVIDER_TEMPLATES = Path(__file__).with_name("new_provider")
"""The files of a new provider folder. `NAME` in a path, and `$name` and `$NAME` in a text, are the provider's name."""

_MOCKS = SHIPPED.path.parent / "catalog_probe" / "mockserver"
"""The mocks of the shipped providers, in a checkout."""

_MAX_NAME_LENGTH = 32  # letters; the name is in each address and in file names

_RETRYABLE: Mapping[str, tuple[Json, str]] = {
    "yes": (True, "is retryable"),
    "no": (False, "is not retryable"),
    "conditional": ("conditional", "is conditionally retryable"),
}
"""Value of `--retryable` -> the record's value, and the end of the fact's statement."""

_METHODS = ("GET", "POST", "DELETE")
"""Those that `probes/calls.py` has a function for."""

_OPTIONS = {
    "errors": ("row", "when", "status", "type", "code", "retryable", "means", "action", "endpoint", "request"),
    "endpoints": ("row", "status", "request"),
    "rate_limits": ("row",),
}
"""Kind of a record -> the options that tell something of it, e.g. `"rate_limits"` -> `("row",)`."""

_MAY_BE_NULL = ("type", "code")
"""Options that are left out where an error has no such value."""


class NewError(UserError):
    """A provider or record that cannot be begun: one line says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """What the command line tells of a new record; each option that was left out is None or empty."""

    address: Address
    row: tuple[str, str] | None = None
    """Section and label of the documents' row: `("2:7.3", "402 payment problem")`."""
    when: str = ""
    """When the error occurs, as the subject of a sentence: `A payment problem`."""
    status: int | None = None
    type: str | None = None
    code: str | None = None
    retryable: str = ""
    means: str = ""
    action: str = ""
    endpoint: Sequence[str] = ()
    request: tuple[str, str] | None = None
    """Method and path."""

    @property
    def section(self) -> str:
        return self.row[0] if self.row else "1:1"

    @property
    def label(self) -> str:
        return self.row[1] if self.row else self.address.slug.replace("_", " ")

    @property
    def source(self) -> str:
        return f"{self.section}#{self.label}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Begin a provider or a record; return the exit status."""
    return parser.run(build_parser(), arguments, find_problem=parser.find_first_problem)


def build_parser() -> Parser:
    """Build the parser of the group, with one of its own for each command."""
    group = Parser(
        prog="catalog-probe new",
        description="Begin a provider or a record: write its data files, and print the Python to paste into a module. "
        "What you leave out is a TODO, and `catalog-probe check` lists each of them.",
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
        help="a record and its facts; prints its recipe and its row in the mock",
        description="Write a record and its facts. Print its recipe and its row in the mock's error table, and where "
        "to paste them.",
    )
    record.add_argument("address", metavar="ADDRESS", help="as pe/errors/general/rate_limit")
    _add_record_options(record)
    record.set_defaults(run_command=_begin_record)
    for command in (provider, record):
        command.add_argument(
            "--catalog", type=parser.parse_name, metavar="DIR", help="the provider folder (default: the checkout)"
        )
    return group


def _begin_provider(arguments: argparse.Namespace) -> int:
    name = arguments.name.lower()
    if re.fullmatch(r"[a-z][a-z0-9]*", name) is None:
        raise NewError(f"{arguments.name!r} cannot name a provider", "use letters and digits, a letter first, as PE")
    if not arguments.catalog:  # no default: neither the shipped catalog nor the current folder was meant
        example = f"catalog-probe new provider {name} --catalog company"
        raise NewError("a provider of yours needs a folder of yours", f"name one, as `{example}`")
    folder = _find_folder(arguments.catalog)
    if folder == SHIPPED:
        raise NewError("the shipped catalog has the shipped providers alone", "name a folder of yours by --catalog")
    provider_folders.use(folder.path)
    if name in providers():
        where = display_path(provider_folder(name).manifests / f"{name}.toml")
        raise NewError(f"{name} is there already, in {where}", "choose another name, or edit it there")
    _demand_free_name(name)
    texts = dict(_fill_templates(folder, name))
    _write(folder, {path: text for path, text in texts.items() if not path.exists()})
    provider_table = f"[providers.{name}]"
    for path, text in texts.items():
        if path.parent == folder.targets and provider_table not in path.read_text(encoding="utf-8"):
            _print_paste(path, provider_table + text.partition(provider_table)[2].rstrip())
    first_record = _format_command("new", "record", f"{name}/endpoints/general/list_models", folder=folder)
    print(f"complete each TODO in these files, and begin a record: {first_record}")
    return _print_check(folder)


def _demand_free_name(name: str) -> None:
    """Refuse a name that Python uses: recipes and mock of a provider are modules of this name.

    Raises:
        NewError: it is a keyword, or a module that the provider's own would hide or be hidden by.
    """
    mend = f"choose another name, as {name}api"
    if len(name) > _MAX_NAME_LENGTH:
        raise NewError(f"a name of {len(name)} letters is too long", f"choose one of {_MAX_NAME_LENGTH} at most")
    if keyword.iskeyword(name) or keyword.iskeyword(name.capitalize()):
        raise NewError(f"{name!r} is a word of Python, and cannot name a module", mend)
    if name in sys.stdlib_module_names or find_spec(name) is not None:
        raise NewError(f"{name!r} is the name of a Python module, which {name}.py would hide", mend)


def _fill_templates(folder: ProviderFolder, name: str) -> Iterator[tuple[Path, str]]:
    """Yield each file of a new provider with its text: `company/recipes/pe.py` from `recipes/NAME.py.txt`."""
    for template in sorted(path for path in _PROVIDER_TEMPLATES.rglob("*") if path.is_file()):
        path = str(template.relative_to(_PROVIDER_TEMPLATES)).removesuffix(".txt").replace("NAME", name)
        text = Template(template.read_text(encoding="utf-8")).substitute(name=name, NAME=name.upper())
        yield folder.path / path, text


def _begin_record(arguments: argparse.Namespace) -> int:
    options, problems = _read_options(arguments)
    try:
        address = Address.parse(with_stand_in(arguments.address.lower()))
    except ValueError as error:
        raise NewError("; ".join([str(error), *problems])) from None
    folder = _find_folder(arguments.catalog)
    provider_folders.use(folder.path)
    manifest(address.provider)  # raises for an unknown provider, with the known ones
    if provider_folder(address.provider) != folder:
        where = display_path(provider_folder(address.provider).path)
        raise NewError(f"{address.provider} lies in {where}", f"write `--catalog {where}`")
    folder.records.mkdir(parents=True, exist_ok=True)
    catalog, errors = Catalog.load_readable(folder.records)
    if errors:
        raise errors[0]
    if address in catalog:
        raise NewError(f"{address} is there already, in {display_path(catalog.file_of(address))}", "edit it there")
    new = NewRecord(address=address, **options)
    problems += _find_problems(new, options, folder, catalog)
    if problems:
        raise NewError("; ".join(problems))
    is_transcribed = new.source in {fact.citation for fact in read_facts(address.provider)}
    _write(folder, make_data_files(folder, new))
    if is_transcribed:
        print(f"facts: {new.source} is there already; name {address} in the `checked_by` of its facts")
    for path, text in make_pastes(folder, new).items():
        _print_paste(path, text)
    if new.request is None:
        print(f"recipe: write it in {display_path(find_recipe_module(folder, new))}")
    left_out = [f"--{name}" for name in _OPTIONS[address.kind] if name not in (*options, *_MAY_BE_NULL)]
    if left_out:
        print(f"left out: {', '.join(left_out)}; complete each TODO in the files above")
    return _print_check(folder)


def _read_options(arguments: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """Return the options that can be read, by name, and what is wrong with the others.

    argparse would stop at the first: `--row x --status abc` -> `["--row: 'x' is no row; …", "--status: 'abc' is …"]`.
    """
    options: dict[str, Any] = {}
    problems = []
    for name in _OPTIONS["errors"]:
        text = getattr(arguments, name)
        try:
            if text:
                options[name] = _READERS[name](text) if name in _READERS else text
        except argparse.ArgumentTypeError as error:
            problems.append(f"--{name}: {error}")
    return options, problems


def _find_problems(new: NewRecord, options: Iterable[str], folder: ProviderFolder, catalog: Catalog) -> list[str]:
    """Return which options do not fit the kind of the record, or name what is not there."""
    provider, kind = new.address.provider, new.address.kind
    problems = []
    unfit = [f"--{name}" for name in options if name not in _OPTIONS[kind]]
    if unfit:
        fit = ", ".join(f"--{name}" for name in _OPTIONS[kind])
        problems.append(f"{new.address} takes no {', '.join(unfit)}, only {fit}")
    addresses = [str(record.address) for record in catalog.select(provider, "endpoints")]
    for endpoint in new.endpoint:
        if endpoint not in addresses:
            mend = suggest_similar(endpoint, addresses) or "begin its record first"
            problems.append(f"--endpoint: {endpoint} is no endpoint of {provider}, {mend}")
    sections = {fact.section for fact in read_facts(provider)}
    if new.row is not None and folder == SHIPPED and new.section not in sections:
        problems.append(f"--row: {new.section} is no section of {display_path(facts_file(provider))}")
    return problems


def make_data_files(folder: ProviderFolder, new: NewRecord) -> dict[Path, str]:
    """Return the files of the record and its facts, whole, with what is in them already."""
    record_file = family_file(folder.records, new.address)
    records = read_object(record_file) if record_file.is_file() else {}
    return {
        facts_file(new.address.provider): _add_facts(facts_file(new.address.provider), new),
        record_file: format_record_file({**records, new.address.slug: _make_record(new)}, new.address.kind),
    }


def _make_record(new: NewRecord) -> dict[str, Json]:
    """Make a record with all required fields; those that may be null are."""
    address = new.address
    own: dict[str, Json]
    match address.kind:
        case "errors":
            own = {
                "surface": manifest(address.provider).default_surface,
                "endpoints": [*new.endpoint] or ["TODO: the addresses of the endpoints on which it occurs"],
                "http_status": new.status or "TODO: the status, a number; null where it is no answer over HTTP",
                "type": new.type,
                "code": new.code,
                "message_semantics": new.means or "TODO: what it means, in the documents' words",
                "retryable": _RETRYABLE[new.retryable][0]
                if new.retryable
                else "TODO: true, false, or under which condition",
                "recommended_action": new.action or "TODO: what a client does",
                "source": new.source,
            }
        case "endpoints":
            method, path = new.request or ("TODO: GET, POST, …", "/TODO")
            status = new.status or "TODO: the status of a success, a number"
            own = {
                "method": method,
                "path": path,
                "surface": "json",
                "response": {"status": status, "headers": {}, "fields": {}},
                "sources": [new.source],
            }
        case _:
            own = {
                "record_type": "rate_limits",
                "documented": {"constants": {"TODO": "TODO: the limits, by name"}},
                "sources": [new.source],
            }
    title = address.slug.replace("_", " ").capitalize()
    data = {"provider": address.provider.upper(), "name": title, "status": ["DOCUMENTED", "UNVERIFIED"], **own}
    return {**data, **dict.fromkeys(list_missing_nullable_fields(data, address.kind))}


def _add_facts(file: Path, new: NewRecord) -> str:
    """Return a file of facts with those of the record behind the last one of its section.

    A row that has been transcribed already keeps its facts.
    """
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else ["\t".join(COLUMNS)]
    known = read_facts(new.address.provider)
    if all(fact.citation != new.source for fact in known):
        label = re.sub(r"[^a-z0-9.]", "_", new.label.lower())
        prefix = f"{new.address.provider}-{new.section.replace(':', '.')}-{label}"
        before = [index for index, fact in enumerate(known) if fact.section <= new.section]
        position = before[-1] + 2 if before else 1  # the first line is the header
        lines[position:position] = [
            "\t".join((f"{prefix}-{number}", new.section, new.label, *cells))
            for number, cells in enumerate(_list_statements(new), start=1)
        ]
    return "\n".join(lines) + "\n"


def _list_statements(new: NewRecord) -> Iterator[tuple[str, str, str, str]]:
    """Yield statement, wire, note and checked_by of each fact."""
    address = new.address
    if not (address.kind == "errors" and new.when and new.status):
        yield "TODO: what the documents say, in their words", "yes", "", f"{address}#*/*"
        return
    yield f"{new.when} gives {new.status}", "yes", "", f"{address}#answer/status"
    locations = schemas()[envelope_id(manifest(address.provider).default_surface)].get("x-wire", {})
    for aspect, value in (("type", new.type), ("code", new.code)):
        if value is not None and aspect in locations:
            yield f"{new.when} has {aspect} {value}", "yes", "", f"{address}#answer/{aspect}"
        elif value is not None:
            yield f"{new.when} has {aspect} {value}", "impossible", f"the envelope has no place for a {aspect}", ""
    if new.retryable:
        yield f"{new.when} {_RETRYABLE[new.retryable][1]}", "told", "", ""


def make_pastes(folder: ProviderFolder, new: NewRecord) -> dict[Path, str]:
    """Return the Python that belongs into existing modules, by module: the recipe, and the row of our mock."""
    pastes = {}
    if new.request is not None:
        module = find_recipe_module(folder, new)
        function, path = new.request[0].lower(), json.dumps(new.request[1])
        name = _name_constant(new, module.read_text(encoding="utf-8") if module.is_file() else "")
        family = f"{new.address.provider}/{new.address.kind}/{new.address.family}"
        pastes[module] = (
            f"from catalog_probe.probes.calls import {function}\n"
            "from catalog_probe.probes.recipes.recipe import Family\n\n"
            f'{name} = Family("{family}").recipe("{new.address.slug}", {function}({path}))'
        )
    if folder == SHIPPED and new.address.kind == "errors" and new.status is not None:
        tables = sorted((_MOCKS / new.address.provider).rglob("errors.py"))
        table = max(tables, key=lambda path: path.read_text(encoding="utf-8").count(f'ErrorRow("{new.section}"'))
        name = _name_constant(new, table.read_text(encoding="utf-8"))
        message = (new.means or new.when or new.label).replace("{", "{{").replace("}", "}}")
        values = [json.dumps(new.section), str(new.status), json.dumps(message, ensure_ascii=False)]
        values += [f"{field}={json.dumps(value)}" for field, value in (("type", new.type), ("code", new.code)) if value]
        pastes[table] = (
            f"# {new.status}: {new.label.removeprefix(f'{new.status} ')}; raise {name}() where a request meets it\n"
            f"{name} = ErrorRow({', '.join(values)})"
        )
    return pastes


def find_recipe_module(folder: ProviderFolder, new: NewRecord) -> Path:
    """Return the module for a record's recipe: of its family and its section, else of either, else the provider's."""
    package = folder.recipes / new.address.provider
    kind = f"{new.address.provider}/{new.address.kind}"
    section_prefix = f"s{new.section.replace(':', '_').replace('.', '_')}_"

    def rate(module: Path) -> tuple[bool, bool, bool]:
        text = module.read_text(encoding="utf-8")
        has_family = f'Family("{kind}/{new.address.family}"' in text
        return has_family, f'Family("{kind}"' in text, module.name.startswith(section_prefix)

    # of modules that are rated alike `max` takes the first, which is `__init__.py`
    return max(sorted(package.glob("*.py")), key=rate, default=package.with_suffix(".py"))


def _name_constant(new: NewRecord, text: str) -> str:
    """Return a name that a module does not use: `2_many` -> `_2_MANY`, `rate_limit` -> `RATE_LIMIT`."""
    name = re.sub(r"\W|^(?=\d)", "_", new.address.slug).upper()
    while re.search(rf"\b{name}\b", text):
        name += "_"
    return name


def _print_paste(path: Path, text: str) -> None:
    print(f"paste into {display_path(path)}:\n\n{text}\n")


def _print_check(folder: ProviderFolder) -> int:
    print(f"then: {_format_command('check', folder=folder)}")
    return Exit.FINE


def _find_folder(name: str | None) -> ProviderFolder:
    """Return the folder to write into: the named one, the checkout, or without a checkout the current folder."""
    if name:
        path = provider_folders.locate(name)
        if path.exists() and not path.is_dir():
            raise NewError(f"--catalog: {display_path(path)} is no folder", "name a folder, or one yet to be")
        return provider_folders.find_folder(path) or ProviderFolder(path.resolve())
    return ProviderFolder(Path.cwd()) if is_installed() else SHIPPED


def _write(folder: ProviderFolder, texts: Mapping[Path, str]) -> None:
    """Write the files, name those that changed, and forget what was read of the folder before."""
    folder.records.mkdir(parents=True, exist_ok=True)
    with lock_folder(folder.path):
        for path, text in texts.items():
            if write_text(path, text):
                print(f"wrote {display_path(path)}")
    provider_folders.clear_caches()
    provider_folders.use(folder.path)


def _format_command(*words: str, folder: ProviderFolder) -> str:
    """Return a command of ours on this folder."""
    option = [] if folder == SHIPPED else ["--catalog", display_path(folder.path)]
    return shlex.join(["catalog-probe", *words, *option])


def _add_record_options(command: argparse.ArgumentParser) -> None:
    """Add the options about a record; `_OPTIONS` says which of them a kind of record takes."""
    about = command.add_argument_group("about the record, from the documents")
    about.add_argument("--row", metavar="ROW", help="its row, as '2:7.3#402 payment problem'")
    about.add_argument("--when", metavar="TEXT", help="when it occurs, as 'A payment problem'")
    about.add_argument("--status", metavar="N", help="the HTTP status, as 402")
    about.add_argument("--type", metavar="TYPE", help="the type of the error")
    about.add_argument("--code", metavar="CODE", help="the code of the error")
    about.add_argument("--retryable", metavar="|".join(_RETRYABLE), help="whether a retry may help")
    about.add_argument("--means", metavar="TEXT", help="what it means, a sentence")
    about.add_argument("--action", metavar="TEXT", help="what a client does, a sentence")
    about.add_argument(
        "--endpoint", action="append", metavar="ADDRESS", help="an endpoint on which it occurs; may be repeated"
    )
    about.add_argument("--request", metavar="REQUEST", help="what provokes it, as 'GET /v1/no-such-path'")


def _parse_row(text: str) -> tuple[str, str]:
    """Parse section and label of a row."""
    match = re.fullmatch(r"(\d+:\d+(?:\.\d+)*)#([^#\s][^#\n\t]*)", text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no row; write it as '2:7.3#402 payment problem'")
    return match[1], match[2]


def _parse_text(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise argparse.ArgumentTypeError(f"{text!r} is no line of text; write one line without tabs")
    return text.strip()


def _parse_request(text: str) -> tuple[str, str]:
    """Parse method and path of a request."""
    method, _, path = text.partition(" ")
    if method not in _METHODS or not re.fullmatch(r"/[!-~]*", path):
        one_of = ", ".join(_METHODS)
        raise argparse.ArgumentTypeError(f"{text!r} is no request; write it as 'GET /v1/models', with one of {one_of}")
    return method, path


def _parse_retryable(text: str) -> str:
    if text not in _RETRYABLE:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(_RETRYABLE)}")
    return text


_READERS: Mapping[str, Callable[[str], Any]] = {
    "row": _parse_row,
    "when": _parse_text,
    "status": parser.parse_http_status,
    "type": _parse_text,
    "code": _parse_text,
    "retryable": _parse_retryable,
    "means": _parse_text,
    "action": _parse_text,
    "request": _parse_request,
}
"""Option -> what reads its value, so that all that is wrong is told at once."""
