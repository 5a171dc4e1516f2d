"""Check a whole catalog: records, schemas, manifests, facts, discoveries and canonical form."""

from __future__ import annotations

import shlex
from contextlib import suppress
from datetime import UTC, date, datetime
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
from catalog_probe.catalog.model import Address
from catalog_probe.catalog.model.errors import CatalogError, display_path
from catalog_probe.catalog.observed.last_seen import is_not_from_provider
from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.catalog.writeback.canonical_json import format_record_file
from catalog_probe.catalog.writeback.discoveries import load_candidates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from catalog_probe.catalog.model import Record


class Problem(NamedTuple):
    """A complaint about a file: where, what is wrong, and how to mend it."""

    file: Path
    address: str
    json_path: str
    message: str
    mend: str
    is_form: bool = False
    """Whether only the form of the file is wrong: its records can be read, judged and probed as they are."""

    def __str__(self) -> str:
        location = ": ".join(part for part in (display_path(self.file), self.address, self.json_path) if part)
        return " ".join(f"{location}: {self.message}; {self.mend}".split())


def check(root: Path = RECORDS, *, shipped: bool | None = None, today: date | None = None) -> list[Problem]:
    """Return every problem of the records below `root`, by file; files in a wrong form come last, as one problem.

    `shipped` records may have no evidence from a mock, a gateway or another revision. By default these are the records
    of provider folders. No evidence may be later than `today`, by default the day in UTC.
    """
    catalog, errors = Catalog.load_readable(root)
    is_provider_folder = provider_folders.is_provider_records(root)
    is_shipped = is_provider_folder if shipped is None else shipped
    problems = [_unreadable(error, root) for error in errors]
    problems += _schema_problems(provider_folders.find_folder(root) or provider_folders.SHIPPED)
    problems += manifest_problems()
    problems += _unfinished_schemas(root) if is_provider_folder else ()
    unread = frozenset(error.file for error in errors if error.file)
    context = CheckContext(catalog, unread, is_shipped, today or datetime.now(UTC).date())
    problems += _record_problems(catalog.records, context)
    if is_provider_folder and not any(problem.address for problem in problems):  # facts are compared with sound records
        problems += _fact_problems(catalog, root.parent / provider_folders.SHIPPED.facts.name)
    problems += _discovery_problems(catalog, shipped=is_shipped)
    problems.sort(key=lambda problem: str(problem.file))
    problems += _form_problems(catalog)
    command = _check_command(root)
    return [problem._replace(mend=problem.mend.replace(assertion_checks.CHECK, command)) for problem in problems]


def _check_command(root: Path) -> str:
    """Return the command that checks these records."""
    option = provider_folders.catalog_option(root)
    return f"{assertion_checks.CHECK} {shlex.join(option)}" if option else assertion_checks.CHECK


def first_problem(root: Path) -> str:
    """Describe the first problem that keeps records from being read or probed, in one line; else an empty string.

    Evidence of a later day keeps nothing from being read: a night may be told another day than today's.
    """
    return _summarize(check(root, today=date.max), root)


def first_problem_of_run(catalog: Catalog, addresses: Iterable[str]) -> str:
    """Describe the first problem that keeps these records from being probed, in one line; else an empty string.

    Facts, canonical form and our own schemas matter only to those who change the catalog. Checking them takes 0.8 s, so
    a run does not.
    """
    records = [catalog[address] for address in addresses]
    for root in catalog.roots:
        folder = provider_folders.find_folder(root)
        problems = [*_schema_problems(folder)] if folder is not None and folder != provider_folders.SHIPPED else []
        problems += manifest_problems()
        context = CheckContext(catalog, frozenset(), provider_folders.is_provider_records(root))
        problems += _record_problems(
            (record for record in records if catalog.file_of(record.address).is_relative_to(root)), context
        )
        if summary := _summarize(problems, root):
            return summary
    return ""


