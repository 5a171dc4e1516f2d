"""Check what a record says about its assertions, relations included."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.files.schemas import MAX_LISTED, Complaint, quote_value
from catalog_probe.catalog.model import Record, Tag
from catalog_probe.catalog.model.assertion import REQUEST_LABEL, WILDCARD, AssertionKey, Basis
from catalog_probe.catalog.model.errors import suggest_similar
from catalog_probe.catalog.model.exchange import SUCCESS
from catalog_probe.catalog.observed import (
    cells_of,
    contradicts,
    derive_verification_tag,
    is_expired,
    reachable,
    record_digest,
)
from catalog_probe.catalog.reading.expectations import success_rule_labels
from catalog_probe.catalog.reading.record_fields import pinned_reason
from catalog_probe.catalog.reading.relations import Location, parse_relation, raw_relations, relation_labels

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Json
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.relations import Relation


def unsound_relations(record: Record, assertions: Sequence[Assertion]) -> Iterator[Complaint]:
    """Complain about unknown labels, invalid locations and constants, missing sources, and relations stated twice."""
    labels = list(dict.fromkeys(assertion.key.label for assertion in assertions))
    key_counts = Counter(
        (label, parse_relation(entry).key_location)
        for entry in raw_relations(record)
        for label in relation_labels(entry)
    )
    entries = record.data.get("relations")
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if not isinstance(entry, dict):
            continue
        path = f"$.relations[{index}]"
        relation = parse_relation(entry, str(record.data.get("path", "")))
        own_labels = relation_labels(entry)
        yield from _check_labels(f"{path}.label", own_labels, labels)
        yield from _check_labels(f"{path}.of", relation.of, labels)
        for label in set(own_labels) & set(relation.of):
            yield Complaint(f"{path}.of", f"{label!r} would be compared with itself", "name another label")
        yield from _check_path_parameters(path, entry, record)
        yield from _check_constant(f"{path}.value", relation)
        yield from _check_source(path, own_labels, relation, record)
        if any(key_counts[label, relation.key_location] > 1 for label in own_labels):
            mend = "make one of the two, or give them different locations"
            yield Complaint(path, f"another relation has the same key ({relation.local_key})", mend)


def _check_labels(path: str, names: Sequence[str], labels: Sequence[str]) -> Iterator[Complaint]:
    for name in names:
        if name not in labels:
            mend = suggest_similar(name, labels) or f"its labels are {', '.join(labels)}"
            yield Complaint(path, f"{name!r} is no label of this record", mend)


def _check_path_parameters(path: str, entry: Mapping[str, Json], record: Record) -> Iterator[Complaint]:
    url_path = str(entry.get("path", record.data.get("path", "")))
    for field in ("at", "with"):
        location = Location.parse(entry.get(field, ""))
        if location.kind == "ask/path" and f"{{{location.name}}}" not in url_path:
            names = re.findall(r"\{([a-z0-9_]+)\}", url_path)
            mend = suggest_similar(location.name, names) or (f"it has {', '.join(names)}" if names else "it has none")
            yield Complaint(f"{path}.{field}", f"{location.name!r} is no part of the path {url_path!r}", mend)


def _check_constant(path: str, relation: Relation) -> Iterator[Complaint]:
    if relation.kind == "pattern":
        try:
            re.compile(str(relation.value))
        except re.error as error:
            what = f"{quote_value(relation.value)} does not compile: {error}"
            yield Complaint(path, what, "correct the regular expression")
    elif relation.kind == "every":
        from jsonschema import Draft202012Validator, SchemaError  # slow to import; few relations hold a schema

        try:
            Draft202012Validator.check_schema(relation.value)
        except SchemaError as error:
            yield Complaint(path, f"is no JSON Schema 2020-12: {quote_value(error.message, 160)}", "correct the schema")


def _check_source(path: str, labels: Sequence[str], relation: Relation, record: Record) -> Iterator[Complaint]:
    assumed = record.data.get("assumed") or {}
    for label in labels:
        key = f"{label}/{relation.local_key}"
        if not relation.source and key not in assumed:
            mend = f"cite the row that says it, or give the reason in assumed[{key!r}]"
            yield Complaint(path, "has no source", mend)


CHECK = "catalog-probe check"
"""The command in mends; `validate.check` adds the option that finds the records."""

FIX = f"run `{CHECK} --fix`"

_ANNOTATIONS = ("assumed", "sources_of", "alternatives", "out_of_reach", "since", "until")

_REQUEST_ASPECTS = ("endpoints", "trigger", "method", "path", "query", "header", "body")
"""What may be assumed of a request: `ask/path`, `ask/query:…`, `ask/header:…` and so on."""

_DERIVED_TAGS = (Tag.DOCUMENTED, Tag.LIVE_VERIFIED, Tag.UNVERIFIED)


def unmatched_keys(record: Record, assertions: Sequence[Assertion]) -> Iterator[Complaint]:
    """Complain about each key or label in an annotation that no assertion of the record has."""
    keys = [assertion.key for assertion in assertions]
    labels = list(dict.fromkeys(key.label for key in keys))
    rule_labels = success_rule_labels(record)
    success_keys = [AssertionKey(SUCCESS, key.aspect, key.location) for key in keys if key.label in rule_labels]
    for field in _ANNOTATIONS:
        for text in record.data.get(field) or {}:
            key = AssertionKey.parse(text)
            if key.label == REQUEST_LABEL and field == "assumed":
                if key.aspect not in _REQUEST_ASPECTS:
                    mend = (
                        suggest_similar(key.aspect, _REQUEST_ASPECTS) or f"it is one of {', '.join(_REQUEST_ASPECTS)}"
                    )
                    yield Complaint(f"$.{field}", f"{text!r} is no part of a request", mend)
            elif not any(key.covers(own_key) for own_key in (*keys, *success_keys)):
                yield _no_assertion(f"$.{field}", text, keys)
    for label, required_labels in (record.data.get("depends") or {}).items():
        for name in (label, *required_labels):
            if name not in labels:
                mend = suggest_similar(name, labels) or f"its labels are {_join_first(labels)}"
                yield Complaint("$.depends", f"{name!r} is no label of this record", mend)


def unknown_revisions(record: Record) -> Iterator[Complaint]:
    """Complain about each `since` or `until` whose revision the provider's manifest does not list."""
    revisions = manifest(record.provider).revisions
    values = revisions.values if revisions is not None else ()
    for field in ("since", "until"):
        for text, entry in (record.data.get(field) or {}).items():
            if entry["revision"] not in values:
                listed = f"the manifest lists {_join_first(values) or 'none'}"
                mend = suggest_similar(entry["revision"], values) or listed
                yield Complaint(f"$.{field}", f"{text!r}: no revision is called {entry['revision']!r}", mend)


