"""Everything that must hold in the catalog: schemas, canonical form, and what records say about each other."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from catalog.check import asserting, facts, manifests, relating, unfinished
from catalog.model import Address, Json, Record, Tag, homes
from catalog.model.errors import CatalogError, did_you_mean, shown
from catalog.model.homes import remembered
from catalog.model.labels import CONTINUE, SUCCESS
from catalog.reading.agreed import agreed_of, as_kept, first_looks
from catalog.reading.assertions import assertions
from catalog.reading.cells import statements_digest
from catalog.reading.last_seen import ANOTHER_REVISION, of_no_provider, seen_on, target_of
from catalog.reading.manifest import providers
from catalog.reading.schemas import KIND_SCHEMA, envelope_id, schemas, schemas_of
from catalog.reading.store import DISCOVERED, RECORDS, Catalog, family_file
from catalog.reading.strict_json import read_object
from catalog.reading.wording import complaints, quoted
from catalog.writeback.canonical import canonical_text, lacking_nulls
from catalog.writeback.discoveries import known
from catalog.writeback.writing import locked, write_text

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator


class Problem(NamedTuple):
    """One thing to mend: where it is, what is wrong, and how to mend it."""

    file: Path
    address: str
    json_path: str
    message: str
    mend: str

    def __str__(self) -> str:
        where = ": ".join(part for part in (shown(self.file), self.address, self.json_path) if part)
        return " ".join(f"{where}: {self.message}; {self.mend}".split())


class Told(NamedTuple):
    """What a check of one record says; the record's place is added by the caller."""

    json_path: str
    message: str
    mend: str


class Scene(NamedTuple):
    """What a check may look at besides its record."""

    catalog: Catalog
    unread: frozenset[Path]
    """Files that could not be read: an address that lives there may well exist."""
    shipped: bool


def check(root: Path = RECORDS, *, shipped: bool | None = None) -> list[Problem]:
    """Every problem of the records below `root`, in the order of their files.

    `shipped` records may carry no evidence from a mock, a gateway or another revision; by default these are the ones in
    this package and in homes.
    """
    catalog, errors = Catalog.load_what_can_be(root)
    is_home = homes.is_of_a_home(root)
    is_shipped = is_home if shipped is None else shipped
    scene = Scene(catalog, frozenset(error.file for error in errors if error.file), is_shipped)
    found = [_unreadable(error, root) for error in errors]
    found += _schema_files(homes.home_of(root) or homes.PACKAGE)
    found += manifest_problems()
    found += _unfinished_envelopes(root) if is_home else ()
    for record in catalog.records:
        place = catalog.file_of(record.address), str(record.address)
        found += [Problem(*place, *told) for told in problems_of(record, scene)]
    if is_home and not any(problem.address for problem in found):  # facts speak of sound records beside them
        beside = root.parent / homes.PACKAGE.facts.name
        found += [Problem(file, named, *told) for file, named, told in facts.problems(catalog, beside)]
        for record, complaint in facts.unknown_rows(catalog, beside):
            found.append(Problem(catalog.file_of(record.address), str(record.address), *complaint))
    found += _discoveries(catalog, shipped=is_shipped)
    found += _canonical_form(catalog)
    again = _check_again(root)
    mended = (each._replace(mend=each.mend.replace(asserting.CHECK, again)) for each in found)
    return sorted(mended, key=lambda problem: str(problem.file))


def _check_again(root: Path) -> str:
    """The command that checks these very records."""
    return " ".join([asserting.CHECK, *([shlex.join(option)] if (option := homes.option_for(root)) else [])])


def first_problem(root: Path | str | None) -> str:
    """What is wrong with the records below `root` before anything else, in one line; empty where nothing is."""
    if root is None:
        return ""
    problems = check(Path(root))
    more = f" (and {len(problems) - 1} more: `{_check_again(Path(root))}`)" if len(problems) > 1 else ""
    return f"{problems[0]}{more}" if problems else ""


def problems_of(record: Record, scene: Scene) -> list[Told]:
    """Every problem of one record, beside the others of the scene: what is left is what any reader must bear."""
    told = list(_is_finished(record, scene)) or [told for each in _RECORD_CHECKS for told in each(record, scene)]
    # what a record asserts can be read only where its own form is right
    return told or list(_agrees_with_its_assertions(record, scene))


