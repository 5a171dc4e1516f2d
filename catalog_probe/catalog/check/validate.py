"""Everything that must hold in the catalog: each record, schemas, manifests, facts, discoveries, canonical form."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.check import assertion_checks, fact_checks, manifest_checks, unfinished
from catalog_probe.catalog.check.record_checks import CheckContext, check_record
from catalog_probe.catalog.check.validators import surfaces, validator_of
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.files.schema_messages import complaints, quote_value
from catalog_probe.catalog.files.schemas import KIND_SCHEMA, read_schemas
from catalog_probe.catalog.files.store import DISCOVERED, RECORDS, Catalog
from catalog_probe.catalog.files.strict_json import read_object
from catalog_probe.catalog.model.errors import CatalogError, display_path
from catalog_probe.catalog.observed.last_seen import is_not_from_provider
from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.catalog.writeback.canonical_json import format_record_file
from catalog_probe.catalog.writeback.discoveries import load_candidates

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from catalog_probe.catalog.model import Record


class Problem(NamedTuple):
    """One thing to mend: where it is, what is wrong, and how to mend it."""

    file: Path
    address: str
    json_path: str
    message: str
    mend: str
    is_form: bool = False
    """Whether only the form of a file is wrong: its records can be read, judged and probed as they are."""

    def __str__(self) -> str:
        where = ": ".join(part for part in (display_path(self.file), self.address, self.json_path) if part)
        return " ".join(f"{where}: {self.message}; {self.mend}".split())


def check(root: Path = RECORDS, *, shipped: bool | None = None) -> list[Problem]:
    """Every problem of the records below `root`, in the order of their files; at the end their form, as one problem.

    `shipped` records may carry no evidence from a mock, a gateway or another revision; by default these are the ones in
    this package and in homes.
    """
    catalog, errors = Catalog.load_readable(root)
    is_home = provider_folders.is_provider_records(root)
    is_shipped = is_home if shipped is None else shipped
    scene = CheckContext(catalog, frozenset(error.file for error in errors if error.file), is_shipped)
    found = [_unreadable(error, root) for error in errors]
    found += _schema_files(provider_folders.find_folder(root) or provider_folders.SHIPPED)
    found += manifest_problems()
    found += _unfinished_envelopes(root) if is_home else ()
    for record in catalog.records:
        place = catalog.file_of(record.address), str(record.address)
        found += [Problem(*place, *told) for told in check_record(record, scene)]
    if is_home and not any(problem.address for problem in found):  # facts speak of sound records beside them
        beside = root.parent / provider_folders.SHIPPED.facts.name
        found += [Problem(file, named, *told) for file, named, told in fact_checks.problems(catalog, beside)]
        for record, complaint in fact_checks.unknown_rows(catalog, beside):
            found.append(Problem(catalog.file_of(record.address), str(record.address), *complaint))
    found += _discoveries(catalog, shipped=is_shipped)
    found.sort(key=lambda problem: str(problem.file))
    found += _canonical_form(catalog)
    again = _check_again(root)
    return [each._replace(mend=each.mend.replace(assertion_checks.CHECK, again)) for each in found]


def _check_again(root: Path) -> str:
    """The command that checks these very records."""
    return " ".join(
        [assertion_checks.CHECK, *([shlex.join(option)] if (option := provider_folders.catalog_option(root)) else [])]
    )


def first_problem(root: Path | str | None) -> str:
    """The first problem that keeps the records below `root` from being read or probed, in one line, or nothing."""
    return summarize_problems(check(Path(root)), Path(root)) if root is not None else ""


def first_problem_of_run(root: Path, names: Container[str]) -> str:
    """The first problem of these providers' records, in one line, or nothing.

    A run asks for no more: facts, canonical form and our own schemas concern a change of the catalog, and take 0.8 s.
    """
    home = provider_folders.find_folder(root)
    catalog, errors = Catalog.load_readable(root)
    scene = CheckContext(
        catalog,
        frozenset(error.file for error in errors if error.file),
        provider_folders.is_provider_records(root),
    )
    problems = [_unreadable(error, root) for error in errors]
    problems += _schema_files(home) if home is not None and home != provider_folders.SHIPPED else ()
    problems += manifest_problems()
    problems += [
        Problem(catalog.file_of(record.address), str(record.address), *told)
        for record in catalog.records
        if record.provider in names
        for told in check_record(record, scene)
    ]
    return summarize_problems(problems, root)


def summarize_problems(problems: Iterable[Problem], root: Path) -> str:
    """The first of these problems and how many more there are, in one line; a wrong form alone is none."""
    faults = [each for each in problems if not each.is_form]
    more = f" (and {len(faults) - 1} more: `{_check_again(root)}`)" if len(faults) > 1 else ""
    return f"{faults[0]}{more}" if faults else ""


def _unreadable(error: CatalogError, root: Path) -> Problem:
    return Problem(error.file or root, "", error.location, error.what, error.mend)


@cached_per_folders
def _schema_files(home: provider_folders.ProviderFolder) -> tuple[Problem, ...]:
    return tuple(_schema_problems(home))


def _schema_problems(home: provider_folders.ProviderFolder) -> Iterator[Problem]:
    from jsonschema import Draft202012Validator, SchemaError  # slow to import; a folder of records has no schemas

    try:
        schemas = dict(read_schemas(home))
    except CatalogError as error:
        yield _unreadable(error, RECORDS)
        return
    for urn, schema in schemas.items():
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            what = f"is no JSON Schema 2020-12: {quote_value(error.message, 160)}"
            yield Problem(Path(urn), "", error.json_path, what, "mend the schema")


def _unfinished_envelopes(root: Path) -> Iterator[Problem]:
    for path in sorted((root.parent / provider_folders.SHIPPED.schemas.name).rglob("*.json")):
        with suppress(CatalogError):  # told elsewhere
            yield from (Problem(path, "", *each) for each in unfinished.find_unfinished(read_object(path)))


@cached_per_folders
def manifest_problems(folder: Path | None = None) -> tuple[Problem, ...]:
    """Every problem of the providers' manifests in a folder, or in all homes."""
    validator = validator_of(manifest_checks.SCHEMA)
    found = manifest_checks.problems(validator, surfaces(), folder) if validator else ()
    return tuple(Problem(file, "", *complaint) for file, complaint in found)


