"""Check one record: schema, names, tags, assertions, and unfinished texts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.check import assertion_checks
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.schemas import (
    KIND_SCHEMA,
    Complaint,
    complaints,
    quote_value,
    schemas,
    surfaces_with_envelope,
    validator_of,
)
from catalog_probe.catalog.files.store import Catalog, family_file
from catalog_probe.catalog.model import Address, Json, Record, Tag
from catalog_probe.catalog.model.errors import suggest_similar
from catalog_probe.catalog.model.exchange import CONTINUE, SUCCESS
from catalog_probe.catalog.observed import ANOTHER_REVISION_PREFIX, is_not_from_provider, seen_on, target_of
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.text.credential_names import find_credentials
from catalog_probe.catalog.text.json_values import iterate_strings_with_pointers
from catalog_probe.catalog.text.readable_text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


_TODO = re.compile(r"\bTODO\b:?\s*(.*)", re.DOTALL)


def find_unfinished(value: Json) -> Iterator[Complaint]:
    """Complain about each string in a value that contains TODO; the text after it is the mend."""
    for pointer, text in iterate_strings_with_pointers(value):
        match = _TODO.search(text)
        if match is not None:
            path = "$" + pointer.replace("/", ".")
            yield Complaint(path, "is still to be written", shorten(match[1], 160) or "write it")


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What the check of a record may look at besides the record."""

    catalog: Catalog
    unread: frozenset[Path]
    """Files that could not be read; an address in one of them may exist."""
    shipped: bool
    """Whether the records are those of a provider folder, which must hold only live evidence."""
    today: date = date.max
    """The last day that evidence may have; by default any."""
    _is_malformed: dict[str, bool] = field(default_factory=dict)
    """Address -> whether the form of that record is wrong; each is checked once."""

    def find_sound(self, address: str) -> Record:
        """Return the record with an address.

        Raises:
            KeyError: there is none, or its form is wrong, so that nothing can be derived from it.
        """
        record = self.catalog[address]
        if address not in self._is_malformed:
            self._is_malformed[address] = is_malformed(record, self)
        if self._is_malformed[address]:
            raise KeyError(address)
        return record

    def list_malformed(self) -> list[Record]:
        """List the records that were looked for so far and whose form is wrong."""
        return [self.catalog[address] for address, is_malformed in self._is_malformed.items() if is_malformed]


def check_record(record: Record, context: CheckContext) -> list[Complaint]:
    """Return every complaint about a record.

    Its assertions can be derived only if its form is right, and its form is right only if it is finished.
    """
    return (
        list(_check_secrets(record, context))  # the other complaints quote what they complain about
        or list(_check_finished(record, context))
        or [complaint for check in _FORM_CHECKS for complaint in check(record, context)]
        or list(_check_assertions(record, context))
    )


def is_malformed(record: Record, context: CheckContext) -> bool:
    """Whether the form of a record is wrong; stops at the first complaint."""
    return any(any(check(record, context)) for check in _FORM_CHECKS)


def _check_assertions(record: Record, context: CheckContext) -> Iterator[Complaint]:
    try:
        own_assertions = assertions(record, context.find_sound)
    except KeyError:  # names a record that is malformed or in a file that cannot be read, which is reported itself
        return
    found = [
        *assertion_checks.unmatched_keys(record, own_assertions),
        *assertion_checks.unknown_revisions(record),
        *assertion_checks.missing_sources(own_assertions),
        *assertion_checks.stale_evidence(record, own_assertions, context.catalog),
        *assertion_checks.unsound_relations(record, own_assertions),
    ]
    # Tags are derived from all of these, so they are checked only if these are right.
    yield from found or assertion_checks.wrong_tags(record, own_assertions)


def _check_secrets(record: Record, context: CheckContext) -> Iterator[Complaint]:
    for pointer in find_credentials(record.data):
        path = "$" + pointer.replace("/", ".")
        yield Complaint(path, "holds what looks like a credential", "remove it here, and revoke it if it is real")