def is_malformed(record: Record, scene: Scene) -> bool:
    """Whether a record has any problem in its own form: asks no further than the first."""
    return any(any(each(record, scene)) for each in _RECORD_CHECKS)


def put_right(root: Path = RECORDS) -> list[str]:
    """Rewrite each readable file as it should be, and say in a line each what was mended.

    Fields that must be there and may be empty become null, evidence for statements that were edited since goes, tags
    follow from the data, and what is not in canonical form is put into it.
    """
    with locked(root):
        catalog, _ = Catalog.load_what_can_be(root)
        said: list[str] = []
        whole = [_with_its_nulls(record, said) for record in catalog.records]
        files = {record.address: catalog.file_of(record.address) for record in whole}
        scene = Scene(Catalog(root, whole, files), frozenset(), shipped=False)
        records = [_mended(record, scene, said) for record in whole]
        texts = _canonical_texts(Catalog(root, records, files))
        return said + [f"{shown(path)}: put in canonical form" for path, text in texts if write_text(path, text)]


def _with_its_nulls(record: Record, said: list[str]) -> Record:
    lacking = lacking_nulls(record.data, record.kind)
    if not lacking:
        return record
    said.append(f"{record.address}: {', '.join(lacking)} became null")
    return Record(record.address, {**record.data, **dict.fromkeys(lacking)})


def _mended(record: Record, scene: Scene, said: list[str]) -> Record:
    """The record without what is void; as it stands where its own form is not right."""
    if is_malformed(record, scene):
        return record
    made = assertions(record, scene.catalog.__getitem__)
    data = dict(record.data)
    if asserting.is_void(record, made):
        del data["evidence"]
        kept = as_kept(made, agreed_of(record, made), first_looks(record, made)) | {
            name: day for name, day in record.data["evidence"].items() if name == "restricted"
        }
        if kept:
            data["evidence"] = {"of": statements_digest(made), "seen": {}, **kept}
        said.append(f"{record.address}: removed evidence for statements that were changed since")
    sound = Record(record.address, data)
    if not any(asserting.wrong_tags(sound, made)):
        return sound
    tags = asserting.tags_by_data(sound, made)
    said.append(f"{record.address}: {', '.join(record.data['status'])} became {', '.join(tags)}")
    return Record(record.address, {**data, "status": tags})


def _agrees_with_its_assertions(record: Record, scene: Scene) -> Iterator[Told]:
    try:
        made = assertions(record, scene.catalog.__getitem__)
    except KeyError:  # names a record of a file that cannot be read, which is told itself
        return
    found = [
        *asserting.told_of_nothing(record, made),
        *asserting.of_no_revision(record),
        *asserting.without_source(made),
        *asserting.evidence_of_nothing(record, made, scene.catalog),
        *relating.unsound_relations(record, made),
    ]
    # tags follow from data that is right itself
    yield from (Told(*each) for each in found or asserting.wrong_tags(record, made))


def _unreadable(error: CatalogError, root: Path) -> Problem:
    return Problem(error.file or root, "", error.place, error.what, error.mend)


@remembered
def _schema_files(home: homes.Home) -> tuple[Problem, ...]:
    return tuple(_schema_problems(home))


def _schema_problems(home: homes.Home) -> Iterator[Problem]:
    from jsonschema import Draft202012Validator, SchemaError

    try:
        every = dict(schemas_of(home))
    except CatalogError as error:
        yield _unreadable(error, RECORDS)
        return
    for urn, schema in every.items():
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            what = f"is no JSON Schema 2020-12: {quoted(error.message, 160)}"
            yield Problem(Path(urn), "", error.json_path, what, "mend the schema")


def _unfinished_envelopes(root: Path) -> Iterator[Problem]:
    for path in sorted((root.parent / homes.PACKAGE.schemas.name).rglob("*.json")):
        with suppress(CatalogError):  # told elsewhere
            yield from (Problem(path, "", *each) for each in unfinished.left(read_object(path)))


@remembered
def manifest_problems(folder: Path | None = None) -> tuple[Problem, ...]:
    """Every problem of the providers' manifests in a folder, or in all homes."""
    validator = _validator(manifests.SCHEMA)
    found = manifests.problems(validator, _envelopes(), folder) if validator else ()
    return tuple(Problem(file, "", *complaint) for file, complaint in found)


