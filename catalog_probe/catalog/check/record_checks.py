"""What must hold of one record: its schema, what it names, its tags, and what it asserts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.check import assertion_checks, relation_checks, unfinished
from catalog_probe.catalog.check.validators import surfaces, validator_of
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.schema_messages import complaints, quote_value
from catalog_probe.catalog.files.schemas import KIND_SCHEMA
from catalog_probe.catalog.files.store import Catalog, family_file
from catalog_probe.catalog.model import Address, Json, Record, Tag
from catalog_probe.catalog.model.errors import suggest_similar
from catalog_probe.catalog.model.labels import CONTINUE, SUCCESS
from catalog_probe.catalog.observed.last_seen import ANOTHER_REVISION_PREFIX, is_not_from_provider, seen_on, target_of
from catalog_probe.catalog.reading.assertions import assertions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Complaint(NamedTuple):
    """What a check of one record says; the record's place is added by the caller."""

    json_path: str
    message: str
    mend: str


class CheckContext(NamedTuple):
    """What a check may look at besides its record."""

    catalog: Catalog
    unread: frozenset[Path]
    """Files that could not be read: an address that lives there may well exist."""
    shipped: bool


def check_record(record: Record, scene: CheckContext) -> list[Complaint]:
    """Every problem of one record, beside the others of the scene: what is left is what any reader must bear."""
    told = list(_is_finished(record, scene)) or [told for each in _RECORD_CHECKS for told in each(record, scene)]
    # what a record asserts can be read only where its own form is right
    return told or list(_agrees_with_its_assertions(record, scene))


def is_malformed(record: Record, scene: CheckContext) -> bool:
    """Whether a record has any problem in its own form: asks no further than the first."""
    return any(any(each(record, scene)) for each in _RECORD_CHECKS)


def _agrees_with_its_assertions(record: Record, scene: CheckContext) -> Iterator[Complaint]:
    try:
        made = assertions(record, scene.catalog.__getitem__)
    except KeyError:  # names a record of a file that cannot be read, which is told itself
        return
    found = [
        *assertion_checks.unmatched_keys(record, made),
        *assertion_checks.unknown_revisions(record),
        *assertion_checks.missing_sources(made),
        *assertion_checks.stale_evidence(record, made, scene.catalog),
        *relation_checks.unsound_relations(record, made),
    ]
    # tags follow from data that is right itself
    yield from (Complaint(*each) for each in found or assertion_checks.wrong_tags(record, made))


def _follows_its_schema(record: Record, scene: CheckContext) -> Iterator[Complaint]:
    validator = validator_of(KIND_SCHEMA[record.kind])
    if validator is None:
        yield Complaint("", f"there is no schema {KIND_SCHEMA[record.kind]}", "add it to catalog/schemas")
        return
    for complaint in complaints(validator.iter_errors(record.data)):
        yield Complaint(*complaint)


def _is_finished(record: Record, scene: CheckContext) -> Iterator[Complaint]:
    yield from (Complaint(*each) for each in unfinished.find_unfinished(record.data))


def _names_its_provider(record: Record, scene: CheckContext) -> Iterator[Complaint]:
    named = record.data.get("provider")
    known = [name.upper() for name in providers()]
    if not isinstance(named, str) or not re.fullmatch("[A-Z][A-Z0-9]*", named):
        return  # the schema complains
    if named not in known:
        yield Complaint(
            "$.provider", f"{quote_value(named)} is none of {', '.join(known)}", suggest_similar(named, known)
        )
    elif named.lower() != record.provider:
        yield Complaint(
            "$.provider", f"{named!r} lies in the folder of {record.provider}", "change it, or move the record"
        )


def _endpoints_exist(record: Record, scene: CheckContext) -> Iterator[Complaint]:
    for index, address in enumerate(_list(record.data.get("endpoints"))):
        yield from _exists(f"$.endpoints[{index}]", address, "endpoints", record, scene)


def _auth_answers_exist(record: Record, scene: CheckContext) -> Iterator[Complaint]:
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