def _discoveries(catalog: Catalog, *, shipped: bool) -> Iterator[Problem]:
    """Candidates are no records, but they are reviewed as carefully."""
    validator = validator_of(KIND_SCHEMA["discovered"])
    for provider in providers():
        file = catalog.root / provider / DISCOVERED
        try:
            candidates = load_candidates(catalog.root, provider)
        except CatalogError as error:
            yield _unreadable(error, catalog.root)
            continue
        for name, candidate in candidates.items():
            for complaint in complaints(validator.iter_errors(candidate)) if validator else ():
                yield Problem(file, name, *complaint)
            if shipped and isinstance(candidate, dict) and is_not_from_provider(str(candidate.get("target"))):
                yield Problem(
                    file, name, "$.target", "carries evidence from a mock, a gateway or another revision", "remove it"
                )


def _canonical_form(catalog: Catalog) -> Iterator[Problem]:
    files = [path for path, text in canonical_texts(catalog) if path.read_bytes() != text.encode()]
    if files:
        more = f", and {format_count(len(files) - 1, 'more file is', 'more files are')} not" if len(files) > 1 else ""
        yield Problem(files[0], "", "", f"is not in canonical form{more}", assertion_checks.FIX, is_form=True)


def canonical_texts(catalog: Catalog) -> Iterator[tuple[Path, str]]:
    """Each file of a catalog, and what should stand in it."""
    files: dict[Path, list[Record]] = {}
    for record in catalog.records:
        files.setdefault(catalog.file_of(record.address), []).append(record)
    for path, records in files.items():
        yield path, format_record_file({record.address.slug: record.data for record in records}, records[0].kind)
    for path in sorted(catalog.root.glob(f"*/{DISCOVERED}")):
        with suppress(CatalogError):  # told elsewhere
            yield path, format_record_file(read_object(path), "discovered")