def missing_sources(assertions: Iterable[Assertion]) -> Iterator[Complaint]:
    """Complain about each documented assertion that cites no row."""
    for assertion in assertions:
        if assertion.basis is Basis.DOCUMENTED and not assertion.source.strip():
            mend = f"cite the row that says it, or give the reason in assumed[{str(assertion.key)!r}]"
            yield Complaint("$", f"{assertion.key} has neither source nor assumed", mend)


def stale_evidence(record: Record, assertions: Sequence[Assertion], catalog: Catalog) -> Iterator[Complaint]:
    """Complain about evidence for edited statements, for unknown endpoints and for unknown assertions."""
    evidence = record.data.get("evidence")
    if evidence is None:
        return
    if is_void(record, assertions):
        digests = f"({evidence['statements']}) than the record makes now ({record_digest(assertions)})"
        yield Complaint("$.evidence", f"belongs to other statements {digests}", f"{FIX}, which removes it")
        return
    keys = [assertion.key for assertion in assertions]
    known_texts = {str(key) for key in keys} | {f"{key.label}/{WILDCARD}" for key in keys}
    for endpoint, line in evidence["endpoints"].items():
        if endpoint != str(record.address) and (endpoint not in catalog or catalog[endpoint].kind != "endpoints"):
            mend = suggest_similar(endpoint, map(str, catalog)) or "remove its line"
            yield Complaint("$.evidence.endpoints", f"no endpoint has the address {endpoint}", mend)
        for text in [*(line.get("mismatched") or {}), *(line.get("not_observed") or {})]:
            if text not in known_texts:
                yield _no_assertion("$.evidence.endpoints", text, keys)
    assumed = {str(assertion.key) for assertion in assertions if assertion.basis is Basis.ASSUMED}
    for text in evidence.get("resolved") or {}:
        if text not in assumed:
            mend = suggest_similar(text, assumed) or "remove it"
            yield Complaint("$.evidence.resolved", f"{text!r} is nothing that this record assumes", mend)