def _discoveries(catalog: Catalog, *, shipped: bool) -> Iterator[Problem]:
    """Candidates are no records, but they are reviewed as carefully."""
    validator = _validator(KIND_SCHEMA["discovered"])
    for provider in providers():
        file = catalog.root / provider / DISCOVERED
        try:
            candidates = known(catalog.root, provider)
        except CatalogError as error:
            yield _unreadable(error, catalog.root)
            continue
        for name, candidate in candidates.items():
            for complaint in complaints(validator.iter_errors(candidate)) if validator else ():
                yield Problem(file, name, *complaint)
            if shipped and isinstance(candidate, dict) and of_no_provider(str(candidate.get("target"))):
                yield Problem(
                    file, name, "$.target", "carries evidence from a mock, a gateway or another revision", "remove it"
                )


def _canonical_form(catalog: Catalog) -> Iterator[Problem]:
    for path, text in _canonical_texts(catalog):
        if path.read_bytes() != text.encode():
            yield Problem(path, "", "", "is not in canonical form", asserting.FIX)


def _canonical_texts(catalog: Catalog) -> Iterator[tuple[Path, str]]:
    files: dict[Path, list[Record]] = {}
    for record in catalog.records:
        files.setdefault(catalog.file_of(record.address), []).append(record)
    for path, records in files.items():
        yield path, canonical_text({record.address.slug: record.data for record in records}, records[0].kind)
    for path in sorted(catalog.root.glob(f"*/{DISCOVERED}")):
        with suppress(CatalogError):  # told elsewhere
            yield path, canonical_text(read_object(path), "discovered")


def _follows_its_schema(record: Record, scene: Scene) -> Iterator[Told]:
    validator = _validator(KIND_SCHEMA[record.kind])
    if validator is None:
        yield Told("", f"there is no schema {KIND_SCHEMA[record.kind]}", "add it to catalog/schemas")
        return
    for complaint in complaints(validator.iter_errors(record.data)):
        yield Told(*complaint)


@remembered
def _validator(urn: str) -> Draft202012Validator | None:
    from jsonschema import Draft202012Validator
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    every = schemas()
    if urn not in every:
        return None
    resources = ((name, DRAFT202012.create_resource(schema)) for name, schema in every.items())
    registry: Registry[Json] = Registry().with_resources(resources)
    return Draft202012Validator(every[urn], registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER)


def _is_finished(record: Record, scene: Scene) -> Iterator[Told]:
    yield from (Told(*each) for each in unfinished.left(record.data))


def _names_its_provider(record: Record, scene: Scene) -> Iterator[Told]:
    named = record.data.get("provider")
    known = [name.upper() for name in providers()]
    if not isinstance(named, str) or not re.fullmatch("[A-Z][A-Z0-9]*", named):
        return  # the schema complains
    if named not in known:
        yield Told("$.provider", f"{quoted(named)} is none of {', '.join(known)}", did_you_mean(named, known))
    elif named.lower() != record.provider:
        yield Told("$.provider", f"{named!r} lies in the folder of {record.provider}", "change it, or move the record")


def _endpoints_exist(record: Record, scene: Scene) -> Iterator[Told]:
    for index, address in enumerate(_list(record.data.get("endpoints"))):
        yield from _exists(f"$.endpoints[{index}]", address, "endpoints", record, scene)


def _auth_answers_exist(record: Record, scene: Scene) -> Iterator[Told]:
    auth = record.data.get("auth")
    ways = (
        [("$.auth", auth)]
        if isinstance(auth, dict)
        else [(f"$.auth[{index}]", way) for index, way in enumerate(_list(auth)) if isinstance(way, dict)]
    )
    for path, way in ways:
        for case in ("missing", "wrong"):
            if way.get(case) is not None:
                yield from _exists(f"{path}.{case}", way[case], "errors", record, scene)


