"""Check a whole catalog: records, schemas, manifests, facts, canonical form."""

from __future__ import annotations

import json
import re
import shlex
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from catalog_probe.catalog.check import assertion_checks, record_checks
from catalog_probe.catalog.check.record_checks import CheckContext, check_record
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.file_formats import read_object
from catalog_probe.catalog.files.manifest import USUAL_ADDRESS, manifest_file, providers, read_manifest, read_toml
from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.files.schemas import (
    KIND_SCHEMA,
    Complaint,
    complaints,
    quote_value,
    read_schemas,
    surfaces_with_envelope,
    validator_of,
)
from catalog_probe.catalog.files.store import DISCOVERED, RECORDS, Catalog
from catalog_probe.catalog.model import Address
from catalog_probe.catalog.model.errors import CatalogError, display_path, suggest_similar
from catalog_probe.catalog.observed import is_not_from_provider
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.reading.facts import (
    UNCHECKED,
    Wire,
    checks_fact,
    facts_file,
    load_fact_checks,
    read_facts,
    unchecked_reasons,
)
from catalog_probe.catalog.reading.record_fields import retry_advice
from catalog_probe.catalog.text.readable_text import format_count
from catalog_probe.catalog.writeback.discoveries import load_candidates
from catalog_probe.catalog.writeback.writing import format_record_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from jsonschema import Draft202012Validator

    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.reading.facts import Fact, FactChecks


MANIFEST_SCHEMA = "urn:catalog:provider"


def list_manifest_complaints(
    validator: Draft202012Validator, envelopes: Sequence[str]
) -> Iterator[tuple[Path, Complaint]]:
    """Yield every problem of the manifests in all provider folders, with its file.

    Args:
        validator: the validator of the manifest schema.
        envelopes: the surfaces that have an envelope.
    """
    for name in providers():
        file = manifest_file(name)
        for complaint in check_manifest(file, validator, envelopes):
            yield file, complaint


def check_manifest(file: Path, validator: Draft202012Validator, envelopes: Sequence[str]) -> list[Complaint]:
    """Return the complaints of the first check that has any: later ones rely on the earlier."""
    try:
        data = json.loads(json.dumps(read_toml(file), default=str))  # TOML has dates, which JSON Schema does not know
        first_complaints = (
            list(record_checks.find_unfinished(data))
            or list(complaints(validator.iter_errors(data)))
            or list(_check_references(file.stem, data, envelopes))
        )
        if not first_complaints:
            read_manifest(file)
    except CatalogError as error:
        return [Complaint(error.location, error.what, error.mend)]
    return first_complaints


def _check_references(name: str, data: dict[str, Any], envelopes: Sequence[str]) -> Iterator[Complaint]:
    """Check what a schema cannot say, of data that follows the schema."""
    if data["name"] != name:
        mend = f"write {name!r}, or move the file"
        yield Complaint("$.name", f"{data['name']!r} is not what the file is called", mend)
    surfaces = {"$.surfaces.default": data["surfaces"]["default"]}
    for index, surface in enumerate(data["surfaces"].get("others", ())):
        surfaces[f"$.surfaces.others[{index}]"] = surface
    for path, surface in surfaces.items():
        if surface not in envelopes:
            mend = suggest_similar(surface, envelopes) or f"add schemas/envelopes/{surface}.json"
            yield Complaint(path, f"{surface!r} has no envelope schema", mend)
    yield from _check_recognition(name, data)
    yield from _check_hosts(name, data)
    yield from _check_revisions(data.get("revisions"))
    for role, control in data["controls"].items():
        if role not in data["roles"]:
            mend = suggest_similar(role, data["roles"]) or f"add {role!r} to $.roles"
            yield Complaint(f"$.controls.{role}", f"{role!r} is no role", mend)
        address = control.get("address", USUAL_ADDRESS)
        yield from _check_address(f"$.controls.{role}.address", address, data["addresses"])


def _check_recognition(name: str, data: dict[str, Any]) -> Iterator[Complaint]:
    """Check the errors and the words by which an answer is recognised."""
    account = dict(data.get("account", {}))
    try:
        re.compile(account.pop("credit_message", ""))
    except re.error as error:
        yield Complaint("$.account.credit_message", f"is no regular expression: {error}", "correct it")
    for field, addresses in account.items():
        for index, address in enumerate(addresses):
            if not address.startswith(f"{name}/"):
                path = f"$.account.{field}[{index}]"
                yield Complaint(path, f"{address!r} is not of {name}", f"begin it with {name}/")
    for address in data.get("wording", {}):
        if not address.startswith(f"{name}/errors/"):
            yield Complaint("$.wording", f"{address!r} is no error of {name}", f"begin it with {name}/errors/")


def _check_revisions(revisions: dict[str, Any] | None) -> Iterator[Complaint]:
    if revisions is not None and revisions["default"] and revisions["default"] not in revisions["values"]:
        mend = suggest_similar(revisions["default"], revisions["values"]) or "add it to the values"
        yield Complaint("$.revisions.default", f"{revisions['default']!r} is none of the values", mend)