def wrong_tags(record: Record, assertions: Sequence[Assertion]) -> Iterator[Complaint]:
    """Complain about each tag that does not follow from the record's data, and each that is missing."""
    if pinned_reason(record) is not None or "status" not in record.data:  # an error need not have tags (1:2.2)
        return
    derived = derived_tags(record, assertions)
    for tag in _DERIVED_TAGS:
        if tag in record.tags and tag not in derived:
            reason = _explain_absence(tag, record, assertions)
            yield Complaint("$.status", f"{tag} does not follow: {reason}", FIX)
        elif tag not in record.tags and tag in derived:
            reason = _explain_presence(tag, record, assertions)
            yield Complaint("$.status", f"{tag} is missing: {reason}", FIX)


def derived_tags(record: Record, assertions: Sequence[Assertion]) -> list[str]:
    """Return the tags that a record should have: those that follow from its data, and its other ones as they are."""
    following = {derive_verification_tag(assertions, cells_of(record, assertions), expired=is_expired(record))}
    cites_row = any(assertion.basis is Basis.DOCUMENTED and assertion.source for assertion in assertions)
    if cites_row or not assertions:  # a record without assertions quotes its row all the same
        following.add(Tag.DOCUMENTED)
    others = [tag for tag in record.tags if tag not in _DERIVED_TAGS]
    ordered = [str(tag) for tag in Tag if tag in following or tag in others]
    return [*ordered, *sorted(tag for tag in others if tag not in ordered)]


def is_void(record: Record, assertions: Iterable[Assertion]) -> bool:
    """Whether the record has evidence for statements that were edited since."""
    evidence = record.data.get("evidence")
    return evidence is not None and evidence["statements"] != record_digest(assertions)


def _explain_presence(tag: Tag, record: Record, assertions: Sequence[Assertion]) -> str:
    if tag is Tag.DOCUMENTED:
        return "a row is cited for what it states"
    mismatched = _explain_mismatch(record, assertions)
    if mismatched:
        return mismatched
    if tag is Tag.LIVE_VERIFIED:
        return "each documented assertion matched"
    return "no live run has confirmed all that it documents"


def _explain_absence(tag: Tag, record: Record, assertions: Sequence[Assertion]) -> str:
    if tag is Tag.DOCUMENTED:
        return "all that it states is assumed"
    mismatched = _explain_mismatch(record, assertions)
    if mismatched:
        return mismatched
    if tag is Tag.UNVERIFIED:
        return "each documented assertion matched, and nothing differs"
    cells = cells_of(record, assertions)
    matched = {key for (_, key), cell in cells.items() if cell.on is not None and not cell.mismatch}
    required = reachable([assertion for assertion in assertions if assertion.basis is Basis.DOCUMENTED])
    never_matched = [
        str(assertion.key) for assertion in required if str(assertion.key) not in matched and not assertion.optional
    ]
    if never_matched:
        return f"{_join_first(never_matched)} has not matched"
    return "nothing that the documents state was observed"


def _explain_mismatch(record: Record, assertions: Sequence[Assertion]) -> str:
    """Return why evidence speaks against a record, or an empty string."""
    by_key = {str(assertion.key): assertion for assertion in assertions}
    mismatched = [
        f"{key} on {endpoint}"
        for (endpoint, key), cell in cells_of(record, assertions).items()
        if contradicts(by_key[key], cell)
    ]
    if mismatched:
        return f"{_join_first(mismatched)} mismatched"
    return "its evidence has expired" if is_expired(record) else ""


def _no_assertion(path: str, text: str, keys: Iterable[AssertionKey]) -> Complaint:
    known_keys = [str(key) for key in keys]
    mend = suggest_similar(text, known_keys) or f"it asserts {_join_first(known_keys)}"
    return Complaint(path, f"{text!r} names no assertion of this record", mend)


def _join_first(names: Collection[str]) -> str:
    """Join the first names, and say how many more there are."""
    first = list(names)[:MAX_LISTED]
    more = len(names) - len(first)
    return ", ".join(first) + (f" and {more} more" if more else "")