def _rule_answers_exist(record: Record, scene: Scene) -> Iterator[Told]:
    request = record.data.get("request")
    of_request = request.get("rules") if isinstance(request, dict) else None
    for at, rules in (("$.request.rules", of_request), ("$.rules", record.data.get("rules"))):
        for index, rule in enumerate(_list(rules)):
            for field in ("answer", "or") if isinstance(rule, dict) else ():
                if rule.get(field) not in (None, SUCCESS, CONTINUE):
                    yield from _exists(f"{at}[{index}].{field}", rule[field], "errors", record, scene)


def _causes_of_429_exist(record: Record, scene: Scene) -> Iterator[Told]:
    causes = record.data.get("error_semantics_429")
    for name, cause in causes.items() if isinstance(causes, dict) else ():
        if isinstance(cause, dict) and "record" in cause:
            yield from _exists(f"$.error_semantics_429.{name}.record", cause["record"], "errors", record, scene)


def _surfaces_have_envelopes(record: Record, scene: Scene) -> Iterator[Told]:
    named = {"$.surface": record.surface}
    for field in ("response", "streaming"):
        holder = record.data.get(field)
        if isinstance(holder, dict):
            named[f"$.{field}.surface"] = holder.get("surface")
    envelopes = _envelopes()
    for path, surface in named.items():
        if isinstance(surface, str) and surface not in envelopes:
            mend = did_you_mean(surface, envelopes) or f"add schemas/envelopes/{surface}.json"
            yield Told(path, f"{surface!r} has no envelope schema", mend)


def _envelopes() -> list[str]:
    """The surfaces that there are."""
    return [urn.removeprefix(envelope_id("")) for urn in schemas() if urn.startswith(envelope_id(""))]


def _message_pattern_compiles(record: Record, scene: Scene) -> Iterator[Told]:
    pattern = record.data.get("message_pattern")
    text = pattern.get("pattern") if isinstance(pattern, dict) else pattern
    if not isinstance(text, str):
        return
    try:
        re.compile(text)
    except re.error as error:
        yield Told("$.message_pattern", f"{quoted(text)} does not compile: {error}", "mend the regular expression")


def _tags_agree(record: Record, scene: Scene) -> Iterator[Told]:
    tags = _list(record.data.get("status"))
    if Tag.LIVE_VERIFIED in tags and Tag.UNVERIFIED in tags:
        yield Told("$.status", "LIVE_VERIFIED and UNVERIFIED exclude each other", "keep the one that is true")
    if Tag.LIVE_VERIFIED in tags and seen_on(record) is None:
        yield Told("$.status", "LIVE_VERIFIED needs the date on which it was seen", "add the date, or drop the tag")


def _evidence_is_live(record: Record, scene: Scene) -> Iterator[Told]:
    target = target_of(record)
    if scene.shipped and of_no_provider(target):
        whose = target.partition(":")[0]
        what = f"carries evidence from {'another revision' if whose == ANOTHER_REVISION else f'a {whose}'} ({target})"
        yield Told("", what, "only a live run may write here: restore the record from git")


def _exists(path: str, address: Json, kind: str, record: Record, scene: Scene) -> Iterator[Told]:
    """Nothing where a record of this kind and of the same provider has the address."""
    try:
        parsed = Address.parse(address)
    except (ValueError, TypeError):
        yield Told(path, f"{quoted(address)} is no address", f"write {record.provider}/{kind}/<family>/<slug>")
        return
    if parsed.kind != kind or parsed.provider != record.provider:
        yield Told(path, f"{address} is none of {record.provider}/{kind}", "name a record of that kind and provider")
    elif parsed not in scene.catalog and family_file(scene.catalog.root, parsed) not in scene.unread:
        same_kind = (str(other.address) for other in scene.catalog.select(parsed.provider, kind))
        mend = did_you_mean(address, same_kind) or "add the record, or name another"
        yield Told(path, f"no record has the address {address}", mend)


def _list(value: Json) -> list[Json]:
    """A value that should be a list; where it is not, the schema complains and the other checks keep quiet."""
    return value if isinstance(value, list) else []


_RECORD_CHECKS = (
    _is_finished,
    _follows_its_schema,
    _names_its_provider,
    _endpoints_exist,
    _auth_answers_exist,
    _rule_answers_exist,
    _causes_of_429_exist,
    _surfaces_have_envelopes,
    _message_pattern_compiles,
    _tags_agree,
    _evidence_is_live,
)