def _check_hosts(name: str, data: dict[str, Any]) -> Iterator[Complaint]:
    for endpoint, address in data.get("hosts", {}).items():
        if not endpoint.startswith(f"{name}/endpoints/"):
            yield Complaint("$.hosts", f"{endpoint!r} is no endpoint of {name}", f"begin it with {name}/endpoints/")
        yield from _check_address(f"$.hosts.{endpoint}", address, data["addresses"])


def _check_address(path: str, address: str, addresses: Iterable[str]) -> Iterator[Complaint]:
    if address not in addresses:
        mend = suggest_similar(address, addresses) or f"add {address!r} to $.addresses"
        yield Complaint(path, f"{address!r} is no address", mend)


_COLUMN = "checked_by"


def list_fact_complaints(catalog: Catalog, folder: Path | None = None) -> Iterator[tuple[Path, str, Complaint]]:
    """Yield every problem of the facts in a folder, with its file and the id of the fact."""
    for provider in providers():
        file = facts_file(provider, folder)
        try:
            checks = load_fact_checks(provider, catalog, folder)
        except CatalogError as error:
            yield file, "", Complaint(error.location, error.what, error.mend)
            continue
        except KeyError:  # a record names one that does not exist, which its own check reports
            continue
        for fact, complaint in check_facts(checks):
            yield file, fact.id, complaint


def unknown_rows(catalog: Catalog, folder: Path) -> Iterator[tuple[Record, Complaint]]:
    """Yield each row that a record cites and that the facts in a folder do not have."""
    for provider in providers():
        try:
            rows = {fact.citation for fact in read_facts(provider, folder)}
        except CatalogError:  # `problems` reports it
            continue
        for record in catalog.select(provider):
            for row in _cited_rows(record, catalog):
                if row and row not in rows and "://" not in row:
                    what = f"cites {row!r}, which is no row of {display_path(facts_file(provider, folder))}"
                    yield record, Complaint("", what, "add the row there, or cite the one that states it")


def _cited_rows(record: Record, catalog: Catalog) -> Iterable[str]:
    rows = dict.fromkeys([*record.sources, *retry_advice(record).sources])
    try:
        for assertion in assertions(record, catalog.__getitem__):
            rows |= dict.fromkeys(assertion.source.split("; "))
    except KeyError:  # the record names one that does not exist, which its own check reports
        pass
    return rows


def check_facts(checks: FactChecks) -> Iterator[tuple[Fact, Complaint]]:
    """Yield each fact that names unknown or assumed assertions, and each that contradicts itself."""
    ids: set[str] = set()
    for fact in checks.facts:
        for complaint in record_checks.find_unfinished(fact.statement):
            yield fact, complaint._replace(json_path="statement")
        if fact.id in ids:
            yield fact, Complaint("id", "is the id of an earlier fact", "give it another id")
        ids.add(fact.id)
    for fact in checks.facts:
        for complaint in (*_check_names(fact, checks), *_check_consistency(fact)):
            yield fact, complaint
        if fact.restates and fact.restates not in ids:
            yield fact, Complaint("note", f"restates {fact.restates}, which is no fact", "name a fact of this file")


def _check_names(fact: Fact, checks: FactChecks) -> Iterator[Complaint]:
    for pattern in fact.checked_by:
        named = checks.find_assertions(pattern)
        if not named:
            reasons = ", ".join(unchecked_reasons())
            mend = checks.suggest(pattern) or f"name an assertion, as <address>#<key>, or one of {reasons}"
            yield Complaint(_COLUMN, f"{pattern!r} names no assertion", mend)
        elif not any(checks_fact(assertion, fact) for assertion in named):
            what = f"{pattern!r} is assumed, which checks no fact"
            yield Complaint(_COLUMN, what, "name what is documented, or take it out of the record's `assumed`")


def _check_consistency(fact: Fact) -> Iterator[Complaint]:
    if fact.wire is not Wire.YES and (fact.checked_by or fact.reason):
        yield Complaint(_COLUMN, f"is filled, and wire is {fact.wire}", "empty it, or correct wire")
    if fact.in_part and (not fact.checked_by or UNCHECKED not in fact.note):
        mend = f"name the assertions, and say in the note after {UNCHECKED!r} what they leave out"
        yield Complaint(_COLUMN, "begins with `part:`, and the note does not say what is unchecked", mend)
    if not fact.in_part and UNCHECKED in fact.note:
        what = f"says what is unchecked, but {_COLUMN} does not begin with `part:`"
        yield Complaint("note", what, "write `part: ` before it")


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


def check_catalog(root: Path = RECORDS, *, shipped: bool | None = None, today: date | None = None) -> list[Problem]:
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
    return _summarize(check_catalog(root, today=date.max), root)


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
    for file, fact_id, complaint in list_fact_complaints(catalog, folder):
        yield Problem(file, fact_id, *complaint)
    for record, complaint in unknown_rows(catalog, folder):
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
            for complaint in record_checks.find_unfinished(read_object(path)):
                yield Problem(path, "", *complaint)


@cached_per_folders
def manifest_problems() -> tuple[Problem, ...]:
    """Return every problem of the manifests in all provider folders."""
    validator = validator_of(MANIFEST_SCHEMA)
    if validator is None:
        return ()
    complaints_by_file = list_manifest_complaints(validator, surfaces_with_envelope())
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