def _check_schema(record: Record, context: CheckContext) -> Iterator[Complaint]:
    validator = validator_of(KIND_SCHEMA[record.kind])
    if validator is None:
        yield Complaint("", f"there is no schema {KIND_SCHEMA[record.kind]}", "add it to catalog/schemas")
        return
    yield from complaints(validator.iter_errors(record.data))


def _check_similar_names(record: Record, context: CheckContext) -> Iterator[Complaint]:
    """Complain about a member of an open object whose name is nearly that of a field: `feilds` for `fields`."""
    properties = schemas().get(KIND_SCHEMA[record.kind], {}).get("properties", {})
    for field_name in _OPEN_OBJECTS:
        value, known_names = record.data.get(field_name), properties.get(field_name, {}).get("properties", ())
        for name in value if isinstance(value, dict) else ():
            if name not in known_names and (mend := suggest_similar(name, known_names)):
                yield Complaint(f"$.{field_name}", f"{quote_value(name)} is no field here", mend)


def _check_finished(record: Record, context: CheckContext) -> Iterator[Complaint]:
    yield from find_unfinished(record.data)


def _check_provider(record: Record, context: CheckContext) -> Iterator[Complaint]:
    name = record.data.get("provider")
    names = [provider.upper() for provider in providers()]
    if not isinstance(name, str) or not re.fullmatch("[A-Z][A-Z0-9]*", name):
        return  # the schema complains
    if name not in names:
        what = f"{quote_value(name)} is none of {', '.join(names)}"
        yield Complaint("$.provider", what, suggest_similar(name, names))
    elif name.lower() != record.provider:
        what = f"{name!r} is in the folder of {record.provider}"
        yield Complaint("$.provider", what, "change it, or move the record")


def _check_endpoints(record: Record, context: CheckContext) -> Iterator[Complaint]:
    for index, address in enumerate(_list(record.data.get("endpoints"))):
        yield from _check_address(f"$.endpoints[{index}]", address, "endpoints", record, context)


def _check_auth(record: Record, context: CheckContext) -> Iterator[Complaint]:
    auth = record.data.get("auth")
    if isinstance(auth, dict):
        methods = [("$.auth", auth)]
    else:
        methods = [(f"$.auth[{index}]", method) for index, method in enumerate(_list(auth)) if isinstance(method, dict)]
    for path, method in methods:
        for case in ("missing", "wrong"):
            if method.get(case) is not None:
                yield from _check_address(f"{path}.{case}", method[case], "errors", record, context)


def _check_rules(record: Record, context: CheckContext) -> Iterator[Complaint]:
    request = record.data.get("request")
    request_rules = request.get("rules") if isinstance(request, dict) else None
    for path, rules in (("$.request.rules", request_rules), ("$.rules", record.data.get("rules"))):
        for index, rule in enumerate(_list(rules)):
            for name in ("answer", "or") if isinstance(rule, dict) else ():
                if rule.get(name) not in (None, SUCCESS, CONTINUE):
                    yield from _check_address(f"{path}[{index}].{name}", rule[name], "errors", record, context)


def _check_causes_of_429(record: Record, context: CheckContext) -> Iterator[Complaint]:
    causes = record.data.get("error_semantics_429")
    for name, cause in causes.items() if isinstance(causes, dict) else ():
        if isinstance(cause, dict) and "record" in cause:
            path = f"$.error_semantics_429.{name}.record"
            yield from _check_address(path, cause["record"], "errors", record, context)


def _check_surfaces(record: Record, context: CheckContext) -> Iterator[Complaint]:
    surface_by_path = {"$.surface": record.surface}
    for name in ("response", "streaming"):
        parent = record.data.get(name)
        if isinstance(parent, dict):
            surface_by_path[f"$.{name}.surface"] = parent.get("surface")
    known_surfaces = surfaces_with_envelope()
    for path, surface in surface_by_path.items():
        if isinstance(surface, str) and surface not in known_surfaces:
            mend = suggest_similar(surface, known_surfaces) or f"add schemas/envelopes/{surface}.json"
            yield Complaint(path, f"{surface!r} has no envelope schema", mend)