def _rule_answers_exist(record: Record, scene: CheckContext) -> Iterator[Complaint]:
    request = record.data.get("request")
    of_request = request.get("rules") if isinstance(request, dict) else None
    for at, rules in (("$.request.rules", of_request), ("$.rules", record.data.get("rules"))):
        for index, rule in enumerate(_list(rules)):
            for field in ("answer", "or") if isinstance(rule, dict) else ():
                if rule.get(field) not in (None, SUCCESS, CONTINUE):
                    yield from _exists(f"{at}[{index}].{field}", rule[field], "errors", record, scene)


def _causes_of_429_exist(record: Record, scene: CheckContext) -> Iterator[Complaint]:
    causes = record.data.get("error_semantics_429")
    for name, cause in causes.items() if isinstance(causes, dict) else ():
        if isinstance(cause, dict) and "record" in cause:
            yield from _exists(f"$.error_semantics_429.{name}.record", cause["record"], "errors", record, scene)


def _surfaces_have_envelopes(record: Record, scene: CheckContext) -> Iterator[Complaint]:
    named = {"$.surface": record.surface}
    for field in ("response", "streaming"):
        holder = record.data.get(field)
        if isinstance(holder, dict):
            named[f"$.{field}.surface"] = holder.get("surface")
    envelopes = surfaces()
    for path, surface in named.items():
        if isinstance(surface, str) and surface not in envelopes:
            mend = suggest_similar(surface, envelopes) or f"add schemas/envelopes/{surface}.json"
            yield Complaint(path, f"{surface!r} has no envelope schema", mend)


def _message_pattern_compiles(record: Record, scene: CheckContext) -> Iterator[Complaint]:
    pattern = record.data.get("message_pattern")
    text = pattern.get("pattern") if isinstance(pattern, dict) else pattern
    if not isinstance(text, str):
        return
    try:
        re.compile(text)
    except re.error as error:
        yield Complaint(
            "$.message_pattern", f"{quote_value(text)} does not compile: {error}", "mend the regular expression"
        )


def _tags_agree(record: Record, scene: CheckContext) -> Iterator[Complaint]:
    tags = _list(record.data.get("status"))
    if Tag.LIVE_VERIFIED in tags and Tag.UNVERIFIED in tags:
        yield Complaint("$.status", "LIVE_VERIFIED and UNVERIFIED exclude each other", "keep the one that is true")
    if Tag.LIVE_VERIFIED in tags and seen_on(record) is None:
        yield Complaint(
            "$.status", "LIVE_VERIFIED needs the date on which it was seen", "add the date, or drop the tag"
        )


def _evidence_is_live(record: Record, scene: CheckContext) -> Iterator[Complaint]:
    target = target_of(record)
    if scene.shipped and is_not_from_provider(target):
        kind = target.partition(":")[0]
        origin = "another revision" if kind == ANOTHER_REVISION_PREFIX else f"a {kind}"
        what = f"carries evidence from {origin} ({target})"
        yield Complaint("", what, "only a live run may write here: restore the record from git")


def _exists(path: str, address: Json, kind: str, record: Record, scene: CheckContext) -> Iterator[Complaint]:
    """Nothing where a record of this kind and of the same provider has the address."""
    try:
        parsed = Address.parse(address)
    except (ValueError, TypeError):
        yield Complaint(
            path, f"{quote_value(address)} is no address", f"write {record.provider}/{kind}/<family>/<slug>"
        )
        return
    if parsed.kind != kind or parsed.provider != record.provider:
        yield Complaint(
            path, f"{address} is none of {record.provider}/{kind}", "name a record of that kind and provider"
        )
    elif parsed not in scene.catalog and family_file(scene.catalog.root, parsed) not in scene.unread:
        same_kind = (str(other.address) for other in scene.catalog.select(parsed.provider, kind))
        mend = suggest_similar(address, same_kind) or "add the record, or name another"
        yield Complaint(path, f"no record has the address {address}", mend)


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