def _summarize(problems: Iterable[Problem], root: Path) -> str:
    """Describe the first problem and how many more there are; problems of form alone do not count."""
    faults = [problem for problem in problems if not problem.is_form]
    if not faults:
        return ""
    more = f" (and {len(faults) - 1} more: `{_check_command(root)}`)" if len(faults) > 1 else ""
    return f"{faults[0]}{more}"


def _unreadable(error: CatalogError, root: Path) -> Problem:
    return Problem(error.file or root, "", error.location, error.what, error.mend)


def _record_problems(records: Iterable[Record], context: CheckContext) -> Iterator[Problem]:
    pending, checked = list(records), set[Address]()
    while pending:
        for record in pending:
            checked.add(record.address)
            for complaint in check_record(record, context):
                yield Problem(context.catalog.file_of(record.address), str(record.address), *complaint)
        # A record that is not among these, but that one of these names, keeps that one from being probed.
        pending = [record for record in context.list_malformed() if record.address not in checked]


def _fact_problems(catalog: Catalog, folder: Path) -> Iterator[Problem]:
    for file, fact_id, complaint in fact_checks.problems(catalog, folder):
        yield Problem(file, fact_id, *complaint)
    for record, complaint in fact_checks.unknown_rows(catalog, folder):
        yield Problem(catalog.file_of(record.address), str(record.address), *complaint)


@cached_per_folders
def _schema_problems(folder: provider_folders.ProviderFolder) -> tuple[Problem, ...]:
    return tuple(_check_schemas(folder))


def _check_schemas(folder: provider_folders.ProviderFolder) -> Iterator[Problem]:
    from jsonschema import Draft202012Validator, SchemaError  # slow to import

    try:
        schemas = dict(read_schemas(folder))
    except CatalogError as error:
        yield _unreadable(error, RECORDS)
        return
    for urn, schema in schemas.items():
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            what = f"is no JSON Schema 2020-12: {quote_value(error.message, 160)}"
            yield Problem(Path(urn), "", error.json_path, what, "correct the schema")


def _unfinished_schemas(root: Path) -> Iterator[Problem]:
    for path in sorted((root.parent / provider_folders.SHIPPED.schemas.name).rglob("*.json")):
        with suppress(CatalogError):  # `_check_schemas` reports it
            for complaint in unfinished.find_unfinished(read_object(path)):
                yield Problem(path, "", *complaint)


@cached_per_folders
def manifest_problems() -> tuple[Problem, ...]:
    """Return every problem of the manifests in all provider folders."""
    validator = validator_of(manifest_checks.SCHEMA)
    if validator is None:
        return ()
    complaints_by_file = manifest_checks.problems(validator, surfaces())
    return tuple(Problem(file, "", *complaint) for file, complaint in complaints_by_file)


def _discovery_problems(catalog: Catalog, *, shipped: bool) -> Iterator[Problem]:
    """Check discoveries like records, because people review them in the same way."""
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
                what = "has evidence from a mock, a gateway or another revision"
                yield Problem(file, name, "$.target", what, "remove it")


def _form_problems(catalog: Catalog) -> Iterator[Problem]:
    files = [path for path, text in canonical_texts(catalog) if path.read_bytes() != text.encode()]
    if files:
        more = f", and {format_count(len(files) - 1, 'more file is', 'more files are')} not" if len(files) > 1 else ""
        yield Problem(files[0], "", "", f"is not in canonical form{more}", assertion_checks.FIX, is_form=True)


def canonical_texts(catalog: Catalog) -> Iterator[tuple[Path, str]]:
    """Yield each file of a catalog with its text in canonical form."""
    records_by_file: dict[Path, list[Record]] = {}
    for record in catalog.records:
        records_by_file.setdefault(catalog.file_of(record.address), []).append(record)
    for path, records in records_by_file.items():
        yield path, format_record_file({record.address.slug: record.data for record in records}, records[0].kind)
    for path in sorted(catalog.root.glob(f"*/{DISCOVERED}")):
        with suppress(CatalogError):  # `_discovery_problems` reports it
            yield path, format_record_file(read_object(path), "discovered")