def _check_message_pattern(record: Record, context: CheckContext) -> Iterator[Complaint]:
    pattern = record.data.get("message_pattern")
    text = pattern.get("pattern") if isinstance(pattern, dict) else pattern
    if not isinstance(text, str):
        return
    try:
        re.compile(text)
    except re.error as error:
        what = f"{quote_value(text)} does not compile: {error}"
        yield Complaint("$.message_pattern", what, "correct the regular expression")


def _check_tags(record: Record, context: CheckContext) -> Iterator[Complaint]:
    tags = _list(record.data.get("status"))
    if Tag.LIVE_VERIFIED in tags and Tag.UNVERIFIED in tags:
        yield Complaint("$.status", "LIVE_VERIFIED and UNVERIFIED exclude each other", "keep the one that is true")
    if Tag.LIVE_VERIFIED in tags and seen_on(record) is None:
        what = "LIVE_VERIFIED needs the date on which it was seen"
        yield Complaint("$.status", what, "add the date, or drop the tag")


def _check_evidence_target(record: Record, context: CheckContext) -> Iterator[Complaint]:
    target = target_of(record)
    if context.shipped and is_not_from_provider(target):
        kind = target.partition(":")[0]
        origin = "another revision" if kind == ANOTHER_REVISION_PREFIX else f"a {kind}"
        what = f"has evidence from {origin} ({target})"
        yield Complaint("", what, "only a live run may write here: restore the record from git")


def _check_dates(record: Record, context: CheckContext) -> Iterator[Complaint]:
    """Complain about each day of an observation or a reading that is still to come."""
    for pointer, text in iterate_strings_with_pointers({name: record.data.get(name) for name in _DATED_FIELDS}):
        if pointer.rpartition("/")[2] in _NAMES_OF_DAYS and text[:10] > context.today.isoformat():
            what = f"{quote_value(text)} is after today ({context.today})"
            yield Complaint("$" + pointer.replace("/", "."), what, "write the day on which it was observed or read")


def _check_address(path: str, address: Json, kind: str, record: Record, context: CheckContext) -> Iterator[Complaint]:
    """Complain unless a record of this kind and of the same provider has the address."""
    try:
        parsed = Address.parse(address)
    except (ValueError, TypeError):
        mend = f"write {record.provider}/{kind}/<family>/<slug>"
        yield Complaint(path, f"{quote_value(address)} is no address", mend)
        return
    if parsed.kind != kind or parsed.provider != record.provider:
        what = f"{address} is none of {record.provider}/{kind}"
        yield Complaint(path, what, "name a record of that kind and provider")
    elif parsed not in context.catalog and family_file(context.catalog.root, parsed) not in context.unread:
        same_kind = (str(other.address) for other in context.catalog.select(parsed.provider, kind))
        mend = suggest_similar(address, same_kind) or "add the record, or name another"
        yield Complaint(path, f"no record has the address {address}", mend)


def _list(value: Json) -> list[Json]:
    """Return a value that should be a list; if it is not, the schema complains and other checks see no items."""
    return value if isinstance(value, list) else []


_OPEN_OBJECTS = ("request", "response")
"""Fields that may have members of other names than ours (1:2.1), and whose own members are probed.

Only here a name that is nearly one of ours is refused: a misspelt member would not be probed, and nobody would notice.
"""

_DATED_FIELDS = (
    "verification",
    "observed",
    "observed_for_this_key",
    "evidence",
    "sources",
    "generated_at",
    "retrieved_at",
)

_NAMES_OF_DAYS = frozenset("verified_at observed_at retrieved_at generated_at on restricted_on since".split())
"""Members whose value is a day in the past or an instant in the past."""

_FORM_CHECKS = (
    _check_secrets,
    _check_finished,
    _check_schema,
    _check_similar_names,
    _check_provider,
    _check_endpoints,
    _check_auth,
    _check_rules,
    _check_causes_of_429,
    _check_surfaces,
    _check_message_pattern,
    _check_tags,
    _check_evidence_target,
    _check_dates,
)
